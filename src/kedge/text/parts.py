"""The questions that one question is made of, each of which can be asked by itself.

>>> [part.text for part in parts_of("What is the difference between accuracy and precision?")]
['What is accuracy?', 'What is precision?']
>>> [part.text for part in parts_of("When was the bridge built, and who paid for it?")]
['When was the bridge built?', 'who paid for the bridge?']
>>> [part.text for part in parts_of("Rabin-Karp and Manacher: from which year is each?")]
['from which year is Rabin-Karp?', 'from which year is Manacher?']
>>> [part.text for part in parts_of("In which years did Kruskal and Prim publish their algorithms?")]
['In which years did Kruskal publish their algorithms?', 'In which years did Prim publish their algorithms?']
>>> parts_of("What were the costs of research and development?")
()
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from kedge.text.analyze import terms
from kedge.text.asked import AUXILIARY, QUESTION_WORD, asked_part
from kedge.text.compared import LONGEST, compared, squeezed
from kedge.text.followup import EarlierTurn, follow

PartKind = Literal["difference", "joined", "each", "names"]
"""Two things that are told apart; two questions in one sentence; one question about each of two things, which says so,
or which names both."""

_GENERIC = frozenset(
    term
    for word in (
        "difference differences different differ distinguish distinction compare compared comparison contrast versus "
        "vs between main key exactly explain tell me us what is are the and from of to with each other same thing"
    ).split()
    for term in terms(word)
)
_DIFFERENCE = re.compile(r"\bdiff\w{1,8}\b", re.IGNORECASE)
"""However it is spelt."""
_FIGURE = re.compile(r"(?<![\w-])\d|\bq[1-4]\b", re.IGNORECASE)
"""A time or a figure: two of them are compared by values, and have no definition."""
_JOINED = re.compile(r"\A(?P<first>.{12,}?),?\s(?:and|but)\s(?P<second>[A-Za-z]\w*\b.{8,})\Z", re.DOTALL)
_TOLD = re.compile(r"\A(?:what|which|who|whose|when|where|why|how)\b", re.IGNORECASE)
_ONE = re.compile(r"\beach(?:\s+(?:one|of\s+(?:them|the\s+two)))?\b", re.IGNORECASE)
_NAME = r"(?:[A-Z][\w.-]*(?:\s[A-Z][\w.-]*){0,2})"
_NAMES = re.compile(rf"(?<!\A)(?<![A-Z]\s)\b(?:both\s+)?(?P<a>{_NAME})\s+and\s+(?P<b>{_NAME})(?![\w-])(?!\s+[A-Z])")


@dataclass(frozen=True, slots=True)
class Part:
    """One question of several."""

    text: str
    about: str
    """What tells it from the others: a side, a name; empty where it asks for something of its own."""
    kind: PartKind


def parts_of(question: str) -> tuple[Part, ...]:
    """The questions of which the answers are the answer, two or none."""
    if len(question) > LONGEST:
        return ()
    asked = squeezed(question).strip()
    return _difference(asked) or _each(asked) or _joined(asked) or _names(asked)


def _difference(asked: str) -> tuple[Part, ...]:
    """Both sides, where nothing is asked but what tells them apart."""
    sides = compared(asked)
    rest = set(terms(_DIFFERENCE.sub(" ", asked))) - _GENERIC
    if not sides or rest - {term for side in sides for term in terms(side)} or any(map(_FIGURE.search, sides)):
        return ()
    sides = _with_head(sides)
    return tuple(Part(f"What {'are' if _is_plural(side) else 'is'} {side}?", side, "difference") for side in sides)


def _with_head(sides: tuple[str, ...]) -> tuple[str, ...]:
    """`additive` and `subtractive filters` are both filters."""
    first, second = (side.split() for side in sides)
    shared = len(first) == 1 and len(second) == 2 and first[0].islower() and _is_plural(second[1])
    return (f"{first[0]} {second[1]}", sides[1]) if shared else sides


def _is_plural(side: str) -> bool:
    return re.search(r"[^\Wsui]s\Z", side) is not None and not side[:1].isupper()


def _each(asked: str) -> tuple[Part, ...]:
    """`A and B: what is the price of each?`"""
    sides = compared(asked)
    place = asked.find(sides[1]) + len(sides[1]) if sides else -1
    rest = asked[place:].lstrip(" ,:;–-") if place > 0 else ""
    if not sides or not _ONE.search(rest) or not QUESTION_WORD.match(rest):
        return ()
    return tuple(Part(_ONE.sub(side, rest, count=1), side, "each") for side in sides)


def _joined(asked: str) -> tuple[Part, ...]:
    """Two whole questions, the second with what it takes from the first."""
    found = _JOINED.match(asked)
    if not found or not _asks(found["first"]) or compared(asked):
        return ()
    second = found["second"].rstrip()
    told = _TOLD.match(second) or (AUXILIARY.match(second) and re.match(r"\w+\s+(?:\w+\s+){1,3}\w+", second))
    if not told or len(terms(second)) < 1 or len(terms(found["first"])) < 2:
        return ()
    first = f"{found['first'].rstrip(' ?')}?"
    return Part(first, "", "joined"), Part(follow(second, EarlierTurn(first)), "", "joined")


def _asks(text: str) -> bool:
    part = asked_part(text)
    return QUESTION_WORD.match(part) is not None or AUXILIARY.match(part) is not None


def _names(asked: str) -> tuple[Part, ...]:
    """One question about two that are named."""
    found = _NAMES.search(asked)
    if not found or not _asks(asked) or len(_NAMES.findall(asked)) > 1:
        return ()
    before, after = asked[: found.start()], asked[found.end() :]
    return tuple(Part(f"{before}{found[side]}{after}", found[side], "names") for side in ("a", "b"))
