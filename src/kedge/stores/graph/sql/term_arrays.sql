-- PostgreSQL: arrays of terms under a GIN index.

-- name: add_concept
INSERT INTO concepts_fts (seq, name, aliases, description, terms)
VALUES (:seq, :name, :aliases, :description, :terms)
ON CONFLICT (seq) DO UPDATE SET name = excluded.name,
aliases = excluded.aliases, description = excluded.description, terms = excluded.terms

-- name: add_chunk
INSERT INTO chunks_fts (seq, terms) VALUES (:seq, :terms) ON CONFLICT (seq) DO UPDATE SET terms = excluded.terms

-- name: forget_concepts
DELETE FROM concepts_fts WHERE seq = ANY(CAST(:seqs AS int[]))

-- name: forget_chunks
DELETE FROM chunks_fts WHERE seq = ANY(CAST(:seqs AS int[]))

-- name: find_concepts
-- By how many terms are shared: a hit in the name counts most, in the description least.
SELECT c.seq FROM concepts_fts AS f JOIN concepts AS c ON c.seq = f.seq
WHERE f.terms && CAST(:terms AS text[]) AND c.tenant = :tenant AND c.collection = :collection
ORDER BY 10 * (SELECT count(*) FROM unnest(f.name) AS t WHERE t = ANY(CAST(:terms AS text[])))
+ 5 * (SELECT count(*) FROM unnest(f.aliases) AS t WHERE t = ANY(CAST(:terms AS text[])))
+ (SELECT count(*) FROM unnest(f.description) AS t WHERE t = ANY(CAST(:terms AS text[]))) DESC, c.key
LIMIT :limit

-- name: find_chunks
SELECT c.passage_id FROM chunks_fts AS f JOIN graph_chunks AS c ON c.seq = f.seq
WHERE f.terms && CAST(:terms AS text[]) AND c.tenant = :tenant AND c.collection = :collection
ORDER BY (SELECT count(*) FROM unnest(f.terms) AS t WHERE t = ANY(CAST(:terms AS text[]))) DESC, c.passage_id
LIMIT :limit
