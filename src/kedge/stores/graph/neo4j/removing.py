"""Taking passages, documents or whole scopes out of the graph."""

from __future__ import annotations

from collections.abc import Sequence

from kedge.core.values import Predicate
from kedge.stores.graph.neo4j.connection import Neo4jTransaction
from kedge.stores.graph.neo4j.schema import MENTIONS
from kedge.stores.graph.neo4j.writing import ROWS
from kedge.stores.queries import filled, load_queries

CYPHER = load_queries(__package__, "concepts.cypher")
NODES = 5000
"""Nodes per transaction when a scope is dropped."""
_REMOVE_CHUNKS = filled(CYPHER["remove_chunks"], mentions=MENTIONS)
_SAID = " UNION ALL ".join(filled(CYPHER["said_by_passage"], predicate=predicate) for predicate in Predicate)
_REMOVE_TRIPLES = filled(CYPHER["remove_triples"], said=_SAID)


async def remove(transaction: Neo4jTransaction, passage_ids: Sequence[str], document_ids: Sequence[str]) -> None:
    """Remove these, their edges, and the concepts that were named by them alone."""
    touched: set[str] = set()
    for statement, ids in (
        (_REMOVE_CHUNKS, passage_ids),
        (_REMOVE_TRIPLES, passage_ids),
        (CYPHER["remove_documents"], document_ids),
    ):
        touched |= {row[0] for row in await transaction.run_over(statement, dict.fromkeys(ids), ROWS)}
    for statement in (CYPHER["forget_titles"], CYPHER["remove_concepts"]):
        await transaction.run_over(statement, sorted(touched), ROWS)


async def drop_some(transaction: Neo4jTransaction) -> bool:
    """Remove as much of the scope as fits in one transaction; False when nothing is left."""
    steps = (CYPHER["drop_chunks"], CYPHER["drop_documents"], CYPHER["drop_titles"], CYPHER["drop_concepts"])
    if await run_until_full(transaction, steps):
        return True
    await transaction.run(CYPHER["drop_collection"])
    return False


async def run_until_full(transaction: Neo4jTransaction, steps: Sequence[str]) -> bool:
    """Run statements that each remove at most `$limit` nodes and count them; True when one came to that limit."""
    for statement in steps:
        ((count,),) = await transaction.run(statement, limit=NODES)
        if count == NODES:
            return True
    return False
