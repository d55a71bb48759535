"""Which statements answer, by the form of the question: one that carries a fact, the steps of a how-to, both sides."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from kedge.answer.compose.company import LONGEST_LIST, Pick, is_step, pick_of, taken, with_company
from kedge.answer.compose.further import EARNED, FAR, earns, signs
from kedge.answer.compose.lists import StatedList, best_list
from kedge.answer.compose.versions import time_of, with_newest
from kedge.answer.compose.worth import asks_back, is_torn, points_elsewhere, said, worth
from kedge.answer.evidence import ReadEvidence, Stated, cut
from kedge.text.analyze import terms
from kedge.text.form import Form, ShapeKind
from kedge.text.question import Question, steps

UNIT = 1.5
"""What it is worth that a share stands there where one is asked for."""
MOST: dict[ShapeKind, int] = {"summary": 5, "comparison": 4, "how": 3, "list": 3, "why": 3, "yes-no": 3}
"""Most statements of an answer, by form; two where nothing is said here. A list or its like counts once."""
GAPS: dict[ShapeKind, float] = {"list": 4.0, "how": 4.0, "why": 6.0, "yes-no": 4.0}
"""How far behind the best a further statement may be; three where nothing is said here."""
NEAR_ROW = 1.0
"""How far behind the best a further row may be."""
LEAST_SUPPORT = -4.0
"""Log-odds of support below which a further statement does not earn its place."""
ANSWERED, GAIN = 0.75, 0.12
"""Share of the question from which on nothing of it is missing, and least share that a further step must bring."""
MOST_STEPS = 3
"""Most statements of a question that takes several steps."""
LED, OWN = 0.5, 0.1
"""Least share of the question that the sentence before a list has for the whole list to answer, and the share from
which on an item answers by itself."""
OF_LIST, OTHER_LIST = 2.0, 0.8
"""How much less a list may be worth than the best statement, where that is of it, and where it is not."""
_ALL_OF: frozenset[ShapeKind] = frozenset({"fact", "how"})
"""Forms for which one item or all of a list may be the answer."""
SIDE = 0.5
"""Least share of a side's words that a statement about it has, in itself or its heading."""
ALONE, OPENING = 2.5, 4
"""What it is worth to speak of one side alone, from the first so many words on; half of it where it comes later."""
_WORD = re.compile(r"\w+")
_IDENTIFIER = re.compile(r"\w_\w|[a-z][A-Z]|\w\.\w|::|\(\)")
_SAME = 0.7
_GOES_ON = re.compile(r"(?:and|or|but|by|of|with|that|which|to|for|in|on|at|from|as|than|where|when|is|are|was|were)\b")
"""What no sentence begins with."""
_SHARE = re.compile(r"\b(?:percent|percentage|per cent|share|proportion|rate)\b|%", re.I)
_EACH = re.compile(
    r"\b(?:each|every|all)\b[^.?!]{0,30}\b(?:filings?|reports?|documents?|quarters?|papers?|versions?|releases?|minutes)\b",
    re.I,
)


@dataclass(frozen=True, slots=True)
class Choice:
    """The statements of an answer."""

    first: Stated
    """The best one."""
    picks: tuple[Pick, ...]
    """All that is quoted: the best first, what goes with it, then the others in reading order."""
    led: bool = False
    """Whether the first only leads to the one that answers."""


def choose(question: Question, form: Form, evidence: ReadEvidence) -> Choice | None:
    """The statements that answer; None where there are none."""
    share = UNIT if form.kind == "number" and _SHARE.search(question.text) else 0.0

    def value(one: Stated) -> float:
        return worth(one, form.kind) + (share if "%" in said(one) else 0.0)

    ranked = sorted(evidence.stated, key=lambda one: (-value(one), one.passage, one.statement.start))
    if not ranked:
        return None
    chosen: list[Stated] = []
    if form.kind == "comparison":
        chosen = _both_sides(form, ranked, evidence.headings)
    elif _EACH.search(question.text):
        chosen = _of_each_document(ranked, evidence)
    elif form.kind == "summary":
        return Choice(ranked[0], tuple(pick_of(one) for one in _summary(ranked)))
    whole_list = _list_of(question, form, ranked[0], evidence) if not chosen else None
    if whole_list is not None:
        return Choice(ranked[0], tuple(whole_list.picks()))
    chosen = chosen or _with_missing_names(question, _further(form.kind, ranked, evidence), ranked, evidence.headings)
    led_to = _led_to(question, chosen, ranked, evidence) if len(chosen) < MOST_STEPS else None
    chosen = [chosen[0], led_to] if led_to else chosen
    if form.kind == "number":
        chosen = [_row_for(one, evidence) or one for one in chosen]
    if form.kind == "how" and is_step(evidence.passages[chosen[0].passage].text, chosen[0].statement):
        chosen = [chosen[0], *(one for one in chosen[1:] if _goes_on(chosen[0], one))]  # the steps are the way
    chosen, older = with_newest(question, form.kind, chosen, evidence)
    first, rest = chosen[0], sorted(chosen[1:], key=lambda one: (one.passage, one.statement.start))
    picks: list[Pick] = []
    for one in (first, *rest):
        made = cut(evidence.passages[one.passage])
        steps_of = form.kind == "how" and is_step(evidence.passages[one.passage].text, one.statement)
        whole = steps_of or form.kind in ("list", "summary")
        whole = whole or (form.kind != "comparison" and any(_same_list(one, other) for other in chosen))
        whole = whole or (form.kind in _ALL_OF and _asks_for_list(question, one))
        picks += [pick for pick in with_company(one, form.kind, made, whole) if not taken(pick, picks)]
    if older is not None:
        picks.append(replace(pick_of(older), of_before=time_of(evidence.passages[older.passage])))
    return Choice(first, tuple(picks), led_to is not None)


