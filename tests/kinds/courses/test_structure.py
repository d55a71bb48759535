"""Questions about how a course is built, and the tier that a reader has who says nothing of it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from kedge import Kedge
from kedge.core.settings import load_settings
from kedge.core.values import Answer, Query
from kedge.core.values.filters import Range
from kedge.engine.engine import Engine
from tests.kinds.courses.conftest import BOOK, LESSONS, MEMORY, ingest, lesson, write

WAVES = {
    "module-1/waves.md": lesson("1/1.1", "Waves", "A wave carries energy.", prerequisites="[]"),
    "module-1/harmonics.md": lesson("1/1.2", "Harmonics", "A harmonic is a multiple.", prerequisites="[1.1]"),
    "module-2/sampling.md": lesson(
        "2/2.1", "Sampling", "Sampling measures a wave at equal steps in time.", prerequisites="[Harmonics]"
    ),
    "module-2/filters.md": lesson("2/2.2", "Filters", "A filter lets slow waves pass.", prerequisites="[]"),
}


@pytest.fixture(scope="module")
def kedge(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kedge]:
    folder = tmp_path_factory.mktemp("waves")
    with Kedge(folder / "home", collection="waves") as opened:
        opened.ingest(write(folder / "course", WAVES), kind="course")
        yield opened


def titles(answer: Answer) -> list[str]:
    return [citation.title for citation in answer.citations]


@pytest.mark.req("C-11")
@pytest.mark.parametrize(
    ("question", "said", "cited"),
    [
        ("What lessons are in module 2?", "2 lessons in module 2", ["Sampling", "Filters"]),
        ("List the lessons of module 1", "module 1, 1.2 Harmonics", ["Waves", "Harmonics"]),
        ("What comes after lesson 1.2?", "comes module 2, 2.1 Sampling", ["Harmonics", "Sampling"]),
        ("What comes after lesson 2.2 of module 2?", "last lesson of this course", ["Filters"]),
        ("How many lessons are there?", "4 lessons", ["Waves"]),
        ("How many lessons does module 2 have?", "2 lessons in module 2", ["Sampling"]),
        ("How many modules are there?", "2 modules", ["Waves"]),
        ("What must I know before Sampling?", "1.2 Harmonics (module 1)", ["Sampling", "Waves", "Harmonics"]),
        ("Is Harmonics needed for Sampling?", "Yes.", ["Harmonics", "Sampling"]),
        ("Is Filters needed for Sampling?", "No.", ["Filters", "Sampling"]),
    ],
)
def test_a_course_knows_its_structure(kedge: Kedge, question: str, said: str, cited: list[str]) -> None:
    answer = kedge.ask(question)
    assert said in answer.answer
    assert titles(answer) == cited


@pytest.mark.req("C-11")
def test_a_lesson_is_summed_up_from_its_own_text(kedge: Kedge) -> None:
    answer = kedge.ask("Summarise lesson 2.1")
    assert set(titles(answer)) == {"Sampling"}
    assert "measures a wave" in answer.answer


def test_a_module_that_is_not_there_is_no_question_about_structure(kedge: Kedge) -> None:
    assert "lessons in module" not in kedge.ask("What lessons are in module 9?").answer


@pytest.mark.req("C-16", "C-07")
def test_without_a_tier_every_way_to_ask_sees_tier_1_alone(tmp_path: Path) -> None:
    async def scenario() -> None:
        settings = load_settings(None, {}, home=tmp_path / "home", embedder="hash:64", **MEMORY)
        async with Engine.open(settings) as engine:
            await ingest(engine, write(tmp_path / "course", LESSONS))
            shown = {hit.passage.title for hit in (await engine.search(Query("pulses of light", BOOK, top_k=20))).hits}
            assert shown == {"Coordinate frames", "Maps"}
            asked = await engine.ask(Query("How does a lidar measure distance?", BOOK))
            assert "Lidar" not in {hit.passage.title for hit in asked.hits} | {one.title for one in asked.citations}
            assert "3 lessons" not in (await engine.ask(Query("How many lessons are there?", BOOK))).answer
            wide = Query("pulses of light", BOOK, top_k=20, where=Range("hardware_tier", lte=4))
            assert "Lidar" in {hit.passage.title for hit in (await engine.search(wide)).hits}

    asyncio.run(scenario())
