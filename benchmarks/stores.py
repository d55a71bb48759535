"""The vector stores beside each other: insert, search, memory and disk at one size.

    python -m benchmarks.stores [--points 50000] [--stores embedded postgresql milvus] [--questions 200]

Each store runs in a process of its own (`--one` is that process). Vectors are made: clusters of Gaussians on the unit
sphere, so that neighbourhoods are as uneven as real ones; texts and keyword questions are those of the open sets, taken
again from the start when they end. Written in batches of 256 with their words, as an ingest does; searched for 60 hits,
as Kedge does by default; recall is of the ten best, against a full comparison. The filter passes one point in fifty.
"own MB" is what this process grew by (the driver, or the whole store where it is embedded); a server's memory is all of
it, with what else it holds. Control: `memory`, the reference in plain Python and numpy, without any index; leave it out
above 20,000 points.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from tests.campaigns.places import VECTORS, NotRunning, own_places, parts_of

from benchmarks.data import SETS, folder
from kedge.core.settings import Settings, load_settings
from kedge.core.values.filters import Eq
from kedge.evals.metrics import percentile
from kedge.stores.ports import CanKeywordSearch, CanOptimize, IndexSpec, Point, VectorStore
from kedge.stores.registry import open_vectors

STORES = ("embedded", "postgresql", "milvus")
DIMENSION = 384
CLUSTERS = 400
SPREAD = 0.8
"""Length of the noise around a cluster's centre, whose length is 1."""
BATCH = 256
LIMIT = 60
TOPICS = 50
TENANT = "bench"
INDEX = "bench"
WARM = 20
SERVICES = Path(__file__).parents[1] / ".services"
Array = npt.NDArray[np.float32]


def made_vectors(points: int, questions: int) -> tuple[Array, Array]:
    """Vectors in clusters of very different size, and questions near some of them."""
    rng = np.random.default_rng(7)
    centres = _unit(rng.normal(size=(CLUSTERS, DIMENSION)))
    share = rng.pareto(1.0, CLUSTERS) + 0.05
    chosen = rng.choice(CLUSTERS, size=points + questions, p=share / share.sum())
    noise = _unit(rng.normal(size=(points + questions, DIMENSION)))
    vectors = _unit(centres[chosen] + SPREAD * noise).astype(np.float32)
    return vectors[:points], vectors[points:]


