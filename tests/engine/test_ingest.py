"""The way in, through the engine."""

from __future__ import annotations

import json
import uuid
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from kedge.core.errors import DiskFullError, EmbedderMismatchError, ModelError, UsageError
from kedge.core.values import DEFAULT_TENANT, DocumentStatus, IngestMode, IngestRequest, JobStatus, Query, Scope
from kedge.engine.engine import Engine
from kedge.models.embed.hashed import HashEmbedder
from kedge.stores.ports import Point

SCOPE = Scope(DEFAULT_TENANT, "default")


def request(path: Path, **options: Any) -> IngestRequest:
    return IngestRequest(SCOPE, (str(path),), **options)


async def seen(engine: Engine) -> dict[str, list[str]]:
    """What readers see: passage ids by file name."""
    found = {}
    for document in await engine.documents(SCOPE):
        _, passages = await engine.document(DEFAULT_TENANT, document.id)
        found[Path(document.url).name] = [passage.id for passage in passages]
    return found


async def found_for(engine: Engine, question: str) -> list[str]:
    return [hit.passage.id for hit in (await engine.search(Query(question, SCOPE))).hits]


@pytest.mark.req("D-01", "D-10", "D-18")
def test_a_folder_becomes_documents(run: Any, folder: Path) -> None:
    async def scenario(engine: Engine) -> None:
        states: list[JobStatus] = []
        job = await engine.ingest(request(folder), lambda job: states.append(job.status))
        assert (job.status, job.progress) == (JobStatus.COMPLETE, 100)
        assert (job.files_discovered, job.files_processed, job.files_skipped) == (3, 3, 0)
        assert job.processed_passages == job.total_passages == sum(len(ids) for ids in (await seen(engine)).values())
        order = list(dict.fromkeys(states))
        assert order == [JobStatus.CHUNKING, JobStatus.EMBEDDING, JobStatus.EXTRACTING, JobStatus.COMPLETE]
        titles = {document.title for document in await engine.documents(SCOPE)}
        assert {"Anchors", "Tides"} <= titles
        assert all(document.status is DocumentStatus.ACTIVE for document in await engine.documents(SCOPE))
        assert (await engine.check()).problems == ()

    run(scenario)


@pytest.mark.req("D-02")
def test_passages_are_exact_slices_with_their_place(run: Any, folder: Path) -> None:
    async def scenario(engine: Engine) -> None:
        await engine.ingest(request(folder, topic="sea", metadata={"shelf": 3}))
        text = (folder / "anchors.md").read_text()
        document = next(item for item in await engine.documents(SCOPE) if item.title == "Anchors")
        _, passages = await engine.document(DEFAULT_TENANT, document.id)
        for number, passage in enumerate(passages):
            assert passage.text == text[passage.start : passage.end]
            assert passage.index == number
            assert (passage.document_id, passage.topic_tag, passage.language) == (document.id, "sea", "en")
            assert passage.metadata["shelf"] == 3
            assert passage.token_count > 0
            assert passage.ingested_at is not None
            assert passage.document_updated_at is not None

    run(scenario)


