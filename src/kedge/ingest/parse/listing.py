"""Lines that stand as they were typed: code, what a program printed, or prose in a font of code."""

from __future__ import annotations

import re

_FENCES = re.compile(r"^[^\S\n]*+(`{3,})", re.MULTILINE)
_WORD = re.compile(r"[\"'“‘(]?[^\W\d_][^\W\d_’'-]*[.,;:!?)\"'”’]{0,3}")
_PROSE = 0.7
"""Least share of the words of prose, or of the help of a program, that are words of a language."""
_ITEM = re.compile(r"\s*(?:[*•-]|\d{1,2}[.)])\s+[^\W\d_]{2}")
_PROMPT = re.compile(r"\s*(?:\+|\.\.\.|[\w.~/@:-]{0,40}[$>#]|%|>>>|In \[\d*\]:|C:\\[^>\n]{0,40}>)(?:\s|$)")


def is_listing(text: str) -> bool:
    """Whether lines are code or output, and not sentences that are set in the same font."""
    if begins_at_prompt(text):
        return True
    lines = [line for line in text.split("\n") if line.strip()]
    if len(lines) > 1 and 2 * sum(_ITEM.match(line) is not None for line in lines) > len(lines):
        return False
    words = text.split()
    return sum(_WORD.fullmatch(word) is not None for word in words) < _PROSE * len(words)


def begins_at_prompt(text: str) -> bool:
    """Whether a line was typed into a shell or a session: `$ make`, `R> summary(fit)`."""
    return _PROMPT.match(text) is not None


def fenced(body: str, language: str = "") -> str:
    """Lines between fences that are longer than any in them."""
    fence = "`" * max([3, *(len(found) + 1 for found in _FENCES.findall(body))])
    return f"{fence}{language}\n{body}\n{fence}"
