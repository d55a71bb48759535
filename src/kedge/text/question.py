"""What a question asks: its content terms, the names it insists on, and what an answer must look like.

>>> question = parse_question("When was the Treaty of Lisbon signed?", idf=lambda term: 1.0)
>>> question.kind, sorted(question.names)
('date', ['lisbon', 'treati'])
>>> spans = answer_spans("It was signed on 13 December 2007 by all.", question)
>>> ["It was signed on 13 December 2007 by all."[a:b] for a, b in spans]
['13 December 2007']
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from kedge.text.amounts import asks_amount, names_amount
from kedge.text.analyze import terms
from kedge.text.asked import asked_part

AnswerKind = Literal["name", "date", "number", "complexity", "code", "text"]
"""What a short answer is; `text` when only a sentence can answer."""

Idf = Callable[[str], float]
"""How rare a term is in the collection; a term that no passage has gets the highest value."""

_MONTHS = (
    "january february march april may june july august september october november december "
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
)
_MONTH = "(?:" + "|".join(_MONTHS.title().split() + _MONTHS.split()[12:]) + ")"
_YEAR = r"(?:1\d{3}|20\d{2})"
_DATE = re.compile(
    rf"""
    \b(?:\d{{1,2}}(?:st|nd|rd|th)?\s+(?:of\s+|de\s+)?)?{_MONTH}\b(?:\s+\d{{1,2}}(?:st|nd|rd|th)?\b(?!\d))?(?:,?\s+(?:de\s+)?{_YEAR})?
  | \b\d{{4}}-\d{{2}}-\d{{2}}\b
  | \b{_YEAR}s?(?:\s?[–-]\s?\d{{2,4}})?\b(?![.,]\d)
  | \b\d{{1,2}}(?:st|nd|rd|th)(?:\s+(?:and|or|to)\s+\d{{1,2}}(?:st|nd|rd|th))?(?:\s+centur(?:y|ies))?\b
  | \bsiglos?\s+[XVI]+\b
  | \d+\s*(?:年代?|世纪|月)(?:\s*\d+\s*月)?(?:\s*\d+\s*日)?
    """,
    re.VERBOSE,
)
_COUNT_WORDS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion trillion "
    "dozen half twice once dos tres cuatro cinco seis siete ocho nueve diez once doce cien mil millones"
)
_COUNT = "(?:" + "|".join(_COUNT_WORDS.split()) + ")"
_NUMBER = re.compile(
    rf"""
    (?:[$€£¥]\s?)?\b\d+(?:[.,]\d+)*
    (?:\s?(?:%|percent\b|per\ cent\b))?
    (?:\s+(?:hundred|thousand|million|billion|trillion|millones|mil)\b)*
  | \b{_COUNT}(?:[\s-]+{_COUNT})*\b
  | [一二三四五六七八九十百千万亿两]+(?=[个次名年人分条种座位])
    """,
    re.VERBOSE | re.IGNORECASE,
)
_UPPER = "A-ZÀ-ÖØ-ÞĀĂĄĆČĎĐĒĖĘĚĞĢĪĮİĶĹĽŁŃŅŇŐŒŔŘŚŠŞŢŤŪŮŰŲŹŻŽ\u0386-\u03ab\u0400-\u042f"
_NAME = re.compile(
    rf"\b[{_UPPER}](?:\.(?=\s+[{_UPPER}])|[\w’'-]*)"
    rf"(?:\s+(?:(?:of|the|and|de|la|del|von|van|der|du|al|bin|ibn)\s+){{0,2}}[{_UPPER}](?:\.(?=\s+[{_UPPER}])|[\w’'-]*))*"
)
_COMPLEXITY = re.compile(
    r"\$[^$\n]*?(?<![A-Za-z])(?:\\?O|\\?mathcal\{O\}|\\Theta|\\Omega|o)\s*(?:\\left)?\([^$\n]*\$"
    r"|(?<![\w$])[OΘΩ]\((?:[^()\n]|\([^()\n]*\)){1,60}\)"
)
_KINDS: tuple[tuple[AnswerKind, re.Pattern[str]], ...] = (
    ("complexity", re.compile(r"\b(?:complexity|running time|runtime|asymptotic|big[- ]o|complejidad)\b|复杂度", re.I)),
    ("code", re.compile(r"\b(?:source code|code for|code of|implementation|implement|snippet|código|program)\b", re.I)),
    (
        "date",
        re.compile(
            r"^\W*(?:(?:since|until|by|from|and) )?when\b(?! to\b)"
            r"(?! (?:do|should|would|can) (?:i|we|you|one) (?:get which|use|choose|pick|need))|"
            r"\b(?:(?:what|which) (?:year|date|day|month|century|decade)|"
            r"(?:(?:know|say|and|or|is)|tell me) when (?:is|was|were|did|does|do|will|the)|"
            r"cuándo|qué (?:año|fecha|siglo|día|mes)|"
            r"quand|en quelle année|wann)\b|何时|什么时候|哪一?年|几年|哪天|年份",
            re.I,
        ),
    ),
    (
        "number",
        re.compile(
            r"\bhow (?:many|much|long|old|far|large|big|tall|high|deep|fast|often|few|wide)\b|"
            r"\b(?:what|which) (?:percent\w*|number|amount|proportion|share|population)\b|"
            r"\b(?:cuánt[oa]s?|qué (?:porcentaje|cantidad|número)|combien|wie ?viele?)\b|多少|几[个次名人]",
            re.I,
        ),
    ),
    (
        "name",
        re.compile(
            r"\b(?:who|whom|whose|where|(?:what|which) (?:country|city|state|place|town|river|nation|region|person|"
            r"company|team|film|director|king|queen|president|university|organi[sz]ation)|"
            r"place of (?:birth|death|burial)|name of|quién(?:es)?|dónde|qui|où|wer|wo)\b|"
            r"谁|哪里|何处|哪个国家|哪座城市",
            re.I,
        ),
    ),
)
_PATTERNS: dict[AnswerKind, re.Pattern[str]] = {
    "name": _NAME,
    "date": _DATE,
    "number": _NUMBER,
    "complexity": _COMPLEXITY,
}
_NEGATION = re.compile(
    r"\b(?:not|no|never|without|none|neither|nor|cannot|except|nunca|sin|ningún|ninguna?|jamás|pas|jamais|nicht|kein\w*|nie)\b"
    r"|n['’]t\b|不|没有|从未|未",
    re.I,
)
_ASKS = re.compile(
    r"[?？¿]|谁|什么|哪|何时|为什么|怎么|多少"
    r"|^\W*(?:[^\W_]+\W+){0,2}(?:who|whom|whose|what|which|when|where|why|how|quién(?:es)?|qué|cuál(?:es)?|cuándo|dónde|"
    r"cómo|cuánt[oa]s?|quel(?:le)?s?|quand|où|pourquoi|combien|wer|wen|wem|wann|warum|wie)\b",
    re.I,
)
_WORD = re.compile(r"[^\W_]+(?:['’.&-][^\W_]+)*")
_WANTS_TEXT = re.compile(
    r"\W*(?:how\s+(?:do|does|did|can|could|should|would|to)\b|why\b|"
    r"what\s+happens\b|"
    r"summari[sz]e\b|sum\s+up\b|"
    r"compare\b|explain\b|describe\b|"
    r"what\s+(?:do|should|can)\s+(?:i|we)\s+do\b)",
    re.IGNORECASE,
)
_WHOSE = re.compile(r"\W*(?:who|whom|whose|where)\b", re.IGNORECASE)
_GIVE = re.compile(r"\A\W*(?:give|find|name)\s+(?:me\s+|us\s+)?", re.IGNORECASE)
_NOT_NAMES = frozenset(
    "i i'm i've i'd i'll i’m i’ve i’d i’ll what which who whom whose when where why how is are was were do does did "
    "can could should would will list give tell name compare summarise summarize explain describe show find my the a "
    "an in on and if".split()
)


@dataclass(frozen=True)
class Question:
    """A question taken apart."""

    text: str
    """As asked."""
    terms: tuple[str, ...]
    """Distinct search terms, in order."""
    weights: tuple[float, ...]
    """Rarity of each term in the collection."""
    names: frozenset[str]
    """Terms that an answer cannot do without: capitalised inside the question, or with a digit."""
    kind: AnswerKind
    """What a short answer looks like."""
    negated: bool
    """Whether it asks for what is *not* so."""
    ceiling: float
    """The rarity of a term that the collection has never seen."""

    @cached_property
    def weight_of(self) -> dict[str, float]:
        """Rarity by term."""
        return dict(zip(self.terms, self.weights, strict=True))

    @cached_property
    def total_weight(self) -> float:
        """Sum of the weights, never zero."""
        return sum(self.weights) or 1.0

    def coverage(self, found: frozenset[str] | set[str]) -> float:
        """Share of the question, weighted by rarity, whose terms are in `found`; in [0, 1]."""
        return min(1.0, sum(self.weight_of[term] for term in self.terms if term in found) / self.total_weight)


def parse_question(text: str, idf: Idf) -> Question:
    """Take a question apart; works for any language, better for those with capital letters."""
    distinct = tuple(dict.fromkeys(terms(text)))
    ceiling = max((idf(term) for term in (*distinct, "\x00unseen")), default=1.0) or 1.0
    return Question(
        text=text,
        terms=distinct,
        weights=tuple(max(0.05 * ceiling, idf(term)) for term in distinct),
        names=_names(text) & frozenset(distinct),
        kind=_kind(text),
        negated=is_negated(text),
        ceiling=ceiling,
    )


def asks(text: str) -> bool:
    """Whether `text` asks for something that it does not name, unlike a claim or a few keywords.

    >>> asks("Who sang Changed It?"), asks("Aspirin inhibits the production of PGE2.")
    (True, False)
    """
    return _ASKS.search(text) is not None


def is_negated(text: str) -> bool:
    """Whether `text` denies something."""
    return _NEGATION.search(text) is not None


def negations(text: str) -> int:
    """How often `text` denies something."""
    return len(_NEGATION.findall(text))


def answer_spans(text: str, question: Question) -> list[tuple[int, int]]:
    """Spans in `text` of the kind that `question` asks for and that do not merely repeat it."""
    pattern = _PATTERNS.get(question.kind)
    if pattern is None:
        return []
    asked = set(question.terms)
    spans = [_without_function_words(text, *match.span()) for match in pattern.finditer(text)]
    said = [(start, end) for start, end in spans if not asked.issuperset(terms(text[start:end]))]
    inside = [(start, end) for start, end in said if start > 0 or " " in text[start:end]]
    return inside if question.kind == "name" and inside else said


def _without_function_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Cut leading words that carry no meaning: `In France` is `France`, `The` is nothing."""
    for match in _WORD.finditer(text, start, end):
        if terms(match.group()):
            return start, end
        start = min(end, match.end() + 1)
    return start, end


