"""The names of features: which of them are weighed together with the question's words, and what each is about."""

from __future__ import annotations

import zlib
from functools import lru_cache

from kedge.answer.sheets.rowsets import Feature

GROUPS: dict[str, str] = {
    "plan": "op|op form|conditions|number|type of op|type|size|size alone|shown rows|counted|aggregate|most|"
    "most itself|tie|nth|way|way not|either word|either word not|one each|nothing found|run|by group|share|columns",
    "words": "left|left share|left named|left named op|in question|left rare|left numbers|left word",
    "answer": "answer column|answer kind|answer place|answer rank|answer meant|answer heading|answer op|"
    "answer filtered|answer part|answer part kind|distinct|distinct heading|same column|moved|group heading",
    "sight": "sight|sight kind|sight rank|sight meant|sight heading|most heading",
    "filter": "found|found column|found kind|found rows|found heading|found share|found rivals|found is heading|pair|"
    "either|not|same",
    "compare": "compared|compared before|compared before 1|compared before 2|compared after 1|compared after 2|"
    "compared column|compared kind|compared near|compared form|compared heading|decade|between|between kind|"
    "date compared|blank|blank column|cut|cut column|than|than column",
}
"""Features by what they are about; the second weighing sees each group's sum."""
GROUP_NAMES = tuple(GROUPS)
_GROUP_OF = {name: number for number, names in enumerate(GROUPS.values()) for name in names.split("|")}
LEXICAL = frozenset(
    "op|op form|size alone|type|most|nth|answer kind|answer heading|answer part|distinct heading|sight kind|"
    "sight heading|most heading|found heading|either|not|same|compared|compared kind|compared heading|between|"
    "date compared|blank|cut|than|by group|run|share|columns".split("|")
)
"""Features that are weighed with every word of the question, not by themselves alone."""


@lru_cache(maxsize=65_536)
def feature_key(feature: Feature) -> int:
    """A number of 64 bits that stands for a feature in every process."""
    text = repr(feature).encode()
    return zlib.crc32(text) << 32 | zlib.crc32(text[::-1])


def group_of(feature: Feature) -> int:
    """The place of its group in GROUP_NAMES."""
    return _GROUP_OF[str(feature[0])]


def is_lexical(feature: Feature) -> bool:
    """Whether the question's words weigh in."""
    return feature[0] in LEXICAL
