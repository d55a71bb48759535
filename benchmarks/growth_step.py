"""One step of `benchmarks.growth` in a process of its own, so that memory is that of the step: prints one JSON value.

python -m benchmarks.growth_step ingest HOME CACHE CORPUS
python -m benchmarks.growth_step ask HOME QUESTIONS
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
import time
from pathlib import Path

from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Query, Scope
from kedge.engine.engine import Engine
from kedge.evals.metrics import percentile
from kedge.models.registry import open_embedder
from kedge.retrieve.channels.pool import Traversal
from kedge.stores.vectors.edge import EdgeVectors

SCOPE = Scope(DEFAULT_TENANT, "bench")
WARM = 20
"""Questions asked before the clock starts."""
Figures = dict[str, object]


async def ingest(home: Path, cache: Path, corpus: Path) -> Figures:
    """Take the corpus in, wait for the search index."""
    async with Engine.open(load_settings(home=home, embed_cache=cache)) as engine:
        await engine.warm_up()
        started, cpu = time.perf_counter(), time.process_time()
        job = await engine.ingest(IngestRequest(SCOPE, (str(corpus),)))
        seconds, cpu = time.perf_counter() - started, time.process_time() - cpu
        started = time.perf_counter()
        await engine.settle()
        return {
            "added": job.passages_created,
            "ingest_per_second": round(job.passages_created / seconds, 1),
            "ingest_cpu_ms_per_passage": round(1000 * cpu / max(1, job.passages_created), 2),
            "optimize_seconds": round(time.perf_counter() - started, 1),
            "ingest_memory_mb": memory(),
        }


async def ask(home: Path, questions: list[str]) -> Figures:
    """Ask half of the questions with everything on, the other half without the graph, each beside its control."""
    settings = load_settings(home=home, embed_cache=None)
    warm, rest = questions[:WARM], questions[WARM:]
    embedder = open_embedder(settings.embedder, settings)
    times: dict[str, list[float]] = {"everything": [], "without_graph": [], "bare_embedding": [], "everything_cpu": []}
    stages: dict[str, list[float]] = {}
    async with Engine.open(settings) as engine:
        for text in warm:
            await engine.search(Query(text, SCOPE))
            await embedder.embed_query(text)
        for full, plain in zip(rest[::2], rest[1::2], strict=False):
            started, cpu = time.perf_counter(), time.process_time()
            found = await engine.search(Query(full, SCOPE))
            times["everything"].append(1000 * (time.perf_counter() - started))
            times["everything_cpu"].append(1000 * (time.process_time() - cpu))
            for stage, spent in found.timings_ms.items():
                stages.setdefault(stage, []).append(spent)
            started = time.perf_counter()
            await engine.search(Query(plain, SCOPE, include_graph=False))
            times["without_graph"].append(1000 * (time.perf_counter() - started))
            started = time.perf_counter()
            await embedder.embed_query(full)
            times["bare_embedding"].append(1000 * (time.perf_counter() - started))
        figures: Figures = {"questions": len(times["everything"]), "search_memory_mb": memory()}
        figures |= await state(engine)
    for name, spent in times.items():
        figures[f"{name}_p50_ms"] = round(percentile(spent, 0.5), 1)
        figures[f"{name}_p95_ms"] = round(percentile(spent, 0.95), 1)
    figures["stages_p50_ms"] = {stage: round(percentile(spent, 0.5), 2) for stage, spent in stages.items()}
    return figures | {"disk_mb": disk(home)} | graph_size(home)


async def state(engine: Engine) -> Figures:
    """How many passages there are, and how vectors are searched."""
    collection = await engine.collection(SCOPE)
    vectors = engine.stores.vectors
    assert isinstance(vectors, EdgeVectors)
    optimized = await vectors.optimized(collection.index_name)
    how = f"HNSW over {optimized:,}" if optimized else "exact"
    return {"passages": collection.passages, "vectors": how}


def graph_size(home: Path) -> Figures:
    """Concepts and edges, and how many concepts are too common to be walked along."""
    with sqlite3.connect(home / "catalog.db") as db:
        concepts, edges, most = db.execute("SELECT count(*), sum(degree), max(degree) FROM concepts").fetchone()
        common = db.execute("SELECT count(*) FROM concepts WHERE degree > ?", (Traversal().max_degree,)).fetchone()[0]
    return {"concepts": concepts, "edges": edges, "largest_degree": most, "concepts_too_common": common}


def memory() -> dict[str, int]:
    """Resident memory now: all of it, and the part that is not files."""
    status = Path("/proc/self/status")
    if not status.is_file():
        return {}
    found = dict(line.split(":", 1) for line in status.read_text().splitlines() if ":" in line)
    names = {"resident": "VmRSS", "anonymous": "RssAnon", "peak": "VmHWM"}
    return {name: int(found[key].split()[0]) // 1024 for name, key in names.items() if key in found}


def disk(home: Path) -> int:
    """Megabytes that the home takes on the disk; files of memory maps are sparse, so blocks count."""
    return sum(file.stat().st_blocks * 512 for file in home.rglob("*") if file.is_file()) >> 20


def main() -> None:
    step, home, *rest = sys.argv[1:]
    if step == "ingest":
        figures = asyncio.run(ingest(Path(home), Path(rest[0]), Path(rest[1])))
    else:
        figures = asyncio.run(ask(Path(home), json.loads(Path(rest[0]).read_text("utf-8"))))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
