-- DuckDB. texts(id, value, whole) are the distinct texts of a table, those that are `whole` have a vector of their own;
-- words(id, word, stem, texts) are all their words; held(text, word) says which text holds which, while an index is built.

-- name: count_texts
SELECT count(*) FROM texts

-- name: composed_texts
SELECT id FROM texts WHERE NOT whole ORDER BY id

-- name: sample_of_composed_texts
SELECT id, value FROM texts WHERE NOT whole ORDER BY hash(value) LIMIT ?

-- name: whole_texts
SELECT id, value FROM texts WHERE whole ORDER BY id

-- name: texts_by_id
SELECT id, value FROM texts WHERE id IN (SELECT unnest(?))

-- name: make_words
CREATE OR REPLACE TABLE words AS SELECT (row_number() OVER (ORDER BY word) - 1)::INTEGER AS id, word,
count(*)::INTEGER AS texts FROM held GROUP BY word

-- name: words
SELECT id, word FROM words ORDER BY id

-- name: count_words
SELECT count(*) FROM words

-- name: add_stems
ALTER TABLE words ADD COLUMN stem VARCHAR

-- name: fill_stems
UPDATE words SET stem = made.stem FROM made WHERE words.id = made.id

-- name: words_of_stems
SELECT stem, id, texts FROM words WHERE stem IN (SELECT unnest(?))

-- name: vocabulary
-- Words of composed texts that mean something, those of most texts first.
SELECT words.id, words.word FROM held JOIN texts ON held.text = texts.id JOIN words USING (word)
WHERE NOT texts.whole AND length(words.word) > 1 AND words.stem <> ''
AND regexp_matches(words.word, '\p{L}')
GROUP BY ALL ORDER BY count(*) DESC, words.word LIMIT ?

-- name: texts_of_words
SELECT words.id, held.text FROM held JOIN words USING (word) ORDER BY words.id, held.text

-- name: words_of_composed_texts
SELECT held.text, words.id FROM held JOIN words USING (word) JOIN texts ON held.text = texts.id
WHERE NOT texts.whole ORDER BY held.text, words.id
