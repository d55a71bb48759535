"""Traversal over a small graph of real shape."""

from __future__ import annotations

import asyncio
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from kedge.core.values import Concept, Scope
from kedge.retrieve.channels.graph import search_graph
from kedge.retrieve.channels.pool import GraphResult, PassageFeatures, Traversal, TraversalQuestion, weigh_question
from kedge.retrieve.fuse import add_bonus
from kedge.text.analyze import SparseTerms, terms
from kedge.text.concepts import Role, discussed, title_aliases

SCOPE = Scope("default", "tests")
DOCUMENTS = {
    "Changed It": "Changed It is a song performed by Nicki Minaj and Lil Wayne, released by a label.",
    "Nicki Minaj": "Nicki Minaj is a rapper. Her place of birth is Port of Spain.",
    "Lil Wayne": "Lil Wayne is a rapper who lives in Miami.",
    "Port of Spain": "Port of Spain is a city with a large harbour.",
    "Song forms": "The place of a song in a film, and the birth of the performer as a star.",
    "Weather": "It rains.",
}


@dataclass(frozen=True)
class Node:
    id: str
    key: str
    name: str
    degree: int


@dataclass(frozen=True)
class Edge:
    passage_id: str
    concept_id: str
    role: Role


class Memory:
    """The smallest graph and feature store; counts round trips. `Title#2` is a further passage of `Title`."""

    def __init__(self, documents: Mapping[str, str]) -> None:
        self.texts = documents
        self.titles: dict[str, list[str]] = {}
        for passage in documents:
            for key in title_aliases(passage.partition("#")[0]):
                self.titles.setdefault(key, []).append(passage)
        found = {title: discussed(text, lambda keys: set(keys) & set(self.titles)) for title, text in documents.items()}
        self.edges = [Edge(title, key, item.role) for title, items in found.items() for key, item in items.items()]
        self.calls = 0

    def node(self, key: str) -> Node:
        return Node(key, key, key, sum(edge.concept_id == key for edge in self.edges))

    async def concepts_by_key(self, scope: Scope, keys: Sequence[str]) -> list[Node]:
        self.calls += 1
        known = {edge.concept_id for edge in self.edges} | set(self.titles)
        return [self.node(key) for key in keys if key in known]

    async def concepts_of(self, scope: Scope, passage_ids: Sequence[str]) -> tuple[list[Node], list[Edge]]:
        self.calls += 1
        edges = [edge for edge in self.edges if edge.passage_id in passage_ids]
        return [self.node(key) for key in {edge.concept_id for edge in edges}], edges

    async def passages_of(self, scope: Scope, concept_ids: Sequence[str], limit: int) -> list[Edge]:
        self.calls += 1
        return [edge for edge in self.edges if edge.concept_id in concept_ids]

    async def about(self, scope: Scope, concept_ids: Sequence[str]) -> list[Edge]:
        return [Edge(passage, key, Role.TITLE) for key in concept_ids for passage in self.titles.get(key, ())]

    async def search_concepts(self, scope: Scope, text: str, limit: int) -> list[Concept]:
        return []

    async def features(self, scope: Scope, passage_ids: Sequence[str]) -> dict[str, PassageFeatures]:
        sparse = SparseTerms()
        texts = {passage: f"{passage} {self.texts[passage]}" for passage in passage_ids}
        return {passage: PassageFeatures(embed(text), sparse.term_weights(text)) for passage, text in texts.items()}


def embed(text: str) -> np.ndarray[tuple[int], np.dtype[np.float32]]:
    vector = np.full(64, 0.01, dtype=np.float32)
    for term in terms(text):
        vector[zlib.crc32(term.encode()) % 64] += 1
    return vector / np.float32(np.linalg.norm(vector))


def ask(
    question: str,
    base: Mapping[str, float],
    how: Traversal | None = None,
    documents: Mapping[str, str] = DOCUMENTS,
) -> tuple[GraphResult, int]:
    store = Memory(documents)
    idf = dict.fromkeys(SparseTerms().query_weights(question), 2.0)
    asked = TraversalQuestion(question, embed(question), weigh_question(question, SparseTerms(), idf))
    result = asyncio.run(search_graph(store, store, SCOPE, asked, base, how=how or Traversal()))
    return result, store.calls


QUESTION = "What is the place of birth of the performer of song Changed It?"


