"""A table of texts and vectors in IRIS that another program fills, read where it is: `RAG.SourceDocuments` (Q-09).

`iris://user[:password]@host[:1972]/NAMESPACE[?table=RAG.SourceDocuments&vector_type=double]`; the setting
`source_password` wins over the password in the address. Every statement is a `SELECT`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

from iris import dbapi

from kedge.core.errors import ConfigError, NotFoundError
from kedge.core.settings import Settings
from kedge.core.urls import split_url, without_password
from kedge.core.values import Json, Scored
from kedge.stores.batches import batches
from kedge.stores.ports import ForeignRow, Vector
from kedge.stores.queries import filled, load_queries
from kedge.stores.vectors.iris.address import IrisAddress
from kedge.stores.vectors.iris.encode import marks, vector_of, vector_text
from kedge.stores.vectors.iris.session import IrisConnections, IrisTransaction
from kedge.stores.vectors.rules import COSINE_DIGITS, check_limit, ranked

QUERIES = load_queries(__package__, "foreign.sql")
TABLE = "RAG.SourceDocuments"
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,127}(\.[A-Za-z][A-Za-z0-9_]{0,127})?")
_BATCH = 100
"""Ids in one statement."""


def open_table(url: str, settings: Settings) -> IrisForeignTable:
    """The table of the address."""
    password = settings.source_password
    return IrisForeignTable(url, None if password is None else password.get_secret_value())


class IrisForeignTable:
    """The rows of one table."""

    def __init__(self, url: str, password: str | None = None, connect: Callable[[], Any] | None = None) -> None:
        """`connect` gives a new DB-API connection; by default the driver's own. ConfigError for the address."""
        table, rest = _parted(url)
        address = IrisAddress.of(rest, password)
        self._table, self._type = table, address.vector_type
        self._sessions = IrisConnections(connect or (lambda: dbapi.connect(**address.options)), address.shown)
        self.shown = without_password(url)

    async def count(self) -> tuple[int, int]:
        ((rows, embedded),) = await self._ask(QUERIES["count_rows"])
        return int(rows), int(embedded)

    async def sample(self, limit: int) -> list[ForeignRow]:
        return [_row(*found) for found in await self._ask(QUERIES["some_rows"], [limit])]

    async def nearest(self, vector: Vector, limit: int, *, unit: bool) -> list[Scored]:
        check_limit(limit)
        statement = QUERIES["nearest_of_length_one"] if unit else QUERIES["nearest_of_any_length"]
        found = await self._ask(statement, [limit, vector_text(vector)], type=self._type)
        hits = ((str(id), max(-1.0, min(1.0, float(score)))) for id, score in found)
        return ranked(hits, limit, COSINE_DIGITS)

    async def rows(self, ids: Sequence[str], *, vectors: bool = False) -> dict[str, ForeignRow]:
        statement = QUERIES["rows_with_vectors_by_id"] if vectors else QUERIES["rows_by_id"]
        found: list[ForeignRow] = []
        for part in batches(ids, _BATCH):
            found += [_row(*row) for row in await self._ask(statement, part, marks=marks(part))]
        asked = set(ids)  # the server takes texts that differ in case for equal
        return {row.id: row for row in found if row.id in asked}

    async def close(self) -> None:
        await self._sessions.close()

    async def _ask(self, statement: str, parameters: Sequence[Any] = (), **names: str) -> list[tuple[Any, ...]]:
        try:
            return await self._sessions.read(_rows, filled(statement, table=self._table, **names), parameters)
        except NotFoundError as error:
            raise NotFoundError(
                f"There is no table {self._table} that can be read at {self.shown}.",
                hint="Name it with ?table=SCHEMA.NAME, and let the user read it.",
            ) from error


def _rows(work: IrisTransaction, statement: str, parameters: Sequence[Any]) -> list[tuple[Any, ...]]:
    return work.rows(statement, parameters)


def _parted(url: str) -> tuple[str, str]:
    """The table, and the address without it. ConfigError for a name that is none."""
    split_url(url, "The IRIS address", "Write iris://user@host:1972/NAMESPACE?table=RAG.SourceDocuments.")
    parts = urlsplit(url)
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    table = options.pop("table", TABLE)
    if not _NAME.fullmatch(table):
        raise ConfigError(f"table={table} is no name of a table.", hint="Write ?table=SCHEMA.NAME: letters and digits.")
    return table, parts._replace(query=urlencode(options)).geturl()


def _row(id: Any, text: Any, metadata: Any, created: Any, vector: Any = None) -> ForeignRow:
    held = None if vector is None else vector_of(vector)
    return ForeignRow(str(id), _text(text), _metadata(_text(metadata)), _time(created), held)


def _text(value: Any) -> str:
    """LONGVARCHAR as the driver gives it: text, or bytes of it."""
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else "" if value is None else str(value)


def _metadata(written: str) -> dict[str, Json]:
    """JSON of an object as it is; what is anything else is kept as one field."""
    if not written.strip():
        return {}
    try:
        found = json.loads(written)
    except json.JSONDecodeError:
        found = written
    return found if isinstance(found, dict) else {"metadata": found}


def _time(value: Any) -> datetime | None:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError:
            return None
    if not isinstance(value, datetime):
        return None
    return value if value.tzinfo else value.replace(tzinfo=UTC)
