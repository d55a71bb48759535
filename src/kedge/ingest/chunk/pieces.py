"""Blocks to pieces: the smallest stretches a passage is put together from, each with its token count."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from kedge.core.values import Block, BlockKind
from kedge.text.sentences import sentences

CountTokens = Callable[[Sequence[str]], list[int]]
WHOLE = frozenset((BlockKind.CODE, BlockKind.TABLE, BlockKind.FORMULA))
"""Kinds that stay in one piece unless they are larger than the maximum."""

_BLANK_LINE = re.compile(r"\n[^\S\n]*\n\s*")
_LINE = re.compile(r"\n")
_SPACE = re.compile(r"\s+")
_CONNECTED = re.compile(
    r"\$\$(?:[^$]|\$(?!\$))+\$\$|\$[^$\n]+\$|`[^`\n]+`"
    r"|\\\((?:(?!\\[()]).)+\\\)|\\\[(?:(?!\\[\[\]]).)+\\\]",
    re.DOTALL,
)
"""None holds its own opening sign, so that a text of opening signs alone is not searched to its end from each."""
MANY, FEW_TOKENS = 2000, 4
"""Pieces of one segment, and their mean size, from which on tiny neighbours are joined first: planning tries every
group of them, which would take minutes."""
TINY = 16
"""Tokens up to which they are."""


@dataclass(frozen=True, slots=True)
class ChunkPiece:
    """A stretch of one block that goes into one passage."""

    start: int
    end: int
    block: Block
    tokens: int
    first: bool = True
    """Whether its block starts with it."""
    gap: int = 0
    """Tokens of syntax between the piece before and this one."""

    @property
    def kind(self) -> BlockKind:
        return self.block.kind


@dataclass(frozen=True, slots=True)
class Pieces:
    """All pieces of a document in order, and the blocks that had to be cut although they belong together."""

    items: list[ChunkPiece]
    cut: list[Block]


def split_blocks(text: str, blocks: Sequence[Block], count: CountTokens, target: int, maximum: int) -> Pieces:
    """Small blocks stay whole, longer prose falls into sentences, and what is over the maximum is cut as it must be."""
    counts = _count(text, [(block.start, block.end) for block in blocks], count)
    whole = [ChunkPiece(block.start, block.end, block, tokens) for block, tokens in zip(blocks, counts, strict=True)]
    cut = [piece.block for piece in whole if piece.kind in WHOLE and piece.tokens > maximum]
    pieces = _sentence_pieces(text, whole, count, target)
    while any(_too_long(piece, target, maximum) for piece in pieces):
        pieces = _halve(text, pieces, count, target, maximum)
    if len(pieces) > MANY and sum(piece.tokens for piece in pieces) < FEW_TOKENS * len(pieces):
        pieces = _joined(pieces)
    return Pieces(_with_gaps(text, pieces, count), cut)


def _count(text: str, spans: Sequence[tuple[int, int]], count: CountTokens) -> list[int]:
    return count([text[start:end] for start, end in spans]) if spans else []


def _sentence_pieces(text: str, whole: Iterable[ChunkPiece], count: CountTokens, target: int) -> list[ChunkPiece]:
    """Prose blocks of more than half the target become sentences, so that passages can be balanced."""
    split: list[ChunkPiece] = []
    todo: list[int] = []
    for piece in whole:
        if piece.kind in WHOLE or piece.kind is BlockKind.HEADING or piece.tokens <= target // 2:
            split.append(piece)
            continue
        for number, (start, end) in enumerate(sentences(text[piece.start : piece.end])):
            todo.append(len(split))
            split.append(replace(piece, start=piece.start + start, end=piece.start + end, first=number == 0))
    tokens = _count(text, [(split[at].start, split[at].end) for at in todo], count)
    for at, number in zip(todo, tokens, strict=True):
        split[at] = replace(split[at], tokens=number)
    return split


def _too_long(piece: ChunkPiece, target: int, maximum: int) -> bool:
    cut_already = not piece.first or piece.end < piece.block.end
    limit = maximum if piece.kind in WHOLE and not cut_already else target
    return piece.tokens > limit and piece.end - piece.start > 1


def _halve(text: str, pieces: Sequence[ChunkPiece], count: CountTokens, target: int, maximum: int) -> list[ChunkPiece]:
    """Cut each piece that is too long near its middle; all new counts in one call."""
    split: list[ChunkPiece] = []
    todo: list[int] = []
    for piece in pieces:
        if not _too_long(piece, target, maximum):
            split.append(piece)
            continue
        left, right = _cut(text, piece)
        for number, (start, end) in enumerate((left, right)):
            todo.append(len(split))
            split.append(replace(piece, start=start, end=end, first=piece.first and number == 0))
    tokens = _count(text, [(split[at].start, split[at].end) for at in todo], count)
    for at, number in zip(todo, tokens, strict=True):
        split[at] = replace(split[at], tokens=number)
    return split


def _cut(text: str, piece: ChunkPiece) -> tuple[tuple[int, int], tuple[int, int]]:
    """The two halves of a piece: at an empty line, a line, a word, or anywhere, the first that is near the middle."""
    body = text[piece.start : piece.end]
    connected = [] if piece.kind in WHOLE else [match.span() for match in _CONNECTED.finditer(body)]
    borders = (_BLANK_LINE, _LINE, _SPACE) if piece.kind in WHOLE else (_LINE, _SPACE)
    for border in borders:
        spans = [match.span() for match in border.finditer(body) if not _inside(match.start(), connected)]
        found = _nearest_middle(spans, len(body))
        if found:
            start, end = found
            return (piece.start, piece.start + start), (piece.start + end, piece.end)
    middle = piece.start + len(body) // 2
    return (piece.start, middle), (middle, piece.end)


def _inside(at: int, spans: Sequence[tuple[int, int]]) -> bool:
    nearest = bisect_left(spans, (at, 0)) - 1
    return nearest >= 0 and spans[nearest][0] < at < spans[nearest][1]


def _nearest_middle(spans: Sequence[tuple[int, int]], length: int) -> tuple[int, int] | None:
    near = [span for span in spans if length * 0.15 < span[0] and span[1] < length * 0.85]
    return min(near, key=lambda span: abs(span[0] - length / 2), default=None)


def _joined(pieces: Sequence[ChunkPiece]) -> list[ChunkPiece]:
    """Neighbours of one kind and section put together as long as they stay tiny."""
    joined: list[ChunkPiece] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        fits = last is not None and last.kind is piece.kind and last.kind is not BlockKind.HEADING
        if (
            last is not None
            and fits
            and last.block.section == piece.block.section
            and last.tokens + piece.tokens < TINY
        ):
            joined[-1] = replace(last, end=piece.end, tokens=last.tokens + piece.tokens)
        else:
            joined.append(piece)
    return joined


def _with_gaps(text: str, pieces: Sequence[ChunkPiece], count: CountTokens) -> list[ChunkPiece]:
    """Note the tokens of syntax (comments, markup) that lie between two pieces."""
    gaps = {
        number: (before.end, piece.start)
        for number, (before, piece) in enumerate(pairwise(pieces), 1)
        if text[before.end : piece.start].strip()
    }
    tokens = dict(zip(gaps, _count(text, list(gaps.values()), count), strict=True))
    return [replace(piece, gap=tokens[number]) if number in tokens else piece for number, piece in enumerate(pieces)]
