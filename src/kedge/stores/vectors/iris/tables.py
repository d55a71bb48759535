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

from kedge.stores.ports import IndexSpec
from kedge.stores.queries import filled, load_queries
from kedge.stores.vectors.iris.encode import digest
from kedge.stores.vectors.iris.session import IrisTransaction
from kedge.stores.vectors.rules import check_dimension, unknown_index

QUERIES = load_queries(__package__, "queries.sql")
SCHEMA = "RAG"
FIRST = "SourceDocuments"
EMBEDDING_INDEX = "idx_sourcedocs_embedding"
_LIST = "KedgeIndexes"
_PARTS = ("Terms", "", "Facts")
"""In the order of dropping: where the facts are, the rest is ours."""


@dataclass(frozen=True, slots=True)
class IrisTable:
    """Where an index is."""

    name: str
    """With the schema."""
    dimension: int


def find(work: IrisTransaction, index: str) -> IrisTable:
    """The index's table; `NotFoundError` when it was not created."""
    found = _find(work, index)
    if found is None:
        raise unknown_index(index)
    return found


def known(work: IrisTransaction, index: str) -> bool:
    """Whether the index was created."""
    return _find(work, index) is not None


def create(work: IrisTransaction, spec: IndexSpec, kind: str) -> IrisTable:
    """Make the tables, or check that they are of the same dimension; `kind` is the keyword of the vectors' type."""
    if not _exists(work, _LIST):
        work.run(QUERIES["make_index_list"])
    found = _find(work, spec.name)
    if found is not None:
        check_dimension(spec, found.dimension)
        return found
    table = _free_name(work, spec.name)
    _drop_parts(work, table)
    for statement in statements(f"{SCHEMA}.{table}", table, spec.dimension, kind):
        work.run(statement)
    work.run(QUERIES["enter_index"], [digest(spec.name), spec.name[:1000], table, spec.dimension])
    return IrisTable(f"{SCHEMA}.{table}", spec.dimension)


def drop(work: IrisTransaction, index: str) -> None:
    """Remove the tables. Unknown names are ignored."""
    found = _find(work, index)
    if found is not None:
        work.run(QUERIES["forget_index"], [digest(index)])
        _drop_parts(work, found.name.partition(".")[2])


def statements(table: str, name: str, dimension: int, kind: str) -> Sequence[str]:
    """What makes the tables of an index."""
    return (
        filled(QUERIES["make_facts"], table=table),
        filled(QUERIES["index_facts_by_value"], name=name, table=table),
        filled(QUERIES["index_facts_by_document"], name=name, table=table),
        filled(QUERIES["make_terms"], table=table),
        filled(QUERIES["index_terms_by_term"], name=name, table=table),
        filled(QUERIES["index_terms_by_document"], name=name, table=table),
        filled(QUERIES["make_documents"], table=table, type=kind, dimension=str(int(dimension))),
    )


def index_vectors(work: IrisTransaction, table: IrisTable) -> None:
    """Make the index of the design (Q-08). The driver's error where the server has no such index."""
    own = table.name.partition(".")[2]
    name = EMBEDDING_INDEX if own == FIRST else f"{EMBEDDING_INDEX}_{own.removeprefix(FIRST)}"
    work.run(filled(QUERIES["index_embedding"], name=name, table=table.name))


def _find(work: IrisTransaction, index: str) -> IrisTable | None:
    if not _exists(work, _LIST):
        return None
    rows = work.rows(QUERIES["find_index"], [digest(index)])
    return IrisTable(f"{SCHEMA}.{rows[0][0]}", int(rows[0][1])) if rows else None


def _free_name(work: IrisTransaction, index: str) -> str:
    taken = int(work.rows(QUERIES["table_is_taken"], [FIRST])[0][0]) > 0
    foreign = _exists(work, FIRST) and not _exists(work, f"{FIRST}Facts")
    return f"{FIRST}{digest(index)[:16]}" if taken or foreign else FIRST


def _drop_parts(work: IrisTransaction, table: str) -> None:
    for part in _PARTS:
        if _exists(work, f"{table}{part}"):
            work.run(filled(QUERIES["drop_table"], table=f"{SCHEMA}.{table}{part}"))


def _exists(work: IrisTransaction, table: str) -> bool:
    return int(work.rows(QUERIES["table_exists"], [SCHEMA, table])[0][0]) > 0
