"""Language models over real HTTP: what is sent, what comes back, and everything that goes wrong on the way."""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from kedge.core.errors import ConfigError, MissingExtraError, ModelError
from kedge.core.settings import Settings, load_settings
from kedge.models import registry
from kedge.models.http import Backoff
from kedge.models.ports import LanguageModel, Prompt, Usage, WrittenPiece
from kedge.models.write.limits import LimitedModel, ModelCall, ModelLimits
from tests.models.llm_server import LLMServer, Turn, serving

ASK = Prompt("Answer from the sources.", "What is a kedge?", max_tokens=64)
ANSWER = "A kedge is a light anchor. [1]"
SECRET = "sk-very-secret-7f3a"
NAMES = {"anthropic": "anthropic:claude-test", "openai": "openai:some/model", "ollama": "ollama:qwen3:8b"}


@pytest.fixture
def server() -> Iterator[LLMServer]:
    with serving() as state:
        yield state


@pytest.fixture(params=sorted(NAMES))
def protocol(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def settings(server: LLMServer, protocol: str, **more: Any) -> Settings:
    base = f"{server.url}/v1" if protocol == "openai" else server.url
    return load_settings(environ={}, llm=NAMES[protocol], llm_url=base, **{"llm_key": SECRET, **more})


class Waits:
    """Instead of sleeping: notes how long it would have been, and lets the clock jump."""

    def __init__(self) -> None:
        self.asked: list[float] = []
        self.now = 0.0

    async def sleep(self, seconds: float) -> None:
        self.asked.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)

    def clock(self) -> float:
        return self.now


def opened(server: LLMServer, protocol: str, waits: Waits | None = None, **more: Any) -> LimitedModel:
    model = registry.open_writer(settings(server, protocol, **more))
    assert isinstance(model, LimitedModel)
    if waits is not None:
        backoff = replace(model._limits.backoff, sleep=waits.sleep)
        model._limits = replace(model._limits, backoff=backoff, clock=waits.clock)
    return model


async def read(model: LanguageModel, prompt: Prompt = ASK) -> list[WrittenPiece]:
    return [piece async for piece in model.stream(prompt)]


def said(pieces: list[WrittenPiece]) -> str:
    return "".join(piece.text for piece in pieces)


def run(model: LimitedModel, work: Callable[[], Awaitable[Any]]) -> Any:
    async def inside() -> Any:
        try:
            return await work()
        finally:
            await model.close()
            await model.close()

    return asyncio.run(inside())


def answered(model: LimitedModel, prompt: Prompt = ASK) -> list[WrittenPiece]:
    pieces: list[WrittenPiece] = run(model, lambda: read(model, prompt))
    return pieces


def failure(model: LimitedModel) -> ModelError:
    with pytest.raises(ModelError) as caught:
        answered(model)
    assert type(caught.value) is ModelError
    return caught.value


# ------------------------------------------------------------ an answer


@pytest.mark.req("G-07", "T-09")
def test_an_answer_comes_in_pieces_and_says_what_it_cost(server: LLMServer, protocol: str) -> None:
    model = opened(server, protocol)
    calls: list[ModelCall] = []
    model.on_call = calls.append
    pieces = answered(model)
    assert said(pieces) == ANSWER
    assert len([piece for piece in pieces if piece.text]) > 3
    assert [piece.finish for piece in pieces if piece.finish] == ["end"]
    assert pieces[-1].finish == "end"
    usage = Usage(8, 7, reported=True)
    assert [piece.usage for piece in pieces if piece.usage] == [usage]
    assert [(call.model, call.result, call.usage, call.attempts) for call in calls] == [
        (NAMES[protocol], "done", usage, 1)
    ]


@pytest.mark.req("G-07")
def test_what_is_sent_is_what_the_vendor_wants(server: LLMServer, protocol: str) -> None:
    answered(opened(server, protocol, llm_temperature=0.3))
    (body,) = server.requests
    assert server.prompt() == (ASK.system, ASK.user)
    assert body["stream"] is True
    assert body["model"] == NAMES[protocol].partition(":")[2]
    options = body["options"] if protocol == "ollama" else body
    assert options["num_predict" if protocol == "ollama" else "max_tokens"] == 64
    assert options["temperature"] == 0.3
    if protocol == "ollama":
        assert options["num_ctx"] == 8192  # else Ollama cuts the prompt without a word


def test_tokens_that_are_not_told_are_counted(server: LLMServer) -> None:
    server.tells_usage = False
    model = opened(server, "openai")
    calls: list[ModelCall] = []
    model.on_call = calls.append
    answered(model)
    wanted = model.count_tokens([f"{ASK.system}\n{ASK.user}", ANSWER])
    assert calls[0].usage == Usage(*wanted, reported=False)


