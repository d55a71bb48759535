"""Lessons become chains of passages, and only what changed is embedded again."""

from __future__ import annotations

import hashlib
import re
import uuid
from collections.abc import Sequence
from pathlib import Path

import pytest

from kedge.core.moving import MOVING
from kedge.core.values import IngestMode, Passage, Query, Scope
from kedge.core.values.filters import Eq, Range
from kedge.engine.engine import Engine
from kedge.ingest.parse.markdown import MarkdownParser
from kedge.kinds.courses.cut import cut, limits_for
from tests.kinds.courses.conftest import BOOK, LESSONS, Run, ingest, lesson, write


async def passages(engine: Engine, place: str, scope: Scope = BOOK) -> tuple[Passage, ...]:
    return (await engine.kinds.named("course").lesson(scope, place)).passages


@pytest.mark.req("C-01", "C-02", "C-03", "C-04")
def test_a_lesson_is_a_chain_of_sections_with_ids_of_their_content(run: Run, course: Path) -> None:
    async def scenario(engine: Engine) -> None:
        await ingest(engine, course)
        found = await passages(engine, "1/1.1")
        assert [one.metadata["section_title"] for one in found] == [None, "World frame", "Body frame"]
        for one in found:
            digest = hashlib.sha256(one.text.encode()).hexdigest()
            assert one.id == str(uuid.uuid5(uuid.NAMESPACE_DNS, f"robots:1:1:1:{digest[:16]}"))
            assert one.metadata["parent_doc_id"] == str(uuid.uuid5(uuid.NAMESPACE_DNS, "robots:1:1:1:parent"))
            assert one.metadata["proficiency_level"] == "A1"
            assert one.metadata["layer"] == "L1"
            assert one.metadata["token_count"] == one.token_count > 0

    run(scenario)


@pytest.mark.req("C-03")
@pytest.mark.parametrize("window", [0, 256, 512])
def test_a_long_section_is_cut_at_about_400_tokens_and_never_across_sections(window: int) -> None:
    said = [f"word{number} " * 8 + "ends here." for number in range(150)]
    text = "# Long\n\n## First\n\n" + "\n\n".join(said) + "\n\n## Second\n\nA short one."
    limits = limits_for(window, 0)
    parts = cut(
        MarkdownParser().parse(text),
        count_words,
        limits,
        title="Long",
        base=0,
        first_index=0,
        warn=lambda message: None,
    )
    sizes = [part.chunk.token_count for part in parts]
    most = min(400, window or 400)
    assert max(sizes) <= most
    assert sum(sizes[:-1]) / len(sizes[:-1]) > 0.75 * most
    assert (parts[-1].chunk.text, parts[-1].section_title) == ("## Second\n\nA short one.", "Second")
    assert {part.section_title for part in parts[:-1]} == {"First"}
    assert [part.chunk.index for part in parts] == list(range(len(parts)))


def count_words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


@pytest.mark.req("C-08", "C-09", "C-10")
def test_an_edit_embeds_only_what_changed_and_the_report_says_so(run: Run, course: Path) -> None:
    async def scenario(engine: Engine) -> None:
        first = await ingest(engine, course)
        assert (first.files_processed, first.files_skipped, first.files_discovered) == (5, 0, 5)
        before = await passages(engine, "1/1.1")
        changed = LESSONS["module-1/frames.md"].replace("bolted down", "screwed to the floor")
        write(course, {"module-1/frames.md": changed})
        job = await ingest(engine, course)
        assert (job.files_processed, job.files_skipped, job.files_discovered) == (1, 4, 5)
        assert (job.passages_created, job.passages_deleted, job.processed_passages) == (1, 1, 3)
        after = await passages(engine, "1/1.1")
        assert [one.id for one in after][::2] == [one.id for one in before][::2]
        assert after[1].id != before[1].id
        assert after[0].metadata["next_chunk_id"] == after[1].id == after[2].metadata["prev_chunk_id"]
        assert [one.metadata["version"] for one in after] == [2, 1, 2]
        assert after[0].metadata["created_at"] == before[0].metadata["created_at"]
        again = await ingest(engine, course)
        assert (again.files_processed, again.files_skipped, again.passages_created) == (0, 5, 0)

    run(scenario)


@pytest.mark.req("C-02", "C-05")
def test_a_moved_section_and_a_renamed_file_keep_their_ids_and_vectors(run: Run, course: Path) -> None:
    async def scenario(engine: Engine) -> None:
        await ingest(engine, course)
        before = await passages(engine, "1/1.2")
        head, arrows, adding = re.split(r"(?=^## )", LESSONS["module-1/vectors.md"], flags=re.MULTILINE)
        (course / "module-1/vectors.md").unlink()
        write(course, {"renamed/arrows.md": f"{head}{adding}\n{arrows}"})
        job = await ingest(engine, course)
        assert (job.files_processed, job.files_deleted, job.passages_created, job.passages_deleted) == (1, 0, 0, 0)
        after = await passages(engine, "1/1.2")
        assert [one.text[:9] for one in after[-2:]] == ["## Adding", "## Arrows"]
        assert {one.id for one in after} == {one.id for one in before}
        assert {one.metadata["source_file"] for one in after} == {"renamed/arrows.md"}
        collection = await engine.collection(BOOK)
        where = Eq("source_file_hash", str(after[0].metadata["source_file_hash"]))
        assert await engine.stores.vectors.count(collection.index_name, BOOK.tenant, where) == len(after)
        assert await engine.stores.vectors.count(collection.index_name, BOOK.tenant, Eq(MOVING, True)) == 0

    run(scenario)