@pytest.mark.req("C-08", "D-18")
def test_an_unchanged_folder_touches_nothing(run: Any, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scenario(engine: Engine) -> None:
        await engine.ingest(request(folder))
        before = await seen(engine)

        async def embed(*_: object) -> None:
            raise AssertionError("an unchanged text was embedded again")

        monkeypatch.setattr(HashEmbedder, "embed", embed)
        again = await engine.ingest(request(folder))
        assert (again.files_skipped, again.files_processed, again.passages_created) == (3, 0, 0)
        assert await seen(engine) == before

    run(scenario)


@pytest.mark.req("C-09", "D-18")
def test_a_changed_file_is_replaced_and_keeps_what_did_not_change(run: Any, folder: Path) -> None:
    async def scenario(engine: Engine) -> None:
        long = "\n\n".join(f"## Part {n}\n\n" + f"Sentence {n} about sails. " * 40 for n in range(6))
        (folder / "sails.md").write_text(f"# Sails\n\n{long}\n")
        await engine.ingest(request(folder))
        before = (await seen(engine))["sails.md"]
        (folder / "sails.md").write_text((folder / "sails.md").read_text().replace("Sentence 3", "Statement 3"))
        job = await engine.ingest(request(folder))
        after = (await seen(engine))["sails.md"]
        assert (job.files_processed, job.files_skipped) == (1, 3)
        kept = set(before) & set(after)
        assert 0 < len(kept) < len(after)
        assert job.passages_created == len(set(after) - kept)
        assert (await engine.check()).problems == ()
        hits = (await engine.search(Query("Sentence 3 about sails", SCOPE, top_k=20))).hits
        assert not {hit.passage.id for hit in hits} & (set(before) - kept)

    run(scenario)


@pytest.mark.req("C-08", "D-18")
def test_a_deleted_file_goes(run: Any, folder: Path) -> None:
    async def scenario(engine: Engine) -> None:
        await engine.ingest(request(folder))
        (folder / "tides.md").unlink()
        job = await engine.ingest(request(folder))
        assert job.files_deleted == 1
        assert set(await seen(engine)) == {"anchors.md", "knots.txt"}
        archived = await engine.documents(SCOPE, status=DocumentStatus.ARCHIVED)
        assert [Path(document.url).name for document in archived] == ["tides.md"]
        hits = (await engine.search(Query("spring tides at full moon", SCOPE))).hits
        assert all(hit.passage.title != "Tides" for hit in hits)
        assert (await engine.check()).problems == ()

    run(scenario)


@pytest.mark.req("D-10")
def test_a_bad_source_is_reported_and_the_others_go_in(run: Any, folder: Path) -> None:
    async def scenario(engine: Engine) -> None:
        (folder / "empty.md").write_text("  \n")
        (folder / "garbage.md").write_bytes(bytes(range(256)) * 20)
        job = await engine.ingest(request(folder))
        assert job.status is JobStatus.COMPLETE
        assert {error.code for error in job.errors} == {"empty_source", "not_text"}
        assert all(error.hint for error in job.errors)
        assert job.files_failed == 2
        assert job.files_processed + job.files_skipped + job.files_failed == job.files_discovered
        failed = await engine.documents(SCOPE, status=DocumentStatus.FAILED)
        assert {Path(document.url).name for document in failed} == {"empty.md", "garbage.md"}
        assert all(document.error_message for document in failed)
        (folder / "empty.md").write_text("# Now with text\n\nA full sentence.\n")
        assert (await engine.ingest(request(folder))).files_processed == 1

    run(scenario)


@pytest.mark.req("D-18")
def test_a_file_that_breaks_keeps_its_last_good_version(run: Any, folder: Path) -> None:
    async def scenario(engine: Engine) -> None:
        await engine.ingest(request(folder))
        before = await seen(engine)
        (folder / "tides.md").write_bytes(b"\x00\x01\x02" * 500)
        job = await engine.ingest(request(folder))
        assert [error.code for error in job.errors] == ["not_text"]
        assert await seen(engine) == before

    run(scenario)


@pytest.mark.req("D-18", "D-10")
def test_a_failing_model_fails_the_job_and_shows_nothing(
    run: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(engine: Engine) -> None:
        async def embed(*_: object) -> None:
            raise ModelError("The model is on fire.")

        with monkeypatch.context() as patch:
            patch.setattr(HashEmbedder, "embed", embed)
            with pytest.raises(ModelError, match="on fire"):
                await engine.ingest(request(folder))
        job = (await engine.jobs(DEFAULT_TENANT))[0]
        assert (job.status, job.error_message) == (JobStatus.FAILED, "The model is on fire.")
        failed = await engine.documents(SCOPE, status=DocumentStatus.FAILED)
        assert len(failed) == 3
        assert (await engine.search(Query("anchor", SCOPE))).hits == ()
        assert (await engine.ingest(request(folder))).files_processed == 3
        assert (await engine.check()).problems == ()

    run(scenario)


@pytest.mark.req("D-18")
def test_a_full_disk_fails_the_job_and_leaves_the_catalog_intact(
    run: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scenario(engine: Engine) -> None:
        await engine.ingest(request(folder))
        before = await seen(engine)
        (folder / "more.md").write_text("# More\n\nOne more document.\n")
        with monkeypatch.context() as patch:
            full = SimpleNamespace(disk_usage=lambda _path: SimpleNamespace(free=0))
            patch.setattr("kedge.stores.vectors.edge.faults.shutil", full)
            with pytest.raises(DiskFullError):
                await engine.ingest(request(folder))
        assert await seen(engine) | {"more.md": []} == before | {"more.md": []}
        assert await engine.stores.catalog.integrity() == []
        await engine.ingest(request(folder))
        assert set(await seen(engine)) == {*before, "more.md"}

    run(scenario)


@pytest.mark.req("C-08")
def test_full_mode_takes_everything_again_and_recreate_starts_over(run: Any, folder: Path) -> None:
    async def scenario(engine: Engine) -> None:
        await engine.ingest(request(folder))
        before = await seen(engine)
        full = await engine.ingest(request(folder, mode=IngestMode.FULL))
        assert (full.files_processed, full.files_skipped) == (3, 0)
        assert full.passages_created == sum(len(ids) for ids in before.values())
        assert await seen(engine) == before
        (folder / "extra").mkdir()
        (folder / "extra" / "a.md").write_text("# Extra\n\nText of its own.\n")
        await engine.ingest(request(folder / "extra", mode=IngestMode.RECREATE))
        assert set(await seen(engine)) == {"a.md"}
        assert (await engine.check()).problems == ()

    run(scenario)


@pytest.mark.req("D-01")
def test_a_jsonl_corpus_keeps_its_ids(run: Any, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    rows = [{"_id": f"d{n}", "title": f"Title {n}", "text": f"Text number {n} of the corpus."} for n in range(700)]
    corpus.write_text("\n".join(map(json.dumps, rows)))

    async def scenario(engine: Engine) -> None:
        job = await engine.ingest(request(corpus))
        assert job.files_processed == 700
        hit = (await engine.search(Query("Title 456", SCOPE))).hits[0]
        assert hit.passage.external_id == "d456"
        corpus.write_text("\n".join(map(json.dumps, rows[:-1])))
        assert (await engine.ingest(request(corpus))).files_deleted == 1

    run(scenario)


@pytest.mark.req("D-19")
def test_a_collection_pins_its_embedder(run: Any, folder: Path) -> None:
    async def first(engine: Engine) -> None:
        await engine.ingest(request(folder))

    async def second(engine: Engine) -> None:
        with pytest.raises(EmbedderMismatchError, match="reindex"):
            await engine.ingest(request(folder))

    async def third(engine: Engine) -> None:
        before = await engine.search(Query("bowline loop", SCOPE))
        collection = await engine.reindex(SCOPE, "hash:128")
        assert (collection.dimension, collection.generation) == (128, 2)
        after = await engine.search(Query("bowline loop", SCOPE))
        assert after.hits[0].passage.id == before.hits[0].passage.id
        assert (await engine.check()).problems == ()

    run(first)
    run(second, embedder="hash:128")
    run(third)


def test_nothing_to_take_in_is_an_error(run: Any) -> None:
    async def scenario(engine: Engine) -> None:
        with pytest.raises(UsageError, match="nothing to take in"):
            await engine.ingest(IngestRequest(SCOPE, ()))
        with pytest.raises(UsageError, match="no kind"):
            await engine.ingest(IngestRequest(SCOPE, ("x",), kind="poems"))

    run(scenario)


@pytest.mark.req("D-10", "C-10")
def test_queued_jobs_survive_a_restart(run: Any, folder: Path) -> None:
    async def first(engine: Engine) -> str:
        job = await engine.submit(request(folder))
        assert job.status is JobStatus.QUEUED
        return job.id

    async def second(engine: Engine) -> None:
        assert await engine.drain() == 1
        job = await engine.job(DEFAULT_TENANT, job_id)
        assert job.status is JobStatus.COMPLETE
        assert len(await seen(engine)) == 3

    job_id = run(first)
    run(second)


@pytest.mark.req("D-05", "D-06")
def test_check_finds_and_repairs_drift(run: Any, folder: Path) -> None:
    async def scenario(engine: Engine) -> None:
        await engine.ingest(request(folder))
        collection = await engine.collection(SCOPE)
        ids = [key for keys in (await seen(engine)).values() for key in keys]
        await engine.stores.vectors.delete(collection.index_name, DEFAULT_TENANT, ids[:1])
        await engine.stores.graph.remove(SCOPE, ids[1:2], [])
        found = await engine.check()
        assert {problem.kind for problem in found.problems} == {"missing_vectors", "missing_graph"}
        assert not found.ok
        repaired = await engine.check(repair=True)
        assert repaired.ok
        assert repaired.repaired == 2
        assert (await engine.check()).problems == ()

    run(scenario)


@pytest.mark.req("G-09", "D-18")
def test_check_finds_and_repairs_what_was_written_past_kedge(run: Any, folder: Path) -> None:
    async def scenario(engine: Engine) -> None:
        await engine.ingest(request(folder))
        collection = await engine.collection(SCOPE)
        ids = [key for keys in (await seen(engine)).values() for key in keys]
        before = await found_for(engine, "Which anchor is light?")
        vector = np.eye(1, collection.dimension, dtype=np.float32)[0]
        strange = [Point(key, vector, "words of another text", {}) for key in (ids[0], str(uuid.uuid4()))]
        await engine.stores.vectors.upsert(collection.index_name, DEFAULT_TENANT, strange)
        found = {problem.kind: problem.ids for problem in (await engine.check()).problems}
        assert found == {"stale_vectors": (ids[0],), "orphaned_vectors": (strange[1].id,)}
        assert (await engine.check(repair=True)).repaired == 2
        assert (await engine.check()).problems == ()
        after = await found_for(engine, "Which anchor is light?")
        assert (after[0], set(after)) == (before[0], set(before))

    run(scenario)


@pytest.mark.req("D-10")
def test_a_long_document_shows_progress_before_it_is_done(run: Any, tmp_path: Path) -> None:
    long = tmp_path / "long.txt"
    paragraphs = (f"Paragraph {n} of the long text. " + "It has some more words. " * 12 for n in range(6000))
    long.write_text("\n\n".join(paragraphs))

    async def scenario(engine: Engine) -> None:
        seen_progress: list[tuple[int, int]] = []
        await engine.ingest(request(long), lambda job: seen_progress.append((job.progress, job.files_processed)))
        assert any(0 < progress < 99 and files == 0 for progress, files in seen_progress)
        assert [progress for progress, _ in seen_progress] == sorted(progress for progress, _ in seen_progress)

    run(scenario)


def test_what_a_folder_passes_over_is_told_with_what_to_do(run: Any, tmp_path: Path) -> None:
    folder = tmp_path / "mixed"
    folder.mkdir()
    (folder / "good.md").write_text("# Good\n\nThe gate is blue.\n", "utf-8")
    for name in ("old.doc", "older.doc", "packed.7z", "guide.adoc", "noise.bin", "nameless"):
        (folder / name).write_bytes(b"\x00\x01" * 40)
    job = run(lambda engine: engine.ingest(request(folder)))
    assert (job.files_processed, job.files_failed) == (1, 0)
    assert [note.partition(": ")[2] for note in job.warnings] == [
        "no suffix says what it is.",
        ".7z is not unpacked; unpack it and take in what is inside.",
        ".adoc is not looked for; name it to take in the text with its marks.",
        ".bin is no document format.",
        ".doc is not read; save them as DOCX.",
    ]


def test_a_passage_of_several_sections_knows_which_one_its_words_stand_under(run: Any, tmp_path: Path) -> None:
    path = tmp_path / "sheets.md"
    path.write_text(
        "# Sheets\n\n## Boats\n\nThe heron has four sailors.\n\n## Lamps\n\nThe stern lamp is white.\n", "utf-8"
    )

    async def scenario(engine: Engine) -> Any:
        await engine.ingest(request(path))
        (document,) = await engine.documents(SCOPE)
        _, (passage,) = await engine.document(DEFAULT_TENANT, document.id)
        return passage

    passage = run(scenario)
    assert [passage.section_at(passage.text.index(words)) for words in ("heron", "stern lamp")] == [
        ("Sheets", "Boats"),
        ("Sheets", "Lamps"),
    ]
    assert passage.section_path == ("Sheets", "Boats")
