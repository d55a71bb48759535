"""Which embedder new collections get, and that those there are keep theirs."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from kedge.core.errors import EmbedderMismatchError
from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Query, Scope
from kedge.engine.engine import Engine

FILES = {
    "documents": ("anchors.md", "# Anchors\n\nA kedge is a light anchor for hauling a ship off the ground.\n"),
    "table": ("catch.csv", "fish,tonnes\nherring,12\ncod,7\n"),
    "graph": ("crew.tsv", "Ada\tsails with\tBen\nBen\tsails with\tCleo\n"),
}
FORMER = "minilm:int8"
"""The default of earlier versions."""


def settings_of(tmp_path: Path, **more: Any) -> Any:
    return load_settings(environ={}, home=tmp_path / "home", threads=1, **more)


def write(tmp_path: Path, kind: str) -> Path:
    name, text = FILES[kind]
    path = tmp_path / name
    path.write_text(text, "utf-8")
    return path


async def taken_in(engine: Engine, tmp_path: Path, kind: str) -> str:
    scope = Scope(DEFAULT_TENANT, kind)
    await engine.ingest(IngestRequest(scope, (str(write(tmp_path, kind)),), kind=kind))
    return (await engine.collection(scope)).embedder


@pytest.mark.req("D-19")
@pytest.mark.parametrize(("named", "expected"), [(None, ["granite", FORMER, FORMER]), ("hash:64", ["hash:64"] * 3)])
def test_a_kind_of_short_texts_has_another_usual_embedder_unless_one_is_named(
    tmp_path: Path, named: str | None, expected: list[str]
) -> None:
    async def go() -> list[str]:
        async with Engine.open(settings_of(tmp_path, embedder=named)) as engine:
            return [await taken_in(engine, tmp_path, kind) for kind in FILES]

    assert asyncio.run(go()) == expected


@pytest.mark.req("D-19", "D-09")
def test_a_collection_of_an_earlier_version_keeps_its_embedder_until_it_is_moved(tmp_path: Path) -> None:
    scope = Scope(DEFAULT_TENANT, "documents")
    question = Query("What is a kedge?", scope)

    async def before() -> str:
        async with Engine.open(settings_of(tmp_path, embedder=FORMER)) as engine:
            return await taken_in(engine, tmp_path, "documents")

    async def now() -> list[str]:
        async with Engine.open(settings_of(tmp_path)) as engine:
            kept = await taken_in(engine, tmp_path, "documents")
            answers = [(await engine.ask(question)).answer]
            moved = (await engine.reindex(scope, None)).embedder
            answers.append((await engine.ask(question)).answer)
            assert all("light anchor" in answer for answer in answers)
            return [kept, moved]

    assert asyncio.run(before()) == FORMER
    assert asyncio.run(now()) == [FORMER, "granite"]


def test_another_embedder_that_is_named_is_refused(tmp_path: Path) -> None:
    async def go(embedder: str | None) -> str:
        async with Engine.open(settings_of(tmp_path, embedder=embedder)) as engine:
            return await taken_in(engine, tmp_path, "documents")

    assert asyncio.run(go("hash:64")) == "hash:64"
    with pytest.raises(EmbedderMismatchError, match="hash:64"):
        asyncio.run(go("granite"))
