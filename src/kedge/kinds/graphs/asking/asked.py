"""What a question says about the way from a node to its answer: its words, from the node's name outwards."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

_TOKEN = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_DOER = re.compile(r"(?:er|or|ers|ors)$")
_OWNED = re.compile(r"\s?['’]s?\s")
_POSSESSIVE = re.compile(r"^\s*['’]s?\b|^['’]s?\s")

FUNCTION_WORDS = frozenset(
    "a an the of in on at by for to from with as and or but nor so than then that this these those there here it its "
    "he she they them his her their him we us our you your i me my is are was were be been being am do does did done "
    "doing has have had having will would shall should can could may might must not no s t also too just only very "
    "please tell give show name list find out say let know get whose whom into onto upon via per about any some "
    "each every all both either such same own which what who where when why how many much".split()
)
ASKING = frozenset("what which who whom whose where when why how".split())
"""Question words: they say what kind of thing the answer is."""
KINDS = {
    "where": ("place", "location", "country", "city", "where"),
    "when": ("date", "year", "time", "when"),
    "who": ("person", "name", "who"),
    "whom": ("person", "name", "who"),
    "why": ("reason", "cause", "why"),
    "how old": ("age", "aged", "how old"),
    "how much": ("amount", "price", "how much"),
}
"""Names of relations that a question word alone can stand for."""
COMPOUNDS = {
    "grandchild": ("child", "child"),
    "grandchildren": ("children", "child"),
    "grandson": ("son", "child"),
    "granddaughter": ("daughter", "child"),
    "grandkid": ("kid", "child"),
    "grandparent": ("parent", "parent"),
    "grandparents": ("parents", "parent"),
    "grandfather": ("father", "parent"),
    "grandmother": ("mother", "parent"),
    "grandma": ("mother", "parent"),
    "grandpa": ("father", "parent"),
    "sibling": ("child", "parent"),
    "siblings": ("children", "parent"),
    "brother": ("son", "parent"),
    "sister": ("daughter", "parent"),
    "uncle": ("brother", "parent"),
    "aunt": ("sister", "parent"),
    "nephew": ("son", "sibling"),
    "niece": ("daughter", "sibling"),
    "father-in-law": ("father", "spouse"),
    "mother-in-law": ("mother", "spouse"),
    "son-in-law": ("spouse", "child"),
    "daughter-in-law": ("spouse", "child"),
}
"""Words of English that name two steps at once, the later one first."""


_FAMILY = {
    "child": "son sons daughter daughters heir heirs offspring kid kids baby",
    "parent": "mother father mom mum dad mama papa",
    "spouse": "wife husband couple darling sweetheart mate consort",
    "gender": "sex man woman male female boy girl",
    "profession": "job occupation living career trade",
    "religion": "faith belief church creed",
    "nationality": "nation citizenship",
}
FAMILY = {word: known for known, words in _FAMILY.items() for word in words.split()}
"""Words for relatives and what forms ask of people, with the word that graphs name the relation by."""
VAGUE = frozenset("kind type sort line name thing person people one ones way reason exactly belong belongs".split())
"""Words that name no relation by themselves: a path need not say them."""
IDIOMS = {
    "other half": "spouse",
    "better half": "spouse",
    "significant other": "partner",
    "place of work": "employer",
    "mother tongue": "native language",
}
"""Phrases of English whose words say something else than the phrase."""


@dataclass(frozen=True, slots=True)
class Word:
    """A word of the question that may name a relation."""

    text: str
    start: int
    """Offset in the question; -1 for a word that is only implied."""
    end: int


@dataclass(frozen=True, slots=True)
class EntityWords:
    """The words around one entity of a question."""

    text: str
    words: tuple[Word, ...]
    """From the entity outwards: what stands nearest to it names the first step."""
    asking: str
    """The question word, with `old`, `many` or `much` behind `how`; empty when there is none."""
    head: str = ""
    """The words right behind `which` or `what`: what kind of thing is asked for."""

    @property
    def counts(self) -> bool:
        """It asks how many answers there are."""
        return self.asking == "how many"

    @property
    def kinds(self) -> tuple[str, ...]:
        """What the question word alone may stand for."""
        return KINDS.get(self.asking, ())

    def phrase(self, first: int, last: int) -> str | None:
        """Words `first` to `last` as they stand in the question; None when they are not beside each other there."""
        low, high = sorted((self.words[first], self.words[last]), key=lambda word: word.start)
        if first != last and (low.start < 0 or self._split(first, last)):
            return None
        said = low.text if first == last else self.text[low.start : high.end].lower()
        return IDIOMS.get(said, said)

    def _split(self, first: int, last: int) -> bool:
        """Whether the entity or other words stand between them."""
        inside = [word.start for word in self.words[first : last + 1]]
        between = self.text[min(inside) : max(inside)]
        return (
            inside not in (sorted(inside), sorted(inside, reverse=True))
            or any(min(inside) < word.start < max(inside) for word in self.words if word.start not in inside)
            or _OWNED.search(between) is not None
        )


def around(text: str, spans: Sequence[tuple[int, int]], entity: int = 0) -> EntityWords:
    """The words of `text` outside of all entity spans, ordered outwards from the span `spans[entity]`."""
    start, end = spans[entity]
    before = _tokens(text, 0, start, spans)
    after = _tokens(text, end, len(text), spans)
    before, after = _without_doers(before, after)
    head = _head(before)
    left = [word for word in _content(before)[::-1] if word not in head]
    right = _content(after)
    owned = bool(_POSSESSIVE.match(text[end:]))
    ordered = right + left if owned else left + right
    asking = _asking([word.text for word in before + after])
    return EntityWords(text, (*ordered, *reversed(head)), asking, " ".join(word.text for word in head))


def _without_doers(*sides: list[Word]) -> list[list[Word]]:
    """Without `players` where the question also says `play`: the verb names the relation, the noun whom it is about."""
    said = {word.text for side in sides for word in side}
    verbs = {word.removesuffix("s").removesuffix("e") for word in said if not _DOER.search(word)}
    return [
        [word for word in side if not (_DOER.search(word.text) and _DOER.sub("", word.text) in verbs)] for side in sides
    ]


def _head(before: list[Word]) -> list[Word]:
    """The words right behind `which`, `what` or `name a`: what is asked for, so the end of the way to it."""
    for index, word in enumerate(before):
        if word.text in ("which", "what", "name", "list"):
            rest = before[index + 1 :]
            if rest and rest[0].text in ("a", "an", "the", "all"):
                rest = rest[1:] if word.text in ("name", "list") else []
            return list(takewhile(lambda item: item.text not in FUNCTION_WORDS, rest))
    return []


def compounds_split(asked: EntityWords) -> EntityWords | None:
    """The same with words that name two steps as two words, the first step first; None when there are none."""
    found: list[Word] = []
    for word in asked.words:
        later, first = COMPOUNDS.get(word.text, ("", ""))
        found += [Word(first, -1, -1), Word(later, -1, -1)] if first else [word]
    return replace(asked, words=tuple(found)) if len(found) > len(asked.words) else None


def _tokens(text: str, start: int, end: int, spans: Sequence[tuple[int, int]]) -> list[Word]:
    found = []
    for match in _TOKEN.finditer(text, start, end):
        if not any(low < match.end() and match.start() < high for low, high in spans):
            plain = match.group().lower().replace("’", "'").removesuffix("'s")
            found.append(Word(plain, match.start(), match.start() + len(plain)))
    return [word for word in found if word.text]


def _asking(words: list[str]) -> str:
    for index, word in enumerate(words):
        if word in ASKING:
            following = words[index + 1] if index + 1 < len(words) else ""
            return f"{word} {following}" if word == "how" and following in ("old", "many", "much") else word
    return ""


def _content(tokens: list[Word]) -> list[Word]:
    return [word for word in tokens if word.text not in FUNCTION_WORDS]
