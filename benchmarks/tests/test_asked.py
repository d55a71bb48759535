"""The written questions: whole, and over the made reports what answers each stands where it is said."""

from __future__ import annotations

import asyncio
import json
import lzma
import tempfile
from pathlib import Path
from random import Random
from typing import Any

import pytest

from benchmarks.asked.__main__ import indexed
from benchmarks.asked.questions import (
    HELD_OUT,
    NONE,
    PARTLY_HELD_OUT,
    collections,
    held_out_questions,
    is_held_out,
    questions,
)
from benchmarks.asked.sources import DEBIAN, GATHERED, MADE, PACKAGES
from benchmarks.asked.windows import windows
from benchmarks.reader import packed
from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Scope
from kedge.engine.engine import Engine

TYPES = {*("how", "table", "number", "what", "why", "who-where-when", "yesno", "list", "compare", "summary"), NONE}


def test_every_collection_has_its_documents() -> None:
    made = {path.name for path in MADE.iterdir()}
    assert set(collections()) == {*PACKAGES, *DEBIAN, *GATHERED, *made}
    assert set(HELD_OUT) < set(collections())


@pytest.mark.parametrize("name", collections())
def test_every_question_is_whole(name: str) -> None:
    asked = questions(name)
    assert len({one.text for one in asked}) == len(asked)
    for one in asked:
        assert one.type in TYPES
        assert all(one.evidence.statements)
        if one.type == NONE:
            assert one.short is None


def test_what_answers_is_found_again_and_packed_for_the_reader() -> None:
    found = asyncio.run(_windows("made3", 60))
    answering = [row for row in found if row["about"]]
    assert {row["question"] for row in found} == {one.text for one in questions("made3")[:60]}
    assert all(row["support"] for row in answering)
    assert not any(row["support"] or row["about"] for row in found if row["type"] == NONE)
    for row in answering:
        if row["span"]:
            place, start, end = row["span"]
            assert place == row["support"][0]
            assert row["statements"][place][start:end].strip()
    assert any(row.get("found") for row in found)


def test_the_readings_of_a_table_are_shown_in_any_order(tmp_path: Path) -> None:
    row = {"question": "how many?", "identity": "Table", "statements": ["a → 1.", "b → 2.", "c → 3."], "support": [1]}
    path = tmp_path / "plans.jsonl.xz"
    with lzma.open(path, "wt", encoding="utf-8") as file:
        file.writelines(json.dumps(row) + "\n" for _ in range(20))
    examples = list(packed.plans(path, Random(1)))
    assert len({tuple(one.statements) for one in examples}) > 1
    assert all([one.statements[at] for at in one.support] == ["b → 2."] for one in examples)


async def _windows(name: str, count: int) -> list[dict[str, Any]]:
    scope, folder = Scope(DEFAULT_TENANT, name), MADE / name
    with tempfile.TemporaryDirectory() as home:
        async with Engine.open(load_settings(home=Path(home), embedder="hash")) as engine:
            await engine.ingest(IngestRequest(scope, (str(folder),)))
            index = await indexed(engine, scope, folder, held_out=False)
            return [row async for row in windows(engine, name, index, questions(name)[:count])]


def test_some_documents_are_kept_from_teaching_but_not_all() -> None:
    for name in PARTLY_HELD_OUT:
        held = held_out_questions(name)
        assert 0 < len(held) < len(questions(name))
        taught = {one.evidence.document for one in questions(name)} - {one.evidence.document for one in held}
        assert not any(is_held_out(name, document) for document in taught)
    assert all(held_out_questions(name) == questions(name) for name in HELD_OUT)
