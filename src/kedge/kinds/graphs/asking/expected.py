"""What sort of thing a question asks for, and whether what a path leads to is of that sort.

>>> wanted("How high is K2?"), wanted("When was Ada born?"), wanted("Who supplies Chai?"), wanted("Where is it?")
('number', 'date', 'person', 'place')
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

from kedge.core.values import Json
from kedge.kinds.graphs.naming import relation_name
from kedge.text.amounts import asks_amount
from kedge.text.asked import asked_part
from kedge.text.question import answer_spans, parse_question

Sort = Literal["", "number", "date", "person", "place", "quality"]
"""Of a thing; empty when nothing says it. A quality is what describes a thing: a profession, a religion, a colour."""

_WHO = re.compile(r"\W*(?:(?:by|to|with|for|from)\s+)?(?:who|whom)\b", re.IGNORECASE)
_WHICH = re.compile(r"\W*(?:\w+\s+)?which\b", re.IGNORECASE)
_WHERE = re.compile(r"\W*(?:from\s+)?where\b", re.IGNORECASE)
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}\b")
_DIGIT = re.compile(r"(?<![^\W\d_])\d")
_DATE = re.compile(r"(?<!\d)(?:1\d{3}|20\d{2})(?!\d)|\b(?:century|BC|AD)\b|\d{1,2}[./]\d{1,2}[./]\d{2,4}")
_MEASURED = re.compile(
    r"\bhow\s+(?:high|tall|long|deep|far|wide|heavy|thick|fast|hot|cold|large|big)\b|"
    r"\b(?:height|length|depth|width|weight|altitude|elevation|distance|speed|temperature|area)\b",
    re.IGNORECASE,
)
_MEASURE = re.compile(
    r"(?:\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twenty|hundred|thousand|million)\b)[\s-]*+"
    r"(?:(?:hundred|thousand|million|square|cubic)\s++){0,4}+"
    r"(?:m|km|cm|mm|ft|in|mi|kg|g|mg|t|lb|km²|m²|ha|°|degrees?|met(?:re|er)s?|kilomet(?:re|er)s?|centimet(?:re|er)s?|"
    r"miles?|feet|foot|inch(?:es)?|yards?|kilograms?|grams?|tons?|tonnes?|pounds?|litres?|liters?|acres?|hectares?|"
    r"seconds?|minutes?|hours?|days?|weeks?|months?|years?|centur(?:y|ies)|knots?|km/h|mph|bytes?|[kmgt]b|people)\b|\d\s?[°″′]",
    re.IGNORECASE,
)
_PLACES = frozenset(
    "place places location locations located city cities town towns village country countries nation nations "
    "nationality state province region county continent island river street address birthplace capital residence "
    "district area mountain range lives live territory origin hometown headquarters lies stadium airport site".split()
)
_PERSONS = frozenset(
    "person persons people human father mother parent parents child children son sons daughter daughters spouse wife "
    "husband partner brother sister sibling siblings author authors writer director founder inventor friend friends "
    "employee employees manager teacher student player players member members actor actress leader president king "
    "queen coach owner artist composer scientist customer contact user climber".split()
)
_QUALITIES = frozenset(
    "profession occupation job gender sex religion ethnicity cause age aged number price date year height weight "
    "length language position title color colour kind status rating genre".split()
)
_SORTS: tuple[tuple[Sort, frozenset[str]], ...] = (
    ("person", _PERSONS),
    ("place", _PLACES),
    ("quality", _QUALITIES),
)


def wanted(text: str) -> Sort:
    """The sort that the question asks for; empty where any thing may answer."""
    part = asked_part(text)
    if parse_question(part, idf=_equal).kind == "date":
        return "date"
    if asks_amount(part) and not _WHICH.match(part):
        return "number"
    if _WHO.match(part):
        return "person"
    return "place" if _WHERE.match(part) else ""


def _equal(_term: str) -> float:
    return 1.0


def sort_of_type(type: str) -> Sort:
    """What a node's type says.

    >>> sort_of_type("City"), sort_of_type("Person"), sort_of_type("Product")
    ('place', 'person', '')
    """
    return _by_words(relation_name(type).words) if type else ""


def sort_of_relation(type: str, *, outgoing: bool) -> Sort:
    """What a relation's name says about the node that it leads to; nothing when it is taken backwards.

    >>> sort_of_relation("place_of_birth", outgoing=True), sort_of_relation("place_of_birth", outgoing=False)
    ('place', '')
    """
    name = relation_name(type)
    return _by_words(name.words) if outgoing != name.inverse else ""


def _by_words(words: str) -> Sort:
    said = frozenset(words.split())
    return next((sort for sort, known in _SORTS if said & known), "")


def is_value_of(sort: Sort, value: Json) -> bool:
    """Whether a property's value, or a node that is named by nothing but a value, may be what is asked for.

    >>> is_value_of("number", "29"), is_value_of("number", "Karakoram"), is_value_of("date", 1954)
    (True, False, True)
    """
    text = str(value)
    if sort == "number":
        return _DIGIT.search(text) is not None and _DAY.match(text) is None
    if sort == "date":
        return _DATE.search(text) is not None
    if sort in ("person", "place"):
        return not isinstance(value, bool | int | float) and not re.fullmatch(r"[\d\W]+", text)
    return True


def says(text: str, asked: str) -> bool:
    """Whether a statement has what the question asks for: a number with a unit where a measure is asked for.

    >>> says("It is 8,611 m high.", "How high is K2?"), says("It was climbed in 1954.", "How high is K2?")
    (True, False)
    """
    sort = wanted(asked)
    if sort == "number" and _MEASURED.search(asked):
        return _MEASURE.search(text) is not None
    return sort not in ("number", "date") or any(
        answer_spans(text, replace(parse_question(asked, idf=_equal), kind=sort))
    )


def may_be(asked: Sort, found: Sort, name: Json) -> bool:
    """Whether a thing of the sort `found` (as far as known) and with that name or value may be what is asked for."""
    if not is_value_of(asked, name):
        return False
    return asked not in ("person", "place") or found in ("", asked)
