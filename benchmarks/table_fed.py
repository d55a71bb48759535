"""The questions of `table_questions` asked of a fed session: from the CSV to the answer, through the engine.

    python -m benchmarks.table_fed PATH… [--show]

PATH is a folder as for `table_questions`. The tables are written as CSV, fed, and asked; what the reader takes for a
number, a date or an id decides the answers here. Control: `table_questions`, where the types come from DuckDB.
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

from benchmarks.table_questions import JOINS, QUESTIONS, joined, right
from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Query, Scope
from kedge.engine.engine import Engine


async def measure(folder: Path, name: str, show: bool) -> dict[str, Any]:
    """Feed one set and ask everything."""
    scope = Scope(DEFAULT_TENANT, name)
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE t AS {joined(folder, name)}")
    questions = tomllib.loads((QUESTIONS / f"{name}.toml").read_text("utf-8"))["question"]
    counts: Counter[str] = Counter()
    times = []
    with tempfile.TemporaryDirectory(prefix="kedge-bench-") as place:
        path = Path(place) / f"{name}.csv"
        connection.execute(f"COPY t TO '{path}' (HEADER, DELIMITER ',')")
        async with Engine.open(load_settings(environ={}, home=Path(place) / "home", embedder="hash")) as engine:
            await engine.kinds.named("table").sessions.make(DEFAULT_TENANT, name, use_rag=False)
            job = await engine.ingest(IngestRequest(scope, (str(path),), kind="table"))
            session = await engine.kinds.named("table").sessions.get(scope)
            for question in questions:
                started = time.perf_counter()
                answer = await engine.ask(Query(question["text"], scope))
                times.append(1000 * (time.perf_counter() - started))
                verdict = _verdict(question, connection, answer.metadata)
                counts[verdict] += 1
                if show and not verdict.startswith("right"):
                    print(f"{verdict}: {question['text']}\n    {answer.answer[:300]}")
    computable = sum("sql" in question for question in questions)
    return {
        "set": name,
        "rows": session.rows,
        "bad_rows": session.bad_rows,
        "types": {column.name: column.type.value for column in session.columns},
        "questions": len(questions),
        "accuracy": round(counts["right"] / computable, 3),
        "fell_back": round(counts["fell back"] / computable, 3),
        "wrong_but_sure": round(counts["wrong but sure"] / len(questions), 3),
        "right_to_fall_back": f"{counts['right to fall back']} of {len(questions) - computable}",
        "ms_p50": round(sorted(times)[len(times) // 2], 1),
        "warnings": list(job.warnings),
    }


def _verdict(question: dict[str, Any], connection: duckdb.DuckDBPyConnection, metadata: Any) -> str:
    sql = question.get("sql")
    if not metadata["plan"]["exact"]:
        return "fell back" if sql else "right to fall back"
    if sql is None:
        return "wrong but sure"
    gold = connection.execute(sql).fetchall()
    return "right" if right(question, gold, [tuple(row) for row in metadata["rows"]]) else "wrong but sure"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--show", action="store_true", help="print every question that was not answered right")
    options = parser.parse_args()
    sets = [(path.resolve(), name) for path in options.paths for name in JOINS if name.startswith(path.name)]
    for path, name in sets:
        print(json.dumps(asyncio.run(measure(path, name, options.show)), indent=1))


if __name__ == "__main__":
    main()
