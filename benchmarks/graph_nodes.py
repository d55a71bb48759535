"""Graphs of 1k, 10k and 100k nodes: how fast they are indexed, searched and asked (G-12).

    python -m benchmarks.graph_nodes [--sizes 1000,10000,100000] [--embedder hash:384] [--described] [--exact]

The graph is made up: people, companies and cities with names of two random words and three edges each; with
`--described` every node has a sentence too. Taken in from two CSV files by the public import. `search` embeds the
question and asks vectors and keywords; `vector_ms` is the vector channel alone; `ask` walks two steps from a node.

Control: `bare_embedding_nodes_per_second` is the embedder alone on the same texts. With the real model the index rate
cannot be higher; with `hash` it shows what all else costs. CPU seconds stand beside wall seconds, because on a busy
machine the latter say little.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import random
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Query, Scope, embed_text
from kedge.engine.engine import Engine
from kedge.evals.metrics import percentile
from kedge.kinds.graphs.indexing import node_text
from kedge.models.registry import open_embedder
from kedge.stores.graph.nodes import Node

SCOPE = Scope(DEFAULT_TENANT, "bench")
SYLLABLES = "ba be bi bo bu da de di do du ka ke ki ko ku la le li lo lu ma me mi mo mu na ne ni no ra re ri".split()
RELATIONS = {"works_for": ("p", "c"), "located_in": ("c", "t"), "born_in": ("p", "t"), "friend_of": ("p", "p")}


def word(chance: random.Random) -> str:
    return "".join(chance.choices(SYLLABLES, k=3)).capitalize()


def write(folder: Path, size: int, described: bool) -> tuple[list[Node], list[str]]:
    """Two CSV files; returns the nodes and ids of people."""
    chance = random.Random(size)
    kinds = [("p", "Person"), ("p", "Person"), ("c", "Company"), ("t", "City")]
    nodes = []
    for number in range(size):
        letter, type = kinds[number % len(kinds)]
        name = f"{word(chance)} {word(chance)}"
        said = (
            f"{name} is known for {word(chance).lower()} and {word(chance).lower()} in the north." if described else ""
        )
        nodes.append(Node(f"{letter}{number}", type, name, said))
    by_letter: dict[str, list[str]] = {}
    for node in nodes:
        by_letter.setdefault(node.id[0], []).append(node.id)
    with (folder / "nodes.csv").open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["id", "type", "title", "description"])
        lines.writerows([node.id, node.type, node.title, node.description] for node in nodes)
    with (folder / "edges.csv").open("w", newline="") as file:
        lines = csv.writer(file)
        lines.writerow(["source", "type", "target"])
        for relation, (source, target) in RELATIONS.items():
            for start in by_letter[source]:
                lines.writerow([start, relation, chance.choice(by_letter[target])])
    return nodes, by_letter["p"]


async def measure(size: int, options: argparse.Namespace) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        nodes, people = write(folder, size, options.described)
        after = {"optimize_after": 1 << 30} if options.exact else {}
        settings = load_settings(environ={}, home=folder / "home", embedder=options.embedder, **after)
        async with Engine.open(settings) as engine:
            await engine.warm_up()
            started, worked = time.perf_counter(), time.process_time()
            sources = (str(folder / "nodes.csv"), str(folder / "edges.csv"))
            await engine.ingest(IngestRequest(SCOPE, sources, kind="graph"))
            wall, cpu = time.perf_counter() - started, time.process_time() - worked
            counts = await engine.kinds.named("graph").nodes.count(SCOPE)
            await engine.settle()
            titles = {node.id: node.title for node in nodes}
            chosen = random.Random(1).sample(people, options.queries)
            vector: list[float] = []

            async def search(title: str) -> None:
                result = await engine.search(Query(f"who is {title} of the north", SCOPE))
                vector.append(result.timings_ms.get("vector", 0.0))

            async def ask(title: str) -> None:
                await engine.ask(Query(f"in which city is the company that {title} works for?", SCOPE))

            names = [titles[person] for person in chosen]
            searched = await timed(search, names)
            asked = await timed(ask, names)
        return {
            "nodes": counts.nodes,
            "edges": counts.edges,
            "import_seconds": round(wall, 1),
            "import_cpu_seconds": round(cpu, 1),
            "nodes_per_second": round(size / wall),
            "nodes_per_cpu_second": round(size / cpu),
            "search_ms": searched,
            "vector_ms": {"p50": round(percentile(vector, 0.5), 1), "p95": round(percentile(vector, 0.95), 1)},
            "ask_ms": asked,
            "bare_embedding_nodes_per_second": await bare(options.embedder, nodes[:2000]),
        }


async def timed(work: Callable[[str], Awaitable[None]], names: list[str]) -> dict[str, float]:
    await work(names[0])
    times = []
    cpu = time.process_time()
    for name in names:
        started = time.perf_counter()
        await work(name)
        times.append(1000 * (time.perf_counter() - started))
    spent = 1000 * (time.process_time() - cpu) / len(names)
    return {
        "p50": round(percentile(times, 0.5), 1),
        "p95": round(percentile(times, 0.95), 1),
        "cpu_mean": round(spent, 1),
    }


async def bare(name: str, nodes: list[Node]) -> int:
    embedder = open_embedder(name, load_settings(environ={}))
    started = time.perf_counter()
    await embedder.embed([embed_text(node.title, (), node_text(node)) for node in nodes])
    return round(len(nodes) / (time.perf_counter() - started))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000,10000,100000")
    parser.add_argument("--embedder", default="hash:384")
    parser.add_argument("--described", action="store_true")
    parser.add_argument("--exact", action="store_true", help="build no HNSW index: every vector is compared")
    parser.add_argument("--queries", type=int, default=100)
    options = parser.parse_args()
    for size in map(int, options.sizes.split(",")):
        figures = asyncio.run(measure(size, options))
        print(
            json.dumps(
                {"embedder": options.embedder, "described": options.described, "exact": options.exact} | figures
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