def _kind(text: str) -> AnswerKind:
    """By the part that asks: `When the server is down, who do I call?` wants a name."""
    part = asked_part(text)
    if _WANTS_TEXT.match(part):
        return next((kind for kind, pattern in _KINDS[:2] if pattern.search(part)), "text")
    kind = next((kind for kind, pattern in _KINDS if pattern.search(part)), None)
    if kind in (None, "name") and asks_amount(part) and not _WHOSE.match(part):
        return "number"
    if kind is None and not asks(part) and names_amount(_GIVE.sub("", part)):
        return "number"
    return kind or "text"


def _names(text: str) -> frozenset[str]:
    found: set[str] = set()
    for position, match in enumerate(_WORD.finditer(text)):
        word = match.group()
        if word.lower() in _NOT_NAMES:
            continue
        if any(char.isdigit() for char in word) or (position > 0 and any(char.isupper() for char in word)):
            found.update(term for term in terms(word) if "&" not in word or len(term) > 1)  # `R&D` is no `R` and no `D`
    return frozenset(found)


_OPENING = re.compile(r"\W*(?:\w+\s)?(?:who|whom|whose|what|which|where|when|how|why)\b", re.IGNORECASE)
_LINK = re.compile(r"\bof\b|['’]s\b|\b(?:that|which|whose|who|whom|where)\b", re.IGNORECASE)


def steps(text: str) -> int:
    """How many things an English question leads through before it comes to what it asks for.

    >>> steps("Who directed Dune?"), steps("Who is the father of the director of the film that won in 1961?")
    (0, 3)
    """
    opening = _OPENING.match(text)
    return len(_LINK.findall(text, opening.end() if opening else 0))
