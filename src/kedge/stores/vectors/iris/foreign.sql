-- A table of the design that another program fills: id, text_content, embedding, metadata, created_timestamp.
-- Nothing here writes. {table} is a name that was checked, {type} the keyword of the vectors' type, {marks} question marks.

-- name: count_rows
SELECT COUNT(*), COUNT(embedding) FROM {table}

-- name: some_rows
SELECT TOP ? id, text_content, metadata, created_timestamp, embedding FROM {table} WHERE embedding IS NOT NULL

-- name: nearest_of_length_one
SELECT TOP ? id, VECTOR_DOT_PRODUCT(embedding, TO_VECTOR(?, {type})) AS score
FROM {table} WHERE embedding IS NOT NULL ORDER BY score DESC

-- name: nearest_of_any_length
SELECT TOP ? id, VECTOR_COSINE(embedding, TO_VECTOR(?, {type})) AS score
FROM {table} WHERE embedding IS NOT NULL ORDER BY score DESC

-- name: rows_by_id
SELECT id, text_content, metadata, created_timestamp FROM {table} WHERE id IN ({marks})

-- name: rows_with_vectors_by_id
SELECT id, text_content, metadata, created_timestamp, embedding FROM {table} WHERE id IN ({marks})
