"""Who runs next in one process: tenants take turns, and what ends its process is not run for ever."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kedge.core.errors import KedgeError
from kedge.core.locks import waiting
from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Job, JobStatus, Scope
from kedge.engine.engine import Engine
from kedge.engine.jobs.local import LocalQueue
from kedge.engine.jobs.ports import Duties
from kedge.engine.jobs.runs import MOST_RUNS, counted_run, standing_still
from kedge.ingest.tracker import new_job
from kedge.stores.catalog.memory.catalog import MemoryCatalog
from tests.support.surfaces import EMBEDDER, write_corpus

START = datetime(2026, 1, 1, tzinfo=UTC)


async def nothing() -> None:
    """A check that finds nothing."""


def test_tenants_take_turns_and_one_place_is_left_to_others() -> None:
    async def body() -> None:
        jobs = MemoryCatalog().jobs
        wanted = [("a", "one"), ("a", "two"), ("a", "three"), ("b", "one"), ("c", "one")]
        for number, (tenant, collection) in enumerate(wanted):
            job = new_job(IngestRequest(Scope(tenant, collection), ("x",)))
            await jobs.put(replace(job, created_at=START + timedelta(seconds=number)))
        queue, begun = LocalQueue(jobs), list[str]()
        release: dict[str, asyncio.Event] = {}
        changed = asyncio.Condition()

        async def run(job: Job) -> None:
            name = f"{job.scope.tenant}/{job.scope.collection}"
            async with changed:
                begun.append(name)
                release[name] = asyncio.Event()
                changed.notify_all()
            await release[name].wait()
            await jobs.put(replace(job, status=JobStatus.COMPLETE))

        async def until(count: int) -> None:
            async with changed:
                await changed.wait_for(lambda: len(begun) >= count)

        work = asyncio.create_task(queue.work(Duties(run, nothing, at_once=2)))
        await until(2)
        assert begun == ["a/one", "b/one"]  # two of a would leave no place to b
        release["b/one"].set()
        await until(3)
        assert begun[2] == "c/one"
        release["a/one"].set()
        await until(4)
        assert begun[3] == "a/two"
        work.cancel()
        await asyncio.gather(work, return_exceptions=True)
        left = await jobs.unfinished()
        assert {job.status for job in left} == {JobStatus.QUEUED}

    asyncio.run(asyncio.wait_for(body(), 60))


def test_a_run_counts_unless_it_came_further() -> None:
    job = new_job(IngestRequest(Scope(DEFAULT_TENANT, "c"), ("x",)))
    for _ in range(MOST_RUNS):
        found = counted_run(job)
        assert found is not None
        job = found
    assert counted_run(job) is None
    further = counted_run(replace(job, files_processed=3))
    assert further is not None
    again = counted_run(replace(further, files_processed=2))
    assert again is None


def test_a_job_that_ended_its_process_twice_is_set_aside(tmp_path: Path) -> None:
    settings = load_settings(environ={}, home=tmp_path / "home", embedder=EMBEDDER)
    source = write_corpus(tmp_path / "corpus")

    async def body() -> None:
        async with Engine.open(settings) as engine:
            jobs = engine.stores.catalog.jobs
            killing = await engine.submit(IngestRequest(Scope(DEFAULT_TENANT, "bad"), (str(source),)))
            for _ in range(MOST_RUNS):  # as a process that is killed leaves it
                begun = counted_run(killing)
                assert begun is not None
                killing = replace(begun, status=JobStatus.CHUNKING, started_at=START)
                await jobs.put(killing)
            fine = await engine.submit(IngestRequest(Scope(DEFAULT_TENANT, "good"), (str(source),)))
            await engine.drain()
            ended = await engine.job(DEFAULT_TENANT, killing.id)
            assert ended.status is JobStatus.FAILED
            assert "Set aside" in str(ended.error_message)
            assert (await engine.job(DEFAULT_TENANT, fine.id)).status is JobStatus.COMPLETE

    asyncio.run(body())


def test_work_that_stands_still_is_broken_off_unless_it_waits_for_its_turn() -> None:
    async def body() -> None:
        with pytest.raises(KedgeError, match="stood still"):
            async with standing_still(0.05):
                await asyncio.Event().wait()
        async with standing_still(0.05):
            with waiting():
                await asyncio.sleep(0.2)

    asyncio.run(asyncio.wait_for(body(), 60))
