"""Questions over a knowledge graph with known answers: is the right node among the first cited?

    python -m benchmarks.kgqa KB QUESTIONS [--every N] [--foreign OTHER_QUESTIONS] [--show N] [--embedder NAME]

KB is any file that `kedge ingest --kind graph` reads; QUESTIONS is JSONL with `text`, `answers` (ids or titles)
and, for --foreign, `paths` (each begins with the entity's id). The graph is taken in by the public import and asked by
the public `ask`. A refusal counts as a miss, and as an empty list of citations.

`reliability` bins the answers by the probability that they state, with the share beside it whose first citation is
right; `misses_said_high` are answers with confidence high whose first citation is wrong.

Control: `--foreign` asks the questions of another graph about entities of this one. Their relations are not there, so
every answer is wrong and a refusal is right.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

from kedge import Kedge
from kedge.evals.metrics import percentile


def load(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kb", type=Path)
    parser.add_argument("questions", type=Path)
    parser.add_argument("--every", type=int, default=1, help="ask every N-th question")
    parser.add_argument("--foreign", type=Path, help="questions of another graph, asked about entities of this one")
    parser.add_argument("--show", type=int, default=0, help="print so many misses")
    parser.add_argument("--embedder", default="minilm")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home, Kedge(home, embedder=options.embedder) as kedge:
        started, worked = time.perf_counter(), time.process_time()
        kedge.ingest(options.kb, collection="kb", kind="graph")
        figures: dict[str, Any] = {
            "kb": options.kb.name,
            "import_seconds": round(time.perf_counter() - started, 1),
            "import_cpu_seconds": round(time.process_time() - worked, 1),
        }
        asked = load(options.questions)[:: options.every]
        print(json.dumps(figures | right(kedge, asked, options.show), indent=2))
        if options.foreign:
            print(json.dumps(foreign(kedge, asked, load(options.foreign)[:: options.every]), indent=2))


def right(kedge: Kedge, questions: list[dict[str, Any]], show: int) -> dict[str, Any]:
    first = third = refused = 0
    reciprocal = 0.0
    times: list[float] = []
    work = time.process_time()
    missed: list[str] = []
    stated: list[tuple[float, bool]] = []
    sure_misses = 0
    for question in questions:
        started = time.perf_counter()
        answer = kedge.ask(question["text"], collection="kb")
        times.append(1000 * (time.perf_counter() - started))
        gold = set(question["answers"])
        cited = [{item.title, item.url.removeprefix("node:")} for item in answer.citations]
        rank = next((place for place, names in enumerate(cited, 1) if names & gold), 0)
        first += rank == 1
        third += 1 <= rank <= 3
        reciprocal += 1 / rank if rank else 0.0
        refused += answer.refused
        if not answer.refused:
            stated.append((answer.evidence_probability, rank == 1))
            sure_misses += rank != 1 and answer.confidence == "high"
        if not 1 <= rank <= 3:
            missed.append(f"{question['text']} → {answer.answer[:120]} (gold {sorted(gold)[:3]})")
    count = max(1, len(questions))
    for line in missed[:show]:
        print(line)
    return {
        "questions": len(questions),
        "hits@1": round(first / count, 4),
        "hits@3": round(third / count, 4),
        "mrr": round(reciprocal / count, 4),
        "refused": round(refused / count, 4),
        "misses_said_high": sure_misses,
        "misses_answered": sum(not hit for _, hit in stated),
        **reliability(stated),
        "ms_p50": round(percentile(times, 0.5), 1),
        "ms_p95": round(percentile(times, 0.95), 1),
        "cpu_ms_mean": round(1000 * (time.process_time() - work) / count, 1),
    }


def reliability(stated: list[tuple[float, bool]]) -> dict[str, Any]:
    """Of answers: what was stated against the share that was right, in bins, and the mean difference (ECE)."""
    bins: dict[str, Any] = {}
    error = 0.0
    for low in (0.5, 0.6, 0.7, 0.8, 0.9, 0.95):
        high = {0.9: 0.95, 0.95: 1.01}.get(low, low + 0.1)
        held = [one for one in stated if low <= one[0] < high]
        if held:
            mean, share = (sum(one[place] for one in held) / len(held) for place in (0, 1))
            bins[f"{low:.2f}"] = {"answers": len(held), "stated": round(mean, 3), "right": round(share, 3)}
            error += len(held) / len(stated) * abs(mean - share)
    return {"reliability": bins, "ece": round(error, 4)}


def foreign(kedge: Kedge, questions: list[dict[str, Any]], others: list[dict[str, Any]]) -> dict[str, Any]:
    entities = [question["paths"][0][0] for question in questions]
    refused = 0
    for place, other in enumerate(others):
        text = other["text"].replace(other["paths"][0][0], entities[place % len(entities)])
        refused += kedge.ask(text, collection="kb").refused
    return {"foreign_questions": len(others), "foreign_refused": round(refused / max(1, len(others)), 4)}


if __name__ == "__main__":
    main()
