"""What a backup and a restore cost, and what a backup costs those who write meanwhile.

    python -m benchmarks.backup [SET] [--limit N] [--embedder hash:384]

Control: a plain copy of the home's folder (not consistent under writes), and ingestion without a backup beside it.
The embedder makes vectors of the usual length from words alone: a backup does not look at what they mean.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

from benchmarks.data import folder
from kedge.core.settings import Settings, load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Scope
from kedge.engine.backup.archive import Archive
from kedge.engine.backup.restoring import restore_backup
from kedge.engine.backup.taking import take_backup
from kedge.engine.engine import Engine

SCOPE, BESIDE = Scope(DEFAULT_TENANT, "held"), Scope(DEFAULT_TENANT, "written")


async def measure(corpus: Path, place: Path, embedder: str) -> dict[str, object]:
    settings = load_settings(environ={}, home=place / "home", embedder=embedder)
    restored = settings.model_copy(update={"home": place / "restored"})
    half = place / "half.jsonl"
    lines = corpus.read_text("utf-8").splitlines(keepends=True)
    half.write_text("".join(lines[: len(lines) // 4]), "utf-8")
    async with Engine.open(settings) as engine:
        await engine.ingest(IngestRequest(SCOPE, (str(corpus),)))
        passages = (await engine.collection(SCOPE)).passages
        vectors = engine.stores.vectors
        copied = await timed(lambda: asyncio.to_thread(shutil.copytree, settings.home, place / "copy"))
        backup = await timed(lambda: take_backup(settings, place / "1", vectors=vectors))
        without = await timed(lambda: take_backup(settings, place / "2"))
        alone = await timed(lambda: engine.ingest(IngestRequest(BESIDE, (str(half),))))
        await engine.delete_collection(BESIDE)
        backups, beside = await asyncio.gather(*both(engine, settings, half, place / "3"))
    restore = await timed(lambda: restore_backup(restored, place / "1"))
    with Archive(place / "1") as archive:
        verify = await timed(lambda: asyncio.to_thread(archive.verify))
        size = archive.manifest.size
    return {
        "passages": passages,
        "home_mb": round(sum(one.stat().st_size for one in settings.home.rglob("*") if one.is_file()) / 1e6, 1),
        "unpacked_mb": round(size / 1e6, 1),
        "file_mb": round((place / "1").stat().st_size / 1e6, 1),
        "seconds": {
            "control_copy_of_the_folder": copied,
            "backup": backup,
            "backup_without_vectors": without,
            "verify": verify,
            "restore_and_check": restore,
        },
        "ingest_beside_backups": {"alone": alone, "beside": beside, "backups_meanwhile": backups},
    }


def both(
    engine: Engine, settings: Settings, corpus: Path, file: Path
) -> tuple[Awaitable[int], Awaitable[dict[str, float]]]:
    """One backup after the other for as long as an ingestion lasts."""
    done = asyncio.Event()

    async def back_up() -> int:
        count = 0
        while not done.is_set():
            await take_backup(settings, file, vectors=engine.stores.vectors)
            count += 1
        return count

    async def ingest() -> dict[str, float]:
        try:
            return await timed(lambda: engine.ingest(IngestRequest(BESIDE, (str(corpus),))))
        finally:
            done.set()

    return back_up(), ingest()


async def timed(work: Callable[[], Awaitable[object]]) -> dict[str, float]:
    """Seconds by the clock and of this process's CPU time: on a busy machine only the latter says much."""
    begun, used = time.perf_counter(), time.process_time()
    await work()
    return {"wall": round(time.perf_counter() - begun, 2), "cpu": round(time.process_time() - used, 2)}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("set", nargs="?", default="scifact")
    parser.add_argument("--limit", type=int, default=0, help="documents of the set; 0: all")
    parser.add_argument("--embedder", default="hash:384")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        place = Path(made)
        lines = (folder(asked.set) / "corpus.jsonl").read_text("utf-8").splitlines(keepends=True)
        (place / "corpus.jsonl").write_text("".join(lines[: asked.limit or None]), "utf-8")
        print(json.dumps(asyncio.run(measure(place / "corpus.jsonl", place, asked.embedder)), indent=2))


if __name__ == "__main__":
    main()
