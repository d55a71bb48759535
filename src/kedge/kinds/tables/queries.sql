-- name: bad_rows
-- Records that were put aside, by file and line.
SELECT source, line, reason, text FROM bad_rows ORDER BY source, line LIMIT ? OFFSET ?

-- name: tables
SELECT table_name FROM duckdb_tables()