@pytest.mark.req("D-11")
def test_the_second_hop_is_found_and_explains_itself() -> None:
    result, _ = ask(QUESTION, {"Song forms": 2.0, "Changed It": 1.2, "Weather": 0.1})
    ranked = add_bonus(result.base, {hit.passage_id: hit.bonus for hit in result.hits})
    assert {passage for passage, _ in ranked[:2]} == {"Changed It", "Nicki Minaj"}
    paths = {hit.passage_id: hit.path for hit in result.hits}
    assert paths["Nicki Minaj"] == ("changed it", "Changed It", "nicki minaj", "Nicki Minaj")


@pytest.mark.req("D-11")
def test_round_trips_are_bounded() -> None:
    assert ask(QUESTION, {"Changed It": 2.0}, Traversal(hops=2))[1] <= 4
    assert ask(QUESTION, {"Changed It": 2.0}, Traversal(hops=3))[1] <= 6


def test_a_third_hop_reaches_further() -> None:
    near, far = (ask("Harbour of Changed It?", {}, Traversal(hops=hops))[0] for hops in (2, 3))
    assert "Port of Spain" not in {hit.passage_id for hit in near.hits}
    assert "Port of Spain" in {hit.passage_id for hit in far.hits}


def test_a_question_without_names_or_seeds_finds_nothing() -> None:
    result, _ = ask("why?", {})
    assert result.hits == ()


def test_hits_are_ordered_and_positive() -> None:
    hits = ask(QUESTION, {"Changed It": 2.0})[0].hits
    assert all(hit.bonus > 0 for hit in hits)
    assert [hit.bonus for hit in hits] == sorted((hit.bonus for hit in hits), reverse=True)
    assert all(hit.path[-1] == hit.passage_id for hit in hits)


HANDBOOK = {
    "Bowline": "## Uses on board\n\nThe Bowline forms a loop that does not slip. See Rope Materials and Old Sailors.",
    "Rope Materials": "Rope Materials are hemp and nylon. Nylon was invented in a laboratory.",
    "Old Sailors": "Old Sailors tell stories of the sea.",
}


@pytest.mark.req("D-11")
@pytest.mark.parametrize("question", ["Who ties the bowline?", "What is the loop of the Bowline for?"])
def test_what_a_document_links_does_not_outrank_it(question: str) -> None:
    result, _ = ask(question, {}, documents=HANDBOOK)
    ranked = add_bonus(result.base, {hit.passage_id: hit.bonus for hit in result.hits})
    assert ranked[0][0] == "Bowline"


def test_a_bridge_that_is_no_title_is_walked() -> None:
    documents = {
        "Green": "Green is an album by the guitarist Steve Hillage, released in spring.",
        "Miquette Giraudy": "The keyboard player is the partner of Steve Hillage in a band.",
        "Partner": "A partner is a spouse or a keyboard lover.",
        "Album": "An album is released in spring.",
    }
    result, _ = ask("Who is the partner of the performer of Green?", {"Partner": 2.0}, documents=documents)
    paths = {hit.passage_id: hit.path for hit in result.hits}
    assert paths["Miquette Giraudy"] == ("green", "Green", "steve hillage", "Miquette Giraudy")


def test_a_name_with_many_passages_says_little_about_each() -> None:
    few = {"Warsaw": "Warsaw lies on a river.", "Poland": "Poland is a country."}
    many = few | {f"Warsaw#{n}": f"Tram line {n} runs." for n in range(2, 18)}
    first, second = (
        next(hit.bonus for hit in ask("Which river is in Warsaw?", {}, documents=documents)[0].hits)
        for documents in (few, many)
    )
    assert second < first / 2


def test_a_statement_leads_on_less_than_a_question() -> None:
    base = {"Changed It": 2.0, "Weather": 0.1}
    texts = ("Which song is performed by a rapper?", "A song is performed by a rapper.")
    asked, said = (ask(text, base)[0] for text in texts)
    step = next(hit.bonus for hit in asked.hits if hit.passage_id == "Nicki Minaj")
    assert step > 2 * next(hit.bonus for hit in said.hits if hit.passage_id == "Nicki Minaj")


def test_a_passage_that_names_a_good_document_is_reached_from_it() -> None:
    documents = {
        "Ben Stokes": "Ben Stokes is an English cricketer born in Christchurch.",
        "Hello Friends": "A compilation of records, in part produced by Ben Stokes.",
        "Weather": "It rains.",
    }
    result, _ = ask("Which records were made by the cricketer of Christchurch?", {"Ben Stokes": 2.0}, None, documents)
    paths = {hit.passage_id: hit.path for hit in result.hits}
    assert paths["Hello Friends"] == ("Ben Stokes", "ben stoke", "Hello Friends")
