-- What SQLAlchemy's expressions do not say: about the database itself.

-- name: wait_for_writers
-- PostgreSQL: held until the transaction ends, so that writers go one after the other.
SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))

-- name: find_schema
-- PostgreSQL: a row when there is a schema of this name.
SELECT 1 FROM pg_namespace WHERE nspname = :name

-- name: look_at_concepts
-- SQLite: any search makes a connection see what others wrote to the full-text index.
SELECT rowid FROM concepts_fts WHERE concepts_fts MATCH 'a' LIMIT 1

-- name: look_at_chunks
SELECT rowid FROM chunks_fts WHERE chunks_fts MATCH 'a' LIMIT 1

-- name: broken_references
-- SQLite: rows that refer to rows that are not there.
PRAGMA foreign_key_check

-- name: revision
-- What Alembic notes of the schema.
SELECT version_num FROM alembic_version
