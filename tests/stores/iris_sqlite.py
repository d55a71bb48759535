"""A DB-API connection that reads statements as InterSystems documents IRIS SQL, refuses what it refuses, and runs the
rest on SQLite.

Refused, with the codes of the server (`iris_grammar.py`): a vector's type that is no keyword, two types of vectors in
one function or in a column, `TOP` that does not stand behind `SELECT`, `LIMIT`, an index of a kind that the version
does not have. A transaction that changes 1,000 rows of a table is refused too: there the server would lock all of it.
Errors are the real driver's classes.
This shows what the statements mean and that they keep the documented grammar, not that a server takes them.
"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from iris import dbapi

from tests.stores.iris_grammar import ESCALATION, refusal

_ISOLATION = "SET TRANSACTION ISOLATION LEVEL READ COMMITTED"
_TABLES = "(SELECT 'RAG' AS TABLE_SCHEMA, name AS TABLE_NAME FROM RAG.sqlite_master WHERE type = 'table')"


class Connection:
    """What the store uses of the driver's `IRISConnection`."""

    def __init__(
        self, folder: Path, log: list[tuple[str, list[Any]]] | None = None, version: tuple[int, int] = (2025, 1)
    ) -> None:
        self.log = [] if log is None else log
        self.version = version
        self.changed: Counter[str] = Counter()
        self._sqlite = sqlite3.connect(":memory:", check_same_thread=False, timeout=30)
        self._sqlite.execute("ATTACH ? AS RAG", [str(folder / "iris.db")])
        self._sqlite.execute("PRAGMA RAG.journal_mode = WAL")
        self._sqlite.execute("PRAGMA RAG.synchronous = OFF")
        self._sqlite.create_function("TO_VECTOR", 2, _to_vector, deterministic=True)
        self._sqlite.create_function("VECTOR_DOT_PRODUCT", 2, _dot, deterministic=True)
        self._sqlite.create_function("VECTOR_COSINE", 2, _cosine, deterministic=True)
        self._closed = False

    def cursor(self) -> Cursor:
        return Cursor(self._sqlite.cursor(), self.log, self)

    def commit(self) -> None:
        self.changed.clear()
        self._sqlite.commit()

    def rollback(self) -> None:
        self.changed.clear()
        self._sqlite.rollback()

    def close(self) -> None:
        self._sqlite.close()
        self._closed = True

    def isClosed(self) -> bool:
        return self._closed


class Cursor:
    """What the store uses of the driver's `Cursor`."""

    def __init__(self, cursor: sqlite3.Cursor, log: list[tuple[str, list[Any]]], owner: Connection) -> None:
        self._cursor = cursor
        self._log = log
        self._owner = owner

    def execute(self, operation: str, parameters: list[Any] | None = None) -> int:
        self._log.append((operation, parameters or []))
        self._read(operation, [parameters or []])
        statement, ordered = _translated(operation, parameters or [])
        return self._do(self._cursor.execute, statement, ordered)

    def executemany(self, operation: str, seq_of_parameters: Sequence[Sequence[Any]]) -> tuple[Any, ...]:
        self._log.extend((operation, list(row)) for row in seq_of_parameters)
        self._read(operation, seq_of_parameters)
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

    def _read(self, operation: str, rows: Sequence[Sequence[Any]]) -> None:
        """Refuse what the server would: by its grammar, by types of vectors, by the number of values."""
        held = self._cursor.execute("SELECT sql FROM RAG.sqlite_master WHERE type = 'table'").fetchall()
        columns = dict(found for (made,) in held for found in re.findall(r"(\w+) VECTOR_(\w+?)_\d+", made or ""))
        fault = refusal(operation, columns, self._owner.version)
        if fault is not None:
            raise dbapi.ProgrammingError(f"[SQLCODE: <{fault[0]}>:<{fault[1]}>]")
        if any(operation.count("?") != len(row) for row in rows):
            raise dbapi.ProgrammingError("[SQLCODE: <-5>:<wrong number of values>]")

    def _do(self, work: Any, statement: str, values: Any) -> int:
        try:
            rows = int(work(statement, values).rowcount)
            self._count(statement, rows)
            return rows
        except sqlite3.IntegrityError as error:
            raise dbapi.IntegrityError(f"[SQLCODE: <-119>:<{error}>]") from error
        except sqlite3.OperationalError as error:
            code = -30 if "no such table" in str(error) else -1
            raise dbapi.ProgrammingError(f"[SQLCODE: <{code}>:<{error}>]") from error

    def _count(self, statement: str, rows: int) -> None:
        found = re.match(r"(?:INSERT INTO|DELETE FROM) (RAG\.\w+)", statement)
        if found:
            changed = self._owner.changed
            changed[found[1]] += max(rows, 0)
            assert changed[found[1]] < ESCALATION, f"{changed[found[1]]} rows of {found[1]} in one transaction"


def _translated(statement: str, parameters: list[Any]) -> tuple[str, list[Any]]:
    if statement == _ISOLATION:
        return "SELECT 1", []
    statement = statement.replace("INFORMATION_SCHEMA.TABLES", _TABLES)
    statement = re.sub(r"VECTOR\((\w+), (\d+)\)", r"VECTOR_\1_\2", statement)
    statement = re.sub(r"TO_VECTOR\(\?, (\w+)\)", r"TO_VECTOR(?, '\1')", statement)
    if " AS HNSW(" in statement:
        statement = statement.partition(" AS HNSW(")[0].replace(" ON TABLE ", " ON ")
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


def _cosine(one: str | None, other: str | None) -> float | None:
    product, left, right = _dot(one, other), _dot(one, one), _dot(other, other)
    if product is None or not left or not right:
        return None
    return float(product / (left * right) ** 0.5)
