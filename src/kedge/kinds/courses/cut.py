"""Lessons to chunks: never across a `##`, about 400 tokens, no less than 10 characters (C-01, C-03)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from kedge.core.values import Block, BlockKind, Chunk, ParsedDocument
from kedge.ingest.chunk.passages import ChunkLimits, chunk
from kedge.ingest.chunk.pieces import CountTokens

TARGET_TOKENS = 400
SECTION_LEVEL = 2
"""`##` begins a section, and so does `#`."""
MIN_CHARS = 10
MIN_TOKENS = 60
"""Rests of a section are not left smaller than this."""


def limits_for(window: int, chunk_tokens: int) -> ChunkLimits:
    """Sizes for an embedder: the target, or its window where that is smaller."""
    return ChunkLimits(target=chunk_tokens or TARGET_TOKENS, minimum=MIN_TOKENS, window=window)


@dataclass(frozen=True, slots=True)
class LessonPart:
    """A chunk of a lesson and the `##` heading that it stands under; None before the first."""

    chunk: Chunk
    section_title: str | None


def cut(
    document: ParsedDocument,
    count_tokens: CountTokens,
    limits: ChunkLimits,
    *,
    title: str,
    base: int,
    first_index: int,
    warn: Callable[[str], None],
) -> list[LessonPart]:
    """The parts of a lesson, or of one segment of it that starts at offset `base`, in order."""
    parts: list[LessonPart] = []
    for blocks in _sections(document):
        section = replace(document, blocks=tuple(blocks))
        index = first_index + len(parts)
        chunks = chunk(section, count_tokens, limits, title=title, base=base, first_index=index, warn=warn)
        parts += [LessonPart(one, _title(blocks)) for one in chunks]
    return parts


def _title(blocks: list[Block]) -> str | None:
    for block in blocks:
        if block.kind is not BlockKind.HEADING:
            return None
        if block.level == SECTION_LEVEL and block.section:
            return block.section[-1]
    return None


def _sections(document: ParsedDocument) -> Iterator[list[Block]]:
    """Blocks by section; one that is too short to be found goes with the next, the last with the one before."""
    sections: list[list[Block]] = []
    for block in document.blocks:
        begins = block.kind is BlockKind.HEADING and block.level <= SECTION_LEVEL
        if not sections or (begins and not _short(document, sections[-1])):
            sections.append([])
        sections[-1].append(block)
    if len(sections) > 1 and _short(document, sections[-1]):
        last = sections.pop()
        sections[-1] += last
    yield from sections


def _short(document: ParsedDocument, blocks: list[Block]) -> bool:
    """Too few characters for a passage, or headings alone."""
    text = document.text[blocks[0].start : blocks[-1].end].strip()
    return len(text) < MIN_CHARS or all(block.kind is BlockKind.HEADING for block in blocks)