def test_a_server_that_does_not_know_stream_options_is_asked_without(server: LLMServer) -> None:
    server.turns = [Turn(400, message="unknown field stream_options")]
    model = opened(server, "openai")
    assert said(answered(model)) == ANSWER
    assert ["stream_options" in body for body in server.requests] == [True, False]


@pytest.mark.parametrize(
    ("protocol", "reason"), [("anthropic", "max_tokens"), ("openai", "length"), ("ollama", "length")]
)
def test_an_answer_that_was_cut_by_its_length_says_so(server: LLMServer, protocol: str, reason: str) -> None:
    server.turns = [Turn(finish=reason)]
    assert answered(opened(server, protocol))[-1].finish == "length"


# ------------------------------------------------------------ faults


def test_a_refused_key_names_the_variable_and_is_never_shown(
    server: LLMServer, protocol: str, caplog: pytest.LogCaptureFixture
) -> None:
    server.key = "another"
    with caplog.at_level(logging.DEBUG):
        model = opened(server, protocol)
        error = failure(model)
    assert error.details["status"] == 401
    assert "KEDGE_LLM_KEY" in error.hint
    assert len(server.requests) == 1
    shown = f"{error} {error.as_json()} {model!r} {vars(model)} {settings(server, protocol)!r} {caplog.text}"
    assert SECRET not in shown


def test_a_server_that_repeats_the_key_is_not_quoted_with_it(server: LLMServer, protocol: str) -> None:
    server.turns = [Turn(400, message=f"bad request by {SECRET}")]
    assert SECRET not in str(failure(opened(server, protocol)))


def test_an_unknown_model_says_what_to_check(server: LLMServer, protocol: str) -> None:
    server.turns = [Turn(404, message="no such model")]
    error = failure(opened(server, protocol))
    assert NAMES[protocol].partition(":")[2] in error.hint
    assert len(server.requests) == 1


def test_retry_after_is_respected(server: LLMServer, protocol: str) -> None:
    server.turns = [Turn(429, {"Retry-After": "7"}), Turn(529, {"Retry-After": "3"})]
    waits = Waits()
    assert said(answered(opened(server, protocol, waits))) == ANSWER
    assert waits.asked == [7.0, 3.0]


def test_a_server_error_is_tried_again_with_growing_waits(server: LLMServer, protocol: str) -> None:
    server.turns = [Turn(500), Turn(503), Turn(500)]
    waits = Waits()
    error = failure(opened(server, protocol, waits))
    assert len(server.requests) == 3
    assert len(waits.asked) == 2
    assert waits.asked[0] < waits.asked[1]
    assert "out of order" in error.message
    server.turns = [Turn(500)]
    assert said(answered(opened(server, protocol, waits))) == ANSWER


@pytest.mark.parametrize("then", ["cut", "end", "error"])
def test_a_stream_that_breaks_off_before_the_first_word_is_tried_again(
    server: LLMServer, protocol: str, then: str
) -> None:
    server.turns = [Turn(stop_after=0, then=then)]
    assert said(answered(opened(server, protocol, Waits()))) == ANSWER
    assert len(server.requests) == 2


@pytest.mark.parametrize("then", ["cut", "end", "error", "malformed"])
def test_a_stream_that_breaks_off_in_the_middle_is_an_error_and_not_tried_again(
    server: LLMServer, protocol: str, then: str
) -> None:
    server.turns = [Turn(stop_after=2, then=then)]
    model = opened(server, protocol, Waits())
    seen: list[str] = []
    calls: list[ModelCall] = []
    model.on_call = calls.append

    async def work() -> None:
        async for piece in model.stream(ASK):
            seen.append(piece.text)

    with pytest.raises(ModelError):
        run(model, work)
    assert "".join(seen) == ANSWER[:10]
    assert len(server.requests) == 1
    assert calls[0].result == "failed"
    assert calls[0].usage.completion_tokens > 0


def test_something_else_than_the_protocol_is_a_readable_error(server: LLMServer, protocol: str) -> None:
    server.turns = [Turn(stop_after=0, then="malformed")]
    assert "cannot be read" in failure(opened(server, protocol)).message


def test_a_server_that_is_not_there_is_tried_and_named(protocol: str) -> None:
    with serving() as gone:
        model = opened(gone, protocol, Waits())
    error = failure(model)
    assert gone.url in error.message
    assert "llm_url" in error.hint


@pytest.mark.parametrize(("pieces", "setting"), [(0, "llm_timeout"), (2, "llm_stall_timeout")])
def test_a_silent_model_is_let_go_and_its_connection_closed(
    server: LLMServer, protocol: str, pieces: int, setting: str
) -> None:
    server.turns = [Turn(stop_after=pieces, then="hang")]
    error = failure(opened(server, protocol, **{setting: 0.3}))
    assert setting in error.hint
    assert server.left.wait(60)
    assert len(server.requests) == 1


