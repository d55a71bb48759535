"""Candidates: readings of a question, each run already, with the features by which they are weighed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from kedge.answer.sheets.asked import Asked, SeenSight
from kedge.answer.sheets.linking import Places
from kedge.answer.sheets.rowsets import NONE, Feature, RowSet
from kedge.answer.sheets.words import tokens

MOST = 3600
MOST_ANSWERS = 25
_DATE_KEY = re.compile(r"d\d+-")
Answers = tuple[str, ...]
"""Different values in their canonical form, in order."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One reading and what it gives."""

    op: str
    answers: Answers
    rows: RowSet
    """The rows that it speaks of; of a comparison, the first side."""
    features: list[int]
    """Numbers of the features in the list that all candidates share."""
    column: int = -1
    """Column of the answer, where cells are the answer."""
    sight: int = -1
    """Column that is measured or ordered by."""
    kind: str = ""
    """As what that column is read."""
    sign: int = 0
    """1 for most, -1 for least."""
    chosen: tuple[int, ...] = ()
    """Rows whose cells are the answer."""
    other: RowSet | None = None
    """Second side of a comparison."""
    number: float | None = None
    """A number of the question that is part of the reading."""
    second: int = -1
    """Second column of what is computed between two columns."""


class Candidates:
    """Collects the candidates of one question, and numbers their features."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked
        self._numbers: dict[Feature, int] = {}
        self._seen: set[object] = set()
        self._in_question: dict[str, bool] = {}
        self._known: dict[object, list[int]] = {}
        self.found: list[Candidate] = []

    @property
    def features(self) -> list[Feature]:
        """By their numbers."""
        return list(self._numbers)

    @property
    def full(self) -> bool:
        return len(self.found) >= MOST

    def add(
        self,
        op: str,
        values: Iterable[str],
        rows: RowSet,
        features: Sequence[Feature] = (),
        cover: Places = NONE,
        *,
        column: int = -1,
        seen: SeenSight | None = None,
        sight: int = -1,
        sign: int = 0,
        chosen: Sequence[int] = (),
        other: RowSet | None = None,
        number: float | None = None,
        second: int = -1,
    ) -> None:
        """Keep a reading with its features, unless it gives nothing or was kept before."""
        answers = tuple(sorted(set(values)))
        key = (op, answers, id(rows), column, id(seen), sight, sign, id(other), number, second, *features)
        if not answers or len(answers) > MOST_ANSWERS or self.full or key in self._seen:
            return
        self._seen.add(key)
        size = len(answers)
        if seen is not None:
            cover = cover | seen.cover
        numbers = [
            *self._once(("plan", op, id(rows), size), lambda: self._plan(op, rows, size)),
            *self._once(("words", op, rows.cover, cover), lambda: self._words(op, rows.cover | cover)),
            *self._once(("answer", op, answers), lambda: self._answer(op, answers)),
            *map(self._number, features),
            *self._once(("set", id(rows.features)), lambda: rows.features),
        ]
        if seen is not None:
            told = seen.features
            numbers += self._once(("seen", id(seen)), lambda: told)
        if column >= 0:
            within = column in rows.columns
            numbers += self._once(("column", op, column, within), lambda: self._column(op, column, within))
        measured, kind = (seen.sight.column, seen.sight.kind) if seen is not None else (sight, "")
        self.found.append(
            Candidate(op, answers, rows, numbers, column, measured, kind, sign, tuple(chosen), other, number, second)
        )

    def _number(self, feature: Feature) -> int:
        return self._numbers.setdefault(feature, len(self._numbers))

    def _once(self, key: object, make: Callable[[], Sequence[Feature]]) -> list[int]:
        """The numbers of features that many candidates share, made once."""
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = [self._number(feature) for feature in make()]
        return known

    def _column(self, op: str, column: int, within: bool) -> list[Feature]:
        asked = self._asked
        return [
            *asked.answer_features[column],
            ("answer op", asked.levels[column], asked.near[column], op),
            ("answer filtered", within, op, asked.either),
        ]

    def _plan(self, op: str, rows: RowSet, size: int) -> list[Feature]:
        return [
            ("op", op),
            ("op form", op, rows.form),
            ("conditions", rows.depth, op),
            ("size", size if size < 4 else 4 if size < 8 else 8, self._asked.cues["plural"]),
            ("size alone", min(size, 3)),
        ]

    def _words(self, op: str, covered: Places) -> list[Feature]:
        """What the reading leaves of the question."""
        asked = self._asked
        left = asked.content - covered
        named = sum(not places & covered for places in asked.named)
        numbers = len(asked.numbered - covered)
        out: list[Feature] = [
            ("left", min(len(left), 6)),
            ("left share", int(4 * len(left) / max(1, len(asked.content)))),
            ("left named", min(named, 3)),
            ("left named op", min(named, 2), op),
            ("left rare", min(4, sum(place not in asked.common for place in left))),
            ("left numbers", min(2, numbers), op[:4]),
        ]
        out += [("left word", asked.common[place]) for place in left if place in asked.common]
        return out

    def _answer(self, op: str, answers: Answers) -> list[Feature]:
        first = answers[0]
        kind = "number" if first[:1] == "#" else "date" if _DATE_KEY.match(first) else "text" if first else "empty"
        out: list[Feature] = []
        if kind == "number":
            value = float(first[1:])
            kind = "year" if 1500 < value < 2100 else kind
            out.append(("number", op, 0 if value == 0 else 1 if value == 1 else 2 if value < 0 else 3))
        inside = all(self._is_in_question(answer) for answer in answers)
        out += [("type", kind), ("type of op", kind, op), ("in question", inside, self._asked.either, kind, op[:3])]
        return out

    def _is_in_question(self, answer: str) -> bool:
        known = self._in_question.get(answer)
        if known is None:
            words = tokens(answer.removeprefix("#"))
            known = self._in_question[answer] = bool(words) and f" {' '.join(words)} " in self._asked.spaced
        return known
