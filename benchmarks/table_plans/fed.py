"""The questions over held-out tables, asked of fed sessions: from the CSV to the answer, through the engine.

    python -m benchmarks.table_plans.fed [--tables 60] [--show]

Control: `python -m benchmarks.table_plans`, where the sheets come straight from the files and no plan is weighed beside
the readings.
"""

from __future__ import annotations

import argparse
import asyncio
import csv
import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.table_plans.enumerated import ROOT
from benchmarks.table_plans.questions import QuestionedTable, held_out, read_questions
from kedge.answer.sheets.cells import canonical
from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, Answer, IngestRequest, Query, Scope
from kedge.engine.engine import Engine


async def measure(tables: list[QuestionedTable], show: bool) -> dict[str, Any]:
    """Feed every table and ask everything."""
    asked = right = sure = sure_right = shown_right = 0
    times: list[float] = []
    with tempfile.TemporaryDirectory(prefix="kedge-bench-") as place:
        settings = load_settings(environ={}, home=Path(place) / "home", embedder="hash")
        async with Engine.open(settings) as engine:
            for number, table in enumerate(tables):
                scope = Scope(DEFAULT_TENANT, f"t{number}")
                path = Path(place) / f"t{number}.csv"
                with path.open("w", encoding="utf-8", newline="") as file:
                    csv.writer(file).writerows([table.names, *table.rows])
                await engine.kinds.named("table").sessions.make(DEFAULT_TENANT, scope.collection, use_rag=False)
                await engine.ingest(IngestRequest(scope, (str(path),), kind="table"))
                for question in table.questions:
                    started = time.perf_counter()
                    answer = await engine.ask(Query(question.text, scope))
                    times.append(1000 * (time.perf_counter() - started))
                    gold = {canonical(part) for part in question.answer}
                    readings = answer.metadata.get("readings") or []
                    good = _values(answer) == gold
                    exact = bool(answer.metadata["plan"]["exact"])
                    first = readings[0] if isinstance(readings, list) and readings else None
                    near = [_told(one) == gold for one in readings] if isinstance(readings, list) else []
                    asked += 1
                    sure += exact
                    sure_right += exact and good
                    right += good if exact else bool(near[:1] and near[0])
                    shown_right += good if exact else any(near)
                    if show and exact and not good:
                        print(f"{question.text}\n    {answer.answer[:300]}\n    gold: {question.answer} {first}")
    return {
        "tables": len(tables),
        "questions": asked,
        "best_reading_right": round(right / asked, 4),
        "among_shown_right": round(shown_right / asked, 4),
        "sure": round(sure / asked, 4),
        "sure_and_right": round(sure_right / asked, 4),
        "right_of_sure": round(sure_right / max(sure, 1), 4),
        "ask_ms_p50": round(float(np.percentile(times, 50)), 1),
        "ask_ms_p95": round(float(np.percentile(times, 95)), 1),
    }


def _values(answer: Answer) -> set[str]:
    """The answer's values: of one row the last cell, of several the first of each."""
    rows = answer.metadata.get("rows")
    cells = [row[0] for row in rows] if isinstance(rows, list) and len(rows) > 1 else None
    if cells is None and isinstance(rows, list) and rows and isinstance(rows[0], list):
        named = answer.short_answer is not None and len(rows[0]) > 1
        cells = [rows[0][0] if named and not _number(rows[0][0]) else rows[0][-1]]
    return {canonical(str(cell)) for cell in cells or ()}


def _number(cell: object) -> bool:
    return isinstance(cell, int | float)


def _told(reading: Any) -> set[str]:
    return {canonical(str(value)) for value in reading["values"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    default = Path(os.environ.get("KEDGE_BENCH_DATA", ROOT.parent / "shared/data"))
    parser.add_argument("--data", type=Path, default=default)
    parser.add_argument("--tables", type=int, default=60)
    parser.add_argument("--show", action="store_true", help="print every question that was sure and wrong")
    options = parser.parse_args()
    tables = read_questions(options.data / "train/wikitablequestions.tar.xz")
    out = held_out(tables)
    chosen = [table for table in tables if table.path in out][: options.tables]
    print(json.dumps(asyncio.run(measure(chosen, options.show)), indent=1))


if __name__ == "__main__":
    main()