def _list_of(question: Question, form: Form, best: Stated, evidence: ReadEvidence) -> StatedList | None:
    """The list that answers as a whole, where one is asked for."""
    found = best_list(question, evidence) if form.kind == "list" else None
    if found is None:
        return None
    behind = worth(best, form.kind) - found.value
    return found if behind <= (OF_LIST if found.holds(best) else OTHER_LIST) else None


def _further(form: ShapeKind, ranked: Sequence[Stated], evidence: ReadEvidence) -> list[Stated]:
    """The best, and those that earn their place beside it and say something else."""
    best, most = ranked[0], MOST.get(form, 2)
    chosen = [best]
    for one in ranked[1:]:
        if len(chosen) >= most:
            break
        if _says_nothing(one) or _is_another_row(one, best, form) or any(repeats(one, other) for other in chosen):
            continue
        if earns(signs(one, best, form, between(one, best, evidence))) >= EARNED:
            chosen.append(one)
    return chosen


def between(one: Stated, other: Stated, evidence: ReadEvidence) -> int:
    """How many statements lie between two that were read; `FAR` where they are of different passages."""
    if one.passage != other.passage:
        return FAR
    low, high = sorted((one.statement.start, other.statement.start))
    inside = (stated.statement.start for stated in evidence.stated if stated.passage == one.passage)
    return min(FAR, sum(low < start < high for start in inside))


def _says_nothing(one: Stated) -> bool:
    """Whether a statement asks, is a heading, only names a place, or is the end of what begins elsewhere."""
    read = one.statement.read
    return (
        is_torn(one)
        or asks_back(one)
        or points_elsewhere(one)
        or (one.statement.kind == "sentence" and _GOES_ON.match(read) is not None)
    )


def _is_another_row(one: Stated, best: Stated, form: ShapeKind) -> bool:
    """Whether it is a row that has less of the question than the best one, where a figure is asked for."""
    rows = one.statement.kind == best.statement.kind == "row"
    return rows and form in ("number", "fact") and one.shared < best.shared


def _summary(ranked: Sequence[Stated]) -> list[Stated]:
    """The best sentences of the best passage and of what else the reader takes to answer, in their order."""
    home = ranked[0].passage
    prose = [one for one in ranked if one.statement.kind in ("sentence", "item") and not _says_nothing(one)]
    own = [one for one in prose if one.passage == home or one.about > 0]
    chosen: list[Stated] = []
    for one in own or list(ranked[:1]):
        if len(chosen) < MOST["summary"] and not any(repeats(one, other) for other in chosen):
            chosen.append(one)
    return sorted(chosen, key=lambda one: (one.passage != home, one.passage, one.statement.start))


def _of_each_document(ranked: Sequence[Stated], evidence: ReadEvidence) -> list[Stated]:
    """The best statement of each document, where several are asked for one by one."""
    chosen: dict[str, Stated] = {}
    for one in ranked:
        if one.reading.support > ranked[0].reading.support - GAPS["list"]:
            chosen.setdefault(evidence.passages[one.passage].document_id, one)
    return list(chosen.values())[:LONGEST_LIST]


def _row_for(one: Stated, evidence: ReadEvidence) -> Stated | None:
    """For a sentence that announces a table ("as follows:"), the row that has most of the question: it carries what the
    sentence does."""
    if one.statement.kind != "sentence" or not one.statement.read.rstrip().endswith((":", "：")):
        return None
    behind = [
        other
        for other in evidence.stated
        if other.passage == one.passage and other.statement.start >= one.statement.end
    ]
    rows = list(takewhile(lambda other: other.statement.kind == "row", behind))
    best = max(rows, key=lambda other: other.shared + other.agreement, default=None)
    if best is None or not best.shared:
        return None
    support = max(best.reading.support, one.reading.support)
    return replace(best, reading=replace(best.reading, support=support))


def _led_to(
    question: Question, chosen: Sequence[Stated], ranked: Sequence[Stated], evidence: ReadEvidence
) -> Stated | None:
    """The best statement of another document that a chosen one names: the next of several steps.

    It is one where the question leads through several things, or where it brings words of the question that the chosen
    ones lack.
    """
    words = {term for one in chosen for term in terms(one.statement.read)}
    known = {evidence.passages[one.passage].title for one in chosen}
    covered = question.coverage(words)
    several = steps(question.text) > 1
    for one in ranked:
        passage = evidence.passages[one.passage]
        title = frozenset(terms(passage.title))
        if passage.title in known or not title or not title <= words:
            continue
        gain = question.coverage(words.union(terms(one.statement.read))) - covered
        if several or (covered < ANSWERED and gain >= GAIN):
            return one
    return None


