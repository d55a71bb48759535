"""Two documents that state different values: the newer one answers, the older is mentioned with its date."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from kedge.answer.cite.spans import cite
from kedge.answer.judge.verdict import composed
from kedge.answer.read import Readings
from kedge.core.settings import Settings
from kedge.text.form import shape_of
from kedge.text.question import parse_question
from tests.support.passages import hit, passage

OLD = "We keep backups for 30 days at the Oslo site. Mia orders the tapes."
NEW = "We keep backups for 90 days at the Oslo site since the audit. The tapes are gone."
MAY, FEBRUARY = ({"document_type": "minutes", "dated": day} for day in ("2024-05-03", "2025-02-11"))
SALES = """Net sales by segment (in millions):

| | Three Months Ended {end} |
|---|---|
| Americas | 35,383 |
| Europe | {europe} |
"""


def answered(question: str, *documents: tuple[str, dict[str, Any]]) -> tuple[str | None, str]:
    """The short answer, and the text with its marks."""
    hits = [
        hit(passage(text, key=f"p{at}", title="Minutes", metadata=metadata), at)
        for at, (text, metadata) in enumerate(documents, 1)
    ]
    parsed = parse_question(question, lambda term: 3.0)
    read = asyncio.run(Readings(Settings()).of(parsed, [one.passage for one in hits], all_of=True))
    extracted = composed(parsed, shape_of(question), read, hits).extracted
    assert extracted is not None
    return extracted.short.text if extracted.short else None, cite(extracted, hits)[0]


@pytest.mark.parametrize("documents", [((OLD, MAY), (NEW, FEBRUARY)), ((NEW, FEBRUARY), (OLD, MAY))])
def test_the_newer_value_answers_and_the_older_is_told_with_its_date(documents: Any) -> None:
    short, text = answered("For how many days do we keep backups?", *documents)
    assert short in ("90", "90 days")
    assert text.index("90") < text.index("Before that (2024-05-03): We keep backups for 30 days")


def test_whoever_names_a_time_has_chosen() -> None:
    short, text = answered("For how many days did we keep backups in May 2024?", (NEW, FEBRUARY), (OLD, MAY))
    assert short in ("30", "30 days")
    assert "Before that" not in text


@pytest.mark.parametrize(
    "documents",
    [
        ((OLD, {}), (NEW, {})),
        ((OLD, MAY), (OLD, FEBRUARY)),
        ((OLD, MAY), ("The Bergen office closes for 14 days in July.", FEBRUARY)),
    ],
    ids=("no dates", "the same value", "another matter"),
)
def test_nothing_is_told_of_before_where_nothing_changed(documents: Any) -> None:
    _, text = answered("For how many days do we keep backups?", *documents)
    assert "Before that" not in text


def test_rows_of_two_reports_are_told_apart() -> None:
    june = SALES.format(end="June 25, 2022", europe="19,287"), {"period": "quarter ended June 25, 2022"}
    july = SALES.format(end="July 1, 2023", europe="20,205"), {"period": "quarter ended July 1, 2023"}
    short, text = answered("What are net sales in Europe?", june, july)
    assert short == "20,205"
    assert "Before that (quarter ended June 25, 2022)" in text
    assert "19,287" in text
