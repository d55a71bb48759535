"""Whether every store gives the same answers: one set taken into each, the same questions, compared with the embedded.

    python -m benchmarks.same_answers [--set scifact] [--stores postgresql milvus …] [--questions N]

Control: a second home with the embedded stores. Vectors are searched exactly at this size, except in Milvus (HNSW).
`KEDGE_EMBED_CACHE` spares embedding the set once for each store.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.campaigns.places import NotRunning, own_places, parts_of

from benchmarks.data import folder
from kedge.core.settings import load_settings
from kedge.core.values import IngestRequest, Query, Scope
from kedge.engine.engine import Engine
from kedge.evals.dataset import load

STORES = ("embedded", "postgresql", "milvus", "qdrant", "neo4j")
TOP = 10
TIE = 1e-5
"""Scores nearer than this are a tie: 32-bit numbers are not added in the same order everywhere."""

Hits = dict[str, float]
"""Passage id → score, best first."""


@dataclass(frozen=True)
class Agreement:
    """One store beside the embedded ones."""

    stores: str
    questions: int
    identical: int
    """Questions whose ten best are the same in the same order."""
    tied: int
    """Others that differ in the order of ties only."""
    shared: float
    """Share of the ten best that both have, over all questions."""
    score_difference: float
    """Largest, of passages that both have."""
    seconds: float
    """For the ingest and all questions."""

    def row(self) -> str:
        share = f"{100 * self.identical / self.questions:.1f} %"
        cells = (self.stores, str(self.questions), share, str(self.tied), f"{100 * self.shared:.2f} %")
        return "| " + " | ".join((*cells, f"{self.score_difference:.1e}", f"{self.seconds:.0f}")) + " |"


async def answers(corpus: Path, home: Path, urls: Mapping[str, str], scope: Scope, asked: Sequence[str]) -> list[Hits]:
    """Take the corpus in and ask."""
    async with Engine.open(load_settings(home=home, **urls)) as engine:
        await engine.ingest(IngestRequest(scope, (str(corpus),)))
        await engine.settle()
        found = []
        for number, text in enumerate(asked):
            result = await engine.search(Query(text, scope, top_k=TOP))
            found.append({hit.passage.id: hit.score for hit in result.hits})
            if not number % 100:
                print(f"{home.name}: {number} of {len(asked)} questions", file=sys.stderr, flush=True)
        await engine.stores.graph.drop(scope)
    return found


def agreement(stores: str, found: Sequence[Hits], expected: Sequence[Hits], seconds: float) -> Agreement:
    """Compare question by question."""
    same = [list(ours) == list(theirs) for ours, theirs in zip(found, expected, strict=True)]
    tied = [_tied(ours, theirs) for ours, theirs in zip(found, expected, strict=True)]
    both = [(ours, theirs, ours.keys() & theirs.keys()) for ours, theirs in zip(found, expected, strict=True)]
    return Agreement(
        stores,
        len(expected),
        identical=sum(same),
        tied=sum(tie and not equal for tie, equal in zip(tied, same, strict=True)),
        shared=sum(len(shared) for *_, shared in both) / max(1, sum(len(theirs) for _, theirs, _ in both)),
        score_difference=max((abs(ours[key] - theirs[key]) for ours, theirs, keys in both for key in keys), default=0),
        seconds=seconds,
    )


def _tied(ours: Hits, theirs: Hits) -> bool:
    """Whether the scores are the same place by place."""
    pairs = zip(ours.values(), theirs.values(), strict=False)
    return len(ours) == len(theirs) and all(abs(one - other) <= TIE for one, other in pairs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", default="scifact")
    parser.add_argument("--stores", nargs="+", default=list(STORES))
    parser.add_argument("--questions", type=int, default=300)
    options = parser.parse_args()
    dataset = load(folder(options.set))
    asked = [query.text for query in dataset.queries][: options.questions]
    scope = Scope(f"same-{os.getpid()}", "bench")
    heads = ("stores", "questions", "identical top 10", "ties only", "shared hits", "largest score difference", "s")
    rows = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch)
        expected = asyncio.run(answers(dataset.corpus, root / "control", {}, scope, asked))
        for number, stores in enumerate(options.stores):
            started = time.monotonic()
            try:
                with own_places(parts_of(stores), f"same{os.getpid()}x{number}") as urls:
                    found = asyncio.run(answers(dataset.corpus, root / stores, urls, scope, asked))
            except NotRunning as missing:
                print(missing, file=sys.stderr)
                continue
            rows.append(agreement(stores, found, expected, time.monotonic() - started).row())
            print(rows[-1], file=sys.stderr, flush=True)
    print("\n".join(rows))


if __name__ == "__main__":
    main()