def _with_missing_names(
    question: Question, chosen: list[Stated], ranked: Sequence[Stated], headings: Mapping[int, str]
) -> list[Stated]:
    """And for a name of the question that none of them speaks of, the best statement that does, if it answers too."""

    def named(one: Stated) -> frozenset[str]:
        return question.names.intersection(terms(f"{headings[one.passage]} {one.statement.read}"))

    missing = question.names.difference(*(named(one) for one in chosen))
    for one in ranked:
        if not missing:
            break
        if one.about > 0 and one.reading.support > 0 and one not in chosen and missing & named(one):
            chosen.append(one)
            missing -= named(one)
    return chosen


def _asks_for_list(question: Question, one: Stated) -> bool:
    """Whether what leads in to a list has the question, and the item brings nothing of it: then every item answers."""
    lead = one.statement.lead
    if one.statement.kind != "item" or not lead:
        return False
    led = question.coverage(frozenset(terms(lead)).intersection(question.terms))
    return led >= LED and one.shared - led < OWN


def _goes_on(step: Stated, other: Stated) -> bool:
    """Whether a statement stands behind a step in its passage."""
    return other.passage == step.passage and other.statement.start > step.statement.start


def _same_list(one: Stated, other: Stated) -> bool:
    """Whether both are items of one list that something announces."""
    listed = one is not other and one.passage == other.passage and one.statement.kind == other.statement.kind == "item"
    return listed and bool(one.statement.lead) and one.statement.lead == other.statement.lead


def repeats(one: Stated, other: Stated) -> bool:
    """Whether two statements say the same, but for few words."""
    if one.statement.kind == other.statement.kind == "row":
        return one.statement.read.partition(" — ")[0] == other.statement.read.partition(" — ")[0]
    left, right = set(terms(one.statement.read)), set(terms(other.statement.read))
    return not left or len(left & right) > _SAME * min(len(left), len(right) or 1)


def _says_the_same(one: Stated, other: Stated) -> bool:
    """Whether two statements have the same words: what tells two sides apart may be one word."""
    return _as_written(one.statement.read) == _as_written(other.statement.read)


def _both_sides(form: Form, ranked: Sequence[Stated], headings: Mapping[int, str]) -> list[Stated]:
    """The best statement about both sides, then the best about each; empty where a side has none."""
    sides = _Sides.of(form.sides)
    both = [one for one in ranked if all(sides.about(side, one, headings) for side in sides.marks)]
    chosen = both[:1]
    for side in sides.marks:
        own = [one for one in ranked if sides.about(side, one, headings)]
        own.sort(key=lambda one: -(worth(one, form.kind) + ALONE * sides.alone(side, one)))
        best = next((one for one in own if not any(_says_the_same(one, it) for it in chosen)), None)
        if best is not None:
            chosen.append(best)
    covered = [side for side in sides.marks if any(sides.about(side, one, headings) for one in chosen)]
    return chosen[: MOST["comparison"]] if len(covered) == len(sides.marks) else []


@dataclass(frozen=True, slots=True)
class _Sides:
    """What is compared, each side by the words that the others lack."""

    marks: tuple[frozenset[str], ...]
    split: Callable[[str], Sequence[str]]
    """Text to the words that tell the sides apart: terms, or words as written where terms do not (dump, dumps)."""

    @staticmethod
    def of(sides: Sequence[str]) -> _Sides:
        """The sides of a question."""
        exact = any(_IDENTIFIER.search(side) for side in sides)
        for split in (_as_written, terms) if exact else (terms, _as_written):
            own = [frozenset(split(side)) for side in sides]
            marks = [side - frozenset().union(*(other for other in own if other is not side)) for side in own]
            if all(marks):
                return _Sides(tuple(marks), split)
        own = [frozenset(terms(side)) for side in sides]
        marks = [side - frozenset().union(*(other for other in own if other is not side)) or side for side in own]
        return _Sides(tuple(marks), terms)

    def about(self, side: frozenset[str], one: Stated, headings: Mapping[int, str]) -> bool:
        """Whether a statement, or what it stands under, speaks of a side."""
        said = frozenset(self.split(f"{headings[one.passage]}\n{one.statement.read}"))
        return bool(side) and len(side & said) >= SIDE * len(side)

    def alone(self, side: frozenset[str], one: Stated) -> float:
        """How far a statement speaks of this side and no other: half for its words, half where it begins with them."""
        words = self.split(one.statement.read)
        others = frozenset().union(*(mark for mark in self.marks if mark != side))
        if not side & frozenset(words) or others & frozenset(words):
            return 0.0
        return 1.0 if side & frozenset(words[:OPENING]) else 0.5


def _as_written(text: str) -> list[str]:
    return _WORD.findall(text.casefold())
