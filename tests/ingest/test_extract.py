"""The concept graph without a language model: concepts, edges and typed relations of passages."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

import pytest

from kedge.core.errors import UsageError
from kedge.core.triples import validate_triple
from kedge.core.values import (
    Document,
    DocumentStatus,
    GraphBatch,
    MentionKind,
    Passage,
    Predicate,
    Role,
    Scope,
    Triple,
)
from kedge.ingest.extract.concepts import EarlierRuns, extract, link_titles

SCOPE = Scope("default", "notes")
TITLES = {"suffix automaton", "suffix tree", "trie"}


def known(keys: Collection[str]) -> set[str]:
    return {key for key in keys if key in TITLES}


def passage(text: str, title: str = "Suffix Automaton", **fields: object) -> Passage:
    made = Passage(
        id="p1",
        document_id="d1",
        version_id="v1",
        index=0,
        text=text,
        start=0,
        end=len(text),
        content_hash="h",
        token_count=5,
        title=title,
        url="u",
        external_id="u",
    )
    return replace(made, **fields)


def graph_of(*passages: Passage, before: dict[str, EarlierRuns] | None = None) -> GraphBatch:
    title = passages[0].title
    document = Document(
        "d1", SCOPE, "u", "u", title, "markdown", DocumentStatus.PENDING, metadata={"tags": ["strings"]}
    )
    return extract({"d1": document}, passages, known, before)


@pytest.mark.req("D-05", "D-06")
def test_titles_names_and_known_titles_become_concepts_with_edges() -> None:
    batch = graph_of(passage("Esko Ukkonen built the suffix tree in linear time. The suffix tree is old."))
    edges = {edge.concept_key: edge for edge in batch.mentions}
    assert edges["suffix tree"].frequency == 2
    assert edges["suffix tree"].role is Role.GENERIC
    assert edges["esko ukkonen"].role is Role.LEAD
    (document,) = batch.documents
    assert document.title_keys == ("suffix automaton",)
    assert ("suffix tree", 2, 1.0) in document.mentions
    title = next(concept for concept in batch.concepts if concept.key == "suffix automaton")
    assert title.tags == ("strings",)
    assert title.description == "Esko Ukkonen built the suffix tree in linear time."


@pytest.mark.req("D-05", "D-06")
def test_chunks_know_their_preview_and_what_follows() -> None:
    first, second = passage("x" * 300), replace(passage("y"), id="p2", index=1)
    chunks = {chunk.passage_id: chunk for chunk in graph_of(first, second).chunks}
    assert chunks["p1"].preview == "x" * 200
    assert chunks["p1"].next_passage_id == "p2"
    assert chunks["p2"].next_passage_id is None


@pytest.mark.req("D-06")
def test_code_and_formulas_are_tied_to_what_the_heading_is_about() -> None:
    batch = graph_of(passage("Text.", section_path=("Suffix Automaton", "Cloning"), has_code=True, has_formula=True))
    kinds = {edge.kind for edge in batch.mentions if edge.concept_key == "cloning"}
    assert kinds == set(MentionKind)


@pytest.mark.req("D-06", "D-07")
@pytest.mark.parametrize(
    ("text", "subject", "predicate", "target"),
    [
        ("The suffix automaton uses a suffix tree.", "suffix automaton", Predicate.USES, "suffix tree"),
        ("A trie is used in the suffix tree.", "suffix tree", Predicate.USES, "trie"),
        ("The trie is a part of the suffix tree.", "trie", Predicate.PART_OF, "suffix tree"),
        ("A suffix tree is an example of a trie.", "suffix tree", Predicate.EXAMPLE_OF, "trie"),
        ("The suffix tree requires knowledge of the trie.", "suffix tree", Predicate.PREREQUISITE, "trie"),
        ("A suffix tree is faster than a trie for long texts.", "suffix tree", Predicate.COMPARED_TO, "trie"),
        ("The suffix tree is closely related to the trie.", "suffix tree", Predicate.RELATED_TO, "trie"),
        ("This suffix tree implements a trie.", "suffix tree", Predicate.IMPLEMENTS, "trie"),
        ("The trie is included in the suffix tree.", "trie", Predicate.PART_OF, "suffix tree"),
        ("The trie, also known as a digital tree, is old.", "trie", Predicate.RELATED_TO, "digital tree"),
    ],
)
def test_sentences_state_relations(text: str, subject: str, predicate: Predicate, target: str) -> None:
    (triple,) = graph_of(passage(text)).triples
    assert (triple.subject, triple.predicate, triple.object) == (subject, predicate, target)
    assert triple.passage_id == "p1"
    assert triple.confidence >= 0.5
    validate_triple(triple)
    if predicate is Predicate.COMPARED_TO:
        assert triple.comparison == text
        assert triple.use_case == "for long texts"


@pytest.mark.req("D-21", "D-06")
@pytest.mark.parametrize(
    ("text", "stated"),
    [
        ("The map shows cities such as London, Dublin and Bristol.", {"london", "dublin", "bristol"}),
        ("Major lakes include Whitefish Lake and Lake McDonald.", {"whitefish lake", "lake mcdonald"}),
        ("Neptune, an ice giant, is far away.", {"neptune"}),
    ],
)
def test_what_is_listed_together_is_stated_together(text: str, stated: set[str]) -> None:
    triples = [one for one in graph_of(passage(text)).triples if one.predicate is Predicate.EXAMPLE_OF]
    assert {one.subject for one in triples} == stated
    assert len({one.object for one in triples}) == 1
    assert all(one.confidence >= 0.5 for one in triples)


@pytest.mark.req("D-21")
@pytest.mark.parametrize(
    "text",
    [
        "It is not possible to use the suffix tree for this task.",
        "The suffix tree was created by Esko Ukkonen.",
        "This is the final formula.",
        "- [Codeforces - Suffix Tree](http://codeforces.com/problemset/problem/1)",
        "- [A trie uses a suffix tree](http://codeforces.com/problemset/problem/1)",
        '<img src="trie.svg"> The trie uses a suffix tree.',
    ],
)
def test_what_is_denied_or_no_thing_states_nothing(text: str) -> None:
    assert graph_of(passage(text)).triples == ()


def test_unrelated_neighbours_state_nothing() -> None:
    assert graph_of(passage("The suffix tree. A trie was drawn on the wall beside it.")).triples == ()


@pytest.mark.req("D-07")
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"subject": " "}, "Subject cannot be empty"),
        ({"object": ""}, "Object cannot be empty"),
        ({"predicate": "LIKES"}, "Invalid predicate type"),
        ({"confidence": 0.49}, "Triple confidence too low"),
    ],
)
def test_invalid_triples_are_refused(change: dict[str, object], message: str) -> None:
    valid = Triple("trie", Predicate.PART_OF, "suffix tree", 0.5, "p1")
    validate_triple(valid)
    with pytest.raises(UsageError, match=message):
        validate_triple(replace(valid, **change))


def test_a_title_that_comes_later_is_linked_into_older_passages() -> None:
    older = passage("The suffix tree and the trie. The suffix tree uses a trie.", title="Notes")
    found = link_titles([older], known, lambda keys: {key for key in keys if key == "trie"})
    assert [edge.concept_key for edge in found.mentions] == ["trie"]
    assert [(one.subject, one.object) for one in found.triples] == [("suffix tree", "trie")]
    assert link_titles([passage("Nothing here.")], known, known) == GraphBatch()


@pytest.mark.req("D-06")
def test_a_document_in_several_runs_is_the_same_document() -> None:
    texts = ["The suffix tree is old.", "A trie is older.", "The suffix tree is a trie."]
    passages = [passage(text, id=f"p{n}", index=n) for n, text in enumerate(texts)]
    whole = graph_of(*passages)
    before: dict[str, EarlierRuns] = {}
    first = graph_of(*passages[:2], before=before)
    second = graph_of(passages[2], before=before)
    assert set(second.documents[0].mentions) == set(whole.documents[0].mentions)
    chain = {chunk.passage_id: chunk.next_passage_id for chunk in (*first.chunks, *second.chunks)}
    assert chain == {"p0": "p1", "p1": "p2", "p2": None}


PAGE = """# Dijkstra's Algorithm

