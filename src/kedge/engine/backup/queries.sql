-- The copied catalog is a SQLite file; only `continue_numbers` is for PostgreSQL.

-- name: read_something
-- From here on the transaction sees one moment.
SELECT count(*) FROM sqlite_master

-- name: one_file
-- Without a log beside it.
PRAGMA journal_mode=DELETE

-- name: continue_numbers
-- PostgreSQL: new rows go on behind the copied ones.
SELECT setval(pg_get_serial_sequence(:table, :column), :highest)

-- name: tables
SELECT name FROM sqlite_master WHERE type = 'table'

-- name: collections_of_kind
SELECT tenant, name FROM collections WHERE kind = ?

-- name: unfinished_jobs
SELECT id, request FROM ingestion_jobs WHERE status NOT IN ({ended})

-- name: queue_unfinished_jobs
UPDATE ingestion_jobs SET status = 'queued', current_step = NULL WHERE status NOT IN ({ended})

-- name: change_request
UPDATE ingestion_jobs SET request = ? WHERE id = ?
