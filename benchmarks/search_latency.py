"""Search latency, embedding of the question included, with each part switched off in turn (goal: p50 <= 40 ms).

    python -m benchmarks.search_latency [SET]

Control: the bare embedding of the same questions in the same run. Questions are asked once each, one at a time, so
that no cache answers.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.data import folder
from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Query, Scope
from kedge.engine.engine import Engine
from kedge.evals.dataset import load
from kedge.evals.metrics import percentile
from kedge.models.registry import open_embedder

SCOPE = Scope(DEFAULT_TENANT, "bench")
QUESTIONS = 300


async def timed(engine: Engine, questions: list[str], **options: bool) -> dict[str, float]:
    times, used = [], time.process_time()
    for text in questions:
        started = time.perf_counter()
        await engine.search(Query(text, SCOPE, **options))
        times.append(1000 * (time.perf_counter() - started))
    used = 1000 * (time.process_time() - used) / len(questions)
    found = {"p50_ms": percentile(times, 0.5), "p95_ms": percentile(times, 0.95), "mean_cpu_ms": used}
    return {name: round(value, 2) for name, value in found.items()}


async def measure(source: Path, home: Path) -> dict[str, object]:
    dataset = load(source)
    texts = [query.text for query in dataset.queries]
    full, plain = texts[:QUESTIONS], texts[QUESTIONS : 2 * QUESTIONS] or texts[:QUESTIONS]
    settings = load_settings(home=home)
    async with Engine.open(settings) as engine:
        await engine.ingest(IngestRequest(SCOPE, (str(dataset.corpus),)))
        await engine.search(Query("warm up", SCOPE))
        figures: dict[str, object] = {
            "everything": await timed(engine, full),
            "without_graph": await timed(engine, plain, include_graph=False),
        }
        answers = []
        for text in full[:100]:
            started = time.perf_counter()
            await engine.ask(Query(text, SCOPE))
            answers.append(1000 * (time.perf_counter() - started))
        figures["answer_p50_ms"] = round(percentile(answers, 0.5), 2)
    embedder = open_embedder(settings.embedder, settings)
    bare = []
    for text in full:
        started = time.perf_counter()
        await embedder.embed_query(text)
        bare.append(1000 * (time.perf_counter() - started))
    figures["bare_embedding_p50_ms"] = round(percentile(bare, 0.5), 2)
    return figures


def main() -> None:
    name = sys.argv[1] if len(sys.argv) > 1 else "scifact"
    with tempfile.TemporaryDirectory() as home:
        print(json.dumps({"set": name} | asyncio.run(measure(folder(name), Path(home))), indent=2))


if __name__ == "__main__":
    main()
