"""Attempts to read what one may not, on every surface; exit 1 when one succeeds. And what the rights cost.

    python -m benchmarks.readers [--attempts 10000] [--stores embedded] [--stores memory] [--seed N]
    python -m benchmarks.readers --cost [--passages 3000,100000] [--groups 10,1000] [--homes DIR]

In a home, documents, lessons, sessions and nodes have random readers. Three people with random groups send random
requests over HTTP: searches, questions, listings, documents, passages, originals, courses, tables, graphs, changes.
Each request also goes to a twin home that holds only what that person may read. A leak is a hidden mark in an answer,
or an answer that differs from the twin's. Control: attempts in whose answers marks stand that may be read.

Runs from a plain checkout with embedded stores, without network and without the servers of the tests.

`--cost` measures whole searches of an engine (the hash embedder, which costs nothing) as the owner and as people in 20
of the groups, in turn in the same run: CPU time, median and 90th percentile, a row for each size and number of groups.
Half of the documents are public, each of the others is for two groups, so that there are nearly as many circles of
readers as documents that are not public: the worst case for what is remembered of a circle. The texts have 15 to 45
words: of texts that are equally long, hundreds have the same score by words, whose order is followed at a price. Who
asks first changes from question to question, as what the first has read is remembered for the second.
`--homes` keeps the homes in that folder, and takes those that are there.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from tests.campaigns.places import own_places, parts_of
from tests.campaigns.readers.attempts import Compared, compare
from tests.campaigns.readers.world import opened_world

from kedge.core.acting import acting_as
from kedge.core.settings import load_settings
from kedge.core.values import Actor, Query, Scope
from kedge.engine.engine import Engine

MEMORY: dict[str, Any] = {"catalog_url": "memory:", "vector_url": "memory:", "graph_url": "memory:"}
AT_ONCE = 1000
"""Attempts in one world, before another is made."""
ROUNDS = 40
OWN = 20
"""Groups that a person is in."""
HEADS = """\
| passages | groups | owner p50, ms | with rights p50 | more | owner p90 | with rights p90 |
|---|---|---|---|---|---|---|"""


async def attempts(stores: str, count: int, seed: int) -> Compared:
    """So many attempts in worlds made of consecutive seeds."""
    report = Compared()
    for number, start in enumerate(range(0, count, AT_ONCE)):
        with tempfile.TemporaryDirectory() as folder, own_places(parts_of(stores), f"readers{seed + number}") as urls:
            places: dict[str, Any] = MEMORY if stores == "memory" else dict(urls)
            settings = load_settings(environ={}, home=Path(folder) / "home", embedder="hash:64", **places)
            async with opened_world(settings, Path(folder) / "world", seed + number) as world:
                await compare(world, seed + number, min(AT_ONCE, count - start), report)
        _tell(
            f"{stores}: {report.attempts.total()} attempts, {len(report.leaks)} leaks, {report.found} found something"
        )
    return report


async def cost(passages: int, groups: int, seed: int, homes: Path) -> str:
    """A row that says what a search takes of somebody who sees a part, against the owner's."""
    rng = random.Random(seed)
    home = homes / f"{passages}-{groups}-{seed}"
    fresh = not home.exists()
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus.jsonl"
        words = [f"word{number}" for number in range(5000)]
        with corpus.open("w") as file:
            for number in range(passages):
                text = " ".join(rng.choices(words, k=rng.randrange(15, 46)))
                readers = rng.choice(
                    [["public"], [f"group:g{rng.randrange(groups)}", f"group:g{rng.randrange(groups)}"]]
                )
                listed = ", ".join(f'"{one}"' for one in readers)
                file.write(f'{{"_id": "{number}", "title": "d{number}", "text": "{text}", "readers": [{listed}]}}\n')
        settings = load_settings(environ={}, home=home, embedder="hash:384")
        async with Engine.open(settings) as engine:
            scope = Scope("default", "documents")
            if fresh:
                await engine.ingest(_request(scope, corpus))
                await engine.settle()
            people = [
                None,
                *(
                    Actor("u", frozenset(f"g{one}" for one in rng.sample(range(groups), min(groups, OWN))))
                    for _ in range(4)
                ),
            ]
            questions = [" ".join(rng.choices(words, k=6)) for _ in range(ROUNDS)]
            timed = await _timed(engine, scope, people, questions)
            return f"| {passages:,} | {groups:,} | {timed} |"


def _request(scope: Scope, corpus: Path) -> Any:
    from kedge.core.values import IngestRequest

    return IngestRequest(scope, (str(corpus),))


async def _timed(engine: Engine, scope: Scope, people: list[Actor | None], questions: list[str]) -> str:
    """CPU milliseconds of searches, owner and others in turn: medians, 90th percentiles, and what rights add."""
    for who in people:
        with acting_as(who):
            await engine.search(Query(questions[0], scope, top_k=10))
    taken: dict[bool, list[float]] = {True: [], False: []}
    for number, text in enumerate(questions):
        pair = [people[0], people[1 + number // 2 % (len(people) - 1)]]
        for who in pair if number % 2 else reversed(pair):
            with acting_as(who):
                begun = time.process_time()
                await engine.search(Query(text, scope, top_k=10))
                taken[who is None].append(1000 * (time.process_time() - begun))
    owner, others = (statistics.median(taken[one]) for one in (True, False))
    late = [f"{np.percentile(taken[one], 90):.1f}" for one in (True, False)]
    return f"{owner:.1f} | {others:.1f} | {100 * (others / owner - 1):+.0f} % | {late[0]} | {late[1]}"


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attempts", type=int, default=10_000, help="on each set of stores")
    parser.add_argument("--stores", action="append", help="embedded (default), memory, or servers joined by +")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--cost", action="store_true", help="measure what the rights cost instead")
    parser.add_argument("--passages", default="100000", help="sizes, joined by commas")
    parser.add_argument("--groups", default="1000", help="numbers of groups, joined by commas")
    parser.add_argument("--homes", type=Path, help="folder in which the homes are kept")
    options = parser.parse_args()
    if options.cost:
        return _costs(options)
    leaks = 0
    for stores in options.stores or ["embedded"]:
        report = asyncio.run(attempts(stores, options.attempts, options.seed))
        print(
            f"{stores}: {report.attempts.total()} attempts, {len(report.leaks)} leaks, {report.found} found something"
        )
        for leak in report.leaks[:20]:
            print(f"  {leak}")
        leaks += len(report.leaks)
    return 1 if leaks else 0


def _costs(options: argparse.Namespace) -> int:
    """The table, by a process in which numpy computes in one thread, as `kedge` has it: others would only wait."""
    if os.environ.get("OPENBLAS_NUM_THREADS") != "1":
        command = [sys.executable, "-m", "benchmarks.readers", *sys.argv[1:]]
        return subprocess.run(command, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"}, check=False).returncode
    print(HEADS)
    with tempfile.TemporaryDirectory() as made:
        for passages in map(int, options.passages.split(",")):
            for groups in map(int, options.groups.split(",")):
                print(asyncio.run(cost(passages, groups, options.seed, options.homes or Path(made))), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
