"""Beginnings of texts, for lists."""

from __future__ import annotations

EXCERPT_CHARS = 280


def excerpt(text: str, limit: int = EXCERPT_CHARS) -> str:
    """The beginning of a text on one line, cut at a word."""
    line = " ".join(text.split())
    if len(line) <= limit:
        return line
    return line[:limit].rsplit(" ", 1)[0] + " …"
