"""Opens a source and reads it segment by segment, so that memory stays bounded however long the text is.

A segment starts at `base` in the document's text, and `chunk(segment.document, …, base=segment.base)` gives passages
whose offsets point into the whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from kedge.errors import EmptySourceError, SourceTooLargeError, TooCostlyError
from kedge.ingest.parse import decode_html, readable_name
from kedge.ingest.parse.decode import decode_stream
from kedge.ingest.parse.html import parse_html
from kedge.ingest.parse.markdown import MarkdownParser
from kedge.ingest.parse.text import TextParser
from kedge.ingest.source import Source, with_format
from kedge.text.untrusted import tame
from kedge.types import Format, Metadata, ParsedDocument

if TYPE_CHECKING:
    from kedge.ingest.apart.limits import Limits

TEXT_SEGMENT = 1 << 20
"""Characters of plain text per segment."""
MARKDOWN_SEGMENT = 1 << 20
"""Characters of markdown per segment; link definitions are forgotten at its border."""
MAX_HTML_BYTES = 64 << 20
"""A page is read as a tree, in one piece."""
MARKDOWN_APART = 1 << 16
"""Bytes of markdown from which on it is read in another process."""
_RESERVE = 1 << 14
_EMPTY_LINE = re.compile(r"\n[^\S\n]*\n")
_FENCE_OR_HEADING = re.compile(r"^ {0,3}(?:(?P<fence>`{3,}|~{3,})|#{1,6} )", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of the document: its own offsets count from `base`."""

    base: int
    document: ParsedDocument


@dataclass(frozen=True, slots=True)
class DocumentReader:
    """A source that could be opened: what is known about it at once, and its segments."""

    source: Source
    format: Format
    title: str
    author: str | None
    metadata: Metadata
    """What the document says about itself, then what the user said about it."""
    warnings: tuple[str, ...]
    segments: Iterator[Segment]
    """To be read once, in order. May raise SourceFault, for instance when a file changes meanwhile."""


def open_document(source: Source, limits: Limits | None = None) -> DocumentReader:
    """Open and read the first segment; the others follow on demand. Raises SourceFault.

    With limits, formats that are risky to read are read in another process, within them.
    """
    source = with_format(source)
    format = source.format or Format.TEXT
    segments = _segments(source, format, limits)
    first = next(segments, None)
    if first is None:
        raise EmptySourceError(f"{source.name} holds no text.", hint="Remove it, or fill it and ingest again.")
    head = first.document
    return DocumentReader(
        source=source,
        format=format,
        title=source.title or _clean(head.title) or readable_name(source.name),
        author=_clean(head.author) or None,
        metadata=_metadata({**head.metadata, **source.metadata}, source.name),
        warnings=head.warnings,
        segments=_chain(first, segments),
    )


def _chain(first: Segment, rest: Iterator[Segment]) -> Iterator[Segment]:
    yield first
    yield from rest


def _clean(title: str | None) -> str:
    """One line of text, whatever the file says."""
    return str(tame({"": " ".join((title or "").split())[:300]})[""])


def _metadata(values: Metadata, name: str) -> Metadata:
    try:
        return tame(values)
    except ValueError as error:
        raise TooCostlyError(f"What {name} says about itself cannot be kept: {error}.", hint="Shorten it.") from error


def _segments(source: Source, format: Format, limits: Limits | None) -> Iterator[Segment]:
    if limits is None or not _is_risky(source, format):
        yield from read_segments(source, format)
        return
    from kedge.ingest.apart.pool import document_apart

    for base, document in document_apart(source, format, limits):
        yield Segment(base, document)


def _is_risky(source: Source, format: Format) -> bool:
    """Parsers in C, and markdown of a length at which its odd corners take minutes."""
    return format in (Format.PDF, Format.HTML) or (format is Format.MARKDOWN and source.size > MARKDOWN_APART)


def read_segments(source: Source, format: Format) -> Iterator[Segment]:
    """The segments, read in this process."""
    if format is Format.PDF:
        from kedge.ingest.parse.pdf import parse_pdf  # slow to load, and most sources are none

        yield Segment(0, parse_pdf(source.content if isinstance(source.content, Path) else source.read()))
    elif format is Format.HTML:
        yield Segment(0, _parse_page(source))
    elif format is Format.MARKDOWN:
        yield from _windows(source, MARKDOWN_SEGMENT, MarkdownParser().parse, _cut_markdown)
    else:
        yield from _windows(source, TEXT_SEGMENT, TextParser().parse, _cut_text)


def _parse_page(source: Source) -> ParsedDocument:
    if source.size > MAX_HTML_BYTES:
        raise SourceTooLargeError(f"{source.name} is a page of over {MAX_HTML_BYTES:,} bytes.", hint="Split it.")
    if source.text is not None:
        return parse_html(source.text)
    return parse_html(decode_html(source.read(), source.encoding, source.name))


def _windows(
    source: Source, size: int, parse: Callable[[str], ParsedDocument], cut: Callable[[str], int]
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


def _cut_text(text: str) -> int:
    """Behind the last empty line, else the last line, else the last word."""
    border = max((match.end() for match in _EMPTY_LINE.finditer(text, len(text) // 2)), default=0)
    return border or text.rfind("\n") + 1 or text.rfind(" ") + 1 or len(text)


def _cut_markdown(text: str) -> int:
    """Before the last heading outside of code, else as text, but never inside of code that began here."""
    mark, open_at, heading = "", len(text), 0
    for match in _FENCE_OR_HEADING.finditer(text):
        if not match["fence"]:
            heading = heading if mark else match.start()
        elif not mark:
            mark, open_at = match["fence"], match.start()
        elif match["fence"].startswith(mark):
            mark, open_at = "", len(text)
    return heading if heading > len(text) // 2 else _cut_text(text[:open_at] or text)
