"""Several parsed documents as one: chapters of a book, the parts of a message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kedge.core.values import Block, Link, ParsedDocument

_BETWEEN = "\n\n"


def joined(parts: Sequence[ParsedDocument], above: Sequence[tuple[str, ...]] | None = None) -> ParsedDocument:
    """The texts one after the other with all blocks and links; `above` are section titles to put over each part."""
    texts: list[str] = []
    blocks: list[Block] = []
    links: list[Link] = []
    warnings: list[str] = []
    at = 0
    for number, part in enumerate(parts):
        over = above[number] if above is not None else ()
        texts.append(part.text)
        blocks += [
            replace(block, start=block.start + at, end=block.end + at, section=(*over, *block.section))
            for block in part.blocks
        ]
        links += [replace(link, start=link.start + at) for link in part.links]
        warnings += part.warnings
        at += len(part.text) + len(_BETWEEN)
    return ParsedDocument(_BETWEEN.join(texts), tuple(blocks), links=tuple(links), warnings=tuple(warnings))
