"""Share of ingest time that building the graph takes: finding concepts and relations, writing nodes and edges (<= 5 %).

    python -m benchmarks.graph_share [--sets scifact,2wikimultihop] [--limit 2000] [--rounds 3] [--real]

Control: the same ingest in the same run with nothing found and nothing written to the graph; the two take turns.
Embeddings come from the benchmark cache, because the difference is lost beside embedding; the embedder's own time is
measured between the rounds, without a cache, on a sample of the same texts, and the share is of the whole:

    cpu_share = graph / (embedding + rest of the ingest + graph), in CPU milliseconds per passage
    wall_share = graph / (embedding + graph) in wall time, as if they ran one after the other: an upper bound

`graph` is what was spent inside the two steps; `graph_by_difference` is CPU with the graph less CPU without, to check
that nothing was forgotten. `--real` adds a pair of ingests that really embed, and the share of wall time between them.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from statistics import median
from typing import Any
from unittest.mock import patch

from benchmarks.data import folder
from benchmarks.quality import CACHE
from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, GraphBatch, IngestRequest, Scope
from kedge.engine.engine import Engine
from kedge.ingest.extract.concepts import extract
from kedge.models.registry import open_embedder
from kedge.stores.graph.sql.writing import write

SCOPE = Scope(DEFAULT_TENANT, "bench")
SAMPLE = 100
"""Texts embedded between the rounds."""
EXTRACT, WRITE = "kedge.ingest.pipeline.extract", "kedge.stores.graph.sql.writing.write"


@dataclass(slots=True)
class Spent:
    """Seconds of one kind of work."""

    wall: float = 0.0
    cpu: float = 0.0

    @contextmanager
    def counted(self, clock: Callable[[], float] = time.process_time) -> Iterator[None]:
        wall, cpu = time.perf_counter(), clock()
        yield
        self.wall += time.perf_counter() - wall
        self.cpu += clock() - cpu


@dataclass(slots=True)
class Run:
    """One ingest."""

    passages: int = 0
    whole: Spent = field(default_factory=Spent)
    extract: Spent = field(default_factory=Spent)
    write: Spent = field(default_factory=Spent)


async def ingest(corpus: Path, *, graph: bool, cache: Path | None) -> tuple[Run, list[str]]:
    """Take the corpus into a fresh home; what was spent, and a sample of the texts that were embedded."""
    run = Run()

    def timed(spent: Spent, work: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*arguments: Any) -> Any:
            with spent.counted(time.thread_time):
                return work(*arguments)

        return counted

    found = timed(run.extract, extract) if graph else lambda *_: GraphBatch()
    written = timed(run.write, write) if graph else lambda *_: None
    with tempfile.TemporaryDirectory() as home, patch(EXTRACT, found), patch(WRITE, written):
        async with Engine.open(load_settings(home=Path(home), embed_cache=cache)) as engine:
            await engine.warm_up()
            with run.whole.counted():
                job = await engine.ingest(IngestRequest(SCOPE, (str(corpus),)))
            run.passages = job.processed_passages
            texts = [p.embed_text async for batch in engine.stores.catalog.passages.scan(SCOPE) for p in batch]
    return run, texts[:: max(1, len(texts) // SAMPLE)]


async def measure(corpus: Path, rounds: int, real: bool) -> dict[str, object]:
    """Figures of one corpus, in milliseconds per passage."""
    with_graph: list[Run] = []
    without: list[Run] = []
    bare: list[tuple[float, float]] = []
    _, sample = await ingest(corpus, graph=True, cache=CACHE)  # fills the cache
    embedder = open_embedder(load_settings().embedder, load_settings())
    await embedder.embed(sample[:8])
    for _ in range(rounds):
        with_graph.append((await ingest(corpus, graph=True, cache=CACHE))[0])
        without.append((await ingest(corpus, graph=False, cache=CACHE))[0])
        spent = Spent()
        with spent.counted():
            await embedder.embed(sample)
        bare.append((1000 * spent.cpu / len(sample), 1000 * spent.wall / len(sample)))
    embed_cpu, embed_wall = (median(values) for values in zip(*bare, strict=True))
    figures = {
        "extract": _each(with_graph, lambda run: run.extract.cpu),
        "write": _each(with_graph, lambda run: run.write.cpu),
        "graph": _each(with_graph, lambda run: run.extract.cpu + run.write.cpu),
        "graph_wall": _each(with_graph, lambda run: run.extract.wall + run.write.wall),
        "with": _each(with_graph, lambda run: run.whole.cpu),
        "without": _each(without, lambda run: run.whole.cpu),
        "embedding": embed_cpu,
        "embedding_wall": embed_wall,
    }
    figures["graph_by_difference"] = figures["with"] - figures["without"]
    whole = figures["embedding"] + figures["without"] + figures["graph"]
    found: dict[str, object] = {
        "passages": with_graph[0].passages,
        "ms_per_passage": {name: round(value, 3) for name, value in figures.items()},
        "cpu_share": round(figures["graph"] / whole, 4),
        "wall_share": round(figures["graph_wall"] / (figures["embedding_wall"] + figures["graph_wall"]), 4),
    }
    return found | (await really(corpus) if real else {})


async def really(corpus: Path) -> dict[str, object]:
    """With and without the graph, embedding each time."""
    full, _ = await ingest(corpus, graph=True, cache=None)
    plain, _ = await ingest(corpus, graph=False, cache=None)
    return {
        "real_seconds": {"with": round(full.whole.wall, 1), "without": round(plain.whole.wall, 1)},
        "real_cpu_seconds": {"with": round(full.whole.cpu, 1), "without": round(plain.whole.cpu, 1)},
        "real_wall_share": round(1 - plain.whole.wall / full.whole.wall, 4),
        "real_cpu_share": round((full.extract.cpu + full.write.cpu) / full.whole.cpu, 4),
    }


def _each(runs: list[Run], seconds: Callable[[Run], float]) -> float:
    """Median over the rounds, in milliseconds per passage."""
    return median(1000 * seconds(run) / run.passages for run in runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", default="scifact,2wikimultihop")
    parser.add_argument("--limit", type=int, default=2000, help="documents of each set")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--real", action="store_true", help="also ingest with and without the graph without a cache")
    options = parser.parse_args()
    for name in options.sets.split(","):
        with tempfile.TemporaryDirectory() as scratch:
            corpus = Path(scratch) / "corpus.jsonl"
            with (folder(name) / "corpus.jsonl").open() as lines, corpus.open("w") as out:
                out.writelines(islice(lines, options.limit))
            found = asyncio.run(measure(corpus, options.rounds, options.real))
        print(json.dumps({"set": name} | found, indent=2), flush=True)


if __name__ == "__main__":
    main()
