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

from kedge.errors import DimensionMismatchError, NotFoundError, StoreError, UsageError
from kedge.stores.base import IndexSpec
from kedge.stores.pgvector.encode import text

HNSW_UP_TO = 2000
"""Dimensions that pgvector's HNSW takes as they are."""
HALF_UP_TO = 4000
"""Dimensions that it takes in half precision; above, search is exact."""
_LARGEST = 16_000
_WIDEST = 8160
"""Bytes of the largest row that fits a page of the server."""
_BESIDE_VECTOR = 512
"""Bytes of a row beside its vector, for most payloads."""

_REGISTRY = (
    SQL(
        'CREATE TABLE IF NOT EXISTS kedge_vector_indexes (name text COLLATE "C" PRIMARY KEY, dimension int NOT NULL,'
        " written int NOT NULL DEFAULT 0, hnsw boolean NOT NULL DEFAULT false, optimized bigint NOT NULL DEFAULT 0)"
    ),
    SQL(
        'CREATE TABLE IF NOT EXISTS kedge_vector_tenants (name text COLLATE "C" NOT NULL'
        ' REFERENCES kedge_vector_indexes ON DELETE CASCADE, tenant text COLLATE "C" NOT NULL,'
        " points bigint NOT NULL, texts bigint NOT NULL, PRIMARY KEY (name, tenant))"
    ),
)
# A scan must not fetch vectors and payloads from elsewhere, nor read over terms: only those are stored aside.
_POINTS = SQL(
    'CREATE TABLE {points} (tenant text COLLATE "C" NOT NULL, id uuid NOT NULL, number int NOT NULL UNIQUE,'
    " vector vector({dimension}) NOT NULL, payload jsonb NOT NULL, terms bytea NOT NULL, PRIMARY KEY (tenant, id))"
    " WITH (toast_tuple_target = {width})"
)
_ASIDE = SQL("ALTER TABLE {points} ALTER COLUMN terms SET STORAGE EXTERNAL, ALTER COLUMN payload SET STORAGE MAIN")
_INSIDE = SQL("ALTER TABLE {points} ALTER COLUMN vector SET STORAGE PLAIN")
_PAYLOAD = SQL("CREATE INDEX {name} ON {points} USING gin (payload jsonb_path_ops)")
_POSTINGS = SQL(
    'CREATE TABLE {postings} (term int4 NOT NULL, tenant text COLLATE "C" NOT NULL, first int NOT NULL,'
    " pairs bytea NOT NULL, PRIMARY KEY (term, tenant, first))"
)
_UNPACKED = SQL("ALTER TABLE {postings} ALTER COLUMN pairs SET STORAGE EXTERNAL")
_NUMBERS = SQL(
    "CREATE INDEX IF NOT EXISTS {name} ON {points} ((payload -> {field}))"
    " WHERE jsonb_typeof(payload -> {field}) = 'number'"
)
_LISTS = SQL("CREATE INDEX IF NOT EXISTS {name} ON {points} (id) WHERE jsonb_typeof(payload -> {field}) = 'array'")


@dataclass(frozen=True, slots=True)
class Index:
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


def execute(connection: Connection, statement: Composable, values: Mapping[str, Any] | None = None) -> Any:
    """Run a composed statement and return its cursor result. Without values, `%` is itself.

    A reader that sees the list of indexes as it was may come to tables that were dropped since: NotFoundError.
    """
    written = statement.as_string()
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
        if execute(connection, SQL("SELECT 1 FROM pg_extension WHERE extname = 'vector'")).first() is None:
            if execute(connection, SQL("SELECT 1 FROM pg_available_extensions WHERE name = 'vector'")).first() is None:
                raise StoreError("The PostgreSQL server lacks pgvector.", hint="Install the extension on the server.")
            execute(connection, SQL("CREATE EXTENSION IF NOT EXISTS vector WITH SCHEMA public"))
        for statement in _REGISTRY:
            execute(connection, statement)


def load(connection: Connection, name: str) -> Index:
    """The index, or NotFoundError."""
    found = _find(connection, name)
    if found is None:
        raise NotFoundError(f"There is no vector index {name!r}.", hint="Create it first.")
    return found


def create(connection: Connection, spec: IndexSpec) -> None:
    """Make the index; one that exists gets the payload indexes that it lacks."""
    if not 1 <= spec.dimension <= _LARGEST:
        raise UsageError(
            f"pgvector stores 1 to {_LARGEST} dimensions, not {spec.dimension}.", hint="Use another model."
        )
    index = _find(connection, spec.name)
    if index is None:
        index = Index(spec.name, spec.dimension)
        values = {"name": text(spec.name), "dimension": spec.dimension}
        statement = SQL("INSERT INTO kedge_vector_indexes (name, dimension) VALUES (%(name)s, %(dimension)s)")
        execute(connection, statement, values)
        _create_points(connection, index)
        execute(connection, _PAYLOAD.format(name=index.part("payload"), points=index.points))
        execute(connection, _POSTINGS.format(postings=index.postings))
        execute(connection, _UNPACKED.format(postings=index.postings))
    elif index.dimension != spec.dimension:
        raise DimensionMismatchError(found=spec.dimension, expected=index.dimension, collection=spec.name)
    for field, kind in spec.payload_indexes.items():
        if kind in ("integer", "float"):
            index_field(connection, index, field)


def _create_points(connection: Connection, index: Index) -> None:
    width = 4 * index.dimension + _BESIDE_VECTOR
    sizes = {"dimension": Literal(index.dimension), "width": Literal(min(width, _WIDEST))}
    execute(connection, _POINTS.format(points=index.points, **sizes))
    execute(connection, _ASIDE.format(points=index.points))
    if width <= _WIDEST:
        execute(connection, _INSIDE.format(points=index.points))


def index_field(connection: Connection, index: Index, field: str) -> None:
    """Make ranges over this field fast. Equality is, for all fields, by the one index over payloads."""
    mark = f"{zlib.crc32(field.encode()):08x}"
    stored = Literal(text(field))
    execute(connection, _NUMBERS.format(name=index.part(f"n{mark}"), points=index.points, field=stored))
    execute(connection, _LISTS.format(name=index.part(f"l{mark}"), points=index.points, field=stored))


def drop(connection: Connection, name: str) -> None:
    """Remove the index with all its points, if it is there."""
    index = _find(connection, name)
    if index is None:
        return
    execute(connection, SQL("DROP TABLE {}, {}").format(index.points, index.postings))
    execute(connection, SQL("DELETE FROM kedge_vector_indexes WHERE name = %(name)s"), {"name": text(name)})


def points_of(connection: Connection, index: Index) -> int:
    """All points, of all tenants."""
    statement = SQL("SELECT coalesce(sum(points), 0)::bigint FROM kedge_vector_tenants WHERE name = %(name)s")
    return int(execute(connection, statement, {"name": text(index.name)}).scalar_one())


def _find(connection: Connection, name: str) -> Index | None:
    statement = SQL("SELECT dimension, hnsw, optimized FROM kedge_vector_indexes WHERE name = %(name)s")
    row = execute(connection, statement, {"name": text(name)}).first()
    return None if row is None else Index(name, *row)


def _safe(name: str) -> str:
    """What can be read of the name, and a hash that makes it the only one.

    >>> _safe("Über die Bäume/2")
    'ber_die_b_ume_2_6f1866b86c'
    """
    readable = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")[:28]
    return f"{readable}_{hashlib.sha256(name.encode()).hexdigest()[:10]}"
