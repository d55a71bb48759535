"""Graphs of 1k, 10k and 100k nodes: how fast they are indexed, searched and asked (G-12).

    python -m benchmarks.graph_nodes [--sizes 1000,10000,100000] [--embedder hash:384] [--described] [--exact]
                                     [--llm imitation|NAME]

The graph is made up: people, companies and cities with names of two random words and three edges each; with
`--described` every node has a sentence too. Taken in from two CSV files by the public import. `search` embeds the
question and asks vectors and keywords; `embed_ms` and `vector_ms` are the question's embedding and the vector channel
alone; `ask` walks two steps from a node. With `--llm` the answer is written by a language model: any that the setting
`llm` names, or `imitation`, a server on loopback that writes one sentence at once, so that all but the model is timed.
`targets` are those of the design, each with what was measured against it; a missed one makes the exit code 1.

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
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from tests.models.llm_server import serving

from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Query, Scope, embed_text
from kedge.engine.engine import Engine
from kedge.evals.metrics import percentile
from kedge.kinds.graphs.indexing import node_text
from kedge.models.registry import open_embedder
from kedge.stores.graph.nodes import Node

SCOPE = Scope(DEFAULT_TENANT, "bench")
SYLLABLES = "ba be bi bo bu da de di do du ka ke ki ko ku la le li lo lu ma me mi mo mu na ne ni no ra re ri".split()
TARGETS_MS = {
    ("ask_ms", "p50"): 3000.0,
    ("ask_ms", "p95"): 5000.0,
    ("embed_ms", "p95"): 500.0,
    ("vector_ms", "p95"): 200.0,
}
"""Of the design, in milliseconds: the whole answer, the embedding of the question, the vector search."""
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
    """All figures of a graph of that size, and how they stand against the targets."""
    if options.llm != "imitation":
        return await _measured(size, options, {"llm": options.llm} if options.llm else {})
    with serving() as model:
        model.say = lambda _system, _user: "The company is in the city that the path names. [Node 1]"
        return await _measured(size, options, {"llm": "openai:imitation", "llm_url": f"{model.url}/v1"})


def against_targets(figures: dict[str, Any]) -> dict[str, dict[str, float | bool]]:
    """What was measured, what it may be at most, and whether it is."""
    return {
        f"{name}.{share}": {"measured": figures[name][share], "target": most, "met": figures[name][share] < most}
        for (name, share), most in TARGETS_MS.items()
    }


async def _measured(size: int, options: argparse.Namespace, model: dict[str, Any]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        nodes, people = write(folder, size, options.described)
        after = {"optimize_after": 1 << 30} if options.exact else {}
        settings = load_settings(environ={}, home=folder / "home", embedder=options.embedder, **after, **model)
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
            embed: list[float] = []
            vector: list[float] = []

            async def search(title: str) -> None:
                result = await engine.search(Query(f"who is {title} of the north", SCOPE))
                embed.append(result.timings_ms["embed"])
                vector.append(result.timings_ms["vector"])

            async def ask(title: str) -> None:
                await engine.ask(Query(f"in which city is the company that {title} works for?", SCOPE))

            names = [titles[person] for person in chosen]
            searched = await timed(search, names)
            asked = await timed(ask, names)
        figures = {
            "nodes": counts.nodes,
            "edges": counts.edges,
            "import_seconds": round(wall, 1),
            "import_cpu_seconds": round(cpu, 1),
            "nodes_per_second": round(size / wall),
            "nodes_per_cpu_second": round(size / cpu),
            "search_ms": searched,
            "embed_ms": _shares(embed),
            "vector_ms": _shares(vector),
            "ask_ms": asked,
            "bare_embedding_nodes_per_second": await bare(options.embedder, nodes[:2000]),
        }
        return figures | {"targets": against_targets(figures)}


def _shares(times: list[float]) -> dict[str, float]:
    return {"p50": round(percentile(times, 0.5), 1), "p95": round(percentile(times, 0.95), 1)}


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
    parser.add_argument("--llm", default="", help="`imitation`, or a model as in the setting llm")
    parser.add_argument("--queries", type=int, default=100)
    options = parser.parse_args()
    missed = 0
    for size in map(int, options.sizes.split(",")):
        figures = asyncio.run(measure(size, options))
        missed += sum(not one["met"] for one in figures["targets"].values())
        print(
            json.dumps(
                {
                    "embedder": options.embedder,
                    "described": options.described,
                    "exact": options.exact,
                    "llm": options.llm,
                }
                | figures
            ),
            flush=True,
        )
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
