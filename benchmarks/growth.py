"""How search and ingest change while one home grows from 1,000 to 100,000 passages: a table and a plot.

    python -m benchmarks.growth [--sizes 1000,3000,…] [--questions 300] [--out artefacts] [--home DIR]

At each size the same real questions of five open sets are asked once each, with everything on (vectors, keywords and
graph, fused and reranked), embedding of the question included; as many others without the graph; and, interleaved
with them, the control: the bare embedding of the same questions, which does not depend on the size. Goals: p50 at most
60 ms at 6,000 passages and 100 ms at 100,000.

The first 21,000 passages or so are real; the rest are put together from real sentences, see `benchmarks.grown_text` for
what that models and what not. Vectors of made passages are stand-ins that the engine finds in its embedding cache, like
those of real passages; so the ingest rates are without the embedding model. Questions are embedded by the model.
From 20,000 new passages on the engine builds its HNSW index, as in real use; it is waited for and its time reported.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.data import folder
from benchmarks.grown_text import Recombiner, Row, real_rows, write_rows
from kedge.core.settings import load_settings
from kedge.evals.dataset import load
from kedge.models.ports import Embedder, Vectors
from kedge.models.registry import open_embedder
from kedge.models.wrappers.cached import CachedEmbedder
from kedge.stores.cache.file import FileCache

CACHE = Path(".bench-cache/embeddings.db")
SIZES = (1_000, 3_000, 6_000, 12_000, 25_000, 50_000, 100_000)
ASKED = ("2wikimultihop", "hotpotqa_train100", "squad2", "scifact", "cranfield")
LINES = {
    "everything_p95_ms": ("everything, p95", "#9cbcdc"),
    "everything_p50_ms": ("everything, p50", "#1f5f9f"),
    "without_graph_p50_ms": ("without graph, p50", "#d08020"),
    "bare_embedding_p50_ms": ("control: bare embedding, p50", "#888888"),
}
GOALS = ((6_000, 60.0), (100_000, 100.0))


class StandIn:
    """Gives vectors that are known beforehand in place of a model's."""

    def __init__(self, like: Embedder, known: dict[str, Vectors]) -> None:
        self.name, self.dimension, self.window = like.name, like.dimension, like.window
        self._known = known

    async def embed(self, texts: Sequence[str]) -> Vectors:
        return np.stack([self._known[text] for text in texts])

    async def embed_query(self, text: str) -> Vectors:
        return self._known[text]

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        return [len(text.split()) for text in texts]

    async def close(self) -> None:
        """Nothing to release."""


async def parts(sizes: Sequence[int], scratch: Path) -> list[Path]:
    """Write what has to be added for each size, and the cache file with all vectors; returns the corpora."""
    model = open_embedder(load_settings().embedder, load_settings())
    found = list(real_rows(model))
    passages = [passage for _, made in found for passage in made]
    cached = CachedEmbedder(model, FileCache(CACHE))
    vectors = await cached.embed([passage.embed_text for passage in passages])
    known = dict(zip((passage.embed_text for passage in passages), vectors, strict=True))
    made = Recombiner(passages, vectors).rows()
    rows = _with_vectors(chain(((row, None) for row, _ in found), made), known)
    files, total = [], 0
    for size in sizes:
        taken: list[Row] = []
        while total < size:
            taken.append(next(rows))
            total += len(taken[-1].embedded)
        files.append(scratch / f"part-{size}.jsonl")
        write_rows(files[-1], taken)
        filling = CachedEmbedder(StandIn(model, known), FileCache(scratch / "vectors.db"))
        await filling.embed(list(dict.fromkeys(text for row in taken for text in row.embedded)))
        await filling.close()
    return files


def _with_vectors(rows: Iterator[tuple[Row, Vectors | None]], known: dict[str, Vectors]) -> Iterator[Row]:
    for row, vector in rows:
        if vector is not None:
            known[row.embedded[0]] = vector
        yield row


def questions(count: int) -> list[str]:
    """Questions of all sets in turn; the same at every size."""
    sets = [[query.text for query in load(folder(name)).queries] for name in ASKED]
    mixed = [text for group in zip_longest(*sets) for text in group if text is not None]
    return list(dict.fromkeys(mixed))[:count]


