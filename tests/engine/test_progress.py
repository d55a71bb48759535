"""A job says how much there is before it is done with it, and documents say how far they are."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from kedge.core.values import DEFAULT_TENANT, DocumentStatus, IngestRequest, Job, Scope
from kedge.engine.engine import Engine
from tests.ingest.conftest import make_pdf

SCOPE = Scope(DEFAULT_TENANT, "default")


@pytest.mark.req("D-33", "D-10")
def test_the_number_of_passages_is_known_before_all_are_processed(run: Any, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus.jsonl"
    rows = [
        {"_id": str(number), "title": f"Buoy {number}", "text": f"It marks place {number}."} for number in range(900)
    ]
    corpus.write_text("\n".join(map(json.dumps, rows)), "utf-8")
    seen: list[Job] = []

    async def scenario(engine: Engine) -> Job:
        return await engine.ingest(IngestRequest(SCOPE, (str(corpus),)), seen.append)

    ended = run(scenario)
    assert ended.total_passages == ended.processed_passages == 900
    running = [job for job in seen if job.total_passages is not None and not job.status.ended]
    assert any(job.processed_passages < 900 for job in running)
    assert {job.total_passages for job in running} == {900}
    for job in running:
        assert job.progress >= min(99, 100 * job.processed_passages // 900)
    assert [job.progress for job in seen] == sorted(job.progress for job in seen)


@pytest.mark.req("D-10")
def test_readers_see_a_document_go_through_its_states(settings: Any, folder: Path) -> None:
    """Asked at every step of the pipeline, as another process would ask."""
    seen: list[str] = []

    def look(_step: str) -> None:
        with sqlite3.connect(settings.home / "catalog.db") as catalog:
            seen.extend(row[0] for row in catalog.execute("SELECT status FROM documents WHERE title = 'Anchors'"))

    async def scenario() -> None:
        async with Engine.open(settings, on_step=look) as engine:
            await engine.ingest(IngestRequest(SCOPE, (str(folder / "anchors.md"),)))
            (document,) = await engine.documents(SCOPE)
            assert document.status is DocumentStatus.ACTIVE

    asyncio.run(scenario())
    order = ["pending", "chunking", "embedding", "extracting", "active"]
    assert list(dict.fromkeys(seen)) == order


@pytest.mark.req("D-33")
def test_progress_moves_while_one_long_file_is_read(run: Any, tmp_path: Path) -> None:
    """Page after page of a PDF, before any of its passages is there."""
    page = [
        (72.0, 700.0 - 14 * row, 11.0, f"Line {row} of this page tells of anchors and of ropes.") for row in range(20)
    ]
    path = tmp_path / "long.pdf"
    path.write_bytes(make_pdf(*[page] * 60))
    seen: list[Job] = []

    async def scenario(engine: Engine) -> Job:
        return await engine.ingest(IngestRequest(SCOPE, (str(path),)), seen.append)

    run(scenario)
    reading = [job.progress for job in seen if job.files_discovered == 0]
    assert len(set(reading)) > 10
    embedding = [job.progress for job in seen if job.total_passages and not job.processed_passages]
    assert len(set(embedding)) >= 3
    assert [job.progress for job in seen] == sorted(job.progress for job in seen)
