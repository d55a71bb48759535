"""A DB-API connection that runs the statements of the IRIS store on SQLite, and keeps them.

The few words that only IRIS has are translated: `TOP ?` becomes `LIMIT ?`, the vector type text, and `TO_VECTOR` and
`VECTOR_DOT_PRODUCT` are functions. All else must be SQL that both understand. Errors are the real driver's classes.
This shows what the statements mean; it does not show that an IRIS server takes them.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from iris import dbapi

_ISOLATION = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED"
_TABLES = "(SELECT 'RAG' AS TABLE_SCHEMA, name AS TABLE_NAME FROM RAG.sqlite_master WHERE type = 'table')"


class Connection:
    """What the store uses of the driver's `IRISConnection`."""

    def __init__(self, folder: Path, log: list[tuple[str, list[Any]]] | None = None) -> None:
        self.log = [] if log is None else log
        self._sqlite = sqlite3.connect(":memory:", check_same_thread=False, timeout=30)
        self._sqlite.execute("ATTACH ? AS RAG", [str(folder / "iris.db")])
        self._sqlite.execute("PRAGMA RAG.journal_mode = WAL")
        self._sqlite.execute("PRAGMA RAG.synchronous = OFF")
        self._sqlite.create_function("TO_VECTOR", 2, _to_vector, deterministic=True)
        self._sqlite.create_function("VECTOR_DOT_PRODUCT", 2, _dot, deterministic=True)
        self._closed = False

    def cursor(self) -> Cursor:
        return Cursor(self._sqlite.cursor(), self.log)

    def commit(self) -> None:
        self._sqlite.commit()

    def rollback(self) -> None:
        self._sqlite.rollback()

    def close(self) -> None:
        self._sqlite.close()
        self._closed = True

    def isClosed(self) -> bool:
        return self._closed


class Cursor:
    """What the store uses of the driver's `Cursor`."""

    def __init__(self, cursor: sqlite3.Cursor, log: list[tuple[str, list[Any]]]) -> None:
        self._cursor = cursor
        self._log = log

    def execute(self, operation: str, parameters: list[Any] | None = None) -> int:
        self._log.append((operation, parameters or []))
        statement, ordered = _translated(operation, parameters or [])
        return self._do(self._cursor.execute, statement, ordered)

    def executemany(self, operation: str, seq_of_parameters: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
        self._log.extend((operation, list(row)) for row in seq_of_parameters)
        self._do(self._cursor.executemany, _translated(operation, [])[0], seq_of_parameters)
        return ()

    def fetchall(self) -> tuple[Any, ...]:
        return tuple(self._cursor.fetchall())

    def close(self) -> None:
        self._cursor.close()

    def __enter__(self) -> Cursor:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @staticmethod
    def _do(work: Any, *arguments: Any) -> int:
        try:
            return int(work(*arguments).rowcount)
        except sqlite3.IntegrityError as error:
            raise dbapi.IntegrityError(f"[SQLCODE: <-119>:<{error}>]") from error
        except sqlite3.OperationalError as error:
            code = -30 if "no such table" in str(error) else -1
            raise dbapi.ProgrammingError(f"[SQLCODE: <{code}>:<{error}>]") from error


def _translated(statement: str, parameters: list[Any]) -> tuple[str, list[Any]]:
    if statement == _ISOLATION:
        return "SELECT 1", []
    statement = statement.replace("INFORMATION_SCHEMA.TABLES", _TABLES)
    statement = re.sub(r"VECTOR\(DOUBLE, \d+\)", "TEXT", statement)
    statement = re.sub(r"CREATE INDEX (\w+) ON RAG\.(\w+)", r"CREATE INDEX RAG.\1 ON \2", statement)
    if statement.startswith("SELECT TOP ? "):
        return f"SELECT {statement.removeprefix('SELECT TOP ? ')} LIMIT ?", [*parameters[1:], *parameters[:1]]
    return statement, parameters


def _to_vector(text: str, kind: str) -> str:
    if kind not in ("DOUBLE", "DECIMAL", "FLOAT") or not re.fullmatch(r"\[(-?\d+\.\d+,?)+\]", text):
        raise ValueError(f"{kind} {text}")
    return text.strip("[]")  # a server gives vectors back without brackets


def _dot(one: str | None, other: str | None) -> float | None:
    if one is None or other is None:
        return None
    pairs = zip(one.split(","), other.split(","), strict=True)
    return sum(float(left) * float(right) for left, right in pairs)