Dijkstra's Algorithm uses a Priority Queue. Dijkstra's Algorithm requires Graph Theory.

Dijkstra's Algorithm is faster than Bellman-Ford when edges are non-negative.

A Fibonacci Heap implements a Priority Queue. The Binary Heap is an example of a Priority Queue.

The Priority Queue is a data structure. The Shortest Path Tree is part of Dijkstra's Algorithm. The Binary Heap is
related to the Fibonacci Heap. Depth-First Search (DFS) is an advanced technique. The Union Find, also called
Disjoint Set, is old.
"""


@pytest.mark.req("D-21", "D-06")
def test_every_sentence_of_a_page_that_states_a_relation_gives_its_triple() -> None:
    found = graph_of(passage(PAGE, title="Dijkstra's Algorithm")).triples
    stated = {(one.subject, one.predicate, one.object) for one in found}
    dijkstra = "dijkstra algorithm"
    assert stated == {
        (dijkstra, Predicate.USES, "priority queue"),
        (dijkstra, Predicate.PREREQUISITE, "graph theory"),
        (dijkstra, Predicate.COMPARED_TO, "bellman ford"),
        ("fibonacci heap", Predicate.IMPLEMENTS, "priority queue"),
        ("binary heap", Predicate.EXAMPLE_OF, "priority queue"),
        ("shortest path tree", Predicate.PART_OF, dijkstra),
        ("binary heap", Predicate.RELATED_TO, "fibonacci heap"),
        ("priority queue", Predicate.EXAMPLE_OF, "data structure"),
        ("depth first search", Predicate.EXAMPLE_OF, "advanced technique"),
        ("union find", Predicate.RELATED_TO, "disjoint set"),
    }
    (compared,) = [one for one in found if one.predicate is Predicate.COMPARED_TO]
    assert compared.comparison.startswith("Dijkstra's Algorithm is faster than")
    assert compared.use_case == "when edges are non-negative"


@pytest.mark.req("D-24", "D-25", "D-05")
def test_other_names_category_and_difficulty_are_those_that_the_text_says() -> None:
    found = graph_of(passage(PAGE, title="Dijkstra's Algorithm (paths)")).concepts
    concepts = {one.name: one for one in found}
    assert next(one for one in found if one.key == "dijkstra algorithm").aliases == ("Dijkstra's Algorithm",)
    assert concepts["Depth-First Search"].aliases == ("DFS",)
    assert concepts["Union Find"].aliases == ("Disjoint Set",)
    assert concepts["Priority Queue"].category == "data-structure"
    assert (concepts["Depth-First Search"].category, concepts["Depth-First Search"].difficulty) == (
        "technique",
        "advanced",
    )
    assert (concepts["Binary Heap"].category, concepts["Binary Heap"].difficulty) == ("", "")
