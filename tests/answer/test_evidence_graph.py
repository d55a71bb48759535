"""The graph of the evidence: how each passage was reached, by which names and channels."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.answer.compose.evidence_graph import evidence_json
from kedge.core.values import PAGE_BREAKS, Citation, Passage, SearchHit


def passage(key: str, title: str = "", **more: Any) -> Passage:
    return Passage(
        id=key, document_id="d", version_id="v", index=0, text="Text.", start=0, end=5, content_hash=key,
        token_count=1, title=title or key, url=f"{key}.md", external_id=key, section_path=("Section",), **more,
    )  # fmt: skip


def cited(key: str, mark: str = "[1]") -> Citation:
    return Citation(mark, key, "d", key, f"{key}.md", "Text.", 0, 5, 0.9)


def edges(found: dict[str, Any]) -> set[tuple[str, str, str]]:
    return {(edge["source"], edge["target"], edge["label"]) for edge in found["edges"]}


def node(found: dict[str, Any], key: str) -> dict[str, Any]:
    return next(node for node in found["nodes"] if node["id"] == key)


def test_a_passage_without_a_path_hangs_on_the_question_by_its_channels() -> None:
    hits = [
        SearchHit(1, passage("a"), 0.9, vector_rank=1, keyword_rank=2),
        SearchHit(2, passage("b"), 0.8, keyword_rank=1),
    ]
    found = evidence_json("Why?", hits, [cited("a")])
    assert edges(found) == {("question", "a", "by meaning and by words"), ("question", "b", "by words")}
    assert node(found, "question") == {"id": "question", "label": "Why?", "type": "question"}
    assert (node(found, "a")["citations"], node(found, "b")["citations"]) == (["[1]"], [])
    assert node(found, "a")["found_by"] == ["meaning", "words"]


@pytest.mark.req("D-11")
def test_a_path_leads_through_concepts_and_passages() -> None:
    path = ("Anchor bend", "Knots", "Ring", "Kedge")
    hit = SearchHit(1, passage("k", "Kedge"), 0.9, graph_rank=1, path=path, path_ids=("Anchor bend", "n", "Ring", "k"))
    found = evidence_json("Why?", [hit], [])
    assert edges(found) == {
        ("question", "concept:anchor bend", "names"),
        ("concept:anchor bend", "n", "found in"),
        ("n", "concept:ring", "mentions"),
        ("concept:ring", "k", "found in"),
    }
    assert node(found, "n")["label"] == "Knots"
    assert [one["type"] for one in found["nodes"]] == ["question", "concept", "passage", "concept", "passage"]


def test_a_path_that_starts_at_a_passage_starts_at_the_question() -> None:
    hits = [
        SearchHit(1, passage("k"), 0.9, graph_rank=1, path=("N", "Ring", "k"), path_ids=("n", "Ring", "k")),
        SearchHit(
            2, passage("n"), 0.8, vector_rank=1, graph_rank=2, path=("k", "Ring", "n"), path_ids=("k", "Ring", "n")
        ),
    ]
    found = evidence_json("Why?", hits, [])
    assert ("question", "n", "by meaning") in edges(found)
    pairs = [(edge["source"], edge["target"]) for edge in found["edges"]]  # the two are tied once, not both ways
    assert not {(target, source) for source, target in pairs} & set(pairs)


def test_a_start_that_is_no_hit_is_still_shown() -> None:
    hit = SearchHit(1, passage("k"), 0.9, graph_rank=1, path=("Other", "Ring", "k"), path_ids=("o", "Ring", "k"))
    found = evidence_json("Why?", [hit], [])
    assert ("question", "o", "is near") in edges(found)
    assert node(found, "o")["passage_id"] == "o"


@st.composite
def hits(draw: st.DrawFn) -> list[SearchHit]:
    keys = draw(st.lists(st.sampled_from("abcdef"), unique=True, max_size=6))
    made = []
    for rank, key in enumerate(keys, 1):
        length = draw(st.integers(0, 4))
        ids = [draw(st.sampled_from("abcdefXYZ")) for _ in range(length)]
        path = (*ids, key) if length else ()
        made.append(
            SearchHit(rank, passage(key), 0.5, vector_rank=draw(st.sampled_from((None, 1))), path=path, path_ids=path)
        )
    return made


@given(hits())
def test_every_edge_ties_known_nodes_and_every_hit_is_reached(found_hits: list[SearchHit]) -> None:
    found: dict[str, Any] = evidence_json("Why?", found_hits, [])
    ids = [one["id"] for one in found["nodes"]]
    assert len(ids) == len(set(ids))
    reached, frontier = {"question"}, ["question"]
    neighbours: dict[str, set[str]] = {key: set() for key in ids}
    for edge in found["edges"]:
        neighbours[edge["source"]].add(edge["target"])
        neighbours[edge["target"]].add(edge["source"])
    while frontier:
        fresh = neighbours[frontier.pop()] - reached
        reached |= fresh
        frontier += fresh
    assert reached == set(ids)
    assert {hit.passage.id for hit in found_hits} <= reached


def test_the_page_of_a_sentence_is_the_one_it_stands_on() -> None:
    across = passage("p", page=3, metadata={PAGE_BREAKS: "100:4,250:6"})
    assert [across.page_at(offset) for offset in (0, 99, 100, 249, 250, 999)] == [3, 3, 4, 4, 6, 6]
    assert passage("q", page=3).page_at(500) == 3
    assert passage("r").page_at(0) is None
