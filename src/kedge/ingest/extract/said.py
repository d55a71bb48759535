"""What a text says about a concept beside its name: other names, its category, how hard it is. Nothing is guessed."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace

from kedge.core.values import Concept
from kedge.text.concepts import ConceptMention

_SHORT = re.compile(r"\s*\((?:or\s+|abbreviated\s+(?:as\s+)?|often\s+)?([A-Z][A-Za-z0-9+*-]{1,9})\)")
_CALLED = re.compile(
    r"[\s,(]*(?:(?:is|are)\s+)?(?:sometimes\s+|often\s+|usually\s+)?(?:also\s+(?:called|known\s+as|named)|a\.?k\.?a\.?)\s+"
    r"(?:the\s+|an?\s+)?[\"“*_]*([^\W\d_][\w’'-]*(?:\s+[\w’'-]+){0,3}?)[\"”*_]*(?=[.,;:)]|\s+(?:is|are|was|can|has)\b)",
    re.IGNORECASE,
)
_BEING = re.compile(
    r"\s*+(?:\([^()]{1,60}\)\s*+)?,?\s*+(?:is|are)\s++(?:an?|the|one\s++of\s++the)\s++(?P<words>(?:[\w-]++\s++){0,5}?)"
    r"(?P<category>data\s+structures?|algorithms?|theorems?|techniques?)\b",
    re.IGNORECASE,
)
_HARD = re.compile(
    r"\b(?P<level>beginner|introductory|basic|elementary|intermediate|advanced|difficult|hard|easy)\b", re.IGNORECASE
)
_LEVELS = {
    "beginner": ("beginner", "introductory", "basic", "elementary", "easy"),
    "intermediate": ("intermediate",),
    "advanced": ("advanced", "difficult", "hard"),
}
_NOT = re.compile(r"\b(?:not|for|of|like|than|by|from)\b", re.IGNORECASE)
_TRIVIAL = frozenset("i it this that see fig figure eq etc".split())


@dataclass(frozen=True, slots=True)
class SaidOf:
    """What was said of one concept."""

    aliases: tuple[str, ...] = ()
    category: str = ""
    difficulty: str = ""

    def joined(self, other: SaidOf) -> SaidOf:
        """Both; what was said first stands."""
        names = tuple(dict.fromkeys((*self.aliases, *other.aliases)))
        return SaidOf(names, self.category or other.category, self.difficulty or other.difficulty)

    def told(self, concept: Concept) -> Concept:
        """The concept with it; what the concept has already stands."""
        others = [name for name in (*concept.aliases, *self.aliases) if name != concept.name]
        return replace(
            concept,
            aliases=tuple(dict.fromkeys(others)),
            category=concept.category or self.category,
            difficulty=concept.difficulty or self.difficulty,
        )


def said_of(text: str, places: Iterable[ConceptMention]) -> SaidOf:
    """What the text says right behind the places where it names the concept."""
    found = SaidOf()
    for place in places:
        found = found.joined(_behind(text, place))
    return found


def _behind(text: str, place: ConceptMention) -> SaidOf:
    names: list[str] = []
    short = _SHORT.match(text, place.end)
    if short and _abbreviates(short[1], place.surface):
        names.append(short[1])
    called = _CALLED.match(text, place.end)
    if called and called[1].casefold() not in _TRIVIAL:
        names.append(" ".join(called[1].split()))
    being = _BEING.match(text, place.end)
    if being is None or _NOT.search(being["words"]):
        return SaidOf(tuple(names))
    category = "-".join(being["category"].lower().removesuffix("s").split())
    level = _HARD.search(being["words"])
    return SaidOf(tuple(names), category, _level(level["level"]) if level else "")


def _abbreviates(short: str, name: str) -> bool:
    """Whether the letters of `short` begin words of the name, in order.

    >>> _abbreviates("DFS", "Depth-First Search"), _abbreviates("USA", "Depth-First Search")
    (True, False)
    """
    initials = iter(word[0].lower() for word in re.findall(r"[^\W_]+", name))
    return all(any(letter == initial for initial in initials) for letter in short.lower() if letter.isalpha())


def _level(word: str) -> str:
    return next(level for level, words in _LEVELS.items() if word.lower() in words)
