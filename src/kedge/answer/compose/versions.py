"""Two documents that state different values of one thing: the newer answers, the older is mentioned with its date."""

from __future__ import annotations

from collections.abc import Sequence

from kedge.answer.compose.worth import said
from kedge.answer.evidence import ReadEvidence, Stated
from kedge.core.values import Passage
from kedge.core.values.identity import DATED, PERIOD, said_in
from kedge.retrieve.when import last_day, own_periods
from kedge.text.analyze import terms
from kedge.text.form import ShapeKind
from kedge.text.periods import periods
from kedge.text.question import Question

SAME_MATTER = 0.6
"""Least share of their words, without the values themselves, that two statements of one thing have in common."""
BEHIND = 4.0
"""How much less than the best the reader may make of the other one."""
_FORMS: frozenset[ShapeKind] = frozenset({"fact", "number"})

End = tuple[int, int, int]
"""Year, month and day that a document's time ends on."""


def newest_first(
    question: Question, form: ShapeKind, first: Stated, evidence: ReadEvidence
) -> tuple[Stated, Stated | None]:
    """The statement of the newest document that says it, and that of the one before it whose value differs, if any.

    Only where the question names no time: whoever names one has chosen.
    """
    own = end_of(evidence.passages[first.passage])
    if form not in _FORMS or own is None or not value_of(first) or periods(question.text):
        return first, None
    found = [(own, first)]
    for one in evidence.stated:
        end = end_of(evidence.passages[one.passage])
        if end is not None and end != own and _other_value(first, one, evidence):
            found.append((end, one))
    found.sort(key=lambda pair: (pair[0], pair[1].reading.support), reverse=True)
    newest = found[0][1]
    older = next((one for end, one in found if end < found[0][0] and value_of(one) != value_of(newest)), None)
    return newest, older


def time_of(passage: Passage) -> str:
    """The time of a passage's document as it says it: `quarter ended July 1, 2023`, `2024-05-03`."""
    return said_in(passage.metadata, PERIOD) or said_in(passage.metadata, DATED)


def end_of(passage: Passage) -> End | None:
    """When the time ends that the passage's document is about; None where it states none."""
    stated = own_periods(passage) or periods(said_in(passage.metadata, DATED))
    return max((last_day(one) for one in stated if one.year is not None), default=None)


def value_of(one: Stated) -> str:
    """The few words that would answer, in one spelling; empty: there are none."""
    if one.cell is not None:
        return _squeezed(said(one))
    span = one.reading.span
    return _squeezed(one.statement.read[span.start : span.end]) if span is not None else ""


def _other_value(first: Stated, other: Stated, evidence: ReadEvidence) -> bool:
    """Whether another document says the same thing with another value."""
    passages = evidence.passages
    if passages[first.passage].document_id == passages[other.passage].document_id:
        return False
    if other.statement.kind != first.statement.kind or other.reading.support < first.reading.support - BEHIND:
        return False
    value = value_of(other)
    return bool(value) and value != value_of(first) and _alike(_matter(first), _matter(other))


def _matter(one: Stated) -> frozenset[str]:
    """What it speaks of: its words without the value and without times."""
    text = one.statement.read
    if one.cell is not None:
        text = " ".join((text.partition(" — ")[0], one.statement.cells[one.cell].header))
    elif one.reading.span is not None:
        text = f"{text[: one.reading.span.start]} {text[one.reading.span.end :]}"
    for period in reversed(periods(text)):
        text = f"{text[: period.start]} {text[period.end :]}"
    return frozenset(terms(text))


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    return len(one & other) >= SAME_MATTER * max(1, len(one | other))


def _squeezed(text: str) -> str:
    return " ".join(
        "".join(letter if letter.isalnum() or letter in ".%" else " " for letter in text.casefold()).split()
    )


def with_newest(
    question: Question, form: ShapeKind, chosen: Sequence[Stated], evidence: ReadEvidence
) -> tuple[list[Stated], Stated | None]:
    """The chosen statements with the newest of several versions first, and the older one that is to be mentioned."""
    newest, older = newest_first(question, form, chosen[0], evidence)
    rest = [one for one in chosen[1:] if one is not newest and one is not older]
    if older is not None:
        rest = [one for one in rest if not _alike(_matter(one), _matter(newest))]
    return [newest, *rest], older
