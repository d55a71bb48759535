"""Calibrate the judge of evidence that is not read, on open data: `python -m benchmarks.judge`.

That is evidence in other languages than English, and all where the reader is turned off; what is read is judged by
weights that `python -m benchmarks.judge.read` makes.

Reads the sets under KEDGE_BENCH_DATA (default ../shared/data), lets Kedge find the evidence for every question,
measures the features of `kedge.answer.judge.calibrated`, fits the weights, writes them to
`src/kedge/answer/judge/data` and, for the default embedder, `docs/images/risk-coverage.svg`,
and prints what is reached on articles or sets that the fitted weights have not seen.
What was measured is kept in `--cache`, so that a second run takes seconds.

`--embedder minilm:int8` makes the weights of the embedders that have none of their own.

Features, opposites and weights of the sets were chosen by people who had seen errors of all eight squad2 articles:
expect a little less on new ones.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.judge.fit import VARIANTS, fit
from benchmarks.judge.plot import risk_coverage, write_plot
from benchmarks.judge.rows import SETS, Row, rows_of
from benchmarks.judge.sample import TRICKS, USUAL_TRICKS, Sample, figures
from kedge.answer.judge.calibrated import CALIBRATED, THRESHOLD, USUAL
from kedge.core.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "src/kedge/answer/judge/data"
PLOT = ROOT / "docs/images/risk-coverage.svg"
COMMAND = "python -m benchmarks.judge"
DEFAULT = Settings().embedder


def groups_of(rows: Sequence[Row], data: Path) -> list[str]:
    """Article of each squad2 question, else the set."""
    with (data / "squad2/corpus.jsonl").open(encoding="utf-8") as lines:
        titles = {row["_id"]: row["title"] for row in map(json.loads, lines)}
    with (data / "squad2/qrels.tsv").open(encoding="utf-8") as lines:
        articles = {fields[0]: titles.get(fields[1], "") for fields in (line.split("\t") for line in lines)}
    return [articles[row.id] if row.source == "squad2" and row.kind == "asked" else row.source for row in rows]


async def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    default = Path(os.environ.get("KEDGE_BENCH_DATA", ROOT.parent / "shared/data"))
    parser.add_argument("--data", type=Path, default=default)
    parser.add_argument("--cache", type=Path, default=ROOT / ".bench-cache/judge", help="folder for what was measured")
    parser.add_argument("--embedder", default=DEFAULT, help="whose similarities are measured")
    parser.add_argument("--dry-run", action="store_true", help="print, but write nothing")
    arguments = parser.parse_args()
    embedder = arguments.embedder
    cache = arguments.cache / embedder.replace(":", "_")
    rows = [row for name in SETS for row in await rows_of(name, arguments.data, cache, embedder)]
    rows = [row for row in rows if row.features]
    sample = Sample(rows, groups_of(rows, arguments.data), TRICKS.get(embedder, USUAL_TRICKS))
    weights: dict[str, Any] = {}
    measured: dict[str, Any] = {}
    curves = {}
    for variant, names in VARIANTS.items():
        weights[variant] = fit(sample.columns(names), sample.labels, sample.weight_for(variant), names).as_json()
        scores = sample.held_out(names, variant)
        measured[variant] = {"held_out": figures(sample, scores)}
        curves[variant] = risk_coverage(sample.answerable[sample.squad], scores[sample.squad])
        print(f"\n{variant}\n{json.dumps(weights[variant])}\n{json.dumps(measured[variant], indent=1)}")
        print("threshold  answered  false answers (squad2)")
        for threshold, answered, wrong in curves[variant]:
            print(f"{threshold:9.2f}  {answered:8.3f}  {wrong:13.3f}")
    if not arguments.dry_run:
        content = {
            "made_by": f"{COMMAND} --embedder {embedder}",
            "threshold": THRESHOLD,
            "weights": weights,
            "figures": measured,
        }
        target = TARGET / CALIBRATED.get(embedder, USUAL)
        target.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        if embedder == DEFAULT:
            write_plot(PLOT, curves, THRESHOLD)
    print(f"{len(rows)} questions", file=sys.stderr)


if __name__ == "__main__":
    asyncio.run(main())
