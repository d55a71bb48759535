"""Text that is too long for memory, cut into windows where it can be cut."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, BinaryIO

from kedge.core.values import ParsedDocument
from kedge.ingest.parse.decode import decode_stream
from kedge.ingest.parse.ports import Segment

if TYPE_CHECKING:
    from kedge.ingest.sources.source import Source

WINDOW = 1 << 20
"""Characters of a segment."""
_RESERVE = 1 << 14
_EMPTY_LINE = re.compile(r"\n[^\S\n]*\n")
_FENCE_OR_HEADING = re.compile(r"^ {0,3}(?:(?P<fence>`{3,}|~{3,})|#{1,6} )", re.MULTILINE)


def windows(
    source: Source, parse: Callable[[str], ParsedDocument], cut: Callable[[str], int], size: int = WINDOW
) -> Iterator[Segment]:
    """Windows of about `size` characters; the last one is never tiny, so that its passages need not be."""
    with ExitStack() as stack:
        if source.text is not None:
            pieces = iter([source.text])
        else:
            stream: BinaryIO = stack.enter_context(source.open())
            pieces = decode_stream(stream, source.encoding, source.name)
        base = 0
        for window in _cut_pieces(pieces, size, cut):
            document = parse(window)
            if document.blocks:
                yield Segment(base, document if base == 0 else replace(document, title=None))
            base += len(window)


def _cut_pieces(pieces: Iterator[str], size: int, cut: Callable[[str], int]) -> Iterator[str]:
    gathered: list[str] = []
    length = 0
    for piece in pieces:
        gathered.append(piece)
        length += len(piece)
        while length > size + 2 * _RESERVE:
            text = "".join(gathered)
            end = cut(text[: size + _RESERVE])
            yield text[:end]
            gathered, length = [text[end:]], len(text) - end
    if length:
        yield "".join(gathered)


def cut_text(text: str) -> int:
    """Behind the last empty line, else the last line, else the last word."""
    border = max((match.end() for match in _EMPTY_LINE.finditer(text, len(text) // 2)), default=0)
    return border or text.rfind("\n") + 1 or text.rfind(" ") + 1 or len(text)


def cut_markdown(text: str) -> int:
    """Before the last heading outside of code, else as text, but never inside of code that began here."""
    mark, open_at, heading = "", len(text), 0
    for match in _FENCE_OR_HEADING.finditer(text):
        if not match["fence"]:
            heading = heading if mark else match.start()
        elif not mark:
            mark, open_at = match["fence"], match.start()
        elif match["fence"].startswith(mark):
            mark, open_at = "", len(text)
    return heading if heading > len(text) // 2 else cut_text(text[:open_at] or text)
