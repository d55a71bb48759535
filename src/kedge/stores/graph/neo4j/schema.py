"""Constraints and indexes of the graph (D-05, D-06, D-08): made on first use, safe with several processes at once.

Names are unique within a collection, so every constraint starts with tenant and collection; `Concept.id` is made of
all three. A text that stands twice in a collection has the same hash twice, so the hash is indexed and not unique.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from neo4j.exceptions import Neo4jError

from kedge.core.errors import StoreError
from kedge.core.values import MentionKind, Predicate
from kedge.stores.queries import filled, load_queries

CONCEPT_WORDS = "conceptNameIndex"
CHUNK_WORDS = "chunkPreviewIndex"
MENTIONS = "|".join(MentionKind)
"""Types of the edges from a chunk to a concept."""
PREDICATES = "|".join(Predicate)
"""Types of the edges between concepts."""
CYPHER = load_queries(__package__, "schema.cypher")
AWAIT_SECONDS = 300
TRIES = 5
_MAKE = {
    "unique": CYPHER["make_unique"],
    "range": CYPHER["make_range"],
    "edge": CYPHER["make_edge"],
    "words": CYPHER["make_words"],
}

Ask = Callable[[str, Mapping[str, Any]], Awaitable[list[list[Any]]]]
"""Runs one statement by itself and returns its rows."""


@dataclass(frozen=True, slots=True)
class Rule:
    """A constraint or an index, by the name the server knows it under."""

    name: str
    kind: Literal["unique", "range", "edge", "words"]
    of: str
    """Node label, or edge type of kind `edge`."""
    fields: tuple[str, ...]

    @property
    def statement(self) -> str:
        """The Cypher that makes it unless it is there."""
        listed = ", ".join(f"n.{field}" for field in self.fields)
        return filled(_MAKE[self.kind], name=self.name, of=self.of, fields=listed)


_SCOPE = ("tenant", "collection")
RULES = (
    Rule("concept_name_unique", "unique", "Concept", (*_SCOPE, "key")),
    Rule("concept_id_unique", "unique", "Concept", ("id",)),
    Rule("title_id_unique", "unique", "Title", (*_SCOPE, "id")),
    Rule("document_url_unique", "unique", "Document", (*_SCOPE, "url")),
    Rule("document_id_unique", "unique", "Document", (*_SCOPE, "document_id")),
    Rule("chunk_id_unique", "unique", "Chunk", (*_SCOPE, "chunk_id")),
    Rule("collection_unique", "unique", "Collection", _SCOPE),
    Rule("user_node_unique", "unique", "UserNode", (*_SCOPE, "id")),
    Rule("user_name_unique", "unique", "UserName", (*_SCOPE, "key")),
    Rule("user_edge_key", "edge", "RELATES", ("key",)),
    Rule("chunk_hash", "range", "Chunk", (*_SCOPE, "hash")),
    Rule("chunk_document", "range", "Chunk", (*_SCOPE, "document_id")),
    *(Rule(f"{each.lower()}_passage", "edge", each, ("passage_id",)) for each in Predicate),
    Rule(CONCEPT_WORDS, "words", "Concept", ("scope", "name_terms", "alias_terms", "description_terms")),
    Rule(CHUNK_WORDS, "words", "Chunk", ("scope", "preview_terms")),
)


async def prepare(ask: Ask) -> None:
    """Make what is missing and wait until it can be used. StoreError if the database has another use for a name."""
    for _ in range(TRIES):
        there = await _there(ask)
        if all(there.get(rule.name) == "ONLINE" for rule in RULES):
            return
        for rule in RULES:
            if rule.name not in there:
                await _make(ask, rule)
        await ask(CYPHER["await_indexes"], {"seconds": AWAIT_SECONDS})
    raise StoreError("Constraints and indexes of the graph could not be made.", hint="See SHOW INDEXES in Neo4j.")


async def _make(ask: Ask, rule: Rule) -> None:
    try:
        await ask(rule.statement, {})
    except Neo4jError as error:
        # Another process makes it at this moment; the next look finds it.
        if "AlreadyExists" not in (error.code or ""):
            raise


async def _there(ask: Ask) -> dict[str, str]:
    found = {name: (labels, fields, state) for name, labels, fields, state in await ask(CYPHER["show_indexes"], {})}
    for rule in RULES:
        labels, fields, _ = found.get(rule.name, ([rule.of], list(rule.fields), ""))
        if (labels, fields) != ([rule.of], list(rule.fields)):
            raise StoreError(
                f"The Neo4j database has an index {rule.name!r} of its own, over {labels} {fields}.",
                hint="Give Kedge a database of its own in the graph URL.",
            )
    return {name: state for name, (_, _, state) in found.items()}
