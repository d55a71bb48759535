"""Graph answers in a language model's words: from the same path, each sentence checked, the nodes cited."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kedge import Kedge
from tests.kinds.graphs.conftest import FAMILY
from tests.models.llm_server import LLMServer, Turn, serving

QUESTION = "where was the father of ada born ?"
TRUE = "The father of ada is lord byron [1]. The place of birth of lord byron is london [2]."
FALSE = "Lord byron was born in Paris in 1999 [1]."


@pytest.fixture
def model() -> Iterator[LLMServer]:
    with serving() as server:
        yield server


@pytest.fixture
def kedge(tmp_path: Path, model: LLMServer) -> Iterator[Kedge]:
    (tmp_path / "family.tsv").write_text(FAMILY, "utf-8")
    with Kedge(tmp_path / "home", collection="g", llm="openai:test", llm_url=f"{model.url}/v1") as opened:
        opened.ingest(tmp_path / "family.tsv", kind="graph")
        yield opened


@pytest.mark.req("G-04", "G-05", "G-07", "G-10")
def test_a_model_writes_from_the_path_and_its_sentences_are_checked(kedge: Kedge, model: LLMServer) -> None:
    model.say = lambda _system, _user: f"{TRUE} {FALSE}"
    answer = kedge.ask(QUESTION)
    assert "place of birth of lord byron is london" in answer.answer
    assert "Paris" not in answer.answer
    assert answer.citations[0].url == "node:london"
    marks = {citation.id for citation in answer.citations}
    assert {"[Node 1]"} <= marks
    assert all(mark in marks for mark in ("[Node 1]", "[Node 2]") if mark in answer.answer)
    assert "[1]" not in answer.answer
    generation = answer.metadata["generation"]
    assert isinstance(generation, dict)
    assert (generation["supported"], generation["unsupported"], generation["fallback"]) == (2, 1, None)
    assert answer.metadata["paths"]
    _, prompt = model.prompt()
    assert "lord byron place of birth london." in prompt


@pytest.mark.req("G-05")
def test_where_nothing_of_it_holds_the_path_itself_is_the_answer(kedge: Kedge, model: LLMServer) -> None:
    model.say = lambda _system, _user: FALSE
    answer = kedge.ask(QUESTION)
    assert answer.answer.startswith("london [Node 1].")
    generation = answer.metadata["generation"]
    assert isinstance(generation, dict)
    assert generation["fallback"] == "unsupported"
    model.turns = [Turn(status=500)] * 9
    assert kedge.ask(QUESTION).answer.startswith("london [Node 1].")


@pytest.mark.req("G-04", "D-14")
def test_it_streams_as_it_answers(kedge: Kedge, model: LLMServer) -> None:
    model.say = lambda _system, _user: TRUE
    events = list(kedge.stream(QUESTION))
    assert "".join(event.content or "" for event in events) == kedge.ask(QUESTION).answer
    cited = [event.citation.id for event in events if event.citation]
    assert sorted(set(cited)) == sorted(cited)
    assert [event.type for event in events][-2:] == ["metadata", "done"]


def test_a_question_without_a_path_is_refused_without_asking_the_model(kedge: Kedge, model: LLMServer) -> None:
    assert kedge.ask("what is the melting point of tungsten ?").refused
    assert model.requests == []
