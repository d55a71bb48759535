"""Quality of retrieval on all open sets, with every part switched off in turn: one command, a table and a plot.

    python -m benchmarks.quality [--sets scifact,squad2] [--limit 200] [--out artefacts]

Each set is ingested once; every variant then searches the same home. Zero language model calls. Embeddings are kept in
`.bench-cache/embeddings.db`, so that a second run skips the embedding; times here are therefore of queries only.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
from pathlib import Path

from benchmarks.data import SETS, folder
from kedge.core.settings import Settings, load_settings
from kedge.core.values import IngestRequest, Query
from kedge.engine.engine import Engine
from kedge.evals.dataset import EvalSet, load
from kedge.evals.metrics import percentile
from kedge.evals.run import SCOPE, documents_of, ranking_figures

CACHE = Path(".bench-cache/embeddings.db")
VARIANTS: dict[str, dict[str, object]] = {
    "dense": {"channels": ("vector",), "reranker": "none"},
    "BM25": {"channels": ("keyword",), "reranker": "none"},
    "RRF of dense, BM25": {"channels": ("vector", "keyword"), "fusion": "rrf", "reranker": "none"},
    "RRF of all three": {"fusion": "rrf", "reranker": "none"},
    "blend": {"channels": ("vector", "keyword"), "reranker": "none"},
    "blend + rerank": {"channels": ("vector", "keyword")},
    "blend + graph": {"reranker": "none"},
    "default": {},
}
HEADLINE = {
    "2wikimultihop": ("recall@5", "all_gold@8"),
    "hotpotqa_train100": ("recall@5", "all_gold@8"),
    "composed": ("recall@5", "all_gold@8"),
    "squad2": ("recall@5", "ndcg@10"),
}


async def one_set(name: str, limit: int | None) -> dict[str, dict[str, float | int | None]]:
    dataset = load(folder(name))
    with tempfile.TemporaryDirectory() as home:
        settings = load_settings(home=Path(home), embed_cache=CACHE)
        async with Engine.open(settings) as engine:
            await engine.ingest(IngestRequest(SCOPE, (str(dataset.corpus),)))
        found = {}
        for variant, changes in VARIANTS.items():
            found[variant] = await searched(settings.model_copy(update=changes), dataset, limit)
    return found


async def searched(settings: Settings, dataset: EvalSet, limit: int | None) -> dict[str, float | int | None]:
    runs, times = [], []
    async with Engine.open(settings) as engine:
        for query in [item for item in dataset.queries if item.judged][:limit]:
            started = time.perf_counter()
            result = await engine.rank(Query(query.text, SCOPE), 100)
            times.append(1000 * (time.perf_counter() - started))
            runs.append((documents_of(result), query))
    return ranking_figures(runs) | {"query_ms_p50": round(percentile(times, 0.5), 1)}


def table(results: dict[str, dict[str, dict[str, float | int | None]]]) -> str:
    """Markdown: one row per variant, the headline measures of each set as columns."""
    heads = [f"{name} {'/'.join(HEADLINE.get(name, ('ndcg@10',)))}" for name in results]
    lines = ["| variant | " + " | ".join(heads) + " |", "|---" * (len(heads) + 1) + "|"]
    for variant in VARIANTS:
        cells = [
            " / ".join(f"{found[variant][measure]:.3f}" for measure in HEADLINE.get(name, ("ndcg@10",)))
            for name, found in results.items()
        ]
        lines.append(f"| {variant} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def plot(results: dict[str, dict[str, dict[str, float | int | None]]], path: Path) -> None:
    """Bars of each set's first headline measure, as an SVG made here: no plotting library needed."""
    width, height, left = 14 * len(VARIANTS) + 24, 160, 40
    shades = [f"hsl(210 60% {85 - 7 * number}%)" for number in range(len(VARIANTS))]
    parts = []
    for place, (name, found) in enumerate(results.items()):
        measure = HEADLINE.get(name, ("ndcg@10",))[0]
        base = left + place * width
        for number, variant in enumerate(VARIANTS):
            value = float(found[variant][measure] or 0.0)
            x, y = base + 14 * number, 20 + height * (1 - value)
            parts.append(
                f'<rect x="{x}" y="{y:.1f}" width="12" height="{height * value:.1f}" fill="{shades[number]}">'
                f"<title>{variant}: {value:.3f}</title></rect>"
            )
        parts.append(f'<text x="{base}" y="{height + 34}" font-size="10">{name}</text>')
        parts.append(f'<text x="{base}" y="{height + 46}" font-size="10">{measure}</text>')
    for number, variant in enumerate(VARIANTS):
        y = height + 68 + 14 * number
        parts.append(f'<rect x="{left}" y="{y - 9}" width="10" height="10" fill="{shades[number]}"/>')
        parts.append(f'<text x="{left + 16}" y="{y}" font-size="10">{variant}</text>')
    total = left + width * len(results)
    full = height + 80 + 14 * len(VARIANTS)
    body = "\n".join(parts)
    svg = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{total}" height="{full}" font-family="sans-serif">{body}</svg>'
    )
    path.write_text(svg, "utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", default=",".join((*SETS, "composed")))
    parser.add_argument("--limit", type=int, default=None)
    parser.add_argument("--out", type=Path, default=Path("artefacts"))
    options = parser.parse_args()
    results = {}
    for name in options.sets.split(","):
        results[name] = asyncio.run(one_set(name, options.limit))
        print(name, json.dumps(results[name]["default"]), flush=True)
    options.out.mkdir(exist_ok=True)
    (options.out / "quality.json").write_text(json.dumps(results, indent=2), "utf-8")
    plot(results, options.out / "quality.svg")
    print(table(results))


if __name__ == "__main__":
    main()
