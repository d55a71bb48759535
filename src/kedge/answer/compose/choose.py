"""Which statements answer, by the form of the question: one that carries a fact, the steps of a how-to, both sides."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kedge.answer.evidence import ReadEvidence, Stated, cut
from kedge.text.analyze import terms
from kedge.text.form import Form, ShapeKind
from kedge.text.statements.statement import Statement

CERTAIN = 4.0
"""Log-odds beyond which a passage is no better for being surer."""
RANK = 0.15
"""What a place further back among the passages costs."""
TIME = 2.0
"""What it is worth that a statement speaks of the time that is asked for."""
MOST: dict[ShapeKind, int] = {"summary": 5, "comparison": 4, "how": 3, "list": 4, "why": 3}
"""Most statements of an answer, by form; two where nothing is said here. A list or its like counts once."""
GAPS: dict[ShapeKind, float] = {"summary": 7.0, "list": 4.0, "how": 4.0, "why": 4.0, "number": 3.0, "fact": 3.0}
"""How far behind the best a further statement may be."""
LEAST_SUPPORT = -2.5
"""Log-odds of support below which a further statement does not earn its place."""
LONGEST_LIST = 14
SIDE = 0.5
"""Least share of a side's words that a statement about it has, in itself or its heading."""
_SAME = 0.7
_DIGIT = re.compile(r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twice|once|half|dozen)\b", re.I)


@dataclass(frozen=True, slots=True)
class Pick:
    """A statement that is to be quoted, with what belongs to it."""

    passage: int
    statement: Statement
    cell: int | None = None
    with_code: Statement | None = None
    """The code that it announces."""
    in_list: bool = False


@dataclass(frozen=True, slots=True)
class Choice:
    """The statements of an answer."""

    first: Stated
    """The best one."""
    picks: tuple[Pick, ...]
    """All that is quoted: the best first, what goes with it, then the others in reading order."""


def worth(one: Stated, form: ShapeKind) -> float:
    """How well a statement answers by itself."""
    kind = one.statement.kind
    value = one.reading.support + min(one.about, CERTAIN) - RANK * one.passage + TIME * one.agreement
    if form == "number":
        value += 0.5 if kind == "row" else 0.0
        value -= 0.0 if _DIGIT.search(one.statement.read, len(one.statement.lead)) else 3.0
    elif kind == "row":
        value -= 1.0 if form in ("fact", "list", "yes-no", "comparison") else 4.0
    if kind == "code" and form not in ("how", "list"):
        value -= 1.0
    return value


def choose(form: Form, evidence: ReadEvidence) -> Choice | None:
    """The statements that answer; None where there are none."""
    ranked = sorted(evidence.stated, key=lambda one: (-worth(one, form.kind), one.passage, one.statement.start))
    if not ranked:
        return None
    chosen = _both_sides(form, ranked, evidence.headings) if form.kind == "comparison" else []
    chosen = chosen or _further(form.kind, ranked)
    if form.kind == "summary":
        home = chosen[0].passage
        chosen.sort(key=lambda one: (one.passage != home, one.passage, one.statement.start))
        return Choice(ranked[0], tuple(_pick(one) for one in chosen))
    first, rest = chosen[0], sorted(chosen[1:], key=lambda one: (one.passage, one.statement.start))
    picks: list[Pick] = []
    for one in (first, *rest):
        made = cut(evidence.passages[one.passage])
        picks += [pick for pick in _with_company(one, form.kind, made) if not _taken(pick, picks)]
    return Choice(first, tuple(picks))


def _pick(one: Stated) -> Pick:
    return Pick(one.passage, one.statement, one.cell)


def _taken(pick: Pick, picks: Sequence[Pick]) -> bool:
    def covers(other: Pick) -> bool:
        last = other.with_code or other.statement
        return other.passage == pick.passage and other.statement.start <= pick.statement.start < max(last.end, 1)

    return any(covers(other) for other in picks)


