"""What is told of a question before any plan is made: its cues, and how near each column is to what it asks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from kedge.answer.sheets.linking import LinkedQuestion, Places
from kedge.answer.sheets.meaning import meant_by
from kedge.answer.sheets.rowsets import Feature
from kedge.answer.sheets.sheet import Sheet, Sight
from kedge.answer.sheets.words import FUNCTION_WORDS, NUMBER_WORDS, stem

_CUES = {
    "most": r"\b(most|least|first|last|top|bottom|best|worst|more|less|fewer|longer|shorter|higher|lower|earlier|"
    r"later|older|younger|larger|smaller|bigger|faster|slower|taller|greater|deeper|latest|maximum|minimum|max|min|final|"
    r"\w+est|\w+er|lead|next|only|before|after)\b",
    "sum": r"\b(total|sum|combined|altogether|all|collectively|together|how many|overall|both|number|amount|"
    r"how much)\b",
    "mean": r"\b(average|mean)\b",
    "median": r"\bmedian\b",
    "difference": r"\b(difference|between|how long|how many|more|less|than|fewer|gap|span|how much|after|before|"
    r"many years|many more|older|younger|longer|passed|separate)\b",
    "frequency": r"\b(most|least|more|less|common|often|frequent\w*|fewest|fewer|multiple|times|many|highest|appears?|"
    r"same|top|only|once|twice)\b",
    "how many": r"\b(how many|number of|how much|total|amount|count|times)\b",
    "order": r"\b(after|before|next|previous|prior|follow\w*|behind|below|above|higher|lower|preced\w+|since|until|"
    r"ahead|between|from|separat\w+|apart|remain\w*|left|later|earlier|how long|difference)\b",
    "rank": r"\b(rank\w*|place\w*|position|order|finish\w*|standing|row|where|spot|number)\b",
    "run": r"\b(consecutive\w*|in a row|straight|streaks?|successive\w*|back to back)\b",
    "share": r"\b(percent\w*|share|proportion|fraction|ratio|rate)\b|%",
    "times": r"\b(ratio|times (as|more|larger|greater|bigger|higher))\b",
    "neighbour": r"\b(after|before|next|previous|prior|follow\w*|behind|below|above|higher|lower|preced\w+)\b",
    "more": r"\b(more|greater|higher|over|above|larger|after|later|longer|older|bigger|taller|better|at least|most|"
    r"exceed)\b",
    "less": r"\b(less|fewer|lower|under|below|smaller|before|earlier|shorter|younger|worse|least)\b",
    "plural": r"\b(which|what|who|name) (\w+ )?(\w+s|are|were|all|two|three|four)\b",
    "asking": r"\b(what|which|who|how many|when|where)\b",
    "yes or no": r"^(is|was|were|did|do|does|has|have|had|are|can|in \d+,? (did|was|were)|"
    r".*, (did|was|were|is|does|has))\b",
}
_ASKS = re.compile(
    r"\b(what|which|who|whose|whom|where|when|how|name|list|show|tell|give|count|number of|total|sum|average|mean|"
    r"median|most|least|highest|lowest|first|last|difference)\b|^(is|was|were|did|do|does|has|have|had|are|can)\b"
)
"""A text without any of these names things, and asks nothing of a table."""
_SENTENCE = re.compile(
    r"\b(what|which|who|whose|whom|where|when|how|name|list|tell)\b|\b(is|was|were|did|do|does|has|have|had|are|can)\b"
)
_PATTERNS = {name: re.compile(pattern) for name, pattern in _CUES.items()}
_WH = frozenset("what which who whose where when how many much".split())
_SUPERLATIVES = frozenset("most least more less fewest highest lowest first last top".split())
_OPPOSITES = tuple(
    tuple(pair.split("/"))
    for pair in (
        "more/less above/below before/after higher/lower older/younger over/under larger/smaller greater/less "
        "longer/shorter more/fewer later/earlier taller/shorter greater/lesser better/worse bigger/smaller after/before"
    ).split()
)


@dataclass(frozen=True, slots=True)
class SeenSight:
    """A sight with its features and how near the question is to it."""

    sight: Sight
    features: list[Feature]
    near: int
    cover: Places


class Asked:
    """A linked question, seen against its sheet."""

    def __init__(self, linked: LinkedQuestion, sheet: Sheet, common: frozenset[str]) -> None:
        self.linked = linked
        self.sheet = sheet
        words = linked.words
        self.cues = {name: bool(pattern.search(linked.text)) for name, pattern in _PATTERNS.items()}
        self.content: Places = frozenset(
            place for place, word in enumerate(words) if word not in FUNCTION_WORDS and word not in NUMBER_WORDS
        )
        self.common = {place: word for place in self.content if (word := words[place]) in common}
        self.numbered: Places = frozenset(number.place for number in linked.numbers if number.form == "digits")
        self.named = [frozenset(range(one.start, one.end)) for one in linked.values if one.clear and one.start >= 0]
        self.spaced = f" {' '.join(words)} "
        self.either = " or " in linked.text
        self.yes_no = self.cues["yes or no"] and not self.cues["asking"]
        self.opposites = [pair for pair in _OPPOSITES if _either_of(pair, linked.text)]
        self.signs = (_first("more", linked.text), _first("less", linked.text))
        self._place_columns()
        self.sights = self._seen_sights()
        self.by_nearness = sorted(self.sights, key=lambda seen: -seen.near)

    def _place_columns(self) -> None:
        linked, sheet = self.linked, self.sheet
        start = next((place for place, word in enumerate(linked.words) if word in _WH), -1)
        asked = frozenset(range(start + 1, start + 5)) if start >= 0 else frozenset(range(4))
        links = [linked.columns[column.base] for column in sheet.columns]
        self.covers = [one.places for one in links]
        self.levels = [one.level for one in links]
        self.near = [bool(one.places & asked) for one in links]

        meant = meant_by(linked.words, [column.words for column in sheet.columns[: sheet.whole]])
        self.meant = [meant[column.base] if links[at].level < 2 else (0, -1) for at, column in enumerate(sheet.columns)]
        self._asked_places = asked

        def nearness(place: int) -> int:
            return self.levels[place] * 2 + 3 * self.near[place]

        whole = range(sheet.whole)
        self.by_prior = sorted(whole, key=lambda place: (-nearness(place), sheet.columns[place].kind != "text", place))
        timed = any(word in ("year", "years", "when") for word in linked.words)
        parts = [
            place for place in range(sheet.whole, len(sheet.columns)) if sheet.columns[place].part != "year" or timed
        ]
        self.answers = self.by_prior + sorted(parts, key=lambda place: -nearness(place))
        self.answer_features = [self._answer_features(place) for place in range(len(sheet.columns))]

    def _answer_features(self, place: int) -> list[Feature]:
        column, columns = self.sheet.columns[place], self.sheet.columns
        first = next((at for at in range(self.sheet.whole) if columns[at].kind == "text"), 0)
        rank = self.by_prior.index(column.base)
        out: list[Feature] = []
        if column.part:
            out = [("answer part", column.part), ("answer part kind", column.part, columns[column.base].kind)]
        return [
            *out,
            ("answer column", self.levels[place], self.near[place]),
            ("answer kind", column.kind),
            ("answer place", min(column.base, 4), column.base == first),
            ("answer rank", min(rank, 4)),
            ("answer meant", self.meant[place][0], self.meant[place][1] in self._asked_places),
            *(("answer heading", word) for word in column.words[:4]),
        ]

    def _seen_sights(self) -> list[SeenSight]:
        words = self.linked.words
        marks = [place for place, word in enumerate(words) if word in _SUPERLATIVES or _is_superlative(word)]
        behind = frozenset(place + step for place in marks for step in (1, 2, 3))
        out = []
        for sight in self.sheet.sights:
            cover, level = self.covers[sight.column], self.levels[sight.column]
            near = bool(cover & behind)
            before = sum(one.column < sight.column for one in self.sheet.sights)
            features: list[Feature] = [
                ("sight", level, sight.kind, near),
                ("sight kind", sight.kind),
                ("sight rank", before),
                ("sight meant", self.meant[sight.column][0], self.meant[sight.column][1] in behind),
                *(("sight heading", word) for word in self.sheet.columns[sight.column].words[:3]),
            ]
            out.append(SeenSight(sight, features, level * 2 + 3 * near, cover))
        return out

    def grams(self) -> set[str]:
        """The words of the question, singly and in pairs, and what kinds of things it names."""
        words = ["<s>", *("#N" if word[0].isdigit() else word for word in self.linked.words)]
        grams = set(words) | {f"{one} {two}" for one, two in pairwise(words)}
        grams |= {" ".join(words[start : start + 3]) for start in range(min(3, len(words) - 2))}
        grams.add("2:" + " ".join(words[1:3]))
        for place, word in enumerate(words):
            grams |= _degree(word, words[place + 1] if place + 1 < len(words) else "")
        return grams | self._pattern()

    def _pattern(self) -> set[str]:
        out = set()
        for place, column in enumerate(self.sheet.columns[: self.sheet.whole]):
            level = self.levels[place]
            if level >= 2 and self.near[place]:
                out.add(f"@asked {column.kind} {level}")
            if level >= 2 and self._behind_how_many(self.covers[place]):
                out.add(f"@how many {column.kind} {level}")
        out = out or {"@asked none"}
        out |= {f"@named {min(3, len(self.named))}", f"@numbers {min(2, len(self.numbered))}"}
        return out | {name for name, holds in (("@or", self.either), ("@plural", self.cues["plural"])) if holds}

    def _behind_how_many(self, cover: Places) -> bool:
        words = self.linked.words
        for place, word in enumerate(words):
            of = word == "of" and place and words[place - 1] in ("number", "amount", "total")
            if (word in ("many", "much") or of) and cover & {place + 1, place + 2}:
                return True
        return False


def asks(text: str) -> bool:
    """Whether a text asks for something, rather than only naming what to look for."""
    return bool(_ASKS.search(text.lower()))


def is_sentence(text: str) -> bool:
    """Whether a text asks as people do, in a sentence, not in the short form of a command: sum of n by brand."""
    return bool(_SENTENCE.search(text.lower()))


def _either_of(pair: Sequence[str], text: str) -> bool:
    return bool(re.search(rf"\b{pair[0]}\b(?: \w+)? or (?:\w+ )?{pair[1]}\b", text))


def _first(name: str, text: str) -> str:
    match = _PATTERNS[name].search(text)
    return match[1] if match else "-"


def _is_superlative(word: str) -> bool:
    return len(word) > 4 and word.endswith("est")


def _degree(word: str, after: str) -> set[str]:
    """Comparatives and superlatives by their adjective, so that "highest" and "higher" share what is learned."""
    if word in ("more", "most", "less", "least", "fewer", "fewest") and after:
        sign = "M:" if word in ("more", "most") else "F:"
        return {sign, sign + stem(after)}
    if len(word) > 4 and word.endswith("iest"):
        return {"ADJ:" + word[:-4], "SUP"}
    if len(word) > 4 and word.endswith("ier"):
        return {"ADJ:" + word[:-3], "CMP"}
    if len(word) > 5 and word.endswith("est"):
        return {"ADJ:" + word[:-3], "SUP"}
    if len(word) > 4 and word.endswith("er"):
        return {"ADJ:" + word[:-2]}
    return {stem(word)} if len(word) > 3 and word.endswith("s") else set()
