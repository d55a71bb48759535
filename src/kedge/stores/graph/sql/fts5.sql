-- SQLite's FTS5. Its rows carry the number of the concept or chunk.

-- name: forget_concept
DELETE FROM concepts_fts WHERE rowid = :seq

-- name: forget_chunk
DELETE FROM chunks_fts WHERE rowid = :seq

-- name: add_concept
INSERT INTO concepts_fts (rowid, name, aliases, description) VALUES (:seq, :name, :aliases, :description)

-- name: add_chunk
INSERT INTO chunks_fts (rowid, preview) VALUES (:seq, :preview)

-- name: find_concepts
-- A hit in the name counts most, in the description least.
SELECT c.seq FROM concepts_fts JOIN concepts AS c ON c.seq = concepts_fts.rowid
WHERE concepts_fts MATCH :terms AND c.tenant = :tenant AND c.collection = :collection
ORDER BY bm25(concepts_fts, 10.0, 5.0, 1.0), c.key LIMIT :limit

-- name: find_chunks
SELECT c.passage_id FROM chunks_fts JOIN graph_chunks AS c ON c.seq = chunks_fts.rowid
WHERE chunks_fts MATCH :terms AND c.tenant = :tenant AND c.collection = :collection
ORDER BY bm25(chunks_fts), c.passage_id LIMIT :limit
