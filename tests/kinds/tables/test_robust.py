"""Whatever is asked and whatever the table holds: no crash, no change of data, no user text in SQL."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress

import duckdb
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.core.errors import KedgeError, PlanError, QueryError
from kedge.kinds.tables.asking.answer import compute
from kedge.kinds.tables.asking.understand import understand
from kedge.kinds.tables.asking.vocabulary import Vocabulary, read_vocabulary
from kedge.kinds.tables.plans.execute import PlanLimits, execute
from kedge.kinds.tables.plans.plan import Filter, Func, Group, Measure, Op, TablePlan, Task
from kedge.kinds.tables.plans.sql import PlanSql
from kedge.kinds.tables.schema import Column, ColumnType, Table
from tests.kinds.tables.made import made, store

ODD = [
    ("select", ColumnType.CATEGORY),
    ('"; DROP TABLE r1; --', ColumnType.CATEGORY),
    ("", ColumnType.INTEGER),
    (" ", ColumnType.REAL),
    ("Größe in m²", ColumnType.REAL),
    ("日本語", ColumnType.CATEGORY),
    ("nothing", ColumnType.REAL),
    ("order", ColumnType.DATE),
    ("count", ColumnType.INTEGER),
    ("id", ColumnType.ID),
]
ODD_VALUES = [
    "'; DROP TABLE r1; --",
    'Robert"); DELETE',
    "100%",
    "or",
    "NULL",
    "",
    " ",
    "=1+1",
    "a\x00b",
    "naïve",
    "🙂",
]
SQL_WORDS = set(
    """SELECT DISTINCT FROM WHERE AND OR NOT IN BETWEEN IS NULL GROUP BY HAVING ORDER LIMIT AS CAST VARCHAR DATE count
    sum avg min max median date_trunc year quarter month week day isodow hour rank OVER EXCLUDE place side share FILTER
    nullif UNION ALL contains lower trim DESC ASC NULLS LAST row_number true v r1""".split()
)
PIECES = [
    "how many", "total", "average", "top 5", "by", "per month", "which", "where", "select", "count", "not", "between",
    "1", "and", "2017", "over", "%", "''", '"', ";", "--", "drop table r1", "größe", "日本語", "nothing", "id 5",
    "share of", "compare", "more than", "=1+1", "revenue", "last week", "order", "\\", "?", "$1", "{}", "%s", "c0",
    "c1", "row_number",
]  # fmt: skip


@pytest.fixture(scope="module")
def odd() -> Iterator[tuple[duckdb.DuckDBPyConnection, Vocabulary]]:
    connection = duckdb.connect()
    rows = [
        (value, ODD_VALUES[-number], number, number / 3, None, f"値{number}", None, f"2017-0{1 + number % 9}-01",
         number, str(number))
        for number, value in enumerate(ODD_VALUES)
    ]  # fmt: skip
    table = store(connection, "odd", ODD, rows)
    yield connection, read_vocabulary(connection, table)
    connection.close()


def contents(connection: duckdb.DuckDBPyConnection) -> list[tuple[object, ...]]:
    tables = connection.execute("SELECT table_name FROM information_schema.tables ORDER BY 1").fetchall()
    return [*tables, *connection.execute("SELECT * FROM r1 ORDER BY row_number").fetchall()]


def own_words_only(text: str) -> None:
    """A statement holds SQL's words, our names and bound values, and nothing else."""
    assert "'" not in re.sub(r"date_trunc\('(year|quarter|month|week|day)'|= ''", "", text)
    assert not set(text) & set('";\\{}%$')
    names = set(re.findall(r"[^\W\d]\w*", text))
    assert {name for name in names if not re.fullmatch(r"[cgm]\d+", name)} <= SQL_WORDS


questions = st.one_of(
    st.text(max_size=200),
    st.lists(st.one_of(st.sampled_from(PIECES), st.sampled_from(ODD_VALUES), st.text(max_size=8)), max_size=14).map(
        " ".join
    ),
)


@pytest.mark.req("T-10")
@given(question=questions)
@settings(max_examples=150)
def test_no_question_breaks_anything(odd: tuple[duckdb.DuckDBPyConnection, Vocabulary], question: str) -> None:
    connection, vocabulary = odd
    before = contents(connection)
    understood = understand(question, vocabulary)
    assert 0 <= understood.sure <= 1
    for plan in filter(None, (understood.plan, *understood.alternatives)):
        for statement in (PlanSql(vocabulary.table).statement(plan, 5), PlanSql(vocabulary.table).facts(plan)):
            own_words_only(statement.text)
            assert statement.text.count("?") == len(statement.values)
    with suppress(KedgeError):
        compute(connection, vocabulary, question, sure=0.0)
    assert contents(connection) == before


