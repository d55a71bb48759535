"""Random edits of a course: after every one, all invariants of C-05 hold and all stores hold what the files say.

    python -m benchmarks.course_edits [--stores embedded] [--sequences 1000] [--edits 4] [--seed 5]

One sequence is a course of a few lessons and some random edits (insert, edit, delete, reorder, rename, renumber, swap,
new fields, new prerequisites, a repeated text, nothing), each followed by an incremental ingest and the whole check of
`course_model.check`. `--stores` as in `benchmarks.stores`: `embedded`, `memory`, `postgresql`, `milvus+neo4j`, …
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import tempfile
import time
from collections import Counter
from pathlib import Path

from kedge.core.settings import load_settings
from kedge.core.values import IngestRequest, Scope
from kedge.engine.engine import Engine
from tests.campaigns.courses.model import CourseModel, check
from tests.campaigns.places import own_places, parts_of

MEMORY = {"catalog_url": "memory:", "vector_url": "memory:", "graph_url": "memory:"}


async def sequence(engine: Engine, scope: Scope, folder: Path, seed: int, edits: int) -> Counter[str]:
    """One course through its edits; returns which there were. AssertionError says what does not hold."""
    model = CourseModel(random.Random(seed))
    model.start()
    done: Counter[str] = Counter()
    request = IngestRequest(scope, (str(folder),), kind="course")
    for step in range(edits + 1):
        if step:
            done[model.edit()] += 1
        model.write(folder)
        job = await engine.ingest(request)
        done["checked_passages"] += await check(engine, scope, model, job)
        done["embedded_passages"] += job.passages_created
    await engine.delete_collection(scope)
    return done


async def run(stores: str, sequences: int, edits: int, seed: int, scratch: Path) -> dict[str, object]:
    """All sequences on one set of stores."""
    done: Counter[str] = Counter()
    started = time.perf_counter()
    with own_places(parts_of(stores), f"course{os.getpid()}") as urls:
        places = MEMORY if stores == "memory" else urls
        settings = load_settings(None, {}, home=scratch / "home", embedder="hash:64", **places)
        async with Engine.open(settings) as engine:
            for number in range(sequences):
                scope = Scope(f"edits-{os.getpid()}", f"book {number}")
                try:
                    done += await sequence(engine, scope, scratch / f"course{number}", seed + number, edits)
                except AssertionError:
                    print(f"sequence {number} (seed {seed + number}) broke an invariant")
                    raise
                if number % 100 == 99:
                    print(f"{number + 1} sequences, {time.perf_counter() - started:.0f} s", flush=True)
    return {
        "stores": stores,
        "sequences": sequences,
        "edits": sum(count for name, count in done.items() if "passages" not in name),
        "seconds": round(time.perf_counter() - started, 1),
        **dict(sorted(done.items())),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--stores", default="embedded")
    parser.add_argument("--sequences", type=int, default=1000)
    parser.add_argument("--edits", type=int, default=4)
    parser.add_argument("--seed", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        found = asyncio.run(run(asked.stores, asked.sequences, asked.edits, asked.seed, Path(scratch)))
    print(json.dumps(found, indent=2))
