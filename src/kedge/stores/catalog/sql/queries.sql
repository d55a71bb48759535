-- What SQLAlchemy's expressions do not say: about the database itself.

-- name: wait_for_writers
-- PostgreSQL: held until the transaction ends, so that writers go one after the other.
SELECT pg_advisory_xact_lock(hashtextextended(:name, 0))

-- name: find_schema
-- PostgreSQL: a row when there is a schema of this name.
SELECT 1 FROM pg_namespace WHERE nspname = :name

-- name: broken_references
-- SQLite: rows that refer to rows that are not there.
PRAGMA foreign_key_check

-- name: revision
-- What Alembic notes of the schema.
SELECT version_num FROM alembic_version
