"""Plans as data: in and out of JSON, checked against the table, in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from typing import Any

import duckdb
import pytest

from kedge.core.errors import PlanError
from kedge.kinds.tables.asking.answer import compute
from kedge.kinds.tables.asking.understand import SURE, understand
from kedge.kinds.tables.asking.values import ValueIndex
from kedge.kinds.tables.asking.vocabulary import Vocabulary, read_vocabulary
from kedge.kinds.tables.asking.words import tokens
from kedge.kinds.tables.plans.execute import execute
from kedge.kinds.tables.plans.phrase import chart, number_text, phrase
from kedge.kinds.tables.plans.plan import (
    Arithmetic,
    DatePart,
    Filter,
    Func,
    Group,
    Having,
    Measure,
    Op,
    Order,
    Side,
    TablePlan,
    Task,
)
from kedge.kinds.tables.plans.plan_json import plan_from_json, plan_to_json
from kedge.kinds.tables.plans.plan_text import plan_text, steps
from kedge.kinds.tables.schema import Column, ColumnType, Table
from tests.kinds.tables.made import made, store
from tests.kinds.tables.test_questions import CASES

REVENUE = Measure(Func.SUM, "c7", Arithmetic.TIMES, "c6")
PLANS = {
    "revenue by month": TablePlan(
        filters=(Filter("c5", Op.IN, ("Lighting", "Textiles")), Filter("c1", Op.AT_LEAST, (date(2022, 1, 1),))),
        measures=(REVENUE,),
        groups=(Group("c1", DatePart.MONTH),),
    ),
    "top articles": TablePlan(measures=(REVENUE,), groups=(Group("c4"),), order=Order(), limit=3),
    "kept groups": TablePlan(
        groups=(Group("c3"),), having=(Having(Op.BETWEEN, (10, 10000)),), order=Order("c3", False)
    ),
    "how many groups": TablePlan(groups=(Group("c2"),), having=(Having(Op.MORE, (5,)),), tally=True),
    "nested": TablePlan(measures=(replace(REVENUE, func=Func.AVERAGE, per="c0", inner=Func.SUM),)),
    "compared": TablePlan(
        task=Task.COMPARE,
        measures=(Measure(Func.MEDIAN, "c7"),),
        sides=(
            Side("2021", (Filter("c1", Op.IS, (2021,), DatePart.YEAR),)),
            Side("cash", (Filter("c9", Op.IS, ("Cash",)),)),
        ),
    ),
    "share": TablePlan(task=Task.SHARE, part=(Filter("c8", Op.EMPTY),)),
    "shares": TablePlan(task=Task.SHARE, groups=(Group("c3"),)),
    "list": TablePlan(
        task=Task.LIST,
        measures=(),
        filters=(
            Filter("c4", Op.CONTAINS, ("lamp",)),
            Filter("c10", Op.IS, (True,)),
            Filter("c1", Op.NOT_IN, (date(2021, 5, 1),)),
        ),
        columns=("c4", "c7"),
        order=Order("c7"),
        limit=4,
    ),
    "weekdays": TablePlan(
        filters=(
            Filter("c1", Op.IN, (6, 7), DatePart.WEEKDAY),
            Filter("c1", Op.BETWEEN, (date(2021, 3, 1), date(2021, 3, 31))),
        ),
        groups=(Group("c1", DatePart.WEEKDAY),),
    ),
}


@pytest.fixture(scope="module")
def shop() -> Iterator[tuple[duckdb.DuckDBPyConnection, Table]]:
    connection = duckdb.connect()
    yield connection, made(connection, "shop_sales")
    connection.close()


@pytest.fixture(scope="module")
def vocabulary(shop: tuple[duckdb.DuckDBPyConnection, Table]) -> Vocabulary:
    return read_vocabulary(*shop)


@pytest.mark.req("T-10")
@pytest.mark.parametrize("name", PLANS)
def test_a_plan_comes_back_from_json_and_runs(shop: tuple[duckdb.DuckDBPyConnection, Table], name: str) -> None:
    connection, table = shop
    plan = PLANS[name]
    assert plan_from_json(plan_to_json(plan), table) == plan
    result = execute(connection, table, plan)
    assert result.rows
    assert all(len(row) == len(result.columns) for row in result.rows)
    assert phrase(plan, table, result)
    assert plan_text(plan, table) == "; ".join(steps(plan, table))


def test_understood_plans_come_back_from_json(vocabulary: Vocabulary) -> None:
    found = [understand(question["text"], vocabulary).plan for name, question in CASES if name == "shop_sales"]
    plans = [plan for plan in found if plan is not None]
    assert len(plans) > 25
    for plan in plans:
        assert plan_from_json(plan_to_json(plan), vocabulary.table) == plan


def test_columns_may_be_named_as_people_do(shop: tuple[duckdb.DuckDBPyConnection, Table]) -> None:
    _, table = shop
    given: Any = {"filters": [{"column": "City", "values": ["Porto"]}], "groups": ["article"]}
    plan = plan_from_json(given, table)
    assert plan == TablePlan(filters=(Filter("c3", Op.IS, ("Porto",)),), groups=(Group("c4"),))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "must be an object"),
        ({"sql": "DROP TABLE r1"}, "'sql'"),
        ({"task": "drop"}, "task cannot be 'drop'"),
        ({"filters": [{"column": "c99", "values": [1]}]}, "'c99'"),
        ({"filters": [{"column": "c0; DROP TABLE r1", "values": [1]}]}, "DROP TABLE"),
        ({"filters": [{"column": "c6", "op": ">", "values": ["many"]}]}, "needs a number"),
        ({"filters": [{"column": "c6", "op": ">", "values": [float("nan")]}]}, "needs a number"),
        ({"filters": [{"column": "c4", "op": ">", "values": ["a"]}]}, "cannot be compared"),
        ({"filters": [{"column": "c1", "op": "=", "values": ["soon"]}]}, "no date"),
        ({"filters": [{"column": "c10", "values": ["yes"]}]}, "true and false"),
        ({"filters": [{"column": "c6", "op": "between", "values": [1]}]}, "has 1 values"),
        ({"filters": [{"column": "c4", "part": "month", "values": [1]}]}, "holds no dates"),
        ({"filters": [{"column": "c6", "op": "contains", "values": [1]}]}, "contains no text"),
        ({"measures": [{"func": "sum", "column": "c4"}]}, "no sum can be computed"),
        ({"measures": [{"func": "sum"}]}, "needs a column"),
        ({"measures": []}, "computes nothing"),
        ({"measures": [{"func": "sum", "column": "c6", "arithmetic": "*"}]}, "goes with"),
        ({"groups": [{"column": "c4", "part": "month"}]}, "holds no dates"),
        ({"having": [{"op": "in", "values": [1]}]}, "compares the first measure"),
        ({"order": {"column": "c4"}}, "no group"),
        ({"limit": 0}, "limit must be"),
        ({"limit": 10**9}, "limit must be"),
        ({"task": "compare"}, "two sides"),
        ({"task": "share"}, "needs its part"),
        ({"tally": True}, "can be counted"),
        ({"filters": [{"column": "c4", "values": ["a"]}] * 51}, "51 entries"),
        ({"filters": "c4"}, "must be a list"),
    ],
)
def test_a_plan_that_cannot_be_says_why(shop: tuple[duckdb.DuckDBPyConnection, Table], given: Any, said: str) -> None:
    with pytest.raises(PlanError) as raised:
        plan_from_json(given, shop[1])
    assert said in raised.value.message


def test_words_of_an_answer(shop: tuple[duckdb.DuckDBPyConnection, Table], vocabulary: Vocabulary) -> None:
    connection, _ = shop
    answer = compute(connection, vocabulary, "revenue of lighting by month in 2022")
    assert answer.plan_text == (
        "rows where product_group is Lighting and OrderDate is from 2022-01-01 to 2022-12-31; "
        "sum of unit_price × qty by month of OrderDate"
    )
    assert answer.chart is not None
    assert answer.chart.type == "line"
    assert "2022-01: " in answer.text
    assert "taken as the sum of unit_price × qty" in answer.understood.why
    bars = compute(connection, vocabulary, "units sold by city")
    assert bars.chart is not None
    assert (bars.chart.type, bars.chart.x, bars.chart.y) == ("bar", "City", "sum of qty")


@pytest.mark.parametrize(
    ("name", "question", "text"),
    [
        ("cars", "How many cars have 999 horsepower?", "No rows match where Horsepower is 999."),
        ("cars", "How many cars have 60 horsepower?", "1 row where Horsepower is 60."),
        ("cars", "Which car has the highest horsepower?", "Juno 499 has the highest Horsepower: 449."),
        ("cars", "How many rows were made in 1973?", "rows where Year is 1973."),
        ("inquest", "What was the name of the oldest victim?", "Jan Todd has the highest age: 94."),
        (
            "movies",
            "How many movies per year after 2003?",
            "The number of rows by year where year is at least 2004: 2004: 8.",
        ),
    ],
)
def test_answers_read_well(name: str, question: str, text: str) -> None:
    connection = duckdb.connect()
    answer = compute(connection, read_vocabulary(connection, made(connection, name)), question)
    connection.close()
    assert answer.text.endswith(text)


def test_what_was_not_understood_is_said_with_the_columns(vocabulary: Vocabulary) -> None:
    found = understand("How many unicorns did Ada Lovelace sell?", vocabulary)
    assert found.sure < SURE
    assert "not understood: unicorns" in found.why
    assert "Columns: Invoice No, OrderDate, customer" in found.why


@pytest.mark.parametrize(
    ("lowest", "highest", "distinct", "yearly"),
    [
        (date(1970, 1, 1), date(1982, 1, 1), 12, True),
        (date(1970, 1, 1), date(1982, 3, 1), 12, False),
        (date(1970, 1, 1), date(1971, 1, 1), 40, False),
    ],
)
def test_first_days_of_years_are_years(lowest: date, highest: date, distinct: int, yearly: bool) -> None:
    assert Column("built", "c0", ColumnType.DATE, distinct, 0, lowest, highest).yearly is yearly


def test_equal_winners_are_all_named() -> None:
    connection = duckdb.connect()
    letters = "(1, 'a'), (2, 'b'), (3, 'a'), (4, 'b'), (5, 'c')"
    connection.execute(f"CREATE TABLE r1 AS SELECT * FROM (VALUES {letters}) t(row_number, c0)")
    table = Table("t", "r1", [Column("letter", "c0", ColumnType.CATEGORY, 3)], 5)
    plan = TablePlan(groups=(Group("c0"),), order=Order(), limit=1)
    result = execute(connection, table, plan)
    assert [row[0] for row in result.rows] == ["a", "b"]
    assert phrase(plan, table, result) == "a and b have the highest number of rows: 2."
    assert chart(plan, table, result) is not None


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1234567, "1,234,567"),
        (1234.5, "1,234.50"),
        (3.0, "3"),
        (0.012345, "0.0123"),
        (None, "none"),
        (True, "yes"),
        (date(2020, 2, 3), "2020-02-03"),
    ],
)
def test_numbers_in_words(value: object, text: str) -> None:
    assert number_text(value) == text


@pytest.mark.parametrize(
    ("asked", "values", "score"),
    [
        ("cookies", ("COOKIES/CONES",), 0.92),
        ("Frozen Pizza", ("FROZEN PIZZA",), 1.0),
        ("pizza frozen", ("FROZEN PIZZA",), 0.97),
        ("frozen vegetables", ("FRZN VEGETABLES",), 0.88),
        ("berries", ("Berry",), 1.0),
        ("zurich", ("Zürich",), 1.0),
    ],
)
def test_values_are_found_however_written(asked: str, values: tuple[str, ...], score: float) -> None:
    index = ValueIndex()
    named = ["COOKIES/CONES", "FROZEN PIZZA", "FRZN VEGETABLES", "Berry", "Zürich", "PITA BREAD"]
    index.add("c0", ((value, 1) for value in named))
    question = tokens(asked)
    found = index.matches(question, 0, len(question))
    assert [(match.values, round(match.score, 2)) for match in found] == [(values, score)]


def test_typing_errors_are_mended_and_short_words_are_not_guessed() -> None:
    index = ValueIndex()
    index.add("c0", [("FROZEN PIZZA", 1), ("BOOKS", 1), ("Pneumonia", 1)])
    for asked, value in (("froozen piza", "FROZEN PIZZA"), ("pnuemonia", "Pneumonia")):
        question = tokens(asked)
        assert index.mended(question, 0, len(question))[0].values == (value,)
    boots = index.mended(tokens("boots"), 0, 1)
    assert all(match.score < 0.6 for match in boots)


def test_columns_of_yes_and_no_are_attributes() -> None:
    connection = duckdb.connect()
    rows = [(str(n), n % 2, "N" if n % 4 == 0 else "Y", "No" if n % 5 == 0 else "Yes") for n in range(100)]
    columns = [("item_id", ColumnType.ID), ("discontinued", ColumnType.INTEGER)]
    columns += [("in_stock", ColumnType.CATEGORY), ("Organic", ColumnType.CATEGORY)]
    vocabulary = read_vocabulary(connection, store(connection, "items", columns, rows))
    for question, expected in {
        "How many items are discontinued?": 50,
        "How many items are not in stock?": 25,
        "How many organic items are in stock?": 60,
    }.items():
        answer = compute(connection, vocabulary, question)
        assert answer.result is not None, question
        assert answer.result.rows[0][0] == expected
    connection.close()
