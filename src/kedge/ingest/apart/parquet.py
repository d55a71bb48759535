"""Parquet to CSV by DuckDB, which streams it: a small file of endless rows fills no memory."""

from __future__ import annotations

from dataclasses import dataclass

import duckdb

from kedge.core.errors import SourceTooLargeError, UnreadableError
from kedge.stores.queries import filled, load_queries

QUERIES = load_queries(__package__, "parquet.sql")


@dataclass(frozen=True, slots=True)
class ParquetFacts:
    """What the file held."""

    names: list[str]
    rows: int


def parquet_to_csv(path: str, target: str, name: str, memory: int) -> ParquetFacts:
    """Write all rows with their number twice (row and line), every value as text. Raises SourceFault."""
    options: dict[str, str | bool | int | float | list[str]] = {
        "memory_limit": f"{memory >> 20}MB",
        "threads": 1,
        "temp_directory": "",
        "autoinstall_known_extensions": False,
        "autoload_known_extensions": False,
    }
    try:
        with duckdb.connect(":memory:", config=options) as connection:
            described = connection.execute(QUERIES["describe"], [path]).fetchall()
            names = [str(row[0]) for row in described]
            quoted = ['"' + column.replace('"', '""') + '"' for column in names]
            cells = ", ".join(f"replace({column}::VARCHAR, chr(0), '')" for column in quoted)
            statement = filled(QUERIES["to_csv"], cells=cells)
            copied = connection.execute(statement, {"path": path, "target": target}).fetchone()
    except (duckdb.OutOfMemoryException, MemoryError) as error:
        raise MemoryError from error
    except duckdb.Error as error:
        if "too large" in str(error).lower():
            raise SourceTooLargeError(
                f"{name} unpacks to more than is allowed.", hint="Split it, or raise parse_output_bytes."
            ) from error
        raise UnreadableError(f"{name} is no readable Parquet file.", hint="Write it again.") from error
    return ParquetFacts(names, int(copied[0]) if copied else 0)
