"""Scores are of the texts alone, not of the order in which they were written."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Query, Scope
from kedge.engine.engine import Engine

SCOPE = Scope(DEFAULT_TENANT, "sea")
RNG = random.Random(3)
WORDS = [f"term{number}" for number in range(60)]
TEXTS = {f"{number:03}": " ".join(RNG.choices(WORDS, k=RNG.randrange(20, 80))) for number in range(150)}
QUESTIONS = [" ".join(RNG.choices(WORDS, k=25)) for _ in range(12)]
"""Of many words each: sums of many numbers show their order."""


async def found(folder: Path, parts: Sequence[Sequence[str]]) -> list[dict[str, tuple[float | None, float | None]]]:
    """By question and text: the scores by words, in a home that was given the texts in these parts."""
    async with Engine.open(load_settings(environ={}, home=folder / "home", embedder="hash:64")) as engine:
        for part in parts:
            place = folder / part[0]
            place.mkdir(parents=True)
            for name in part:
                (place / f"{name}.txt").write_text(TEXTS[name], "utf-8")
            await engine.ingest(IngestRequest(SCOPE, (str(place),)))
        results = [await engine.search(Query(question, SCOPE, top_k=20)) for question in QUESTIONS]
        return [{hit.passage.text: (hit.keyword_score, hit.bm25) for hit in result.hits} for result in results]


@pytest.mark.req("D-28", "D-09")
def test_scores_by_words_do_not_depend_on_the_order_of_writing(tmp_path: Path) -> None:
    names = sorted(TEXTS)
    at_once = asyncio.run(found(tmp_path / "at once", [names]))
    in_parts = asyncio.run(found(tmp_path / "in parts", [names[100:][::-1], names[50:100], names[:50]]))
    assert sum(map(len, at_once)) == 20 * len(QUESTIONS)
    assert at_once == in_parts
