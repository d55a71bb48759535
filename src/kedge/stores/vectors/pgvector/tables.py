"""The tables of an index, and the list of indexes.

```
kedge_vector_indexes              one row per index: its name, dimension and whether HNSW was built
kedge_vector_tenants              points and texts of each tenant in each index
kedge_points_<name>_<hash>        tenant, id, number, vector, payload, terms
kedge_postings_<name>_<hash>      which points hold a term (`postings.py`)
```

Names of tables are made of letters, digits and a hash of the index's name, which may be any text.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from psycopg.errors import UndefinedTable
from psycopg.sql import SQL, Composable, Identifier, Literal
from sqlalchemy import Connection, Engine
from sqlalchemy.exc import ProgrammingError

from kedge.core.errors import NotFoundError, StoreError, UsageError
from kedge.stores.ports import IndexSpec
from kedge.stores.queries import load_queries
from kedge.stores.vectors.pgvector.encode import text
from kedge.stores.vectors.rules import check_dimension, unknown_index

HNSW_UP_TO = 2000
"""Dimensions that pgvector's HNSW takes as they are."""
HALF_UP_TO = 4000
"""Dimensions that it takes in half precision; above, search is exact."""
_LARGEST = 16_000
_WIDEST = 8160
"""Bytes of the largest row that fits a page of the server."""
_BESIDE_VECTOR = 512
"""Bytes of a row beside its vector, for most payloads."""
QUERIES = load_queries(__package__, "queries.sql")


@dataclass(frozen=True, slots=True)
class PgIndex:
    """One index as it is at this moment."""

    name: str
    dimension: int
    hnsw: bool = False
    optimized: int = 0
    """Points at the last optimisation."""

    @property
    def points(self) -> Identifier:
        """Table of the points."""
        return Identifier(f"kedge_points_{_safe(self.name)}")

    @property
    def postings(self) -> Identifier:
        """Table of the terms."""
        return Identifier(f"kedge_postings_{_safe(self.name)}")

    def part(self, what: str) -> Identifier:
        """Name of a database index over the points."""
        return Identifier(f"kedge_{what}_{_safe(self.name)}")


def execute(
    connection: Connection, statement: str, values: Mapping[str, Any] | None = None, /, **parts: Composable
) -> Any:
    """Run a statement, with the parts that it has in braces, and return its result. Without values, `%` is itself.

    A reader that sees the list of indexes as it was may come to tables that were dropped since: NotFoundError.
    """
    written = SQL(statement).format(**parts).as_string()
    try:
        if values is None:
            return connection.exec_driver_sql(written.replace("%", "%%"))
        return connection.exec_driver_sql(written, dict(values))
    except ProgrammingError as error:
        if isinstance(error.orig, UndefinedTable):
            raise NotFoundError("The vector index was dropped meanwhile.", hint="Create it first.") from error
        raise


def prepare(engine: Engine) -> None:
    """Have the extension and the list of indexes."""
    with engine.begin() as connection:
        if execute(connection, QUERIES["find_extension"]).first() is None:
            if execute(connection, QUERIES["find_available_extension"]).first() is None:
                raise StoreError("The PostgreSQL server lacks pgvector.", hint="Install the extension on the server.")
            execute(connection, QUERIES["make_extension"])
        execute(connection, QUERIES["make_index_list"])
        execute(connection, QUERIES["make_tenant_list"])


def load(connection: Connection, name: str) -> PgIndex:
    """The index, or NotFoundError."""
    found = _find(connection, name)
    if found is None:
        raise unknown_index(name)
    return found


def create(connection: Connection, spec: IndexSpec) -> None:
    """Make the index; one that exists gets the payload indexes that it lacks."""
    if not 1 <= spec.dimension <= _LARGEST:
        raise UsageError(
            f"pgvector stores 1 to {_LARGEST} dimensions, not {spec.dimension}.", hint="Use another model."
        )
    index = _find(connection, spec.name)
    if index is None:
        index = PgIndex(spec.name, spec.dimension)
        values = {"name": text(spec.name), "dimension": spec.dimension}
        execute(connection, QUERIES["enter_index"], values)
        _create_points(connection, index)
        execute(connection, QUERIES["index_payloads"], name=index.part("payload"), points=index.points)
        execute(connection, QUERIES["make_postings"], postings=index.postings)
        execute(connection, QUERIES["store_pairs_unpacked"], postings=index.postings)
    check_dimension(spec, index.dimension)
    for field, kind in spec.payload_indexes.items():
        if kind in ("integer", "float"):
            index_field(connection, index, field)


def _create_points(connection: Connection, index: PgIndex) -> None:
    width = 4 * index.dimension + _BESIDE_VECTOR
    sizes = {"dimension": Literal(index.dimension), "width": Literal(min(width, _WIDEST))}
    execute(connection, QUERIES["make_points"], points=index.points, **sizes)
    execute(connection, QUERIES["store_terms_aside"], points=index.points)
    if width <= _WIDEST:
        execute(connection, QUERIES["store_vectors_inside"], points=index.points)


def index_field(connection: Connection, index: PgIndex, field: str) -> None:
    """Make ranges over this field fast. Equality is, for all fields, by the one index over payloads."""
    mark = f"{zlib.crc32(field.encode()):08x}"
    parts = {"points": index.points, "field": Literal(text(field))}
    execute(connection, QUERIES["index_numbers"], name=index.part(f"n{mark}"), **parts)
    execute(connection, QUERIES["index_lists"], name=index.part(f"l{mark}"), **parts)


def drop(connection: Connection, name: str) -> None:
    """Remove the index with all its points, if it is there."""
    index = _find(connection, name)
    if index is None:
        return
    execute(connection, QUERIES["drop_tables"], points=index.points, postings=index.postings)
    execute(connection, QUERIES["forget_index"], {"name": text(name)})


def points_of(connection: Connection, index: PgIndex) -> int:
    """All points, of all tenants."""
    return int(execute(connection, QUERIES["count_all_points"], {"name": text(index.name)}).scalar_one())


def _find(connection: Connection, name: str) -> PgIndex | None:
    row = execute(connection, QUERIES["find_index"], {"name": text(name)}).first()
    return None if row is None else PgIndex(name, *row)


def _safe(name: str) -> str:
    """What can be read of the name, and a hash that makes it the only one.

    >>> _safe("Über die Bäume/2")
    'ber_die_b_ume_2_6f1866b86c'
    """
    readable = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:28]
    return f"{readable}_{hashlib.sha256(name.encode()).hexdigest()[:10]}"
