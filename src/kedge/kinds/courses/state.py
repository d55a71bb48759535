"""The ingestion state of a book: which files it was made of, what became of each, and when (C-08, C-12)."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from kedge.core.values import IngestMode, Job, JobStatus, Scope
from kedge.kinds.courses.shelf import Shelf, lesson_of
from kedge.kinds.courses.values import CourseState, SourceFileState
from kedge.stores.bundle import Stores

PAGE = 1000
MOST_JOBS = 100_000


async def course_state(stores: Stores, shelf: Shelf, scope: Scope) -> CourseState:
    """The state of a book. NotFoundError for a collection that is no course."""
    await shelf.require(scope)
    collection = await stores.catalog.collections.get(scope)
    files: list[tuple[tuple[int | str, ...], SourceFileState]] = []
    offset = 0
    while page := await stores.catalog.documents.page(scope, limit=PAGE, offset=offset):
        offset += len(page)
        for document in page:
            lesson = lesson_of(document)
            if lesson is None:
                continue
            passages = await stores.catalog.passages.of_document(scope.tenant, document.id)
            place = lesson.place
            state = SourceFileState(
                source_file=lesson.source_file,
                file_hash=str(document.metadata.get("source_file_hash", "")),
                chunk_ids=tuple(passage.id for passage in passages),
                chunk_count=len(passages),
                ingested_at=document.ingested_at,
                module=place.module,
                chapter=place.chapter,
                lesson=place.lesson,
            )
            files.append((tuple(place.order), state))
    shown = tuple(state for _, state in sorted(files, key=lambda item: item[0]))
    recent = await stores.catalog.jobs.recent(scope.tenant, limit=MOST_JOBS)
    full, incremental = _times(job for job in recent if job.scope == scope)
    index = collection.index_name if collection is not None else ""
    return CourseState(scope.collection, index, full, incremental, sum(one.chunk_count for one in shown), shown)


def _times(jobs: Iterable[Job]) -> tuple[datetime | None, datetime | None]:
    """When the last full and the last incremental job ended; the first of all is a full one."""
    done = sorted((job for job in jobs if job.status is JobStatus.COMPLETE and job.completed_at), key=_ended)
    full = [job for at, job in enumerate(done) if at == 0 or job.mode is not IngestMode.INCREMENTAL]
    others = [job for at, job in enumerate(done) if at and job.mode is IngestMode.INCREMENTAL]
    return (full[-1].completed_at if full else None), (others[-1].completed_at if others else None)


def _ended(job: Job) -> datetime:
    assert job.completed_at is not None
    return job.completed_at