@pytest.mark.req("T-10")
@given(value=st.text(max_size=40), op=st.sampled_from([Op.IS, Op.NOT, Op.CONTAINS]))
@settings(max_examples=40)
def test_values_are_bound(odd: tuple[duckdb.DuckDBPyConnection, Vocabulary], value: str, op: Op) -> None:
    connection, vocabulary = odd
    before = contents(connection)
    plan = TablePlan(filters=(Filter("c0", op, (value,)),), groups=(Group("c1"),))
    own_words_only(PlanSql(vocabulary.table).statement(plan, 5).text)
    with suppress(KedgeError):
        execute(connection, vocabulary.table, plan)
    assert contents(connection) == before


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("how many rows are there", 11),
        ('how many rows have "=1+1"', 1),
        ("what is the sum of count", 55),
        ("what is the maximum größe in m²", None),
        ("how many different 日本語 are there", 11),
    ],
)
def test_odd_columns_are_asked_like_others(
    odd: tuple[duckdb.DuckDBPyConnection, Vocabulary], question: str, expected: int | None
) -> None:
    connection, vocabulary = odd
    answer = compute(connection, vocabulary, question)
    assert answer.result is not None, answer.understood
    assert answer.result.rows[0][-1] == expected


def test_a_table_of_two_hundred_columns() -> None:
    connection = duckdb.connect()
    columns = [(f"measure_{number}", ColumnType.REAL) for number in range(199)] + [("kind", ColumnType.CATEGORY)]
    rows = [tuple([float(row)] * 199 + [f"kind {row % 3}"]) for row in range(9)]
    vocabulary = read_vocabulary(connection, store(connection, "wide", columns, rows))
    answer = compute(connection, vocabulary, "What is the average measure 42 by kind?")
    assert answer.result is not None
    assert len(answer.result.rows) == 3


def test_an_empty_table_answers_honestly() -> None:
    connection = duckdb.connect()
    vocabulary = read_vocabulary(connection, store(connection, "none", ODD, []))
    assert compute(connection, vocabulary, "how many rows are there").text.startswith("No rows match")
    assert compute(connection, vocabulary, "total count in 2017").result is None


def test_a_very_long_question_gives_no_plan(odd: tuple[duckdb.DuckDBPyConnection, Vocabulary]) -> None:
    connection, vocabulary = odd
    assert compute(connection, vocabulary, "how many rows and why " * 5000).result is None


def test_names_that_are_not_ours_never_reach_sql(odd: tuple[duckdb.DuckDBPyConnection, Vocabulary]) -> None:
    _, vocabulary = odd
    with pytest.raises(PlanError):
        PlanSql(vocabulary.table).statement(TablePlan(groups=(Group("c0; DROP TABLE r1"),)), 5)
    with pytest.raises(PlanError):
        PlanSql(Table("x", "r1; DROP TABLE r1", vocabulary.table.columns, 1))


def test_a_plan_that_takes_too_long_is_stopped() -> None:
    connection = duckdb.connect()
    connection.execute("CREATE VIEW r1 AS SELECT range AS row_number, range AS c0 FROM range(1000000000000)")
    table = Table("endless", "r1", [Column("number", "c0", ColumnType.INTEGER)], 10**12)
    with pytest.raises(QueryError, match="longer than"):
        execute(connection, table, TablePlan(measures=(Measure(Func.MEDIAN, "c0"),)), PlanLimits(seconds=0.2))
    assert execute(connection, Table("t", "r1", [], 3), TablePlan(task=Task.DESCRIBE, measures=())).row_count == 3


def test_rows_beyond_the_limit_are_cut_and_said() -> None:
    connection = duckdb.connect()
    table = made(connection, "shop_sales")
    result = execute(connection, table, TablePlan(groups=(Group("c0"),)), PlanLimits(rows=10))
    assert (len(result.rows), result.truncated) == (10, True)
    assert result.row_count == 1500


def test_facts_of_an_answer() -> None:
    connection = duckdb.connect()
    table = made(connection, "shop_sales")
    result = execute(connection, table, TablePlan(measures=(Measure(Func.AVERAGE, "c8"),)))
    empty = connection.execute("SELECT count(*) FROM r1 WHERE c8 IS NULL").fetchall()[0][0]
    assert result.ignored == empty > 0
    assert list(result.row_numbers) == [1, 2, 3, 4, 5]
