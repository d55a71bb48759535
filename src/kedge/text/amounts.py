"""Whether a question asks for a number, without `how many`: `What was Acme's revenue in 2022?`, `net income, Q2 2023`.

>>> asks_amount("What was the revenue of Acme in 2022?"), asks_amount("What is a gross margin?")
(True, False)
"""

from __future__ import annotations

import re

from kedge.text.asked import AUXILIARY

_NOUNS = frozenset(
    """
    accuracy age altitude amount area average balance bandwidth bill bonus budget calories capacity cost costs
    density deposit depth diameter discount distance dose duration earnings ebitda elevation eps expenditure
    expense expenses fee fees fraction frequency gdp headcount height income latency length limit loss losses
    margin mass maximum median minimum mileage number odds output part payment percent percentage pension
    population portion premium pressure price prices probability proceeds profit profits proportion radius range
    ratio rate receivables rent revenue revenues ridership salary sales savings score share size spacing span
    speed spending stake sum surcharge tax temperature tempo throughput time-out timeout toll total turnover value
    velocity voltage volume wage wages weight width wingspan yield
    """.split()
)
_HOW = re.compile(
    r"\bhow\s+(?:many|much|long|old|far|large|big|tall|high|deep|fast|often|few|wide|heavy|thick|soon|expensive|hot|cold|"
    r"likely|steep|quickly|frequently|late|early|small|slow|accurate|loud|bright)\b"
    r"|\bhow\s+well\s+(?:do|does|did)\b[^?]{1,120}\b(?:do|score|perform|fare|rank)\b",
    re.IGNORECASE,
)
_WHICH = re.compile(r"\b(?:what|which)(?:['’]?s)?\s+((?:[\w%-]+\s+){0,4}[\w%-]+)", re.IGNORECASE)
_DID = re.compile(
    r"\W*what\s+(?:do|does|did|will|would)\s+[^?]{1,80}?\b(?:cost|earn|bring\s+in|weigh|pay|charge|spend|measure|score|"
    r"take\s+in|amount\s+to|add\s+up\s+to|come\s+to|owe|lose)\b",
    re.IGNORECASE,
)
_IS = re.compile(
    r"\W*what(?:(?P<past>\s+(?:was|were))|(?:['’]?s|\s+(?:is|are|will\s+be|would\s+be)))\s+", re.IGNORECASE
)
_END = re.compile(
    r"\s(?:of|in|for|on|at|by|from|to|with|during|per|between|over|after|before|as|under|when|if|that|which|who|did|does|do|"
    r"is|are|was|were|has|have|had|and|or)\b|[,;:?.!(]|$",
    re.IGNORECASE,
)
_DEFINITE = re.compile(
    r"\b(?:the|my|our|your|its|their|his|her|this|that|default|current|max|min|total|average)\b|['’]s\b|\w s['’]|\d",
    re.I,
)
_DIGIT = re.compile(r"\d")
_ARTICLE = re.compile(r"(?:a|an)\s", re.IGNORECASE)
_WORD = re.compile(r"[^\W_]+(?:[-’'&][^\W_]+)*")


def asks_amount(part: str) -> bool:
    """By its words; `part` is what asks (see `asked.asked_part`)."""
    if (_HOW.search(part) and not AUXILIARY.match(part)) or _DID.match(part):
        return True
    opening = _IS.match(part)
    if opening:
        rest = part[opening.end() :]
        if _ARTICLE.match(rest) or not (opening["past"] or _DEFINITE.search(_phrase(rest)) or _DIGIT.search(rest)):
            return False  # what the word means is asked for
        return _names_amount(rest, anywhere=False)
    found = _WHICH.match(part) or re.match(rf"\W*\w+\s+{_WHICH.pattern}", part, re.IGNORECASE)
    if found:
        words = [word.lower() for word in _WORD.findall(found.group(1))]
        stop = next((at for at, word in enumerate(words) if word in _VERBS), len(words))
        return any(word in _NOUNS for word in words[:stop])
    return False


def names_amount(part: str) -> bool:
    """Whether a few words without a verb name an amount of something: `operating income of Acme in 2022`."""
    more = part[len(_phrase(part)) :].strip(" ?.!")
    return bool(more or _DEFINITE.search(part)) and _names_amount(part, anywhere=True)


_VERBS = frozenset("do does did is are was were has have had can could should would will must may might".split())


def _names_amount(rest: str, *, anywhere: bool) -> bool:
    """The head of the first noun phrase is an amount; `the average price Acme paid` has it in its midst."""
    words = [word.lower() for word in _WORD.findall(_phrase(rest))][:8]
    if not words:
        return False
    head = [words[-1]] if anywhere and words[0] not in ("the", "my", "our") else words[-4:]
    return any(word in _NOUNS for word in head)


def _phrase(text: str) -> str:
    """Up to the first preposition, verb or mark."""
    end = _END.search(text)
    return text[: end.start()] if end else text
