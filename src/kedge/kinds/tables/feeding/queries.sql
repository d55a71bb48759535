-- DuckDB. `raw` is a staged file: row_number, line, and the cells as text under c0, c1, …

-- name: stage_csv
CREATE OR REPLACE TEMP TABLE raw AS SELECT * FROM read_csv(?, delim = ?, quote = '"', escape = '"',
header = false, auto_detect = false, new_line = '\n', columns = ?, max_line_size = ?, parallel = ?)

-- name: count_staged
SELECT count(*) FROM raw

-- name: drop_staged
DROP TABLE raw

-- name: numbers_in_order
-- Of the first column: how many, how many different, how far apart, and how many that do not rise.
SELECT count(*), count(DISTINCT n), max(n) - min(n), count(*) FILTER (WHERE n <= before) FROM (SELECT n,
lag(n) OVER (ORDER BY row_number) AS before FROM (SELECT row_number, TRY_CAST(c0 AS BIGINT) AS n FROM raw))

-- name: make_bad_rows
CREATE TABLE IF NOT EXISTS bad_rows (source INTEGER, line BIGINT, reason VARCHAR, text VARCHAR)

-- name: keep_bad_rows
INSERT INTO bad_rows SELECT ?, line, reason, text FROM set_aside

-- name: count_bad_rows
SELECT count(*) FROM bad_rows

-- name: first_bad_rows
SELECT line, reason FROM bad_rows WHERE source = ? ORDER BY line LIMIT ?

-- name: forget_bad_rows
DELETE FROM bad_rows WHERE source = ?

-- name: tables
SELECT table_name FROM duckdb_tables()

-- name: part_tables
SELECT table_name FROM duckdb_tables() WHERE table_name LIKE 'part_%' OR table_name LIKE 'written_%'

-- name: sample_of_texts
SELECT value FROM texts ORDER BY hash(value) LIMIT ?
