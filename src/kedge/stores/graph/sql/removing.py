"""Taking passages, documents or whole scopes out of the graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from sqlalchemy import Connection, and_, bindparam, delete, exists, select, update

from kedge.core.values import Scope
from kedge.stores.batches import batches
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
from kedge.stores.graph.sql import fulltext
from kedge.stores.graph.sql.writing import change_degrees, numbered, within


def remove(connection: Connection, scope: Scope, passage_ids: Sequence[str], document_ids: Sequence[str]) -> None:
    """Remove these, their edges, and the concepts that were named by them alone."""
    touched: set[int] = set()
    for passages in batches(dict.fromkeys(passage_ids)):
        touched |= _remove_mentions(connection, scope, passages)
        touched |= _remove_triples(connection, scope, passages)
        _remove_chunks(connection, scope, passages)
    for documents in batches(dict.fromkeys(document_ids)):
        touched |= _remove_documents(connection, scope, documents)
    _remove_orphans(connection, touched)


def _remove_mentions(connection: Connection, scope: Scope, passage_ids: list[str]) -> set[int]:
    columns = passage_concepts.c.passage_id, passage_concepts.c.concept_seq
    these = select(*columns).distinct().where(passage_concepts.c.passage_id.in_(passage_ids))
    pairs = [(row[0], row[1]) for row in connection.execute(these)]
    mine = _of_scope(connection, scope, {seq for _, seq in pairs})
    gone = [{"passage": passage, "seq": seq} for passage, seq in pairs if seq in mine]
    if gone:
        connection.execute(_CUT_MENTION, gone)
    lost = Counter(seq for _, seq in pairs if seq in mine)
    change_degrees(connection, {seq: -count for seq, count in lost.items()})
    return mine


def _remove_triples(connection: Connection, scope: Scope, passage_ids: list[str]) -> set[int]:
    columns = triples.c.passage_id, triples.c.subject_seq, triples.c.object_seq
    rows = connection.execute(select(*columns).where(triples.c.passage_id.in_(passage_ids))).all()
    mine = _of_scope(connection, scope, {seq for row in rows for seq in row[1:]})
    gone = [{"passage": row.passage_id, "seq": row.subject_seq} for row in rows if row.subject_seq in mine]
    if gone:
        connection.execute(_CUT_TRIPLE, gone)
    return mine


# One by one: two lists of ids in one condition would be tried in all combinations.
_CUT_MENTION = delete(passage_concepts).where(
    passage_concepts.c.passage_id == bindparam("passage"), passage_concepts.c.concept_seq == bindparam("seq")
)
_CUT_TRIPLE = delete(triples).where(
    triples.c.passage_id == bindparam("passage"), triples.c.subject_seq == bindparam("seq")
)


def _of_scope(connection: Connection, scope: Scope, numbers: Iterable[int]) -> set[int]:
    """Those of the concepts that belong to the scope; asked for by number, which no index over scopes can divert."""
    found: set[int] = set()
    for seqs in batches(numbers):
        rows = select(concepts.c.seq, concepts.c.tenant, concepts.c.collection).where(concepts.c.seq.in_(seqs))
        found |= {row.seq for row in connection.execute(rows) if Scope(row.tenant, row.collection) == scope}
    return found


def _remove_chunks(connection: Connection, scope: Scope, passage_ids: list[str]) -> None:
    these = within(graph_chunks, scope) & graph_chunks.c.passage_id.in_(passage_ids)
    documents = list(connection.execute(select(graph_chunks.c.document_id).distinct().where(these)).scalars())
    numbers = numbered(connection, graph_chunks, graph_chunks.c.passage_id, scope, passage_ids)
    fulltext.of(connection).forget_chunks(connection, numbers.values())
    connection.execute(delete(graph_chunks).where(these))
    before = within(graph_chunks, scope) & graph_chunks.c.document_id.in_(documents)
    pointing = before & graph_chunks.c.next_passage_id.in_(passage_ids)
    connection.execute(update(graph_chunks).where(pointing).values(next_passage_id=None))


def _remove_documents(connection: Connection, scope: Scope, document_ids: list[str]) -> set[int]:
    numbers = numbered(connection, graph_documents, graph_documents.c.document_id, scope, document_ids)
    seqs = list(numbers.values())
    keys = select(graph_title_keys.c.key).where(graph_title_keys.c.document_seq.in_(seqs))
    titled = select(concepts.c.seq).where(within(concepts, scope), concepts.c.key.in_(keys))
    touched = set(connection.execute(titled).scalars())
    mentioned = select(graph_mentions.c.concept_seq).where(graph_mentions.c.document_seq.in_(seqs))
    touched |= set(connection.execute(mentioned).scalars())
    connection.execute(delete(graph_title_keys).where(graph_title_keys.c.document_seq.in_(seqs)))
    connection.execute(delete(graph_mentions).where(graph_mentions.c.document_seq.in_(seqs)))
    connection.execute(delete(graph_documents).where(graph_documents.c.seq.in_(seqs)))
    return touched


def _remove_orphans(connection: Connection, touched: Iterable[int]) -> None:
    """Remove those of the concepts that no passage, document, title or triple names."""
    this = concepts.c.seq
    named = [
        exists().where(passage_concepts.c.concept_seq == this),
        exists().where(graph_mentions.c.concept_seq == this),
        exists().where(triples.c.subject_seq == this),
        exists().where(triples.c.object_seq == this),
        exists().where(
            graph_title_keys.c.tenant == concepts.c.tenant,
            graph_title_keys.c.collection == concepts.c.collection,
            graph_title_keys.c.key == concepts.c.key,
        ),
    ]
    for seqs in batches(touched):
        orphans = select(this).where(this.in_(seqs), and_(*(~clause for clause in named)))
        gone = list(connection.execute(orphans).scalars())
        fulltext.of(connection).forget_concepts(connection, gone)
        connection.execute(delete(concept_aliases).where(concept_aliases.c.concept_seq.in_(gone)))
        connection.execute(delete(concepts).where(this.in_(gone)))


def drop(connection: Connection, scope: Scope) -> None:
    """Remove everything of the scope."""
    of_concepts = select(concepts.c.seq).where(within(concepts, scope))
    of_documents = select(graph_documents.c.seq).where(within(graph_documents, scope))
    of_chunks = select(graph_chunks.c.seq).where(within(graph_chunks, scope))
    fulltext.of(connection).forget_concepts(connection, list(connection.execute(of_concepts).scalars()))
    fulltext.of(connection).forget_chunks(connection, list(connection.execute(of_chunks).scalars()))
    connection.execute(delete(triples).where(triples.c.subject_seq.in_(of_concepts)))
    connection.execute(delete(passage_concepts).where(passage_concepts.c.concept_seq.in_(of_concepts)))
    connection.execute(delete(concept_aliases).where(concept_aliases.c.concept_seq.in_(of_concepts)))
    connection.execute(delete(graph_mentions).where(graph_mentions.c.document_seq.in_(of_documents)))
    connection.execute(delete(graph_title_keys).where(graph_title_keys.c.document_seq.in_(of_documents)))
    for table in (concepts, graph_documents, graph_chunks):
        connection.execute(delete(table).where(within(table, scope)))