def _unit(rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def real_texts(points: int) -> list[str]:
    """Titles and texts of the open sets."""
    texts = []
    for name in SETS:
        with (folder(name) / "corpus.jsonl").open(encoding="utf-8") as lines:
            rows = map(json.loads, lines)
            texts += [f"{row.get('title', '')}\n{row.get('text', '')}"[:1200] for row in rows]
    return list(islice(cycle(texts), points))


def real_questions(count: int) -> list[str]:
    found = []
    for name in SETS[:6]:
        with (folder(name) / "queries.jsonl").open(encoding="utf-8") as lines:
            found += [json.loads(line)["text"] for line in islice(lines, 1 + count // 6)]
    return found[:count]


@dataclass(frozen=True)
class Data:
    """What is written and asked."""

    vectors: Array
    texts: list[str]
    asked: Array
    words: list[str]

    @classmethod
    def made(cls, points: int, questions: int) -> Data:
        vectors, asked = made_vectors(points, questions + WARM)
        return cls(vectors, real_texts(points), asked, real_questions(questions + WARM))

    def batches(self) -> Iterator[list[Point]]:
        for begin in range(0, len(self.texts), BATCH):
            numbers = range(begin, min(len(self.texts), begin + BATCH))
            yield [
                Point(str(uuid.UUID(int=n)), self.vectors[n], self.texts[n], {"topic_tag": f"t{n % TOPICS}", "n": n})
                for n in numbers
            ]

    def nearest(self) -> list[list[int]]:
        """The ten best of each question, by comparing with all."""
        return np.argsort(-(self.asked @ self.vectors.T), axis=1, kind="stable")[:, :10].tolist()


async def measure(store: VectorStore, data: Data) -> dict[str, Any]:
    """Insert, optimise, search in three ways."""
    await store.create(IndexSpec(INDEX, DIMENSION, {"topic_tag": "keyword"}))
    started = time.perf_counter()
    for number, batch in enumerate(data.batches()):
        await store.upsert(INDEX, TENANT, batch)
        _progress(number, len(data.texts))
    figures: dict[str, Any] = {"insert/s": round(len(data.texts) / (time.perf_counter() - started))}
    started = time.perf_counter()
    if isinstance(store, CanOptimize):
        await store.optimize(INDEX)
    figures["optimize s"] = round(time.perf_counter() - started, 1)
    found: list[set[int]] = []

    async def dense(number: int) -> None:
        hits = await store.search(INDEX, TENANT, data.asked[number], LIMIT)
        found.append({uuid.UUID(hit.id).int for hit in hits[:10]})

    async def filtered(number: int) -> None:
        await store.search(INDEX, TENANT, data.asked[number], LIMIT, Eq("topic_tag", f"t{number % TOPICS}"))

    figures |= await _timed("dense", dense, len(data.asked))
    right = [len(hits & set(row)) for hits, row in zip(found, data.nearest(), strict=True)]
    figures["recall@10"] = round(sum(right) / (10 * len(right)), 4)
    figures |= await _timed("filtered", filtered, len(data.asked))
    if isinstance(store, CanKeywordSearch):
        keywords = store

        async def keyword(number: int) -> None:
            await keywords.keyword_search(INDEX, TENANT, data.words[number], LIMIT)

        figures |= await _timed("keyword", keyword, len(data.words))
    return figures


async def _timed(name: str, ask: Callable[[int], Awaitable[None]], questions: int) -> dict[str, float]:
    """One at a time; the first `WARM` do not count."""
    times = []
    for number in range(questions):
        started = time.perf_counter()
        await ask(number)
        times.append(1000 * (time.perf_counter() - started))
    kept = times[WARM:]
    return {f"{name} p50 ms": round(percentile(kept, 0.5), 2), f"{name} p95 ms": round(percentile(kept, 0.95), 2)}


def _progress(batch: int, points: int) -> None:
    if not batch % 20:
        print(f"  {batch * BATCH:,} of {points:,}", file=sys.stderr, flush=True)


# ---------------------------------------------------------------- memory and disk


def server_memory(stores: str) -> int | None:
    """Of the server with all its processes, where it is one of `make services`."""
    noted = {"postgresql": "postgresql/data/postmaster.pid", "milvus": "milvus/pid"}.get(stores)
    if noted is None or os.environ.get(f"KEDGE_TEST_{stores.upper()}_URL") or not (SERVICES / noted).exists():
        return None
    first = int((SERVICES / noted).read_text("utf-8").split()[0])
    return sum(filter(None, map(_proportional, _family(first))))


def _family(first: int) -> list[int]:
    """The process and all below it."""
    parents: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text("utf-8").rpartition(")")[2].split()
        except OSError:
            continue
        parents.setdefault(int(fields[1]), []).append(int(stat.parent.name))
    family = [first]
    for process in family:
        family += parents.get(process, [])
    return family


def _proportional(process: int) -> int | None:
    """Memory in MB, what is shared counted in parts."""
    try:
        lines = Path(f"/proc/{process}/smaps_rollup").read_text("utf-8").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) // 1024 for line in lines if line.startswith("Pss:")), None)


def disk_mb(stores: str, home: Path, url: str) -> int | None:
    """What the index takes on the disk."""
    if stores == "embedded":
        return _blocks(home)
    if stores == "postgresql":
        import psycopg

        server, _, schema = url.partition("?schema=")
        sizes = "SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c WHERE c.relkind = 'r'"
        with psycopg.connect(server) as connection:
            row = connection.execute(f"{sizes} AND c.relnamespace = %s::regnamespace", [schema]).fetchone()
        return int(row[0]) >> 20 if row and row[0] else None
    if stores == "milvus" and not os.environ.get("KEDGE_TEST_MILVUS_URL"):
        return _blocks(SERVICES / "milvus" / "data")
    return None


def _blocks(root: Path) -> int:
    return sum(file.stat().st_blocks * 512 for file in root.rglob("*") if file.is_file()) >> 20


# ---------------------------------------------------------------- one process for each store


def one(stores: str, data: Data) -> dict[str, Any]:
    """Measure one store in this process."""
    with tempfile.TemporaryDirectory() as scratch, own_places(parts_of(stores), f"stores{os.getpid()}") as urls:
        url = urls.get(VECTORS, "memory:" if stores == "memory" else "")
        return asyncio.run(_one(stores, load_settings(environ={}, home=Path(scratch) / "home", vector_url=url), data))


async def _one(stores: str, settings: Settings, data: Data) -> dict[str, Any]:
    place = (stores, settings.home, settings.vector_url)
    memory, disk = _proportional(os.getpid()) or 0, disk_mb(*place) if stores == "milvus" else 0
    store = open_vectors(settings)
    try:
        figures = await measure(store, data)
        used, held = _proportional(os.getpid()), disk_mb(*place)
        figures["own MB"] = None if used is None else used - memory
        figures["server MB"] = server_memory(stores)
        figures["disk MB"] = None if held is None else held - (disk or 0)
        return {"stores": stores, **figures}
    finally:
        await store.drop(INDEX)
        await store.close()


def table(results: Sequence[dict[str, Any]]) -> str:
    heads = list(dict.fromkeys(name for one in results for name in one))
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for figures in results:
        cells = [figures.get(name) for name in heads]
        lines.append("| " + " | ".join("–" if cell is None else str(cell) for cell in cells) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=50_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--stores", nargs="+", default=list(STORES))
    parser.add_argument("--one", default=None, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        try:
            print(json.dumps(one(options.one, Data.made(options.points, options.questions))))
        except NotRunning as missing:
            print(missing, file=sys.stderr)
            return 3
        return 0
    results = []
    for stores in options.stores:
        print(f"{stores}: {options.points:,} points", file=sys.stderr, flush=True)
        sizes = ["--points", str(options.points), "--questions", str(options.questions)]
        command = [sys.executable, "-m", "benchmarks.stores", "--one", stores, *sizes]
        started = time.monotonic()
        ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if ran.returncode == 0:
            results.append(json.loads(ran.stdout) | {"s in all": round(time.monotonic() - started)})
            print(json.dumps(results[-1]), file=sys.stderr, flush=True)
    print(f"{options.points:,} points of {DIMENSION} dimensions, {options.questions} questions of each kind\n")
    print(table(results))
    return int(len(results) < len(options.stores))


if __name__ == "__main__":
    sys.exit(main())
