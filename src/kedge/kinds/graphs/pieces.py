"""Long texts of nodes in pieces that a model sees whole, so that all of a node's text counts in search (G-23)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TypeAlias

from kedge.core.values.passage import embed_text
from kedge.models.ports import Embedder
from kedge.text.sentences import sentences

Span: TypeAlias = tuple[int, int]
MARGIN = 8
"""Tokens of the window that a model's own marks and prefixes may take."""
SIZE = 64
"""Most tokens of a piece: the meaning of one sentence is lost among many others (`benchmarks.graph_long_texts`)."""


def pieces(title: str, text: str, embedder: Embedder, size: int = SIZE) -> list[Span]:
    """Where the pieces stand in the text, in order: one where title and text fit the window, which is the usual case.

    Pieces of a longer text have up to `size` tokens. They end with a sentence or a line, or with a word where one of
    these alone is too long. Between them is nothing but white space.
    """
    whole = embed_text(title, (), text)
    room = embedder.window - MARGIN
    if len(whole) <= room or embedder.count_tokens([whole])[0] <= room:
        return [(0, len(text))]
    room = min(size, max(room - embedder.count_tokens([title])[0], room // 4))
    return list(_packed(text, list(_units(text, room, embedder.count_tokens)), room, embedder.count_tokens))


def _packed(text: str, units: Sequence[Span], room: int, count: Callable[[Sequence[str]], list[int]]) -> Iterator[Span]:
    sizes = count([text[start:end] for start, end in units])
    begun: Span | None = None
    filled = 0
    for (start, end), size in zip(units, sizes, strict=True):
        if begun is not None and filled + size > room:
            yield begun
            begun, filled = None, 0
        begun = (begun[0] if begun else start, end)
        filled += size
    if begun is not None:
        yield begun


def _units(text: str, room: int, count: Callable[[Sequence[str]], list[int]]) -> Iterator[Span]:
    """Sentences, in lines; what is too long alone is halved."""
    for start, end in sentences(text):
        at = start
        for line in text[start:end].split("\n"):
            if line.strip():
                yield from _halved(text, (at, at + len(line)), room, count)
            at += len(line) + 1


def _halved(text: str, span: Span, room: int, count: Callable[[Sequence[str]], list[int]]) -> Iterator[Span]:
    start, end = span
    if end - start <= room or count([text[start:end]])[0] <= room:
        yield span
        return
    middle = (start + end) // 2
    space = text.rfind(" ", start + 1, middle)
    cut = space if space > start else middle
    yield from _halved(text, (start, cut), room, count)
    yield from _halved(text, (cut + (space > start), end), room, count)
