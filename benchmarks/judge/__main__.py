"""Calibrate the judge on open data: `python -m benchmarks.judge`.

Reads the sets under KEDGE_BENCH_DATA (default ../shared/data), lets Kedge find the evidence for every question,
measures the features of `kedge.answer.judge.calibrated`, fits the weights, writes
`src/kedge/answer/judge/data/judge.json` and `docs/images/risk-coverage.svg`,
and prints what is reached on articles or sets that the fitted weights have not seen.
What was measured is kept in `--cache`, so that a second run takes seconds.

For squad2 the reader's opinions come from `reader_folds.json.gz`: each article was read by a reader that was trained on
the others (`python -m benchmarks.reader`). For the other sets the shipped reader reads here. Features, opposites and
weights of the sets were chosen by people who had seen errors of all eight squad2 articles: expect a little less on new
ones.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.judge.fit import VARIANTS, fit
from benchmarks.judge.plot import risk_coverage, write_plot
from benchmarks.judge.rows import SETS, Row, rows_of
from benchmarks.judge.sample import Sample, Scores, ablation, figures
from kedge.answer.judge.calibrated import THRESHOLD, passages_to_read
from kedge.answer.read import Readings, asks
from kedge.core.settings import load_settings
from kedge.text.evidence import EvidencePassage

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / "src/kedge/answer/judge/data/judge.json"
PLOT = ROOT / "docs/images/risk-coverage.svg"
FOLDS = Path(__file__).with_name("reader_folds.json.gz")
COMMAND = "python -m benchmarks.judge"
UNREAD = -6.0
"""For a passage that no fold's reader has read: far down in the search's list, so hardly the answer."""


async def read_rows(rows: Sequence[Row], cache: Path) -> dict[int, dict[int, float]]:
    """The reader's opinion of each row's passages."""
    folds = json.loads(gzip.decompress(FOLDS.read_bytes()))
    kept = cache / "read.json"
    known: dict[str, dict[str, float]] = json.loads(kept.read_text("utf-8")) if kept.is_file() else {}
    readings = Readings(load_settings())
    scores: dict[int, dict[int, float]] = {}
    for index, row in enumerate(rows):
        wanted = _wanted(row)
        if not asks(row.question):
            continue
        if row.source == "squad2" and row.kind == "asked":
            by_passage = folds[row.id]
            scores[index] = {place: by_passage.get(row.passages[place][0], UNREAD) for place in wanted}
            continue
        key = f"{row.source}|{row.kind}|{row.id}"
        if key not in known and not row.source.startswith("xquad"):
            passages = [EvidencePassage(text, title) for _, title, text in row.passages]
            read = await readings.of(row.question, passages, wanted)
            known[key] = {str(place): round(score, 3) for place, score in read.items()}
        scores[index] = {int(place): score for place, score in known.get(key, {}).items() if int(place) in wanted}
        if index % 200 == 0:
            kept.write_text(json.dumps(known), "utf-8")
            print(f"read {index} of {len(rows)}", file=sys.stderr, flush=True)
    kept.write_text(json.dumps(known), "utf-8")
    return scores


def _wanted(row: Row) -> list[int]:
    wanted = passages_to_read(len(row.passages), ())
    return wanted if row.home in wanted else [*wanted, row.home]


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
    parser.add_argument("--dry-run", action="store_true", help="print, but write nothing")
    arguments = parser.parse_args()
    rows = [row for name in SETS for row in await rows_of(name, arguments.data, arguments.cache)]
    rows = [row for row in rows if row.passages]
    read: Scores = await read_rows(rows, arguments.cache)
    sample = Sample(rows, read, groups_of(rows, arguments.data))
    weights: dict[str, Any] = {}
    measured: dict[str, Any] = {}
    curves = {}
    for variant, names in VARIANTS.items():
        usable = sample.usable(names)
        values = sample.columns(names)[usable]
        weights[variant] = fit(values, sample.labels[usable], sample.weight[usable], names).as_json()
        scores = sample.held_out(names)
        measured[variant] = {"held_out": figures(sample, scores, usable)}
        curves[variant] = risk_coverage(sample.answerable[sample.squad], scores[sample.squad])
        print(f"\n{variant}\n{json.dumps(weights[variant])}\n{json.dumps(measured[variant], indent=1)}")
        print("threshold  answered  false answers (squad2)")
        for threshold, answered, wrong in curves[variant]:
            print(f"{threshold:9.2f}  {answered:8.3f}  {wrong:13.3f}")
        if variant == "dense_read":
            measured[variant]["ablation"] = ablation(sample, names, scores)
            print(json.dumps(measured[variant]["ablation"], indent=1))
    if not arguments.dry_run:
        content = {"made_by": COMMAND, "threshold": THRESHOLD, "weights": weights, "figures": measured}
        TARGET.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        write_plot(PLOT, curves, THRESHOLD)
    print(f"{len(rows)} questions", file=sys.stderr)


if __name__ == "__main__":
    asyncio.run(main())
