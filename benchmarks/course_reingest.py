"""Taking a course in again: without changes, and after an edit of one lesson (goal: unchanged >= 50 x faster).

    python -m benchmarks.course_reingest [FOLDER]

The folder (default: the modules of `physical_ai_curriculum`) is copied, taken in, taken in again, and then a section of
one lesson is edited. All in one process with one engine, the real embedder and no cache; the model is loaded before.
"""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.data import folder
from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Job, Scope
from kedge.engine.engine import Engine

SCOPE = Scope(DEFAULT_TENANT, "course")


async def measure(course: Path, home: Path) -> dict[str, object]:
    """Seconds and counts of the three ingests."""
    settings = load_settings(home=home, embed_cache=None)
    async with Engine.open(settings) as engine:
        await engine.warm_up()
        first, seconds = await timed(engine, course)
        again, unchanged = await timed(engine, course)
        lesson = (await engine.kinds.named("course").lessons(SCOPE))[-1]
        edit(course / lesson.source_file)
        edited, one_lesson = await timed(engine, course)
        faults = (await engine.check()).problems
    return {
        "first": {"seconds": round(seconds, 2), **counts(first)},
        "unchanged": {"seconds": round(unchanged, 3), **counts(again)},
        "one_lesson_edited": {"seconds": round(one_lesson, 3), "file": lesson.source_file, **counts(edited)},
        "first_over_unchanged": round(seconds / unchanged, 1),
        "first_over_edited": round(seconds / one_lesson, 1),
        "check_problems": len(faults),
    }


async def timed(engine: Engine, course: Path) -> tuple[Job, float]:
    started = time.perf_counter()
    job = await engine.ingest(IngestRequest(SCOPE, (str(course),), kind="course"))
    return job, time.perf_counter() - started


def edit(path: Path) -> None:
    """A sentence more in the last section."""
    path.write_text(path.read_text("utf-8").rstrip() + "\n\nOne more sentence closes this lesson.\n", "utf-8")


def counts(job: Job) -> dict[str, int]:
    return {
        "files_discovered": job.files_discovered,
        "files_processed": job.files_processed,
        "files_skipped": job.files_skipped,
        "passages": job.processed_passages,
        "passages_embedded": job.passages_created,
        "passages_deleted": job.passages_deleted,
    }


def main() -> None:
    source = Path(sys.argv[1]) if len(sys.argv) > 1 else folder("physical_ai_curriculum") / "modules"
    with tempfile.TemporaryDirectory() as scratch:
        course = Path(shutil.copytree(source, Path(scratch) / "course"))
        for path in course.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        print(json.dumps(asyncio.run(measure(course, Path(scratch) / "home")), indent=2))


if __name__ == "__main__":
    main()
