"""Searching for a reader, whole lessons, chains and prerequisites; a filter holds in all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kedge.core.errors import FilterError, NotFoundError, QueryError, UsageError
from kedge.core.values import Query, Scope
from kedge.core.values.filters import Eq, Range
from kedge.engine.engine import Engine
from kedge.kinds.courses.query import Learner
from tests.kinds.courses.conftest import BOOK, LESSONS, Run, ingest, lesson, write

TIER_2 = Range("hardware_tier", lte=2)


@pytest.mark.req("C-07", "C-11")
@pytest.mark.parametrize(
    ("reader", "titles"),
    [
        (Learner(), {"Coordinate frames", "Maps"}),
        (Learner(hardware_tier=2), {"Coordinate frames", "Vectors", "Maps"}),
        (Learner(hardware_tier=4, module="01"), {"Coordinate frames", "Vectors", "Rotations"}),
        (Learner(hardware_tier=4, chapter_min=2), {"Rotations"}),
        (Learner(hardware_tier=4, chapter_max=1, lesson=1), {"Coordinate frames", "Lidar"}),
        (Learner(hardware_tier=4, proficiency_levels=("a1", "B2")), {"Coordinate frames", "Rotations"}),
        (Learner(hardware_tier=4, layer="L2"), {"Vectors"}),
        (Learner(hardware_tier=3, module="2", proficiency_levels=("A2",), chapter_min=1, lesson=1), {"Lidar"}),
    ],
)
def test_a_reader_sees_what_the_filters_let_through(run: Run, course: Path, reader: Learner, titles: set[str]) -> None:
    async def scenario(engine: Engine) -> None:
        await ingest(engine, course)
        found = await engine.kinds.named("course").find(BOOK, "robot arrows pulses of light", reader, 20)
        hits = found.result.hits
        assert {hit.passage.title for hit in hits} == titles
        assert found.total_found == len(hits)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)

    run(scenario)


@pytest.mark.req("C-11")
def test_impossible_searches_say_why(run: Run, course: Path) -> None:
    async def scenario(engine: Engine) -> None:
        await ingest(engine, course)
        with pytest.raises(QueryError, match="3 characters"):
            await engine.kinds.named("course").find(BOOK, " ab ")
        for limit in (0, 21):
            with pytest.raises(QueryError, match="limit"):
                await engine.kinds.named("course").find(BOOK, "frames", limit=limit)
        for reader in (Learner(hardware_tier=5), Learner(chapter_min=21), Learner(layer="L7")):
            with pytest.raises(FilterError):
                await engine.kinds.named("course").find(BOOK, "frames", reader)
        with pytest.raises(NotFoundError, match="no course"):
            await engine.kinds.named("course").find(Scope("default", "nowhere"), "frames")

    run(scenario)


@pytest.mark.req("C-07", "C-11")
def test_no_surface_shows_a_lesson_above_the_readers_hardware(run: Run, course: Path) -> None:
    async def scenario(engine: Engine) -> None:
        await ingest(engine, course)
        hidden = await engine.kinds.named("course").lesson(BOOK, "1/2.1")
        for text in ("What does a rotation do to an arrow?", "rotation", "What must I know before lesson 2.1?"):
            query = Query(text, BOOK, top_k=20, where=TIER_2)
            answer = await engine.ask(query)
            shown = {citation.title for citation in answer.citations} | {hit.passage.title for hit in answer.hits}
            shown |= {step for hit in (await engine.search(query)).hits for step in (hit.passage.title, *hit.path)}
            assert "Rotations" not in shown
            assert "2.1 Rotations" not in answer.answer
        with pytest.raises(NotFoundError):
            await engine.kinds.named("course").lesson(BOOK, hidden.lesson.parent_doc_id, TIER_2)
        with pytest.raises(NotFoundError):
            await engine.kinds.named("course").expand(BOOK, hidden.passages[0].id, where=TIER_2)
        with pytest.raises(NotFoundError):
            await engine.kinds.named("course").prerequisites(BOOK, "1/2.1", TIER_2)
        assert "Rotations" not in {one.title for one in await engine.kinds.named("course").lessons(BOOK, TIER_2)}

    run(scenario)


@pytest.mark.req("C-11")
def test_a_lesson_comes_whole_and_in_order_by_any_of_its_names(run: Run, course: Path) -> None:
    async def scenario(engine: Engine) -> None:
        await ingest(engine, course)
        by_number = await engine.kinds.named("course").lesson(BOOK, "1/1.1")
        for name in (by_number.lesson.parent_doc_id, "Coordinate frames", "frames.md", "module 1 lesson 1.1"):
            assert await engine.kinds.named("course").lesson(BOOK, name) == by_number
        assert [one.index for one in by_number.passages] == [0, 1, 2]
        with pytest.raises(UsageError, match="2 lessons"):
            await engine.kinds.named("course").lesson(BOOK, "1.1")
        assert (await engine.kinds.named("course").lesson(BOOK, "1.1", Eq("module", 2))).lesson.title == "Lidar"

    run(scenario)


@pytest.mark.req("C-11")
def test_context_grows_along_the_chain_within_its_budget(run: Run, tmp_path: Path) -> None:
    body = "\n\n".join(f"## Part {n}\n\n" + f"word{n} " * 20 for n in range(9))
    folder = write(tmp_path / "c", {"a.md": lesson("1/1.1", "Parts", body)})

    async def scenario(engine: Engine) -> None:
        await ingest(engine, folder)
        chain = (await engine.kinds.named("course").lesson(BOOK, "1.1")).passages
        middle = chain[4]
        for budget in (1, 60, 100, 150, 10_000):
            found = await engine.kinds.named("course").expand(BOOK, middle.id, budget)
            ids = [one.id for one in found.passages]
            assert middle.id in ids
            start = [one.id for one in chain].index(ids[0])
            assert ids == [one.id for one in chain[start : start + len(ids)]]
            assert found.tokens == sum(one.token_count for one in found.passages)
            assert found.tokens <= budget or ids == [middle.id]
        assert found.complete
        with pytest.raises(NotFoundError):
            await engine.kinds.named("course").expand(BOOK, "00000000-0000-0000-0000-000000000000")
        with pytest.raises(UsageError):
            await engine.kinds.named("course").expand(BOOK, middle.id, 0)

    run(scenario)


@pytest.mark.req("C-11")
def test_prerequisites_come_from_the_graph_with_the_path(run: Run, course: Path) -> None:
    async def scenario(engine: Engine) -> None:
        await ingest(engine, course)
        found = await engine.kinds.named("course").prerequisites(BOOK, "1/2.1")
        assert [one.lesson.title for one in found.needed] == ["Coordinate frames", "Vectors"]
        assert [step.place.number for step in found.needed[0].path] == ["2.1", "1.2", "1.1"]
        assert [one.why for one in found.needed] == ["stated", "stated"]
        assert found.outside == ("linear algebra",)
        later = await engine.kinds.named("course").prerequisites(BOOK, "2/1.2")
        assert ([one.lesson.title for one in later.needed], later.needed[0].why) == (["Lidar"], "order")
        assert later.modules == ("1",)
        assert (await engine.kinds.named("course").prerequisites(BOOK, "1/1.1")).needed == ()

    run(scenario)


@pytest.mark.req("C-11")
def test_a_question_about_the_order_of_learning_is_answered_with_the_path(run: Run, course: Path) -> None:
    async def scenario(engine: Engine) -> None:
        await ingest(engine, course)
        every = Range("hardware_tier", lte=4)
        answer = await engine.ask(Query("What must I know before lesson 2.1?", BOOK, where=every))
        assert answer.confidence == "high"
        assert "1.1 Coordinate frames" in answer.answer
        assert "2.1 ← 1.2 ← 1.1" in answer.answer
        for citation in answer.citations:
            file = next(body for name, body in LESSONS.items() if citation.url.endswith(name))
            assert file[citation.start : citation.end] == citation.snippet
        paths = answer.metadata["paths"]
        assert isinstance(paths, list)
        assert all(path["edges"] for path in paths if isinstance(path, dict))
        titled = await engine.ask(Query("Which lessons should I study before the Rotations lesson?", BOOK, where=every))
        assert titled.answer == answer.answer
        assert [event.type async for event in engine.stream(Query("What do I need to know before 1.1?", BOOK))][-1] == (
            "done"
        )
        other = await engine.ask(Query("How does a lidar measure distance?", BOOK))
        assert other.metadata.get("kind") != "graph"

    run(scenario)


@pytest.mark.req("C-05")
def test_prerequisites_that_need_each_other_end(run: Run, tmp_path: Path) -> None:
    folder = write(
        tmp_path / "c",
        {
            "a.md": lesson("1/1.1", "First", "## Text\n\nFirst of all.", prerequisites="[1.2, 1.9]"),
            "b.md": lesson("1/1.2", "Second", "## Text\n\nSecond of all.", prerequisites="[1.1, Chapter 2]"),
            "c.md": lesson("1/2.1", "Third", "## Text\n\nThird of all.", prerequisites="[none]"),
        },
    )

    async def scenario(engine: Engine) -> None:
        await ingest(engine, folder)
        found = await engine.kinds.named("course").prerequisites(BOOK, "1/1.1")
        assert [one.lesson.title for one in found.needed] == ["Third", "Second"]
        assert found.outside == ("lesson 1 1.9",)
        assert (await engine.kinds.named("course").prerequisites(BOOK, "1/2.1")).needed == ()

    run(scenario)
