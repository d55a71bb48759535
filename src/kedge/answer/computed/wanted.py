"""Whether a question asks for something that must be computed from a table, and which operations compute."""

from __future__ import annotations

import re

_ASKS = re.compile(
    r"""
    \bhow\ (?:many|often)\b
  | \bhow\ much\ (?:more|less|higher|lower|larger|smaller|did|has|have|was|were|do|does|of|in)\b
  | \b(?:by\ how\ (?:much|many)|totals?|sum|altogether|combined|together|difference|differ|average|mean|median|range)\b
  | \b(?:most|least|fewest|more|less|fewer|best|worst|top|bottom|same|rank\w*|count|number\ of|both|exceeds?)\b
  | \b[a-z]{3,}(?<!inter)(?<!requ)(?<!lat)est\b
  | \b(?:high|low|larg|small|bigg|great|long|short|old|young|cheap|fast|slow)er\b
  | \b(?:gr[eo]w\w*|growth|increas\w+|decreas\w+|declin\w+|chang\w+|rise|rose|risen|fall|fell|fallen|drop\w*)\b
  | \b(?:shares?|percent(?:age)?|proportion|ratio|fraction|per\ ?cent|times\ as)\b
    """,
    re.IGNORECASE | re.VERBOSE,
)
_SAYS_HOW = re.compile(
    rf"{_ASKS.pattern} | \b(?:which|what|who|had|has|have|was|were|is|are|did|do|does|there|listed|table)\b",
    re.IGNORECASE | re.VERBOSE,
)
COMPUTED = frozenset(
    (
        "count", "distinct", "sum", "mean", "median", "range", "most", "most of two", "most by total", "most by mean",
        "most total", "highest column", "most frequent", "least frequent", "highest frequency", "difference of counts",
        "sum of counts", "larger count", "smaller count", "difference", "difference from number", "more?", "less?",
        "equal?", "difference of columns", "columns together", "growth between columns", "ratio of columns",
        "column with more", "column with less", "more in first column?", "less in first column?", "share of rows",
        "share of total", "difference of sums", "larger sum", "smaller sum", "days between", "longest run",
    )
)  # fmt: skip
"""Operations whose answer stands in no single cell, or is found by comparing cells."""
COUNTS = frozenset(("count", "distinct", "share of rows", "most frequent", "least frequent", "highest frequency"))
"""Those that count rows: prose says such numbers too, and of other things."""


def asks_computation(question: str) -> bool:
    """Whether words of the question ask to add up, compare, order or count.

    >>> [asks_computation(text) for text in ("Which segment had the highest sales?", "What is a segment?")]
    [True, False]
    """
    return _ASKS.search(question) is not None


def says_how(word: str) -> bool:
    """Whether a word says what is to be computed, rather than of what."""
    return _SAYS_HOW.fullmatch(word) is not None or word.lower().endswith("est")