# ------------------------------------------------------------ limits


def test_leaving_closes_the_request(server: LLMServer, protocol: str) -> None:
    server.turns = [Turn(stop_after=2, then="hang")]
    model = opened(server, protocol)
    calls: list[ModelCall] = []
    model.on_call = calls.append

    async def work() -> None:
        pieces = model.stream(ASK)
        await anext(pieces)
        await pieces.aclose()
        assert await asyncio.to_thread(server.left.wait, 10)

    run(model, work)
    assert [call.result for call in calls] == ["left"]


def test_cancelling_the_reader_closes_the_request(server: LLMServer, protocol: str) -> None:
    server.turns = [Turn(stop_after=2, then="hang")]
    model = opened(server, protocol)

    async def work() -> None:
        task = asyncio.create_task(read(model))
        assert await asyncio.to_thread(server.hanging.wait, 10)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert await asyncio.to_thread(server.left.wait, 10)

    run(model, work)


def test_calls_at_a_time_are_bounded(server: LLMServer) -> None:
    model = opened(server, "openai", llm_concurrent=2)

    async def work() -> list[list[WrittenPiece]]:
        return await asyncio.gather(*(read(model) for _ in range(8)))

    assert [said(pieces) for pieces in run(model, work)] == [ANSWER] * 8
    assert server.most_at_once <= 2


def test_calls_per_minute_are_bounded(server: LLMServer) -> None:
    waits = Waits()
    model = opened(server, "ollama", waits, llm_per_minute=2)

    async def work() -> None:
        for _ in range(5):
            await read(model)

    run(model, work)
    assert waits.now == pytest.approx(120.0)


def test_a_retry_takes_a_turn_too(server: LLMServer) -> None:
    server.turns = [Turn(500)]
    waits = Waits()
    model = opened(server, "openai", waits, llm_per_minute=1)
    answered(model)
    assert waits.now >= 60.0


def test_the_limits_are_those_of_the_settings() -> None:
    given = load_settings(environ={}, llm_timeout=5, llm_stall_timeout=6, llm_concurrent=7, llm_per_minute=8)
    assert ModelLimits.of(given) == ModelLimits(5, 6, 7, 8, Backoff(attempts=3))


# ------------------------------------------------------------ names


@pytest.mark.parametrize("name", ["anthropic:claude-x", "openai:gpt-x"])
def test_a_missing_key_names_the_variable(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.setenv(variable, "the vendor's own variable is not read")
    with pytest.raises(ConfigError) as caught:
        registry.open_language_model(name, load_settings(environ={}))
    assert "KEDGE_LLM_KEY" in caught.value.hint
    registry.open_language_model(name, load_settings(environ={}, llm_key="x"))


def test_a_server_of_your_own_needs_no_key(server: LLMServer) -> None:
    given = load_settings(environ={}, llm_url=f"{server.url}/v1")
    model = registry.open_language_model("openai:x", given)
    assert isinstance(model, LimitedModel)
    assert said(answered(model)) == ANSWER


@pytest.mark.parametrize(
    "name",
    [
        "openai:",
        "ollama:",
        "openai:x?size=3",
        "openai:x?window=0",
        "openai:x?url=ftp://host",
        "openai:x?url=http://user:word@host/v1",
        "openai:x?tokenizer=/nowhere",
        "gpt:x",
    ],
)
def test_a_name_that_cannot_be_is_a_config_error(name: str) -> None:
    with pytest.raises(ConfigError) as caught:
        registry.open_language_model(name, load_settings(environ={}, llm_key=SECRET))
    assert SECRET not in str(caught.value)


def test_options_in_the_name(server: LLMServer) -> None:
    model = registry.open_language_model(f"ollama:x?window=1234&url={server.url}", load_settings(environ={}))
    assert (model.name, model.window) == ("ollama:x", 1234)
    assert isinstance(model, LimitedModel)
    answered(model)
    assert server.requests[0]["options"]["num_ctx"] == 1234


@pytest.mark.parametrize(
    ("name", "module", "driver", "extra"),
    [
        ("anthropic:x", "anthropic", "anthropic", "anthropic"),
        ("openai:x", "openai", "openai", "openai"),
        ("local", "local", "xllamacpp", "local"),
    ],
)
def test_a_missing_driver_names_its_extra(
    name: str, module: str, driver: str, extra: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, f"kedge.models.write.{module}", raising=False)
    monkeypatch.setitem(sys.modules, driver, None)
    with pytest.raises(MissingExtraError, match=rf"kedge\[{extra}\]"):
        registry.open_language_model(name, load_settings(environ={}, llm_key="x"))


def test_extractive_is_no_model() -> None:
    assert registry.open_writer(load_settings(environ={})) is None