def step(*arguments: object) -> dict[str, Any]:
    """Run one step in a process of its own, with one thread for products of arrays, as `kedge` has it."""
    command = [sys.executable, "-m", "benchmarks.growth_step", *map(str, arguments)]
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    ran = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment)
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def table(results: Sequence[dict[str, Any]]) -> str:
    """Markdown: one row per size."""
    heads = ("passages", "vectors", "p50 ms", "p95 ms", "CPU p50 ms", "p50 without graph", "control p50", "concepts")
    heads += ("ingest/s", "index s", "disk MB", "RSS MB (anonymous)")
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for one in results:
        rss = one["search_memory_mb"]
        cells = (
            f"{one['passages']:,}",
            one["vectors"],
            *(one[key] for key in ("everything_p50_ms", "everything_p95_ms", "everything_cpu_p50_ms")),
            *(one[key] for key in ("without_graph_p50_ms", "bare_embedding_p50_ms")),
            f"{one['concepts']:,}",
            *(one[key] for key in ("ingest_per_second", "optimize_seconds", "disk_mb")),
            f"{rss.get('resident')} ({rss.get('anonymous')})",
        )
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    stages = list(dict.fromkeys(name for one in results for name in one["stages_p50_ms"]))
    lines += ["", "| p50 ms by stage | " + " | ".join(stages) + " |", "|---" * (len(stages) + 1) + "|"]
    for one in results:
        cells = tuple(f"{one['stages_p50_ms'].get(name, 0.0):.1f}" for name in stages)
        lines.append(f"| {one['passages']:,} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def plot(results: Sequence[dict[str, Any]], path: Path) -> None:
    """Lines over the number of passages (logarithmic), as an SVG made here."""
    width, height, left, top = 560, 260, 50, 20
    least, most = (math.log10(results[end]["passages"]) for end in (0, -1))
    highest = max(110.0, *(one["everything_p95_ms"] for one in results)) * 1.05

    def x(passages: float) -> float:
        return float(left + width * (math.log10(passages) - least) / max(most - least, 1e-9))

    def y(ms: float) -> float:
        return top + height * (1 - ms / highest)

    drawn = [f'<path d="M{left} {top}V{top + height}H{left + width}" fill="none" stroke="#444"/>']
    for ms in range(0, int(highest) + 1, 20 if highest < 250 else 100):
        drawn.append(f'<text x="{left - 6}" y="{y(ms) + 3:.1f}" text-anchor="end">{ms}</text>')
        drawn.append(f'<path d="M{left} {y(ms):.1f}h{width}" stroke="#eee"/>')
    for one in results:
        at = x(one["passages"])
        drawn.append(f'<text x="{at:.1f}" y="{top + height + 14}" text-anchor="middle">{one["passages"]:,}</text>')
        short = one["vectors"].split()[0]
        drawn.append(f'<text x="{at:.1f}" y="{top + height + 27}" text-anchor="middle" fill="#888">{short}</text>')
    for passages, ms in GOALS:
        if results[0]["passages"] <= passages <= 1.01 * results[-1]["passages"]:
            at, level = x(min(passages, results[-1]["passages"])), y(ms)
            drawn.append(f'<path d="M{at - 14:.1f} {level:.1f}h28" stroke="#b02020" stroke-width="2"/>')
            drawn.append(f'<text x="{at:.1f}" y="{level - 5:.1f}" text-anchor="middle" fill="#b02020">≤ {ms:g}</text>')
    for number, (key, (label, colour)) in enumerate(LINES.items()):
        points = " ".join(f"{x(one['passages']):.1f},{y(one[key]):.1f}" for one in results)
        drawn.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for one in results:
            title = f"<title>{label} at {one['passages']:,}: {one[key]} ms</title>"
            place = f'cx="{x(one["passages"]):.1f}" cy="{y(one[key]):.1f}"'
            drawn.append(f'<circle {place} r="3" fill="{colour}">{title}</circle>')
        below = top + height + 48 + 14 * number
        drawn.append(f'<rect x="{left}" y="{below - 9}" width="10" height="10" fill="{colour}"/>')
        drawn.append(f'<text x="{left + 16}" y="{below}">{label}</text>')
    drawn.append(f'<text x="{left + 6}" y="{top - 6}">ms per question</text>')
    drawn.append(
        f'<text x="{left + width}" y="{top + height + 48}" text-anchor="end">passages in the collection</text>'
    )
    size = f'width="{left + width + 40}" height="{top + height + 60 + 14 * len(LINES)}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="10">'
    path.write_text(head + "\n".join(drawn) + "</svg>", "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--questions", type=int, default=300)
    parser.add_argument("--out", type=Path, default=Path("artefacts"))
    parser.add_argument("--home", type=Path, default=None, help="keep the grown home here")
    options = parser.parse_args()
    sizes = [int(size) for size in options.sizes.split(",")]
    results = []
    with tempfile.TemporaryDirectory() as folder_name:
        scratch = Path(folder_name)
        home = options.home or scratch / "home"
        asked = scratch / "questions.json"
        asked.write_text(json.dumps(questions(2 * options.questions + 20)), "utf-8")
        for corpus in asyncio.run(parts(sizes, scratch)):
            added = step("ingest", home, scratch / "vectors.db", corpus)
            results.append(added | step("ask", home, asked))
            print(json.dumps(results[-1]), flush=True)
    options.out.mkdir(exist_ok=True)
    (options.out / "growth.json").write_text(json.dumps(results, indent=2), "utf-8")
    plot(results, options.out / "growth.svg")
    print(table(results))


if __name__ == "__main__":
    main()
