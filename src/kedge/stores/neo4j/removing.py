"""Taking passages, documents or whole scopes out of the graph."""

from __future__ import annotations

from collections.abc import Sequence

from kedge.stores.neo4j import patterns as find
from kedge.stores.neo4j.connection import Transaction
from kedge.stores.neo4j.patterns import MENTIONS, SCOPE
from kedge.stores.neo4j.writing import FORGET_TITLES, in_parts
from kedge.types import Predicate

NODES = 5000
"""Nodes per transaction when a scope is dropped."""
_WITHIN = "{0}.tenant = $tenant AND {0}.collection = $collection"

# Each returns the ids of the concepts that may be named by nothing now.
_REMOVE_CHUNKS = f"""
UNWIND $rows AS id
{find.chunk("p", "id")}
OPTIONAL MATCH (p)-[:{MENTIONS}]->(c:Concept)
WITH p, collect(DISTINCT c) AS concepts
FOREACH (c IN concepts | SET c.degree = c.degree - 1)
DETACH DELETE p
WITH concepts UNWIND concepts AS c
RETURN DISTINCT c.id
"""
_SAID_BY = " UNION ALL ".join(
    f"WITH id MATCH (s:Concept)-[t:{predicate} {{passage_id: id}}]->(o:Concept) "
    f"USING INDEX SEEK t:{predicate}(passage_id) WHERE {_WITHIN.format('s')} RETURN t, s.id AS subject, o.id AS object"
    for predicate in Predicate
)
_REMOVE_TRIPLES = f"""
UNWIND $rows AS id
CALL {{ {_SAID_BY} }}
DELETE t
WITH subject, object UNWIND [subject, object] AS concept
RETURN DISTINCT concept
"""
_REMOVE_DOCUMENTS = f"""
UNWIND $rows AS id
{find.document("d", "id")}
OPTIONAL MATCH (d)-[:MENTIONS|TITLED]->(named)
WITH d, collect(named.id) AS concepts
DETACH DELETE d
WITH concepts UNWIND concepts AS concept
RETURN DISTINCT concept
"""
_REMOVE_CONCEPTS = f"""
UNWIND $rows AS id
{find.concept("c", "id")} WHERE NOT EXISTS {{ (c)--() }}
OPTIONAL {find.title("t", "id")}
WITH c, t WHERE t IS NULL
DELETE c
"""


async def remove(transaction: Transaction, passage_ids: Sequence[str], document_ids: Sequence[str]) -> None:
    """Remove these, their edges, and the concepts that were named by them alone."""
    touched: set[str] = set()
    for statement, ids in (
        (_REMOVE_CHUNKS, passage_ids),
        (_REMOVE_TRIPLES, passage_ids),
        (_REMOVE_DOCUMENTS, document_ids),
    ):
        touched |= {row[0] for row in await in_parts(transaction, statement, dict.fromkeys(ids))}
    await in_parts(transaction, FORGET_TITLES, sorted(touched))
    await in_parts(transaction, _REMOVE_CONCEPTS, sorted(touched))


# The last condition lets the index over all three answer.
_DROP = tuple(
    f"MATCH (n:{label}) WHERE {_WITHIN.format('n')} AND n.{last} IS NOT NULL "
    "WITH n LIMIT $limit DETACH DELETE n RETURN count(*)"
    for label, last in (("Chunk", "chunk_id"), ("Document", "document_id"), ("Title", "id"), ("Concept", "key"))
)
_DROP_COLLECTION = f"MATCH (n:Collection {{{SCOPE}}}) DELETE n"


async def drop_some(transaction: Transaction) -> bool:
    """Remove as much of the scope as fits in one transaction; False when nothing is left."""
    for statement in _DROP:
        ((count,),) = await transaction.run(statement, limit=NODES)
        if count == NODES:
            return True
    await transaction.run(_DROP_COLLECTION)
    return False
