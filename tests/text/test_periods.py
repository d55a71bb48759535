"""Periods in questions, headers and file names, and whether two name the same."""

from __future__ import annotations

import doctest
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.text import periods as module
from kedge.text.periods import Period, agreement, dated, periods, without_lengths


def test_the_doctests_hold() -> None:
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in the quarter that ended 1 July 2023?", [Period(2023, month=7, day=1, months=3)]),
        ("in the three months to April 1, 2023", [Period(2023, month=4, day=1, months=3)]),
        ("For the quarterly period ended\nJuly 1, 2023", [Period(2023, month=7, day=1, months=3)]),
        ("For the fiscal year ended December 31, 2022", [Period(2022, month=12, day=31, months=12)]),
        ("year to 31 March 2023", [Period(2023, month=3, day=31, months=12)]),
        ("Thirteen weeks ended 28 January 2023", [Period(2023, month=1, day=28, months=3)]),
        ("the quarter ended September 2023", [Period(2023, month=9, months=3)]),
        ("for the december 2022 quarter", [Period(2022, month=12, months=3)]),
        ("the June quarter of 2023", [Period(2023, month=6, months=3)]),
        ("in the July 2023 report", [Period(2023, month=7)]),
        ("at the end of December 2022", [Period(2022, month=12)]),
        ("Q2 fiscal 2023", [Period(2023, 2, months=3, fiscal=True)]),
        ("q1 of fiscal 2023", [Period(2023, 1, months=3, fiscal=True)]),
        ("Q3 FY23", [Period(2023, 3, months=3, fiscal=True)]),
        ("third fiscal quarter of 2023", [Period(2023, 3, months=3, fiscal=True)]),
        ("third quarter of 2023", [Period(2023, 3, months=3)]),
        ("2023 Q3 ACME.pdf", [Period(2023, 3, months=3)]),
        ("acme_2023Q3", [Period(2023, 3, months=3)]),
        ("3Q23", [Period(2023, 3, months=3)]),
        ("Q3'23", [Period(2023, 3, months=3)]),
        ("in the first quarter", [Period(quarter=1, months=3)]),
        ("first nine months of fiscal 2022", [Period(2022, 3, months=9, fiscal=True)]),
        ("H1 2023", [Period(2023, 2, months=6)]),
        ("second half of 2022", [Period(2022, 4, months=6)]),
        ("FY2022", [Period(2022, months=12, fiscal=True)]),
        ("the 2022 annual report", [Period(2022, months=12)]),
        ("in 2021", [Period(2021)]),
        ("on 2023-07-01", [Period(2023, month=7, day=1)]),
        ("am 1.7.2023", [Period(2023, month=7, day=1)]),
        ("on 13/07/2023", [Period(2023, month=7, day=13)]),
        ("on 03/04/2023", [Period(2023)]),
        ("el 5 de mayo de 2022", [Period(2022, month=5, day=5)]),
        ("2023年第三季度", [Period(2023, 3, months=3)]),
        ("the latest filing", [Period(latest=True)]),
        ("most recent quarter", [Period(months=3, latest=True)]),
        ("June 4 and July 1, 2023", [Period(2023, month=6, day=4), Period(2023, month=7, day=1)]),
        ("December 20 to January 5, 2023", [Period(2022, month=12, day=20), Period(2023, month=1, day=5)]),
        ("Q2 and Q3 2023", [Period(2023, 2, months=3), Period(2023, 3, months=3)]),
        (
            "Nine Months Ended July 1, 2023 and June 25, 2022",
            [Period(2023, month=7, day=1, months=9), Period(2022, month=6, day=25, months=9)],
        ),
        ("by Monday at the latest", []),
        ("you may 12 times a day, on June 31", []),
        ("2,023 units for $2023, 2023.5 or 2023%", []),
        ("Q35 and an FAQ", []),
    ],
)
def test_what_a_text_names(text: str, expected: list[Period]) -> None:
    assert list(periods(text)) == expected


@pytest.mark.parametrize(
    ("asked", "stated", "expected"),
    [
        ("June 2023 quarter", "three months ended July 1, 2023", 1.0),
        ("quarter ended June 30, 2023", "quarter ended July 1, 2023", 0.5),
        ("July 2023 report", "July 1, 2023", 1.0),
        ("as of July 1, 2023", "quarter ended July 1, 2023", 0.75),
        ("June 2023 quarter", "three months ended June 25, 2022", -1.0),
        ("nine months to July 1, 2023", "three months ended July 1, 2023", -1.0),
        ("Q3 2023", "2023 Q3", 1.0),
        ("Q3 2023", "2022 Q3", -1.0),
        ("the third quarter", "2022 Q3", 0.5),
        ("Q3 2023", "three months ended September 30, 2023", 0.75),
        ("in 2023", "quarter ended July 1, 2023", 0.5),
        ("in 2021", "quarter ended July 1, 2023", -1.0),
        ("FY2022", "2022", 0.75),
        ("what is a kedge", "2022", 0.0),
        ("latest", "2022", 0.0),
        ("January 2024", "", 0.0),
    ],
)
def test_how_far_two_agree(asked: str, stated: str, expected: float) -> None:
    assert agreement(periods(asked), periods(stated)) == expected


def test_a_document_is_known_by_its_quarter_and_by_its_date() -> None:
    own = periods("2023 Q1") + periods("quarter ended December 31, 2022")
    said = ("Q1 2023", "December 2022 quarter", "in 2022", "fiscal 2023")
    assert all(agreement(without_lengths(periods(text)), without_lengths(own)) > 0 for text in said)
    other = ("Q2 2023", "Q4 2022", "March 2023 quarter", "in 2020")
    assert all(agreement(without_lengths(periods(text)), without_lengths(own)) < 0 for text in other)


def test_fiscal_quarters_are_dated_only_by_what_the_document_states() -> None:
    own = periods("2023 Q3") + periods("quarter ended July 1, 2023")
    asked = dated(periods("third quarter of 2022"), own)
    assert agreement(asked, periods("Three Months Ended June 25, 2022")) == 1.0
    assert agreement(asked, periods("Three Months Ended July 1, 2023")) == -1.0
    assert dated(periods("Q3 2022"), periods("2023 Q3")) == periods("Q3 2022")


def test_an_end_is_a_date_where_the_day_is_said() -> None:
    assert [one.end_date for one in periods("quarter ended July 1, 2023; July 2023")] == [date(2023, 7, 1), None]


@given(st.text(alphabet="Q1234 2023,.'-fiscalyearqtmonhsJudedJuly一季度年月", max_size=60))
def test_any_text_can_be_read_and_its_words_read_back(text: str) -> None:
    found = periods(text)
    for one in found:
        assert 0 <= one.start < one.end <= len(text)
        assert agreement([one], [one]) in (0.0, 0.5, 0.75, 1.0)
        said = periods(str(one))
        assert one.latest or not said or agreement([one], said) >= 0
