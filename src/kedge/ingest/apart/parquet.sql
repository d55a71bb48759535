-- Parquet, read by DuckDB in the process that parses.

-- name: describe
-- A row for each column, its name first.
DESCRIBE SELECT * FROM read_parquet(?)

-- name: to_csv
-- Every row with its number twice (row and line); {cells} are the columns as text.
COPY (SELECT row_number() OVER (), row_number() OVER (), {cells} FROM read_parquet($path))
TO $target (FORMAT csv, HEADER false, DELIMITER ',', QUOTE '"', ESCAPE '"')
