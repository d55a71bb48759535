"""Answers in a language model's words from rows: what it is shown, what of it stands, and what happens without rows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kedge.core.errors import ModelError
from kedge.core.values import Answer, Query, StreamEvent
from kedge.kinds.tables.state import FILE
from tests.kinds.tables.conftest import SCOPE, Desk, Run
from tests.models.llm_server import LLMServer, Turn, serving

ROWS = """Company,Country,Product
Saigon Foods,Vietnam,Frozen shrimp
Hanoi Tech,Vietnam,Memory modules
Lyon Textiles,France,Cotton fabric
"""
QUESTION = "Tell me about frozen shrimp from Saigon Foods"
SAID = "Saigon Foods of Vietnam has frozen shrimp [1]. It also sells gold watches in Geneva [1]."


@pytest.fixture
def model() -> Iterator[LLMServer]:
    with serving() as server:
        server.say = lambda _system, _user: SAID
        yield server


@pytest.fixture
def trade(tmp_path: Path) -> Path:
    path = tmp_path / "trade.csv"
    path.write_text(ROWS, "utf-8")
    return path


def by(model: LLMServer, llm: str = "openai:test", **more: object) -> dict[str, object]:
    return {"llm": llm, "llm_url": f"{model.url}/v1" if llm.startswith("openai") else model.url, **more}


def ask(run: Run, trade: Path, question: str = QUESTION, *, use_rag: bool = True, **settings: object) -> Answer:
    async def scenario(desk: Desk) -> Answer:
        await desk.engine.kinds.named("table").sessions.make("default", "s1", use_rag=use_rag)
        await desk.feed(trade)
        return await desk.ask(question)

    answer: Answer = run(scenario, **settings)
    return answer


@pytest.mark.req("T-11", "T-06")
def test_a_model_answers_from_the_retrieved_rows_and_nothing_else(run: Run, trade: Path, model: LLMServer) -> None:
    answer = ask(run, trade, **by(model))
    assert answer.answer == "Saigon Foods of Vietnam has frozen shrimp. [1]"
    assert [one.id for one in answer.citations] == ["[1]"]
    assert answer.citations[0].snippet == "Company: Saigon Foods; Country: Vietnam; Product: Frozen shrimp"
    assert answer.citations[0].title == "trade row 1"
    assert len(model.requests) == 1
    user = model.prompt()[1]
    assert "Company: Saigon Foods; Country: Vietnam; Product: Frozen shrimp" in user
    assert "Hanoi Tech" not in user
    assert "Lyon Textiles" not in user
    generation = answer.metadata["generation"]
    assert isinstance(generation, dict)
    assert (generation["sentences"], generation["supported"], generation["fallback"]) == (2, 1, None)


@pytest.mark.req("T-11")
def test_no_model_is_asked_when_no_row_reaches_the_threshold(run: Run, trade: Path, model: LLMServer) -> None:
    answer = ask(run, trade, "zebra crossing regulations", **by(model))
    assert answer.answer.startswith("No relevant data found")
    assert answer.refused
    assert model.requests == []


@pytest.mark.req("T-11")
def test_the_answer_streams_while_it_is_written(run: Run, trade: Path, model: LLMServer) -> None:
    """The model hangs in the middle of its answer: what it said before is there already."""
    model.say = lambda _system, _user: f"{SAID} {'And so on and on. ' * 20}"
    model.turns.append(Turn(stop_after=14, then="hang"))

    async def scenario(desk: Desk) -> list[StreamEvent]:
        await desk.feed(trade)
        seen: list[StreamEvent] = []
        events = desk.engine.stream(Query(QUESTION, SCOPE))
        async for event in events:
            seen.append(event)
            if event.type == "citation":
                assert model.hanging.wait(10)
                break
        await events.aclose()
        return seen

    seen: list[StreamEvent] = run(scenario, **by(model))
    assert "".join(event.content or "" for event in seen).startswith("Saigon Foods of Vietnam has frozen shrimp.")


@pytest.mark.req("T-09", "T-11")
def test_ollama_answers_from_rows(run: Run, trade: Path, model: LLMServer) -> None:
    answer = ask(run, trade, **by(model, "ollama:test"))
    assert answer.answer == "Saigon Foods of Vietnam has frozen shrimp. [1]"
    assert "Hanoi Tech" not in model.prompt()[1]


@pytest.mark.req("T-09", "T-11")
@pytest.mark.parametrize(
    ("turn", "more"),
    [(Turn(status=500), {}), (Turn(stop_after=0, then="hang"), {"llm_timeout": 0.2, "llm_stall_timeout": 0.2})],
)
def test_where_ollama_fails_or_says_nothing_in_time_the_rows_are_shown(
    run: Run, trade: Path, model: LLMServer, turn: Turn, more: dict[str, Any]
) -> None:
    model.turns += [turn] * 3
    settings = by(model, "ollama:test", llm_attempts=1, **more)
    answer = ask(run, trade, **settings)
    assert "Saigon Foods" in answer.answer
    assert answer.citations
    assert "The language model failed" in str(answer.metadata["warnings"])
    model.turns[:] = [turn] * 3
    with pytest.raises(ModelError):
        run(lambda desk: desk.ask(QUESTION), **settings, llm_failure="error")


@pytest.mark.req("T-11", "T-06")
def test_where_nothing_of_the_model_is_supported_the_rows_are_shown(run: Run, trade: Path, model: LLMServer) -> None:
    model.say = lambda _system, _user: "Geneva sells gold watches [1]."
    answer = ask(run, trade, **by(model))
    assert "gold watches" not in answer.answer
    assert "Saigon Foods" in answer.answer
    assert answer.metadata["generation"]["fallback"] == "unsupported"  # type: ignore[index,call-overload]


@pytest.mark.req("T-13", "T-08")
def test_without_vectors_all_rows_are_given_to_the_model(run: Run, trade: Path, model: LLMServer) -> None:
    model.say = lambda _system, _user: "Lyon Textiles of France has cotton fabric [3]."
    answer = ask(run, trade, "Tell me something about fabric", use_rag=False, **by(model))
    user = model.prompt()[1]
    assert all(name in user for name in ("Saigon Foods", "Hanoi Tech", "Lyon Textiles"))
    assert answer.answer == "Lyon Textiles of France has cotton fabric. [1]"
    assert "left out" not in str(answer.metadata["warnings"])


@pytest.mark.req("T-13")
def test_rows_that_do_not_fit_the_window_are_said_to_be_left_out(run: Run, tmp_path: Path, model: LLMServer) -> None:
    path = tmp_path / "many.csv"
    path.write_text("name,note\n" + "".join(f"thing {n},a note about thing {n}\n" for n in range(400)), "utf-8")
    model.say = lambda _system, _user: "There is thing 399 [1]."
    settings = by(model, "openai:test?window=2000", llm_max_tokens=64)
    answer = ask(run, path, "Tell me about thing 399", use_rag=False, **settings)
    user = model.prompt()[1]
    shown = user.count("a note about thing ")
    assert 0 < shown < 400
    assert "a note about thing 399" in user
    assert f"{400 - shown:,} rows did not fit" in str(answer.metadata["warnings"])


@pytest.mark.req("T-13", "T-08", "T-12", "T-07")
def test_a_session_from_before_there_were_indexes_answers(run: Run, trade: Path, model: LLMServer) -> None:
    async def feed(desk: Desk) -> Path:
        await desk.feed(trade)
        return desk.engine.kinds.named("table").open_sessions.folders.of(SCOPE)

    folder: Path = run(feed)
    state = json.loads((folder / FILE).read_text("utf-8"))
    (folder / FILE).write_text(json.dumps({**state, "index": None}), "utf-8")
    by_words: Answer = run(lambda desk: desk.ask("frozen shrimp"))
    assert "Saigon Foods" in by_words.citations[0].snippet
    written: Answer = run(lambda desk: desk.ask(QUESTION), **by(model))
    assert written.answer == "Saigon Foods of Vietnam has frozen shrimp. [1]"
    assert all(name in model.prompt()[1] for name in ("Saigon Foods", "Hanoi Tech", "Lyon Textiles"))
    assert "no search index" in str(written.metadata["warnings"])
