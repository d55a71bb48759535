"""The formats that Kedge itself reads: markdown, plain text, HTML and PDF. Their parsers load on first use."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from kedge.core.errors import SourceTooLargeError
from kedge.ingest.parse.decode import looks_like_text
from kedge.ingest.parse.ports import FileFormat, Segment
from kedge.ingest.parse.windows import cut_markdown, cut_text, windows

if TYPE_CHECKING:
    from kedge.ingest.sources.source import Source

MAX_HTML_BYTES = 64 << 20
"""A page is read as a tree, in one piece."""
MARKDOWN_APART = 1 << 16
"""Bytes of markdown from which on its odd corners take minutes."""
_PAGE = re.compile(
    rb"\A(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)


class MarkdownFormat(FileFormat):
    """Text and offsets are those of the file itself; link definitions are forgotten at a segment's border."""

    name = "markdown"
    suffixes = (".md", ".markdown")
    media_types = ("text/markdown", "text/x-markdown")

    def apart(self, source: Source) -> bool:
        return source.size > MARKDOWN_APART

    def segments(self, source: Source) -> Iterator[Segment]:
        from kedge.ingest.parse.markdown import MarkdownParser

        yield from windows(source, MarkdownParser().parse, cut_markdown)


class TextFormat(FileFormat):
    """Whatever can be read as text and is nothing else."""

    name = "text"
    suffixes = (".txt", ".text", ".rst")

    def resembles(self, head: bytes) -> bool:
        return looks_like_text(head)

    def apart(self, source: Source) -> bool:  # noqa: ARG002
        return False

    def segments(self, source: Source) -> Iterator[Segment]:
        from kedge.ingest.parse.text import TextParser

        yield from windows(source, TextParser().parse, cut_text)


class HtmlFormat(FileFormat):
    """The main content of a page, in one segment."""

    name = "html"
    suffixes = (".html", ".htm")
    media_types = ("text/html", "application/xhtml+xml")

    def resembles(self, head: bytes) -> bool:
        return _PAGE.match(head) is not None

    def segments(self, source: Source) -> Iterator[Segment]:
        from kedge.ingest.parse.html import decode_html, parse_html

        if source.size > MAX_HTML_BYTES:
            raise SourceTooLargeError(f"{source.name} is a page of over {MAX_HTML_BYTES:,} bytes.", hint="Split it.")
        text = source.text if source.text is not None else decode_html(source.read(), source.encoding, source.name)
        yield Segment(0, parse_html(text))


class PdfFormat(FileFormat):
    """The text layer of all pages, in one segment."""

    name = "pdf"
    suffixes = (".pdf",)
    media_types = ("application/pdf", "application/x-pdf")

    def claims(self, head: bytes) -> bool:
        return b"%PDF-" in head[:1024]

    def segments(self, source: Source) -> Iterator[Segment]:
        from kedge.ingest.parse.pdf import parse_pdf

        yield Segment(0, parse_pdf(source.content if isinstance(source.content, Path) else source.read()))


MARKDOWN, TEXT, HTML, PDF = MarkdownFormat(), TextFormat(), HtmlFormat(), PdfFormat()
