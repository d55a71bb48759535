"""Answers by a language model, through the engine and over HTTP: checked, cited, never half-shown without a note."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from kedge.answer.pipeline import BROKE_OFF
from kedge.core.errors import ModelError
from kedge.core.settings import Settings, load_settings
from kedge.core.values import DEFAULT_TENANT, Answer, IngestRequest, Query, Scope, StreamEvent
from kedge.engine.engine import Engine
from kedge.models.write.limits import ModelCall
from tests.models.llm_server import LLMServer, Turn, serving
from tests.support.serving import served
from tests.support.surfaces import EMBEDDER, FOREIGN, QUESTION, events_of, follow, http_client, write_corpus

TRUE = "The warp is tied to the ring of the kedge anchor with an anchor bend. [1]"
ALSO = "The anchor bend is also called the fisherman's bend [2]."
FALSE = "The kedge anchor weighs 300 kilograms. [1]"
SCOPE = Scope(DEFAULT_TENANT, "sea")


@pytest.fixture
def server() -> Iterator[LLMServer]:
    with serving() as state:
        yield state


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("corpus"))


def settings(server: LLMServer, home: Path, **more: Any) -> Settings:
    given = {"embedder": EMBEDDER, "llm": "openai:test", "llm_url": f"{server.url}/v1", **more}
    return load_settings(environ={}, home=home, catalog_url="memory://", vector_url="memory://", **given)


def inside(given: Settings, corpus: Path, work: Callable[[Engine], Any]) -> Any:
    async def run() -> Any:
        async with Engine.open(given) as engine:
            await engine.ingest(IngestRequest(SCOPE, (str(corpus),)))
            return await work(engine)

    return asyncio.run(run())


def ask(given: Settings, corpus: Path, question: str = QUESTION) -> Answer:
    answer: Answer = inside(given, corpus, lambda engine: engine.ask(Query(question, SCOPE)))
    return answer


async def streamed(engine: Engine, question: str = QUESTION) -> list[StreamEvent]:
    return [event async for event in engine.stream(Query(question, SCOPE))]


def words_of(events: list[StreamEvent]) -> str:
    return "".join(event.content or "" for event in events)


def generation(answer: Answer) -> dict[str, Any]:
    found = answer.metadata["generation"]
    assert isinstance(found, dict)
    return found


# ------------------------------------------------------------ what is shown


@pytest.mark.req("D-13", "G-05", "G-07", "T-06")
def test_a_generated_answer_has_a_verified_span_behind_every_sentence(
    server: LLMServer, tmp_path: Path, corpus: Path
) -> None:
    server.say = lambda _system, _user: f"{TRUE} {ALSO}"
    answer = ask(settings(server, tmp_path), corpus)
    assert answer.answer.startswith("The warp is tied to the ring of the kedge anchor with an anchor bend. [1]")
    assert "fisherman's bend. [" in answer.answer
    assert generation(answer) | {"usage": 0, "context": 0} == {
        "model": "openai:test",
        "sentences": 2,
        "supported": 2,
        "unsupported": 0,
        "reasons": {},
        "foreign_citations": 0,
        "removed_links": 0,
        "finish": "end",
        "fallback": None,
        "usage": 0,
        "context": 0,
    }
    assert generation(answer)["usage"]["reported"] is True
    for citation in answer.citations:
        text = (corpus / Path(citation.url).name).read_text("utf-8")
        assert text[citation.start : citation.end] == citation.snippet
    assert not answer.refused


@pytest.mark.req("D-13")
@pytest.mark.parametrize(
    ("setting", "shown"),
    [("drop", None), ("mark", "weighs 300 kilograms. [unsupported]"), ("keep", "weighs 300 kilograms.")],
)
def test_what_nothing_supports_is_dropped_marked_or_kept(
    server: LLMServer, tmp_path: Path, corpus: Path, setting: str, shown: str | None
) -> None:
    server.say = lambda _system, _user: f"{TRUE} {FALSE}"
    answer = ask(settings(server, tmp_path, unsupported=setting), corpus)
    assert (shown in answer.answer) if shown else ("300" not in answer.answer)
    assert (generation(answer)["supported"], generation(answer)["unsupported"]) == (1, 1)
    assert not any("300" in citation.snippet for citation in answer.citations)


@pytest.mark.req("D-11")
def test_the_model_is_not_asked_where_the_judge_refuses(server: LLMServer, tmp_path: Path, corpus: Path) -> None:
    async def work(engine: Engine) -> tuple[Answer, int]:
        return await engine.ask(Query(FOREIGN, SCOPE)), engine.llm_calls

    answer, calls = inside(settings(server, tmp_path), corpus, work)
    assert answer.refused
    assert (calls, server.requests) == (0, [])


@pytest.mark.parametrize("said", [FALSE, "I don't have enough information.", "", "Yes. [1]"])
def test_where_nothing_is_supported_the_sources_speak(
    server: LLMServer, tmp_path: Path, corpus: Path, said: str
) -> None:
    server.say = lambda _system, _user: said
    answer = ask(settings(server, tmp_path), corpus)
    plain = ask(settings(server, tmp_path / "plain", llm="extractive"), corpus)
    assert answer.answer == plain.answer
    assert [one.snippet for one in answer.citations] == [one.snippet for one in plain.citations]
    assert generation(answer)["fallback"] in ("unsupported", "nothing")
    assert "sources are quoted instead" in str(answer.metadata["warnings"])


def test_an_answer_that_was_cut_by_its_length_ends_with_a_whole_sentence(
    server: LLMServer, tmp_path: Path, corpus: Path
) -> None:
    server.say = lambda _system, _user: f"{TRUE} The anchor bend is also cal"
    server.turns = [Turn(finish="length")]
    answer = ask(settings(server, tmp_path), corpus)
    assert answer.answer.endswith("]")
    assert generation(answer)["sentences"] == 1
    assert "llm_max_tokens" in str(answer.metadata["warnings"])


def test_lists_and_thoughts(server: LLMServer, tmp_path: Path, corpus: Path) -> None:
    said = f"<think>What do they want? A knot.</think>\n\n- {TRUE}\n- {ALSO}"
    server.say = lambda _system, _user: said
    answer = ask(settings(server, tmp_path), corpus)
    assert "What do they want" not in answer.answer
    assert answer.answer.count("\n- ") == 1
    assert answer.answer.startswith("- The warp")


# ------------------------------------------------------------ failures


def test_a_model_that_fails_leaves_the_sources_words_and_a_warning(
    server: LLMServer, tmp_path: Path, corpus: Path
) -> None:
    server.turns = [Turn(404)]
    answer = ask(settings(server, tmp_path), corpus)
    assert answer.citations
    assert generation(answer)["fallback"] == "failed"
    assert "The language model failed" in str(answer.metadata["warnings"])


@pytest.mark.req("D-14")
def test_a_model_that_breaks_off_is_said_to_have_done_so(server: LLMServer, tmp_path: Path, corpus: Path) -> None:
    server.say = lambda _system, _user: f"{TRUE} {ALSO}"
    server.turns = [Turn(stop_after=18, then="cut")]
    events = inside(settings(server, tmp_path), corpus, streamed)
    said = words_of(events)
    assert said.startswith("The warp is tied")
    assert BROKE_OFF in said
    assert said.count(TRUE) == 1
    marks = [event.citation.id for event in events if event.citation]
    assert marks == sorted(set(marks))
    assert [event.type for event in events[-2:]] == ["metadata", "done"]


@pytest.mark.parametrize("pieces", [0, 18])
def test_a_failure_is_an_error_where_the_settings_say_so(
    server: LLMServer, tmp_path: Path, corpus: Path, pieces: int
) -> None:
    server.say = lambda _system, _user: f"{TRUE} {ALSO}"
    server.turns = [Turn(stop_after=pieces, then="cut")]
    with pytest.raises(ModelError):
        ask(settings(server, tmp_path, llm_failure="error", llm_attempts=1), corpus)


# ------------------------------------------------------------ context and prompt


@pytest.mark.req("G-10")
def test_the_prompt_holds_the_sources_behind_a_boundary_that_changes(
    server: LLMServer, tmp_path: Path, corpus: Path
) -> None:
    async def work(engine: Engine) -> None:
        for _ in range(2):
            await engine.ask(Query(QUESTION, SCOPE))

    inside(settings(server, tmp_path), corpus, work)
    prompts = [server.prompt(place) for place in (0, 1)]
    boundaries = [user.split("<", 1)[1].split(" ", 1)[0] for _, user in prompts]
    assert boundaries[0] != boundaries[1]
    for (system, user), boundary in zip(prompts, boundaries, strict=True):
        assert boundary in system
        assert user.count(f"<{boundary} ") == user.count(f"</{boundary}>") >= 2
        assert user.rstrip().endswith("each with the number of its source:")
        assert QUESTION in user
        assert "$" not in user


@pytest.mark.req("G-10")
def test_the_prompt_fits_the_models_window(server: LLMServer, tmp_path: Path, corpus: Path) -> None:
    server.say = lambda _system, _user: TRUE
    given = settings(server, tmp_path, llm="openai:test?window=640", llm_max_tokens=32)
    answer = ask(given, corpus)
    assert generation(answer)["context"]["dropped"] > 0
    assert "light anchor that is carried" not in server.prompt()[1] or "new moon" not in server.prompt()[1]
    assert answer.answer.startswith("The warp is tied")


def test_a_window_without_room_for_any_source_falls_back(server: LLMServer, tmp_path: Path, corpus: Path) -> None:
    given = settings(server, tmp_path, llm="openai:test?window=64", llm_max_tokens=32)
    answer = ask(given, corpus)
    assert server.requests == []
    assert generation(answer)["fallback"] == "nothing"
    assert answer.citations


# ------------------------------------------------------------ over HTTP


@pytest.fixture
def client(server: LLMServer, tmp_path: Path, corpus: Path) -> Iterator[httpx.Client]:
    """A Kedge server whose collection `sea` holds the corpus, with the model server behind it."""
    given = settings(server, tmp_path, collection="sea")
    with served(given) as url, http_client(url) as client:
        job = client.post("/api/ingest", json={"sources": [str(corpus)]}).raise_for_status().json()
        assert follow(client, job["job_id"])["status"] == "complete"
        yield client


@pytest.mark.req("D-14", "G-04")
def test_the_stream_says_what_the_whole_answer_says_and_tokens_are_counted(
    server: LLMServer, client: httpx.Client
) -> None:
    server.say = lambda _system, _user: f"{TRUE} {FALSE} {ALSO}"
    whole = client.post("/api/query", json={"query": QUESTION}).json()
    events = [
        json.loads(data) for _, data in events_of(client.post("/api/query/stream", json={"query": QUESTION}).text)
    ]
    assert "".join(event["content"] for event in events if event["type"] == "token") == whole["answer"]
    assert [event["citation"] for event in events if event["type"] == "citation"] == whole["citations"]
    assert events[-2]["metadata"]["generation"]["unsupported"] == 1
    values = dict(line.rsplit(" ", 1) for line in client.get("/metrics").text.splitlines() if not line.startswith("#"))
    assert float(values['kedge_llm_calls_total{model="openai:test",result="done"}']) == 2
    usage = whole["metadata"]["generation"]["usage"]
    assert float(values['kedge_llm_tokens_total{model="openai:test",kind="prompt"}']) == 2 * usage["prompt_tokens"]
    assert float(values['kedge_llm_sentences_total{supported="no"}']) == 2
    assert float(values['kedge_llm_seconds_count{model="openai:test"}']) == 2


@pytest.mark.req("D-14")
def test_a_sentence_is_shown_while_the_model_still_writes_and_leaving_stops_it(
    server: LLMServer, client: httpx.Client
) -> None:
    server.say = lambda _system, _user: f"{TRUE} {ALSO}"
    server.turns = [Turn(stop_after=20, then="hang")]
    with client.stream("POST", "/api/query/stream", json={"query": QUESTION}) as reply:
        said = ""
        for line in reply.iter_lines():
            if line.startswith("data: "):
                said += json.loads(line.removeprefix("data: ")).get("content", "")
            if said.rstrip().endswith("[1]"):
                break
    assert said.startswith("The warp is tied to the ring")
    assert server.left.wait(10)


def test_every_call_is_told_with_its_cost(server: LLMServer, tmp_path: Path, corpus: Path) -> None:
    calls: list[ModelCall] = []

    async def work(engine: Engine) -> int:
        engine.on_llm_call = calls.append
        await engine.ask(Query(QUESTION, SCOPE))
        return engine.llm_calls

    assert inside(settings(server, tmp_path), corpus, work) == 1
    assert calls[0].usage.prompt_tokens > 100
