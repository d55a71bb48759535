"""Questions of all shapes over made tables, checked against SQL that a person wrote."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest

from kedge.kinds.tables.asking.answer import compute
from kedge.kinds.tables.asking.vocabulary import Vocabulary, read_vocabulary
from tests.kinds.tables.judging import right
from tests.kinds.tables.made import MADE, made

QUESTIONS = tomllib.loads(Path(__file__).with_name("questions.toml").read_text("utf-8"))
CASES = [(name, question) for name, questions in QUESTIONS.items() for question in questions]


@pytest.fixture(scope="module")
def tables() -> Iterator[dict[str, tuple[duckdb.DuckDBPyConnection, Vocabulary]]]:
    opened = {}
    for name in MADE:
        connection = duckdb.connect()
        opened[name] = (connection, read_vocabulary(connection, made(connection, name)))
    yield opened
    for connection, _ in opened.values():
        connection.close()


@pytest.mark.req("T-10")
@pytest.mark.parametrize(("name", "question"), CASES, ids=[question["text"] for _, question in CASES])
def test_the_answer_is_that_of_hand_written_sql(
    tables: dict[str, tuple[duckdb.DuckDBPyConnection, Vocabulary]], name: str, question: dict[str, Any]
) -> None:
    connection, vocabulary = tables[name]
    answer = compute(connection, vocabulary, question["text"])
    told = f"{answer.understood.sure} {answer.plan_text} | {answer.text} | {answer.understood.why}"
    if "sql" not in question:
        assert answer.result is None, told
        return
    if answer.result is None and question.get("may_fall_back"):
        return
    assert answer.result is not None, told
    assert right(question, connection.execute(question["sql"]).fetchall(), list(answer.result.rows)), told
    assert answer.text
    assert answer.plan_text
