-- The file of embeddings, in SQLite.

-- name: use_log
PRAGMA journal_mode=WAL

-- name: flush_seldom
-- After a power cut the last entries may be missing, which costs time and nothing else.
PRAGMA synchronous=NORMAL

-- name: make_table
CREATE TABLE IF NOT EXISTS embeddings (key BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID

-- name: read
SELECT key, vector FROM embeddings WHERE key IN ({marks})

-- name: keep
INSERT OR REPLACE INTO embeddings VALUES (?, ?)
