"""How well a statement answers by itself: what the reader makes of it, its words, its place, its time and its kind."""

from __future__ import annotations

import math
import re

from kedge.answer.evidence import SAYS_WHAT_IT_IS, Stated
from kedge.text.form import ShapeKind

CERTAIN = 4.0
"""Log-odds beyond which a passage is no better for being surer."""
RANK = 0.2
"""What a place further back among the passages costs."""
WORDS = 1.0
"""What it is worth to have all words of the question."""
NO_ROW = 12.0
"""What it costs to be a row where a reason, a way or a summary is asked for: only where nothing else is there."""
FRAGMENT = 1.5
"""What it costs that the beginning of a sentence is missing."""
SPAN = 3.0
"""What it is worth that the short answer stands there for sure."""
TIME = 2.0
"""What it is worth that a statement speaks of the time that is asked for."""
QUESTION = 4.0
"""What it costs to ask instead of to say."""
ELSEWHERE = 3.0
"""What it costs to name only the place where more is said."""
HEADED = 5.0
"""What it is worth to stand right below a heading that is the question; little where it is half of it."""
DEFINES = 2.5
"""What it is worth to say what a thing is, where that is asked for."""
STEP_OR_CODE = 1.0
"""What it is worth to be an item of a list or code, where a way is asked for."""
_ELSEWHERE = re.compile(
    r"\W*(?:(?:for|to\s+learn)\s+(?:more|further|additional)\b.{0,80}\b(?:see|refer|read|consult|check|visit)\b|"
    r"(?:please\s+)?(?:see(?:\s+also)?|refer\s+to|consult|check\s+out|have\s+a\s+look\s+at|take\s+a\s+look\s+at)\b"
    r".{0,160}\b(?:for\s+(?:more|further|details?|an?\s|the\s|how|information|instructions|examples?)|below|above|section|page|"
    r"documentation|docs|guide|chapter)\b)",
    re.IGNORECASE,
)
_ENDED = re.compile(r"[.!?…:。！？：][\W\d]{0,8}\Z")
_DIGIT = re.compile(r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twice|once|half|dozen)\b", re.I)


def worth(one: Stated, form: ShapeKind) -> float:
    """How well a statement answers by itself."""
    kind = one.statement.kind
    value = one.reading.support + min(one.about, CERTAIN) - RANK * one.passage + TIME * one.agreement
    value += WORDS * one.shared
    if one.defines is not None:
        value += DEFINES * one.defines
    if form in ("fact", "number") and one.reading.span is not None and says_what_it_is(one):
        value += SPAN * math.exp(min(0.0, one.reading.span.score))
    if form == "number":
        value += 0.5 if kind == "row" else 0.0
        value -= 0.0 if _DIGIT.search(one.statement.read, len(one.statement.lead)) else 3.0
    elif kind == "row":
        value -= 1.0 if form in ("fact", "list", "yes-no", "comparison") else NO_ROW
    if kind in ("code", "formula") and form not in ("how", "list"):
        value -= 1.0
    if asks_back(one):
        value -= QUESTION
    value += HEADED * one.headed**2
    if form != "list" and points_elsewhere(one):
        value -= ELSEWHERE
    if form == "how" and kind in ("item", "code"):
        value += STEP_OR_CODE
    if kind == "sentence" and one.statement.read[:1].islower():
        value -= FRAGMENT
    return value


def points_elsewhere(one: Stated) -> bool:
    """Whether a statement only says where more is said."""
    return one.statement.kind in ("sentence", "item") and _ELSEWHERE.match(one.statement.read) is not None


def asks_back(one: Stated) -> bool:
    """Whether a statement is a question, as entries of a table of contents often are."""
    return one.statement.kind in ("sentence", "item") and one.statement.read.rstrip().endswith(("?", "？"))


def is_torn(one: Stated) -> bool:
    """Whether a sentence has no end, as headings and captions in running text have none."""
    return one.statement.kind == "sentence" and not _ENDED.search(one.statement.read)


def says_what_it_is(one: Stated) -> bool:
    """Whether a few words of it may answer: where a definition is asked for, only those of one."""
    return one.defines is None or one.defines >= SAYS_WHAT_IT_IS


def said(one: Stated) -> str:
    """What a statement says of its own: of a row the cell that answers."""
    return one.statement.cells[one.cell].text if one.cell is not None else one.statement.read
