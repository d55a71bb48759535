"""What form of answer a question wants: one fact, two things beside each other, a list, or a summary.

>>> shape_of("What is the difference between a bowline and a sheet bend?").sides
('a bowline', 'a sheet bend')
>>> [shape_of(text).kind for text in ("List the types of anchors.", "Summarise the treaty.", "Who wrote Hamlet?")]
['list', 'summary', 'fact']
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

ShapeKind = Literal["fact", "comparison", "list", "summary"]

_COMPARISONS = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:differences?|distinction|contrast)\s+between\s+(?P<a>.+?)\s+(?:and|vs\.?|versus)\s+(?P<b>.+?)\W*$",
        r"\bcompar(?:e|ed|ison)(?:\s+(?:of|between))?\s+(?P<a>.+?)\s+(?:and|with|to|against|vs\.?|versus)\s+(?P<b>.+?)\W*$",
        r"\b(?:do|does|did|is|are)\s+(?P<a>.+?)\s+(?:differ|different|differs)\s+(?:from|to|than)\s+(?P<b>.+?)\W*$",
        r"\b(?:is|are|was|were|does|do|did)\s+(?P<a>.+?)\s+(?:\w+er|more\s+\w+|less\s+\w+|better|worse)\s+than\s+(?P<b>.+?)\W*$",
        r"^\W*(?:what\s+about\s+)?(?P<a>[^,?]+?)\s+(?:vs\.?|versus)\s+(?P<b>[^,?]+?)\W*$",
        r"[,:]\s*(?P<a>[^,?:]+?),?\s+or\s+(?P<b>[^,?:]+?)\W*$",
    )
)
_LIST = re.compile(
    r"^\W*(?:please\s+)?(?:list|enumerate|name\s+(?:the|all|some|three|two|four|five|several))\b"
    r"|\b(?:what|which)\s+are\s+(?:the|some|all|its|their)\b"
    r"|\b(?:what|which|how\s+many|list|name|give)\b[^?]{0,40}\b(?:types|kinds|sorts|examples|steps|ways|methods|advantages|"
    r"disadvantages|parts|causes|reasons|symptoms|uses|benefits|components|features|stages|rules|materials|members|"
    r"applications|properties|conditions|options)\b",
    re.IGNORECASE,
)
_SUMMARY = re.compile(
    r"\b(?:summari[sz]e|summary\s+of|overview\s+of|tell\s+me\s+(?:more\s+|something\s+|everything\s+)?about|"
    r"what\s+(?:do\s+(?:you|we)\s+know|is\s+known|is\s+there\s+to\s+know|is\s+said)\s+about|give\s+me\s+an?\s+(?:summary|overview)|"
    r"write\s+about)\b|^\W*(?:describe|introduce)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Form:
    """The form, and what is compared."""

    kind: ShapeKind = "fact"
    sides: tuple[str, ...] = ()


def shape_of(question: str) -> Form:
    """By the question's own words; `fact` when nothing else is asked for."""
    for pattern in _COMPARISONS:
        found = pattern.search(question)
        if found:
            return Form("comparison", (found["a"].strip(), found["b"].strip()))
    if _SUMMARY.search(question):
        return Form("summary")
    return Form("list") if _LIST.search(question) else Form()
