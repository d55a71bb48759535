"""Small reads that one question makes many of: over SQLite without SQLAlchemy's way there, which costs more than they.

For statements over texts and numbers, which SQLite gives as they are; other types would stay as they are stored.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from sqlalchemy import Connection, Select
from sqlalchemy.dialects import sqlite

_LIST = re.compile(r"\(__\[POSTCOMPILE_(\w+)\]\)")
_NAMED = re.compile(r":(\w+)")


class PlainRead:
    """A statement with one list of values, and others by name."""

    def __init__(self, statement: Select[Any]) -> None:
        self._statement = statement
        compiled = statement.compile(dialect=sqlite.dialect(paramstyle="named"))
        self._written, self._values = str(compiled), compiled.params
        (self._list,) = set(_LIST.findall(self._written))
        self._made: dict[int, tuple[str, list[str]]] = {}

    def rows(self, connection: Connection, some: Sequence[object], **values: object) -> Sequence[Any]:
        """The rows for some values in the list, in no order of their own; nothing for an empty list."""
        if not some:
            return []
        if connection.dialect.name != "sqlite":
            return connection.execute(self._statement, {**values, self._list: some}).all()
        size = 1 << (len(some) - 1).bit_length()
        text, names = self._made.get(size) or self._make(size)
        told = {**self._values, **values}
        given = (*some, *(some[0] for _ in range(size - len(some))), *(told[name] for name in names))
        driver = connection.connection.driver_connection
        assert driver is not None
        found: list[Any] = driver.execute(text, given).fetchall()
        return found

    def _make(self, size: int) -> tuple[str, list[str]]:
        """The text for lists up to a size, so that SQLite knows it again, and the names of the other values in turn."""
        places = ", ".join(f"?{place}" for place in range(1, size + 1))
        names: list[str] = []

        def placed(match: re.Match[str]) -> str:
            if match[1] not in names:
                names.append(match[1])
            return f"?{size + 1 + names.index(match[1])}"

        text = _LIST.sub(f"({places})", _NAMED.sub(placed, self._written))
        self._made[size] = text, names
        return text, names
