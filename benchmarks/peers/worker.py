"""Measures one peer in its own process and interpreter: `python -m benchmarks.peers.worker NAME SET [LIMIT]`.

Prints one line of JSON. Models are loaded before the clock starts; one question is asked untimed before the others.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
from collections.abc import Sequence
from importlib import import_module

from benchmarks.data import folder
from benchmarks.peers.base import Passage, Peer
from benchmarks.peers.catalog import PEERS
from kedge.evals.dataset import EvalQuery, load
from kedge.evals.metrics import all_gold, ndcg, percentile, recall

TOP_K = 10


def read(name: str, limit: int | None) -> tuple[dict[str, Passage], list[EvalQuery]]:
    """All passages by their ids, and the judged questions."""
    dataset = load(folder(name))
    with dataset.corpus.open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines if line.strip()]
    passages = {str(row["_id"]): Passage(row.get("title") or "", row["text"]) for row in rows}
    return passages, [query for query in dataset.queries if query.judged][:limit]


def subset(
    passages: dict[str, Passage], queries: Sequence[EvalQuery], size: int
) -> tuple[dict[str, Passage], list[EvalQuery]]:
    """`size` passages: half the gold of the first questions, half others; and the questions they hold all gold of."""
    kept: dict[str, Passage] = {}
    asked = []
    for query in queries:
        gold = {name: passages[name] for name in query.gains}
        if len(kept | gold) <= size // 2:
            kept |= gold
            asked.append(query)
    others = [name for name in passages if name not in kept][: size - len(kept)]
    return kept | {name: passages[name] for name in others}, asked


def made(target: str) -> Peer:
    """The peer with its models loaded."""
    module, _, factory = target.partition(":")
    peer: Peer = getattr(import_module(f"benchmarks.peers.{module}"), factory)()
    return peer


def measure(peer: Peer, passages: dict[str, Passage], queries: Sequence[EvalQuery]) -> dict[str, float | str]:
    """Every figure of the table's row."""
    names = list(passages)
    started, busy = time.perf_counter(), time.process_time()
    peer.ingest(list(passages.values()))
    ingest, ingest_busy = time.perf_counter() - started, time.process_time() - busy
    calls = peer.llm_calls
    peer.search("What is a kedge anchor?", TOP_K)
    before = peer.llm_calls
    runs, times = [], []
    busy = time.process_time()
    for query in queries:
        started = time.perf_counter()
        found = peer.search(query.text, TOP_K)
        times.append(1000 * (time.perf_counter() - started))
        runs.append(([names[at] for at in found], query.gains))
    query_busy = time.process_time() - busy
    count = max(len(runs), 1)
    return {
        "passages": len(names),
        "queries": len(runs),
        "recall@5": round(sum(recall(ranked, gains, 5) for ranked, gains in runs) / count, 4),
        "ndcg@10": round(sum(ndcg(ranked, gains, 10) for ranked, gains in runs) / count, 4),
        "all_gold@8": round(sum(all_gold(ranked, gains, 8) for ranked, gains in runs) / count, 4),
        "ingest_s": round(ingest, 2),
        "ingest_cpu_s": round(ingest_busy, 2),
        "query_p50_ms": round(percentile(times, 0.5), 2),
        "query_p95_ms": round(percentile(times, 0.95), 2),
        "query_cpu_ms": round(1000 * query_busy / count, 2),
        "peak_rss_mb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
        "llm_calls_ingest": calls,
        "llm_calls_query": peer.llm_calls - before,
        "note": getattr(peer, "note", ""),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=PEERS)
    parser.add_argument("set")
    parser.add_argument("limit", type=int, nargs="?")
    options = parser.parse_args()
    entry = PEERS[options.name]
    passages, queries = read(options.set, options.limit)
    if entry.passages is not None:
        passages, queries = subset(passages, queries, entry.passages)
    print(json.dumps(measure(made(entry.target), passages, queries)), file=sys.stdout, flush=True)


if __name__ == "__main__":
    main()
