"""Operations over small tables: between columns, by group, in a row, shares, compared with a row that is named."""

from __future__ import annotations

import pytest

from kedge.answer.sheets.candidates import Candidate
from kedge.answer.sheets.enumerate import enumerate_readings
from kedge.answer.sheets.lines import MOST_READ, Wordings, fitting, identity_of
from kedge.answer.sheets.sheet import Sheet, build_sheet
from kedge.answer.sheets.telling import answer_texts, reading_steps

HEADER = ["Year", "Club", "Country", "Gold", "Silver", "From", "Until"]
ROWS = [
    ["2001", "Kiel", "Germany", "4", "1", "1990", "1999"],
    ["2002", "Kiel", "Germany", "3", "2", "1991", "2004"],
    ["2003", "Lyon", "France", "5", "9", "1980", "1983"],
    ["2004", "Kiel", "Germany", "1", "0", "1985", "1986"],
    ["2005", "Bergen", "Norway", "5", "2", "1999", "2007"],
]


@pytest.fixture(scope="module")
def sheet() -> Sheet:
    return build_sheet(HEADER, ROWS)


def found(sheet: Sheet, question: str, op: str) -> list[Candidate]:
    return [one for one in enumerate_readings(question, sheet, frozenset()).candidates if one.op == op]


def values(sheet: Sheet, question: str, op: str) -> set[str]:
    return {value for one in found(sheet, question, op) for value in answer_texts(one, sheet)}


@pytest.mark.req("T-10")
@pytest.mark.parametrize(
    ("question", "op", "value"),
    [
        ("how many more gold than silver did lyon win?", "difference of columns", "4"),
        ("how many gold and silver did lyon win in total?", "columns together", "14"),
        ("did lyon win more gold or silver?", "column with more", "Silver"),
        ("which club won the most gold in total?", "most by total", "Kiel"),
        ("how many times did kiel win in a row?", "longest run", "2"),
        ("which club won two consecutive times?", "in a row", "Kiel"),
        ("which clubs are listed at least 2 times?", "at least so often", "Kiel"),
        ("what percentage of rows is from germany?", "share of rows", "60"),
        ("what share of the gold was won by lyon?", "share of total", "27.78"),
        ("what were the first and last club?", "first and last", "Bergen"),
        ("which club was there the longest?", "most", "Kiel"),
        ("how many more gold did germany win than france?", "difference of sums", "3"),
    ],
)
def test_an_operation_gives_its_value(sheet: Sheet, question: str, op: str, value: str) -> None:
    assert value in values(sheet, question, op)
    assert all(reading_steps(one, sheet) for one in found(sheet, question, op))


@pytest.mark.req("T-10")
def test_rows_are_compared_with_a_row_that_is_named(sheet: Sheet) -> None:
    made = enumerate_readings("how many clubs won more silver than bergen?", sheet, frozenset())
    counts = {one.answers for one in made.candidates if one.op == "count" and one.rows.form == "than"}
    assert ("#1",) in counts


@pytest.mark.req("T-10")
def test_a_rank_is_cut_by_value_not_by_the_order_of_rows(sheet: Sheet) -> None:
    made = enumerate_readings("what is the total silver of the 2 highest by silver?", sheet, frozenset())
    cut = [one for one in made.candidates if one.op == "sum" and one.rows.form == "cut"]
    top = [one for one in cut if one.rows.conditions[0].kind == "top"]
    assert ("#11",) in {one.answers for one in top}


@pytest.mark.req("T-10")
def test_words_among_numbers_do_not_make_a_column_of_text() -> None:
    fees = [["a", "Free"], ["b", "Free"], ["c", "1,000"], ["d", "Loan"], ["e", "2,500"]]
    sheet = build_sheet(["Player", "Fee"], fees)
    assert "e" in values(sheet, "who had the highest fee?", "most")


@pytest.mark.req("T-10")
def test_every_reading_is_worded_in_one_line_with_its_value(sheet: Sheet) -> None:
    made = enumerate_readings("did kiel or lyon win more gold than bergen after 2001?", sheet, frozenset())
    wordings = Wordings(sheet)
    lines = [wordings.line(one, answer_texts(one, sheet)) for one in made.candidates]
    assert len(lines) > MOST_READ
    assert all(" → " in line and line.endswith(".") and "\n" not in line for line in lines)
    assert all("{" not in line for line in lines)
    read = fitting(lines)
    assert 1 <= len(read) <= MOST_READ
    assert list(read) == lines[: len(read)]
    assert identity_of(sheet).startswith("Table of 5 rows: Year, Club, Country")
