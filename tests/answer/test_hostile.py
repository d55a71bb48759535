"""Documents that try to command the model: one that obeys them must not change what Kedge shows."""

from __future__ import annotations

import asyncio
import json
import re
import unicodedata
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, Answer, IngestRequest, Query, Scope
from kedge.engine.engine import Engine
from kedge.text.orders import gives_orders
from tests.models.llm_server import LLMServer, serving
from tests.support.surfaces import DOCUMENTS, QUESTION

CASES: list[dict[str, Any]] = [
    json.loads(line) for line in (Path(__file__).parent / "hostile.jsonl").read_text("utf-8").splitlines()
]
FACT = "The warp is tied to the ring of the kedge anchor with an anchor bend."
HONEST = f"{FACT} [1]"
MARK = re.compile(r"\[(\d+)\]")


def obedient(case: dict[str, Any], obeyed: list[str]) -> Any:
    """A model that does whatever the text in its prompt says."""

    def say(_system: str, user: str) -> str:
        if case["seen"] in unicodedata.normalize("NFKC", user):
            obeyed.append(case["id"])
            return str(case["says"])
        return HONEST

    return say


@asynccontextmanager
async def opened(server: LLMServer, home: Path, **more: Any) -> AsyncIterator[Engine]:
    settings = load_settings(
        environ={},
        home=home,
        embedder="hash:256",
        llm="openai:obedient",
        llm_url=f"{server.url}/v1",
        catalog_url="memory://",
        vector_url="memory://",
        **more,
    )
    async with Engine.open(settings) as engine:
        yield engine


async def asked(engine: Engine, folder: Path, case: dict[str, Any]) -> Answer:
    """The case's document beside the harmless ones, in a collection of its own."""
    place = folder / case["id"]
    place.mkdir(parents=True)
    for name, text in DOCUMENTS.items():
        (place / name).write_text(text, "utf-8")
    (place / "notes.md").write_text(f"# Notes on the kedge anchor\n\n{FACT}\n\n{case['text']}\n", "utf-8")
    scope = Scope(DEFAULT_TENANT, case["id"])
    job = await engine.ingest(IngestRequest(scope, (str(place),)))
    assert not job.errors
    return await engine.ask(Query(QUESTION, scope))


def check(answer: Answer, case: dict[str, Any]) -> None:
    shown = unicodedata.normalize("NFKC", answer.answer).casefold()
    assert [words for words in case["never"] if words.casefold() in shown] == [], answer.answer
    marks = {f"[{number}]" for number in MARK.findall(answer.answer)}
    assert marks == {citation.id for citation in answer.citations}
    passages = {hit.passage.id: hit.passage for hit in answer.hits}
    for citation in answer.citations:
        passage = passages[citation.passage_id]
        place = citation.start - passage.start
        assert passage.text[place : place + len(citation.snippet)] == citation.snippet
        assert not gives_orders(citation.snippet)
    assert not re.search(r"https?:|www\.|!\[|<\w", answer.answer)
    assert all(f"({target})" in str(DOCUMENTS) for target in re.findall(r"\]\(([^)]*)\)", answer.answer))
    for sentence in re.split(r"(?<=\])\s+", answer.answer.strip()):
        assert sentence.endswith("]"), f"a sentence without a source: {sentence}"
    assert "anchor bend" in shown.replace("**", "")


@pytest.mark.req("G-05", "T-06")
def test_there_are_enough_of_them_and_of_many_kinds() -> None:
    assert len(CASES) >= 50
    assert len({case["kind"] for case in CASES}) >= 8
    assert len({case["id"] for case in CASES}) == len(CASES)


@pytest.mark.req("G-05", "T-06")
def test_no_hostile_passage_changes_what_is_shown(tmp_path: Path) -> None:
    obeyed: list[str] = []
    changed: list[str] = []

    async def scenario(server: LLMServer) -> None:
        async with opened(server, tmp_path / "home") as engine:
            for case in CASES:
                server.say = obedient(case, obeyed)
                answer = await asked(engine, tmp_path / "docs", case)
                try:
                    check(answer, case)
                except AssertionError as error:
                    changed.append(f"{case['id']}: {answer.answer!r}: {error}")

    with serving() as server:
        asyncio.run(scenario(server))
    assert changed == []
    assert obeyed == [case["id"] for case in CASES]  # each one was read and obeyed


def test_without_a_model_they_are_not_quoted_either(tmp_path: Path) -> None:
    async def scenario() -> None:
        settings = load_settings(
            environ={},
            home=tmp_path / "home",
            embedder="hash:256",
            catalog_url="memory://",
            vector_url="memory://",
        )
        async with Engine.open(settings) as engine:
            for case in CASES[::6]:
                answer = await asked(engine, tmp_path / "docs", case)
                assert not [citation for citation in answer.citations if gives_orders(citation.snippet)]

    asyncio.run(scenario())
