"""What a course was made of, what an ingestion would do, and what a hit's score is."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from kedge.core.errors import NotFoundError, UsageError
from kedge.core.outside import from_json, to_json
from kedge.core.values import DEFAULT_TENANT, IngestMode, IngestRequest, Scope
from kedge.engine.engine import Engine
from kedge.kinds.courses.kind import KIND
from kedge.kinds.courses.query import Learner
from kedge.kinds.courses.values import CourseState
from kedge.models.registry import open_embedder
from tests.kinds.courses.conftest import BOOK, LESSONS, Run, ingest, lesson, write


def request(folder: Path, **changes: Any) -> IngestRequest:
    return IngestRequest(BOOK, (str(folder),), kind=KIND.name, **changes)


@pytest.mark.req("C-12", "C-08")
def test_the_state_of_a_book_names_every_file_and_passage(run: Run, course: Path) -> None:
    async def scenario(engine: Engine) -> None:
        courses: Any = engine.kinds.opened(KIND)
        with pytest.raises(NotFoundError):
            await courses.state(BOOK)
        first = await ingest(engine, course)
        state = await courses.state(BOOK)
        assert [one.source_file for one in state.files] == list(LESSONS)
        held = {id async for page in engine.stores.vectors.ids(state.collection_name, DEFAULT_TENANT) for id in page}
        assert {id for one in state.files for id in one.chunk_ids} == held
        assert state.total_chunks == sum(one.chunk_count for one in state.files) == len(held)
        for one in state.files:
            assert one.file_hash == hashlib.sha256((course / one.source_file).read_bytes()).hexdigest()
            assert one.chunk_count == len(one.chunk_ids) > 0
            assert one.ingested_at is not None
        assert (state.files[0].module, state.files[0].chapter, state.files[0].lesson) == ("1", 1, 1)
        assert (state.last_full_ingest, state.last_incremental_update) == (first.completed_at, None)
        write(course, {"module-2/maps.md": lesson("2/1.2", "Maps", "## Grids\n\nA grid map forgets nothing at all.")})
        second = await ingest(engine, course)
        assert (second.files_new, second.files_modified, second.files_skipped) == (0, 1, 4)
        state = await courses.state(BOOK)
        assert (state.last_full_ingest, state.last_incremental_update) == (first.completed_at, second.completed_at)
        third = await ingest(engine, course, IngestMode.FULL)
        assert (await courses.state(BOOK)).last_full_ingest == third.completed_at
        assert from_json(CourseState, to_json(state)) == state

    run(scenario)


@pytest.mark.req("C-13", "C-08")
def test_what_an_ingestion_would_do_is_told_and_not_done(run: Run, course: Path) -> None:
    async def scenario(engine: Engine) -> None:
        before = await engine.plan(request(course))
        assert (before.new, before.modified, before.deleted) == (tuple(sorted(LESSONS)), (), ())
        with pytest.raises(NotFoundError):
            await engine.collection(BOOK)
        job = await ingest(engine, course)
        assert (job.files_new, job.files_modified) == (5, 0)
        write(course, {"module-1/new.md": lesson("1/3.1", "New", "## New\n\nThis lesson was not there before.")})
        (course / "module-2/lidar.md").unlink()
        maps = course / "module-2/maps.md"
        maps.write_text(maps.read_text() + "\nIt is kept in memory.\n")
        plan = await engine.plan(request(course))
        assert plan.new == ("module-1/new.md",)
        assert plan.modified == ("module-2/maps.md",)
        assert [Path(one).name for one in plan.deleted] == ["lidar.md"]
        assert plan.unchanged == 3
        assert (await engine.collection(BOOK)).documents == 5
        done = await ingest(engine, course)
        assert (done.files_new, done.files_modified, done.files_skipped, done.files_deleted) == (1, 1, 3, 1)
        full = await engine.plan(request(course, mode=IngestMode.FULL))
        assert len(full.modified) == 5
        with pytest.raises(UsageError, match="cannot be told"):
            await engine.plan(IngestRequest(BOOK, (str(course),), kind="table"))

    run(scenario)


@pytest.mark.req("C-15", "C-11")
def test_a_hit_says_the_cosine_of_text_and_passage(run: Run, course: Path) -> None:
    async def scenario(engine: Engine) -> None:
        await ingest(engine, course)
        courses: Any = engine.kinds.opened(KIND)
        text = "How far away is a pulse of light?"
        found = await courses.find(BOOK, text, Learner(hardware_tier=4), 5)
        embedder = open_embedder("hash:64", engine.settings)
        asked = await embedder.embed_query(text)
        passages = [hit.passage.embed_text for hit in found.result.hits]
        cosines = np.asarray(await embedder.embed(passages)) @ asked
        assert [hit.vector_score for hit in found.hits] == pytest.approx(cosines.tolist(), abs=1e-5)
        assert found.total_found == (await engine.collection(BOOK)).passages

    run(scenario)


@pytest.mark.req("C-04")
def test_version_and_times_move_exactly_with_their_passage(run: Run, course: Path) -> None:
    async def scenario(engine: Engine) -> None:
        courses: Any = engine.kinds.opened(KIND)
        await ingest(engine, course)
        before = {one.id: to_json(one) for one in (await courses.lesson(BOOK, "1/1.1")).chunks}
        frames = course / "module-1/frames.md"
        frames.write_text(frames.read_text().replace("hardware_tier: 1", "hardware_tier: 2"))
        await ingest(engine, course)
        after = {one.id: to_json(one) for one in (await courses.lesson(BOOK, "1/1.1")).chunks}
        assert before.keys() == after.keys()
        for key, old in before.items():
            assert (old["version"], after[key]["version"]) == (1, 2)
            assert after[key]["created_at"] == old["created_at"]
            assert after[key]["updated_at"] >= old["updated_at"]
            assert after[key]["hardware_tier"] == 2
        await ingest(engine, course)
        again = {one.id: to_json(one) for one in (await courses.lesson(BOOK, "1/1.1")).chunks}
        assert again == after
        fields = (
            "book_id module chapter lesson hardware_tier proficiency_level layer source_file parent_doc_id chunk_index "
            "total_chunks prev_chunk_id next_chunk_id content_hash source_file_hash version created_at updated_at text"
        ).split()
        assert set(fields) <= next(iter(again.values())).keys()

    run(scenario)


@pytest.mark.req("C-17")
def test_every_passage_knows_when_and_by_what_it_was_embedded(run: Run, course: Path) -> None:
    async def scenario(engine: Engine) -> None:
        courses: Any = engine.kinds.opened(KIND)

        async def times() -> dict[str, Any]:
            found = (await courses.lesson(BOOK, "1/1.1")).chunks
            assert {one.embedding_model for one in found} == {(await engine.collection(BOOK)).embedder}
            return {str(one.section_title): one.embedded_at for one in found}

        await ingest(engine, course)
        before = await times()
        assert all(before.values())
        frames = course / "module-1/frames.md"
        frames.write_text(frames.read_text().replace("turns with it", "turns with it, always"))
        await ingest(engine, course)
        after = await times()
        assert after["Body frame"] > before["Body frame"]
        assert (after["World frame"], after["None"]) == (before["World frame"], before["None"])
        await engine.reindex(BOOK, "hash:32")
        anew = await times()
        assert all(anew[name] > after[name] for name in after)
        shown = to_json((await courses.lesson(BOOK, "1/1.1")).chunks[0])
        assert shown["embedding_model"] == "hash:32"
        assert shown["embedded_at"] is not None

    run(scenario)


def test_another_tenant_sees_no_state(run: Run, course: Path) -> None:
    async def scenario(engine: Engine) -> None:
        await ingest(engine, course)
        courses: Any = engine.kinds.opened(KIND)
        with pytest.raises(NotFoundError):
            await courses.state(Scope("other", BOOK.collection))

    run(scenario)
