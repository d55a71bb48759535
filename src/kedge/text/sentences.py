"""Exact sentence spans, for citing and for sentence-level retrieval."""

from __future__ import annotations

import re
from bisect import bisect_right

_PROTECTED = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)|\$\$.+?\$\$|\$[^$\n]+\$|`[^`\n]+`", re.DOTALL)
_BREAK = re.compile(
    r"""
    (?P<stop>(?<![.!?…])[.!?…]++["'”’»)\]]*+)(?=\s|\Z)     # a Latin full stop, then space
  | (?P<cjk>[。！？｡]+[」』”’）]*)               # a CJK full stop needs no space
  | (?P<block>\n[^\S\n]*\n\s*)                  # an empty line
  | (?P<line>\n(?=[^\S\n]*(?:[-*+•]|\#{1,6}|\d{1,3}[.)]|\|)[^\S\n]?))   # next line is a bullet, heading or row
    """,
    re.VERBOSE,
)
_ABBREVIATIONS = frozenset(
    "mr mrs ms dr prof st sr jr vs etc e.g i.e cf al fig figs eq eqs no nos vol pp p ed eds inc ltd co corp dept "
    "est approx ca c b d r op cit sec ch gen col lt sgt capt rev hon gov sen rep jan feb mar apr jun jul aug sep "
    "sept oct nov dec u.s u.k a.m p.m ph.d sra dra ud uds bzw z.b d.h usw nr av bd".split()
)
_NEXT_CHARACTER = re.compile(r"\S")
_LAST_WORD = re.compile(r"[^\s(\[\"'“‘]+\Z")


def sentences(text: str) -> list[tuple[int, int]]:
    """Spans `(start, end)` of the sentences of `text`, in order, without the space around them.

    Together they cover everything that is not white space. Code fences and `$formulas$` are never cut.
    """
    protected = [match.span() for match in _PROTECTED.finditer(text)]
    spans: list[tuple[int, int]] = []
    start = 0
    for match in _BREAK.finditer(text):
        nearest = bisect_right(protected, (match.start(), len(text) + 1)) - 1
        if nearest >= 0 and match.start() < protected[nearest][1]:
            continue
        if match.lastgroup == "stop" and not _ends_sentence(text, start, match.start(), match.end()):
            continue
        start = _append(spans, text, start, match.end())
    _append(spans, text, start, len(text))
    return spans


def _append(spans: list[tuple[int, int]], text: str, start: int, end: int) -> int:
    piece = text[start:end]
    stripped = piece.strip()
    if stripped:
        left = start + len(piece) - len(piece.lstrip())
        spans.append((left, left + len(stripped)))
    return end


def _following(text: str, end: int) -> str:
    found = _NEXT_CHARACTER.search(text, end)
    return found.group() if found else ""


def _ends_sentence(text: str, start: int, stop: int, end: int) -> bool:
    """Whether the full stop at `stop` ends a sentence: not after an abbreviation, an initial or a list number."""
    if text[stop] != "." or text[stop : stop + 2] == "..":
        return not _following(text, end).islower()
    found = _LAST_WORD.search(text, max(start, stop - 40), stop)
    word = found.group() if found else ""
    following = _following(text, end)
    if following.islower():
        return False
    if word.lower() in _ABBREVIATIONS:
        return not following
    if len(word) == 1 and word.isalpha() and word.isupper():
        return False
    return not (word.isdigit() and len(word) <= 3 and text[start : stop - len(word)].strip() == "")
