"""Typed relations on the way out: which a question asks for, and the passages they lead to (D-22)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kedge.core.values import Predicate, Scope, Triple
from kedge.retrieve.channels.pool import ConceptGraph, ConceptNode, Traversal
from kedge.stores.graph.reads import CanReadTriples

MOST = 64
"""Triples that are followed, the surest first."""
_ASKED = {
    Predicate.PREREQUISITE: r"\bbefore\b|prerequisit|\b(?:need|must|should|have to)\b.*\bknow|\brequire|\bpresuppos",
    Predicate.COMPARED_TO: r"\bcompar|\bdiffer|\bversus\b|\bvs\b|\b(?:better|worse|faster|slower)\b.*\bthan\b",
    Predicate.PART_OF: r"\bparts?\b|\bbelong|\bconsist|\bcompon|\bcontain|\binclude",
    Predicate.EXAMPLE_OF: r"\bexamples?\b|\binstances?\b|\b(?:kinds?|types?|sort) of\b",
    Predicate.IMPLEMENTS: r"\bimplement",
    Predicate.USES: r"\buse[sd]?\b|\busing\b|\brel(?:y|ies) on\b|\bbased on\b",
    Predicate.RELATED_TO: r"\brelat|\bsimilar|\bequivalent|\bconnect",
}
_LOOSE = 0.3
"""What is left where the words that ask for a relation ("use", "part") stand in many questions that ask for something
else; prerequisites and comparisons are asked for in words of their own."""
_OWN_WORDS = (Predicate.PREREQUISITE, Predicate.COMPARED_TO)
_PATTERNS = {predicate: re.compile(pattern, re.IGNORECASE) for predicate, pattern in _ASKED.items()}


@dataclass(frozen=True, slots=True)
class Lead:
    """A passage that something other than a mention leads to."""

    passage_id: str
    weight: float
    path: tuple[str, ...] = ()
    """Names of concepts and the relation between them."""


def asked_for(text: str) -> set[Predicate]:
    """The relations that a question asks for.

    >>> sorted(asked_for("What must I know before Dijkstra's algorithm?"))
    [<Predicate.PREREQUISITE: 'PREREQUISITE'>]
    """
    return {predicate for predicate, pattern in _PATTERNS.items() if pattern.search(text)}


async def relations_of(
    graph: ConceptGraph, scope: Scope, text: str, concepts: Mapping[str, ConceptNode], how: Traversal
) -> list[Lead]:
    """Passages that state a relation of these concepts, and those about its other end.

    A comparison that is asked for must be between two of the concepts, where two are named. What must be known before
    something is the object of its PREREQUISITE.
    """
    if not concepts or not isinstance(graph, CanReadTriples):
        return []
    found = (await graph.triples_of(scope, list(concepts)))[:MOST]
    if not found:
        return []
    named = {node.key: node for node in concepts.values()}
    others = {key for triple in found for key in (triple.subject, triple.object)} - named.keys()
    known = {node.key: node for node in await graph.concepts_by_key(scope, sorted(others))} | named
    asked = asked_for(text)
    leads: list[Lead] = []
    ends: dict[str, tuple[Triple, float]] = {}
    for triple in found:
        weight = how.relation
        if _fits(triple, asked, named):
            weight = how.asked_relation * (1.0 if triple.predicate in _OWN_WORDS else _LOOSE)
        weight *= triple.confidence
        leads.append(Lead(triple.passage_id, weight, _path(triple, named, known)))
        other = triple.object if triple.subject in named else triple.subject
        if other in known and other not in named:
            ends.setdefault(known[other].id, (triple, weight / 2))
    for edge in await graph.about(scope, list(ends)) if ends else []:
        triple, weight = ends[edge.concept_id]
        leads.append(Lead(edge.passage_id, weight, _path(triple, named, known)))
    return leads


def _fits(triple: Triple, asked: set[Predicate], named: Mapping[str, ConceptNode]) -> bool:
    if triple.predicate not in asked:
        return False
    if triple.predicate is Predicate.COMPARED_TO:
        return len(named) < 2 or {triple.subject, triple.object} <= named.keys()
    return triple.predicate is not Predicate.PREREQUISITE or triple.subject in named


def _path(triple: Triple, named: Mapping[str, ConceptNode], known: Mapping[str, ConceptNode]) -> tuple[str, ...]:
    """From the named end to the other: name, relation, name."""
    ends: Sequence[str] = (triple.subject, triple.object)
    start, end = ends if triple.subject in named else tuple(reversed(ends))
    return (known[start].name, triple.predicate.value, known[end].name if end in known else end)
