"""The tables of an index, and the one that lists the indexes.

```
RAG.SourceDocuments        id, text_content, embedding VECTOR(DOUBLE, n), metadata, created_timestamp   (Q-01)
RAG.SourceDocumentsFacts   what filters ask: doc_id, fact_field, fact_value, fact_number
RAG.SourceDocumentsTerms   what keyword search asks: doc_id, term_id, weight
RAG.KedgeIndexes           name_digest, index_name, table_name, dimension
```

The first index takes `SourceDocuments`, each other one `SourceDocuments` followed by a digest of its name. A table that
somebody else made is never touched. `KedgeIndexes` is written last and emptied first, so a kill leaves all or nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kedge.errors import DimensionMismatchError
from kedge.stores.base import IndexSpec
from kedge.stores.iris.encode import digest
from kedge.stores.iris.faults import unknown
from kedge.stores.iris.session import Transaction

SCHEMA = "RAG"
FIRST = "SourceDocuments"
_LIST = "KedgeIndexes"
_EXISTS = "SELECT COUNT(*) FROM INFORMATION_SCHEMA.TABLES WHERE TABLE_SCHEMA = ? AND TABLE_NAME = ?"
_MAKE_LIST = (
    "CREATE TABLE RAG.KedgeIndexes (name_digest VARCHAR(64) PRIMARY KEY, index_name VARCHAR(1000), "
    "table_name VARCHAR(128) NOT NULL UNIQUE, dimension INTEGER NOT NULL)"
)
_FIND = "SELECT table_name, dimension FROM RAG.KedgeIndexes WHERE name_digest = ?"
_TAKEN = "SELECT COUNT(*) FROM RAG.KedgeIndexes WHERE table_name = ?"
_ENTER = "INSERT INTO RAG.KedgeIndexes (name_digest, index_name, table_name, dimension) VALUES (?, ?, ?, ?)"
_FORGET = "DELETE FROM RAG.KedgeIndexes WHERE name_digest = ?"
_PARTS = ("Terms", "", "Facts")
"""In the order of dropping: where the facts are, the rest is ours."""


@dataclass(frozen=True, slots=True)
class Table:
    """Where an index is."""

    name: str
    """With the schema."""
    dimension: int


def find(work: Transaction, index: str) -> Table:
    """The index's table; `NotFoundError` when it was not created."""
    found = _find(work, index)
    if found is None:
        raise unknown(index)
    return found


def create(work: Transaction, spec: IndexSpec) -> Table:
    """Make the tables, or check that they are of the same dimension."""
    if not _exists(work, _LIST):
        work.run(_MAKE_LIST)
    found = _find(work, spec.name)
    if found is not None:
        if found.dimension != spec.dimension:
            raise DimensionMismatchError(found=spec.dimension, expected=found.dimension, collection=spec.name)
        return found
    table = _free_name(work, spec.name)
    _drop_parts(work, table)
    for statement in statements(f"{SCHEMA}.{table}", table, spec.dimension):
        work.run(statement)
    work.run(_ENTER, [digest(spec.name), spec.name[:1000], table, spec.dimension])
    return Table(f"{SCHEMA}.{table}", spec.dimension)


def drop(work: Transaction, index: str) -> None:
    """Remove the tables. Unknown names are ignored."""
    found = _find(work, index)
    if found is not None:
        work.run(_FORGET, [digest(index)])
        _drop_parts(work, found.name.partition(".")[2])


def statements(table: str, name: str, dimension: int) -> Sequence[str]:
    """What makes the tables of an index."""
    return (
        f"CREATE TABLE {table}Facts (doc_id VARCHAR(64) NOT NULL, fact_field VARCHAR(64) NOT NULL, "
        "fact_value VARCHAR(64) NOT NULL, fact_number DOUBLE)",
        f"CREATE INDEX {name}FactsByValue ON {table}Facts (fact_field, fact_value)",
        f"CREATE INDEX {name}FactsByDocument ON {table}Facts (doc_id)",
        f"CREATE TABLE {table}Terms (doc_id VARCHAR(64) NOT NULL, term_id BIGINT NOT NULL, weight DOUBLE NOT NULL)",
        f"CREATE INDEX {name}TermsByTerm ON {table}Terms (term_id)",
        f"CREATE INDEX {name}TermsByDocument ON {table}Terms (doc_id)",
        f"CREATE TABLE {table} (id VARCHAR(255) PRIMARY KEY, text_content LONGVARCHAR, "
        f"embedding VECTOR(DOUBLE, {int(dimension)}), metadata LONGVARCHAR, "
        "created_timestamp TIMESTAMP DEFAULT CURRENT_TIMESTAMP)",
    )


def _find(work: Transaction, index: str) -> Table | None:
    if not _exists(work, _LIST):
        return None
    rows = work.rows(_FIND, [digest(index)])
    return Table(f"{SCHEMA}.{rows[0][0]}", int(rows[0][1])) if rows else None


def _free_name(work: Transaction, index: str) -> str:
    taken = int(work.rows(_TAKEN, [FIRST])[0][0]) > 0
    foreign = _exists(work, FIRST) and not _exists(work, f"{FIRST}Facts")
    return f"{FIRST}{digest(index)[:16]}" if taken or foreign else FIRST


def _drop_parts(work: Transaction, table: str) -> None:
    for part in _PARTS:
        if _exists(work, f"{table}{part}"):
            work.run(f"DROP TABLE {SCHEMA}.{table}{part}")


def _exists(work: Transaction, table: str) -> bool:
    return int(work.rows(_EXISTS, [SCHEMA, table])[0][0]) > 0
