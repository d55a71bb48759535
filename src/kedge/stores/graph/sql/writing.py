"""Adding a batch to the graph. Writing it twice changes nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Select, Table, bindparam, delete, insert, select, update

from kedge.core.ids import concept_id
from kedge.core.values import Concept, GraphBatch, GraphChunk, GraphDocument, PassageConcept, Scope, Triple
from kedge.stores.batches import batches
from kedge.stores.catalog.sql.database import insert_rows, upsert
from kedge.stores.catalog.sql.schema_graph import (
    concept_aliases,
    concepts,
    graph_chunks,
    graph_documents,
    graph_mentions,
    graph_title_keys,
    passage_concepts,
    triples,
)
from kedge.stores.graph.concepts import chunk_fields, described, document_fields, merged
from kedge.stores.graph.sql import fulltext

Numbers = Mapping[str, int]
"""Key of a concept (or id of a document, of a passage) → its number in the database."""


def write(connection: Connection, scope: Scope, batch: GraphBatch) -> None:
    """Add the batch, in the order in which rows refer to each other."""
    numbers = _write_concepts(connection, scope, batch)
    _write_documents(connection, scope, batch.documents, numbers)
    _write_chunks(connection, scope, batch.chunks)
    _write_mentions(connection, batch.mentions, numbers)
    _write_triples(connection, batch.triples, numbers)


def within(table: Table, scope: Scope) -> ColumnElement[bool]:
    """Rows of this scope."""
    return (table.c.tenant == scope.tenant) & (table.c.collection == scope.collection)


# ---------------------------------------------------------------- concepts


def _write_concepts(connection: Connection, scope: Scope, batch: GraphBatch) -> Numbers:
    wanted = described(batch)
    place = {"tenant": scope.tenant, "collection": scope.collection}
    known = _loaded(connection, _BY_KEY, place, wanted)
    numbers = {concept.key: seq for seq, concept in known.items()}
    changed = [
        (seq, concept, after)
        for seq, concept in known.items()
        if (after := merged(concept, wanted[concept.key])) != concept
    ]
    _update(connection, changed)
    new = [concept for key, concept in wanted.items() if key not in numbers]
    numbers |= _insert(connection, scope, new)
    _add_aliases(connection, [(numbers[concept.key], 0, concept.aliases) for concept in new])
    _add_aliases(connection, [(seq, len(old.aliases), now.aliases[len(old.aliases) :]) for seq, old, now in changed])
    fresh = [(numbers[concept.key], concept) for concept in new]
    fulltext.of(connection).index_concepts(connection, fresh + [(seq, after) for seq, _, after in changed])
    return numbers


_FIELDS = [concepts.c[name] for name in ("seq", "key", "name", "description", "category", "difficulty", "tags")]
_BY_KEY = select(*_FIELDS).where(
    concepts.c.tenant == bindparam("tenant"),
    concepts.c.collection == bindparam("collection"),
    concepts.c.key.in_(bindparam("some", expanding=True)),
)
_BY_SEQ = select(*_FIELDS).where(concepts.c.seq.in_(bindparam("some", expanding=True)))
_ALIASES = (
    select(concept_aliases.c.concept_seq, concept_aliases.c.alias)
    .where(concept_aliases.c.concept_seq.in_(bindparam("seqs", expanding=True)))
    .order_by(*concept_aliases.primary_key)
)


def load_concepts(connection: Connection, seqs: Iterable[int]) -> dict[int, Concept]:
    """Concepts by number."""
    return _loaded(connection, _BY_SEQ, {}, seqs)


def _loaded(
    connection: Connection, statement: Select[Any], values: Mapping[str, str], some: Iterable[object]
) -> dict[int, Concept]:
    """Concepts by number, that the statement finds by some values."""
    found: dict[int, Concept] = {}
    for part in batches(some):
        for seq, key, name, description, category, difficulty, tags in connection.execute(
            statement, {**values, "some": part}
        ):
            found[seq] = Concept(key, name, (), description, category, difficulty, tuple(tags))
    aliases: dict[int, list[str]] = {}
    for seqs in batches(found):
        for seq, alias in connection.execute(_ALIASES, {"seqs": seqs}):
            aliases.setdefault(seq, []).append(alias)
    return {seq: replace(concept, aliases=tuple(aliases.get(seq, ()))) for seq, concept in found.items()}


def _insert(connection: Connection, scope: Scope, new: Sequence[Concept]) -> dict[str, int]:
    if not new:
        return {}
    now = datetime.now(UTC)
    rows = [
        {
            "id": concept_id(scope, concept.key),
            "tenant": scope.tenant,
            "collection": scope.collection,
            "key": concept.key,
            "name": concept.name,
            **_details(concept),
            "created_at": now,
            "updated_at": now,
        }
        for concept in new
    ]
    insert_rows(connection, concepts, insert(concepts), rows)
    return numbered(connection, concepts, concepts.c.key, scope, [concept.key for concept in new])


def _details(concept: Concept) -> dict[str, Any]:
    return {
        "description": concept.description,
        "category": concept.category,
        "difficulty": concept.difficulty,
        "tags": list(concept.tags),
    }


def _update(connection: Connection, changed: Sequence[tuple[int, Concept, Concept]]) -> None:
    now = datetime.now(UTC)
    for seq, _, after in changed:
        values = {**_details(after), "updated_at": now}
        connection.execute(update(concepts).where(concepts.c.seq == seq).values(values))


def _add_aliases(connection: Connection, added: Iterable[tuple[int, int, Sequence[str]]]) -> None:
    rows = [
        {"concept_seq": seq, "position": first + offset, "alias": alias}
        for seq, first, aliases in added
        for offset, alias in enumerate(aliases)
    ]
    if rows:
        connection.execute(insert(concept_aliases), rows)


def numbered(
    connection: Connection, table: Table, column: ColumnElement[str], scope: Scope, values: Iterable[str]
) -> dict[str, int]:
    """Value of `column` → number of its row, within the scope."""
    found: dict[str, int] = {}
    for some in batches(values):
        rows = connection.execute(select(column, table.c.seq).where(within(table, scope), column.in_(some)))
        found.update((row[0], row[1]) for row in rows)
    return found


# ---------------------------------------------------------------- documents and chunks


def _write_documents(
    connection: Connection, scope: Scope, documents: Sequence[GraphDocument], concept_numbers: Numbers
) -> None:
    """A document that was there gets new fields, title keys and mentions in place of the old."""
    latest = {document.document_id: document for document in documents}
    rows = [_document_row(scope, document) for document in latest.values()]
    changing = ("url", "title", "format", "author", "chunk_count", "status", "ingested_at")
    upsert(connection, graph_documents, rows, changing, ("tenant", "collection", "document_id"))
    numbers = numbered(connection, graph_documents, graph_documents.c.document_id, scope, latest)
    for seqs in batches(numbers.values()):
        connection.execute(delete(graph_title_keys).where(graph_title_keys.c.document_seq.in_(seqs)))
        connection.execute(delete(graph_mentions).where(graph_mentions.c.document_seq.in_(seqs)))
    upsert(connection, graph_title_keys, list(_title_keys(scope, latest.values(), numbers)), ())
    mentions = [
        {
            "document_seq": numbers[document.document_id],
            "concept_seq": concept_numbers[key],
            "frequency": frequency,
            "relevance": relevance,
        }
        for document in latest.values()
        for key, frequency, relevance in document.mentions
    ]
    upsert(connection, graph_mentions, mentions, ("frequency", "relevance"))


def mark_documents(connection: Connection, scope: Scope, document_ids: Sequence[str], status: str) -> None:
    """Set the status of these documents."""
    for ids in batches(dict.fromkeys(document_ids)):
        chosen = (within(graph_documents, scope), graph_documents.c.document_id.in_(ids))
        connection.execute(update(graph_documents).where(*chosen).values(status=status))


def _document_row(scope: Scope, document: GraphDocument) -> dict[str, Any]:
    return {
        "tenant": scope.tenant,
        "collection": scope.collection,
        "document_id": document.document_id,
        **document_fields(document, datetime.now(UTC)),
    }


def _title_keys(scope: Scope, documents: Iterable[GraphDocument], numbers: Numbers) -> Iterable[dict[str, Any]]:
    for document in documents:
        for key in document.title_keys:
            yield {
                "tenant": scope.tenant,
                "collection": scope.collection,
                "key": key,
                "document_seq": numbers[document.document_id],
            }


def _write_chunks(connection: Connection, scope: Scope, chunks: Sequence[GraphChunk]) -> None:
    latest = {chunk.passage_id: chunk for chunk in chunks}
    rows = [_chunk_row(scope, chunk) for chunk in latest.values()]
    identity = ("tenant", "collection", "passage_id")
    changing = [name for name in (rows[0] if rows else ()) if name not in identity]
    upsert(connection, graph_chunks, rows, changing, identity)
    numbers = numbered(connection, graph_chunks, graph_chunks.c.passage_id, scope, latest)
    fulltext.of(connection).index_chunks(
        connection, ((seq, latest[passage].preview) for passage, seq in numbers.items())
    )


def _chunk_row(scope: Scope, chunk: GraphChunk) -> dict[str, Any]:
    return {
        "tenant": scope.tenant,
        "collection": scope.collection,
        "passage_id": chunk.passage_id,
        **chunk_fields(chunk),
        "next_passage_id": chunk.next_passage_id,
    }


# ---------------------------------------------------------------- edges


def _write_mentions(connection: Connection, mentions: Sequence[PassageConcept], numbers: Numbers) -> None:
    rows: list[dict[str, Any]] = [
        {
            "passage_id": mention.passage_id,
            "concept_seq": numbers[mention.concept_key],
            "kind": mention.kind.value,
            "frequency": mention.frequency,
            "role": mention.role.place,
        }
        for mention in mentions
    ]
    pairs = {(row["passage_id"], row["concept_seq"]) for row in rows}
    new = pairs - _held(connection, dict.fromkeys(mention.passage_id for mention in mentions))
    upsert(connection, passage_concepts, rows, ("frequency", "role"))
    change_degrees(connection, Counter(seq for _, seq in new))


def _held(connection: Connection, passage_ids: Iterable[str]) -> set[tuple[str, int]]:
    found: set[tuple[str, int]] = set()
    columns = passage_concepts.c.passage_id, passage_concepts.c.concept_seq
    for ids in batches(passage_ids):
        rows = connection.execute(select(*columns).where(passage_concepts.c.passage_id.in_(ids)))
        found.update((row[0], row[1]) for row in rows)
    return found


_CHANGE = (
    update(concepts).where(concepts.c.seq == bindparam("of")).values(degree=concepts.c.degree + bindparam("change"))
)


def change_degrees(connection: Connection, changes: Mapping[int, int]) -> None:
    """Add to the number of passages that mention each concept."""
    rows = [{"of": seq, "change": change} for seq, change in changes.items() if change]
    if rows:
        connection.execute(_CHANGE, rows)


def _write_triples(connection: Connection, found: Sequence[Triple], numbers: Numbers) -> None:
    rows = [
        {
            "passage_id": triple.passage_id,
            "subject_seq": numbers[triple.subject],
            "predicate": str(triple.predicate),
            "object_seq": numbers[triple.object],
            "confidence": triple.confidence,
            "comparison": triple.comparison,
            "use_case": triple.use_case,
        }
        for triple in found
    ]
    upsert(connection, triples, rows, ("confidence", "comparison", "use_case"))
