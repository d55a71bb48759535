"""Ingest rate against its control, the bare embedder on the same texts, in one run (goal: ratio >= 0.8).

    python -m benchmarks.ingest_rate [SET] [LIMIT] [EMBEDDER]

The control embeds exactly the texts that the ingest embedded, in one call. Both run in this process, the ingest first;
neither uses a cache. Processor time tells more than the clock where the machine is busy. Peak resident memory is that
of the process after the ingest and before the control.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import tempfile
import time
from itertools import islice
from pathlib import Path

from benchmarks.data import folder
from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Scope
from kedge.engine.engine import Engine
from kedge.models.registry import open_embedder

SCOPE = Scope(DEFAULT_TENANT, "bench")


async def measure(corpus: Path, home: Path, embedder: str) -> dict[str, float]:
    """Figures of one corpus."""
    settings = load_settings(home=home, embed_cache=None, embedder=embedder)
    async with Engine.open(settings) as engine:
        await engine.warm_up()
        started, used = time.perf_counter(), time.process_time()
        job = await engine.ingest(IngestRequest(SCOPE, (str(corpus),)))
        seconds, used = time.perf_counter() - started, time.process_time() - used
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        texts = [p.embed_text async for batch in engine.stores.catalog.passages.scan(SCOPE) for p in batch]
    model = open_embedder(embedder, settings)
    await model.embed(texts[:8])
    started = time.perf_counter()
    await model.embed(texts)
    bare = time.perf_counter() - started
    return {
        "passages": job.processed_passages,
        "ingest_seconds": round(seconds, 1),
        "ingest_rate": round(len(texts) / seconds, 2),
        "ingest_cpu_ms_a_passage": round(1000 * used / len(texts), 2),
        "bare_embedder_rate": round(len(texts) / bare, 2),
        "ratio": round(bare / seconds, 3),
        "peak_memory_mb": round(memory),
    }


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else "scifact"
    limit = int(sys.argv[2]) if len(sys.argv) > 2 else None
    embedder = sys.argv[3] if len(sys.argv) > 3 else load_settings().embedder
    with tempfile.TemporaryDirectory() as scratch:
        corpus = Path(scratch) / "corpus.jsonl"
        with (folder(name) / "corpus.jsonl").open() as lines, corpus.open("w") as out:
            out.writelines(islice(lines, limit))
        figures = asyncio.run(measure(corpus, Path(scratch) / "home", embedder))
        print(json.dumps({"set": name, "embedder": embedder} | figures, indent=2))


if __name__ == "__main__":
    main()
