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
from kedge.kinds.courses.asking import Part, structure_asked
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
        ("What’s in the second module?", "2 lessons in module 2", ["Sampling", "Filters"]),
        ("I finished lesson 1.2. What is next?", "comes module 2, 2.1 Sampling", ["Harmonics", "Sampling"]),
        ("What does Sampling depend on?", "1.2 Harmonics (module 1)", ["Sampling", "Waves", "Harmonics"]),
        ("Does Sampling require Harmonics?", "Yes.", ["Harmonics", "Sampling"]),
        ("Can I skip Harmonics before Sampling?", "No.", ["Harmonics", "Sampling"]),
        ("Can I take Sampling without Filters?", "Yes.", ["Filters", "Sampling"]),
        ("Where do I start?", "The first lesson in this course is module 1, 1.1 Waves", ["Waves"]),
    ],
)
def test_a_course_knows_its_structure(kedge: Kedge, question: str, said: str, cited: list[str]) -> None:
    answer = kedge.ask(question)
    assert said in answer.answer
    assert titles(answer) == cited


ASKED: dict[Part, str] = {
    "lessons": """
        Which lessons does module 2 contain? | What topics does module 2 cover? | Give me the lessons in module 2
        Show me module 2's lessons | Lessons in module 2 | Table of contents of module 2 | What does module 2 teach?
        Which lessons make up module 2? | what lessons are there in chapter 2 of module 2
        List every lesson in the course
        Show all lessons | Which lessons are there? | Which lessons come in the last module? | What is in module 2?""",
    "after": """
        What's the next lesson after 1.2? | Which lesson follows 2.1? | What should I study after lesson 2.1?
        What do I do after Sampling? | What follows Sampling? | After lesson 2.1, what comes next?
        next lesson after Sampling
        What comes after the lesson on sampling? | What comes next after lesson 2.1 of module 2?""",
    "count": """
        How many lessons? | How many lessons does the course have? | How many lessons are in module 2?
        What is the number of lessons? | number of lessons in module 2 | How many lessons are there in total?""",
    "count modules": "How many modules? | How many modules does the course have? | What is the number of modules?",
    "modules": "What modules are there? | Show me the modules | What are the modules of this course?",
    "summary": """
        Summary of lesson 2.1 | What does lesson 2.1 cover? | What do I learn in lesson 2.1?
        Can you summarise lesson 2.1?
        Explain lesson 2.1 briefly | Give me a short overview of lesson 2.1 | Summarise the lesson on sampling
        Summarise Sampling | What is lesson 2.1 of module 2 about?""",
    "before": """
        What does lesson 2.1 depend on? | What does Sampling require? | Which lessons does Sampling build on?
        What is required for lesson 2.1?""",
    "needed": """
        Is Harmonics required for Sampling? | Is Harmonics a prerequisite of Sampling?
        Do I need Harmonics for Sampling?
        Do I need to know Harmonics before Sampling? | Must I take Harmonics before Sampling?
        Is lesson 1.1 needed for lesson 2.1? | Is Harmonics necessary to understand Sampling?""",
    "spared": "Can I skip Harmonics before Sampling? | Can I take Sampling without Harmonics?",
    "first": "What is the first lesson? | Which lesson comes first? | Where does module 2 begin?",
    "last": "What is the last lesson of module 2? | Which lesson is the last in module 2?",
}
NO_STRUCTURE = """
    What is sampling? | What does a filter let pass? | How many samples are taken in module 2?
    What does sampling measure?
    What is needed for a steady signal? | Is a filter needed for noise reduction? | What does sampling require?
    What comes after the signal is filtered? | What lesson is learned from waves?
    How many lessons were learned in 1998?
    What is in module 9? | What comes after lesson 7.7? | Is Harmonics needed for cooking?
    Summarise the history of radio
"""


def asked_of(text: str) -> list[str]:
    return [one.strip() for line in text.splitlines() for one in line.split("|") if one.strip()]


@pytest.mark.req("C-11")
@pytest.mark.parametrize(("part", "question"), [(part, one) for part, text in ASKED.items() for one in asked_of(text)])
def test_it_is_understood_in_many_words(kedge: Kedge, part: str, question: str) -> None:
    asked = structure_asked(question, kedge.lessons("waves"))
    assert asked is not None
    assert asked.part == part


@pytest.mark.req("C-11")
@pytest.mark.parametrize("question", asked_of(NO_STRUCTURE))
def test_what_lessons_teach_is_not_taken_for_structure(kedge: Kedge, question: str) -> None:
    assert structure_asked(question, kedge.lessons("waves")) is None


@pytest.mark.req("C-11")
def test_overviews_are_no_lessons_to_count_and_a_number_of_several_modules_is_asked_back(tmp_path: Path) -> None:
    with Kedge(tmp_path / "home", collection="tides", embedder="hash:64") as kedge:
        pages = {
            "module-1/README.md": "# About tides\n\nThis module is about tides.\n",
            "module-1/ebb.md": lesson("1/1.1", "Ebb", "The ebb is when water falls.", prerequisites="[]"),
            "module-2/README.md": "# About moons\n\nThis module is about moons.\n",
            "module-2/moon.md": lesson("2/1.1", "Moon", "The moon pulls the water.", prerequisites="[]"),
        }
        kedge.ingest(write(tmp_path / "course", pages), kind="course")
        counted = kedge.ask("How many lessons are there?")
        assert (counted.short_answer, counted.answer[:9]) == ("2", "2 lessons")
        assert "2 overviews" in counted.answer
        assert kedge.ask("What comes after Ebb?").short_answer == "Moon"
        several = kedge.ask("Summarise lesson 1.1")
        assert titles(several) == ["Ebb", "Moon"]
        assert "Name the module: “Summarise lesson 1.1 of module 1”." in several.answer
        assert set(titles(kedge.ask("Summarise lesson 1.1 of module 2"))) <= {"Moon"}


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
