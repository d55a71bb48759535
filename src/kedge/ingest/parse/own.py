"""The formats of text that Kedge itself reads: markdown, reStructuredText, plain text, HTML and PDF.

Their parsers load on first use.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from kedge.core.errors import SourceTooLargeError
from kedge.ingest.parse.decode import decode, looks_like_text
from kedge.ingest.parse.ports import FileFormat, Segment
from kedge.ingest.parse.windows import cut_markdown, cut_text, windows

if TYPE_CHECKING:
    from kedge.ingest.sources.source import Source

MAX_HTML_BYTES = 64 << 20
"""A page is read as a tree, in one piece."""
MAX_RST_BYTES = 16 << 20
"""A text of reStructuredText is read as a tree too."""
MARKDOWN_APART = TEXT_APART = 1 << 16
"""Bytes from which on a text is read in another process; what is shorter is read here, in bounded time."""
_PAGE = re.compile(
    rb"\A(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|body)\b",
    re.IGNORECASE | re.DOTALL,
)


_RST_SIGNS = (
    (2, re.compile(r"^\s{0,8}\.\. [a-z][\w:+-]*::(?:\s|$)", re.MULTILINE)),
    (2, re.compile(r"^\.\. _[^:\n]{1,80}:(?:\s|$)", re.MULTILINE)),
    (2, re.compile(r"(?<![\w:]):[a-z][a-z:+-]{1,30}:`[^`\n]{1,200}`")),
    (1, re.compile(r"^[^\s#>|*+-][^\n]{2,100}\n([=~^*\"'`#+-])\1{2,}[ \t]*$", re.MULTILINE)),
    (1, re.compile(r"(?<![`\w])``[^`\n]{1,200}``(?!`)")),
    (1, re.compile(r"`[^`<\n]{1,200}<[^>`\n]{1,300}>`_")),
)
"""What a text in reStructuredText has, and how much each says."""
_RST_ENOUGH = 3


def looks_like_rst(head: str) -> bool:
    """Whether the beginning of a text can only be reStructuredText."""
    return sum(weight for weight, sign in _RST_SIGNS if sign.search(head)) >= _RST_ENOUGH


def whole_text(source: Source, most: int, *, hint: str = "Split it.") -> str:
    """The decoded text of a source that is read in one piece. SourceTooLargeError for more than `most` bytes."""
    if source.size > most:
        raise SourceTooLargeError(f"{source.name} has over {most:,} bytes.", hint=hint)
    return source.text if source.text is not None else decode(source.read(), source.encoding, source.name)


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
    suffixes = (".txt", ".text")

    def resembles(self, head: bytes) -> bool:
        return looks_like_text(head)

    def apart(self, source: Source) -> bool:
        return source.size > TEXT_APART

    def segments(self, source: Source) -> Iterator[Segment]:
        from kedge.ingest.parse.text import TextParser

        yield from windows(source, TextParser().parse, cut_text)


class RstFormat(FileFormat):
    """reStructuredText, that of Sphinx too, in one segment; `.txt` files that look like it as well."""

    name = "rst"
    suffixes = (".rst", ".rest")
    shared = (".txt",)
    media_types = ("text/x-rst", "text/prs.fallenstein.rst")

    def resembles(self, head: bytes) -> bool:
        return looks_like_rst(head.decode("utf-8", "replace"))

    def segments(self, source: Source) -> Iterator[Segment]:
        from kedge.ingest.parse.rst import parse_rst

        yield Segment(0, parse_rst(whole_text(source, MAX_RST_BYTES)))


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
        from kedge.ingest.parse.pdf.read import parse_pdf

        yield Segment(0, parse_pdf(source.content if isinstance(source.content, Path) else source.read()))


MARKDOWN, TEXT, RST, HTML, PDF = MarkdownFormat(), TextFormat(), RstFormat(), HtmlFormat(), PdfFormat()
