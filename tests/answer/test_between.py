"""Arithmetic between two cells of a row."""

from __future__ import annotations

import pytest

from kedge.answer.compose.between import change_asked
from kedge.text.statements.cut import statements
from kedge.text.statements.statement import Statement

TABLE = """| (in millions) | Three Months Ended July 1, 2023 | Three Months Ended July 2, 2022 | Note |
|---|---|---|---|
| Research and development | 7,442 | 6,797 | 3 |
| Other income, net | (265) | (10) | 4 |
| Interest expense | (930) | (720) | 5 |
| Gross margin percentage | 44.5% | 43.3% | |
| Leases | 12 | new | |
"""
QUESTION = "By how much did it grow from the quarter ended July 2, 2022 to the quarter ended July 1, 2023?"


def row(label: str) -> Statement:
    return next(one for one in statements(TABLE, "Operating expenses") if one.cells and one.cells[0].text == label)


@pytest.mark.req("D-13")
def test_a_change_is_told_with_both_cells_and_its_share() -> None:
    change = change_asked(QUESTION, row("Research and development"))
    assert change is not None
    assert (change.first.text, change.second.text, change.difference) == ("6,797", "7,442", 645)
    assert change.text == (
        "Research and development: up 645 (9.5 %), from 6,797 (Three Months Ended July 2, 2022) "
        "to 7,442 (Three Months Ended July 1, 2023)."
    )
    assert TABLE[change.first.start : change.first.end] == "6,797"
    assert TABLE[change.second.start : change.second.end] == "7,442"


@pytest.mark.req("D-13")
def test_the_order_is_that_of_time_not_of_the_question() -> None:
    back = "How much did it change between July 1, 2023 and July 2, 2022?"
    change = change_asked(back, row("Research and development"))
    assert change is not None
    assert change.difference == 645


@pytest.mark.req("D-13")
def test_brackets_are_losses_and_shares_differ_by_points() -> None:
    loss = change_asked(QUESTION, row("Other income, net"))
    share = change_asked(QUESTION, row("Gross margin percentage"))
    assert loss is not None
    assert share is not None
    assert loss.difference == -255
    assert "up 1.2 percentage points, from 43.3%" in share.text
    assert share.percent is None


@pytest.mark.req("D-13")
@pytest.mark.parametrize(
    ("question", "label"),
    [
        ("What was R&D in the quarter ended July 1, 2023?", "Research and development"),
        ("By how much did R&D grow in the quarter ended July 1, 2023?", "Research and development"),
        ("By how much did R&D grow from July 2, 2020 to July 1, 2023?", "Research and development"),
        (QUESTION, "Leases"),
    ],
    ids=["no change asked", "one period", "a period without a cell", "no figure"],
)
def test_without_two_cells_there_is_no_change(question: str, label: str) -> None:
    assert change_asked(question, row(label)) is None


def test_an_expense_in_brackets_that_grew_is_up() -> None:
    change = change_asked(QUESTION, row("Interest expense"))
    assert change is not None
    assert change.text.startswith("Interest expense: up 210 (29.2 %), from (720)")