def _further(form: ShapeKind, ranked: Sequence[Stated]) -> list[Stated]:
    """The best, and those near enough to it that say something else."""
    chosen = [ranked[0]]
    best = worth(ranked[0], form)
    for one in ranked[1:]:
        if len(chosen) >= MOST.get(form, 2) or worth(one, form) < best - GAPS.get(form, 3.0):
            break
        if one.reading.support >= LEAST_SUPPORT and not any(_repeats(one, other) for other in chosen):
            chosen.append(one)
    return chosen


def _repeats(one: Stated, other: Stated) -> bool:
    left, right = set(terms(one.statement.read)), set(terms(other.statement.read))
    return not left or len(left & right) > _SAME * min(len(left), len(right) or 1)


def _both_sides(form: Form, ranked: Sequence[Stated], headings: Mapping[int, str]) -> list[Stated]:
    """The best statement about both sides, then the best about each; empty where a side has none."""
    own = [frozenset(terms(side)) for side in form.sides]
    marks = [side - frozenset().union(*(other for other in own if other is not side)) or side for side in own]
    titles = {place: frozenset(terms(heading)) for place, heading in headings.items()}

    def about(one: Stated) -> Callable[[frozenset[str]], bool]:
        said = frozenset(terms(one.statement.read)) | titles[one.passage]
        return lambda side: bool(side) and len(side & said) >= SIDE * len(side)

    both = [one for one in ranked if all(map(about(one), marks))]
    chosen = both[:1]
    for side in marks:
        best = next((one for one in ranked if about(one)(side) and not any(_repeats(one, it) for it in chosen)), None)
        if best is not None:
            chosen.append(best)
    covered = [side for side in marks if any(about(one)(side) for one in chosen)]
    return chosen[: MOST["comparison"]] if len(covered) == len(marks) else []


def _with_company(one: Stated, form: ShapeKind, made: Sequence[Statement]) -> list[Pick]:
    """The statement with what belongs to it: the list that it announces or is part of, the code that it announces."""
    statement = one.statement
    place = next((at for at, other in enumerate(made) if other.start == statement.start), None)
    picks: list[Pick] = []
    if place is not None and statement.kind == "sentence":
        picks = _announced(one, form, made, place)
    elif place is not None and statement.kind == "item" and form in ("list", "how", "summary"):
        picks = _whole_list(one, made, place)
    elif place and statement.kind == "code" and made[place - 1].kind == "sentence":
        picks = [Pick(one.passage, made[place - 1], with_code=statement)]
    return picks or [_pick(one)]


def _announced(one: Stated, form: ShapeKind, made: Sequence[Statement], place: int) -> list[Pick]:
    """A sentence with the code or the list behind it."""
    following = made[place + 1] if place + 1 < len(made) else None
    announces = one.statement.read.rstrip().endswith((":", "："))
    if following is None:
        return []
    if following.kind == "code" and (announces or form == "how"):
        return [Pick(one.passage, one.statement, with_code=following)]
    if following.kind == "item" and announces:
        items = _run(made, place + 1, lambda other: other.kind == "item" and other.lead == following.lead)
        return [_pick(one), *(Pick(one.passage, item, in_list=True) for item in items)]
    return []


def _whole_list(one: Stated, made: Sequence[Statement], place: int) -> list[Pick]:
    """An item with the others of its list, and what announces them."""

    def belongs(other: Statement) -> bool:
        return other.kind == "item" and other.lead == one.statement.lead

    first = place
    while first > 0 and belongs(made[first - 1]):
        first -= 1
    items = _run(made, first, belongs)
    if len(items) < 2 or one.statement not in items:
        return []
    before = made[first - 1] if first else None
    lead = [Pick(one.passage, before)] if before is not None and before.read.rstrip().endswith(":") else []
    return [*lead, *(Pick(one.passage, item, in_list=True) for item in items)]


def _run(made: Sequence[Statement], first: int, belongs: Callable[[Statement], bool]) -> list[Statement]:
    found: list[Statement] = []
    for statement in made[first : first + LONGEST_LIST]:
        if not belongs(statement):
            break
        found.append(statement)
    return found