@pytest.mark.req("C-02", "C-05")
def test_a_repeated_text_is_two_passages_of_one_chain(run: Run, tmp_path: Path) -> None:
    twice = "Said twice.\n\n## Note\n\nThe same words stand here.\n\n## Note\n\nThe same words stand here."
    folder = write(tmp_path / "c", {"a.md": lesson("1/1.1", "Twice", twice)})

    async def scenario(engine: Engine) -> None:
        await ingest(engine, folder)
        found = await passages(engine, "1.1")
        assert found[-1].text == found[-2].text
        assert found[-1].id != found[-2].id
        assert found[-2].metadata["next_chunk_id"] == found[-1].id

    run(scenario)


@pytest.mark.req("C-02")
def test_two_tenants_with_the_same_book_do_not_meet(run: Run, course: Path) -> None:
    other = Scope("second", "robots")

    async def scenario(engine: Engine) -> None:
        await ingest(engine, course)
        await ingest(engine, course, scope=other)
        mine, theirs = await passages(engine, "1/1.1"), await passages(engine, "1/1.1", other)
        assert not {one.id for one in mine} & {one.id for one in theirs}
        await engine.delete_collection(other)
        assert await passages(engine, "1/1.1") == mine
        assert (await engine.check()).problems == ()

    run(scenario)


@pytest.mark.req("C-08")
def test_full_takes_everything_again_under_the_same_ids_and_recreate_too(run: Run, course: Path) -> None:
    async def scenario(engine: Engine) -> None:
        first = await ingest(engine, course)
        before = {one.id: one.metadata for one in await passages(engine, "1/1.1")}
        full = await ingest(engine, course, IngestMode.FULL)
        assert (full.files_processed, full.passages_created) == (5, first.passages_created)
        assert {one.id: one.metadata for one in await passages(engine, "1/1.1")} == before
        made = await ingest(engine, course, IngestMode.RECREATE)
        assert (made.files_processed, made.passages_created) == (5, first.passages_created)
        assert {one.id for one in await passages(engine, "1/1.1")} == before.keys()
        assert (await engine.check()).problems == ()

    run(scenario)


@pytest.mark.req("C-07", "C-09")
def test_a_new_tier_is_filtered_at_once_without_embedding(run: Run, course: Path) -> None:
    async def scenario(engine: Engine) -> None:
        await ingest(engine, course)
        query = Query("arrows tip to tail", BOOK, where=Range("hardware_tier", lte=2))
        assert any(hit.passage.title == "Vectors" for hit in (await engine.search(query)).hits)
        write(course, {"module-1/vectors.md": LESSONS["module-1/vectors.md"].replace("tier: 2", "tier: 3")})
        job = await ingest(engine, course)
        assert (job.passages_created, job.processed_passages) == (0, 3)
        assert not any(hit.passage.title == "Vectors" for hit in (await engine.search(query)).hits)

    run(scenario)


@pytest.mark.req("C-08", "C-09")
def test_a_new_title_is_embedded_because_it_is_part_of_what_is_found(run: Run, course: Path) -> None:
    async def scenario(engine: Engine) -> None:
        await ingest(engine, course)
        write(course, {"module-2/maps.md": LESSONS["module-2/maps.md"].replace("title: Maps", "title: Charts")})
        job = await ingest(engine, course)
        assert job.passages_created == job.processed_passages > 0
        assert job.passages_deleted == 0

    run(scenario)


@pytest.mark.req("C-08")
def test_a_part_of_the_folder_takes_nothing_else_out(run: Run, course: Path) -> None:
    async def scenario(engine: Engine) -> None:
        await ingest(engine, course)
        job = await ingest(engine, course / "module-2")
        assert job.files_deleted == 0
        assert len(await engine.kinds.named("course").lessons(BOOK)) == 5
        (course / "module-2/maps.md").unlink()
        job = await ingest(engine, course)
        assert (job.files_deleted, job.files_processed + job.files_skipped) == (1, job.files_discovered)
        assert len(await engine.kinds.named("course").lessons(BOOK)) == 4

    run(scenario)


@pytest.mark.req("C-10")
def test_the_graph_is_rebuilt_with_its_prerequisites(run: Run, course: Path) -> None:
    async def scenario(engine: Engine) -> None:
        await ingest(engine, course)
        before = await engine.kinds.named("course").prerequisites(BOOK, "1/2.1")
        await engine.stores.graph.drop(BOOK)
        assert (await engine.check(repair=True)).ok
        assert await engine.kinds.named("course").prerequisites(BOOK, "1/2.1") == before
        assert (await engine.check()).problems == ()

    run(scenario)
