"""Parsers: bytes of one format to a `ParsedDocument`."""

from __future__ import annotations

from pathlib import Path

from kedge.errors import EmptySourceError
from kedge.ingest.parse.decode import decode
from kedge.ingest.parse.formats import detect_format, readable_name
from kedge.ingest.parse.html import declared_charset, parse_html
from kedge.ingest.parse.markdown import parse_markdown
from kedge.ingest.parse.text import parse_text
from kedge.types import Format, ParsedDocument

__all__ = ["decode_html", "detect_format", "parse", "readable_name"]


def parse(
    data: bytes | Path, format: Format, *, encoding: str | None = None, name: str = "The source"
) -> ParsedDocument:
    """A whole source at once. Raises the SourceFault that says what is wrong with it."""
    if format is Format.PDF:
        from kedge.ingest.parse.pdf import parse_pdf  # a third of a second, for who has PDFs alone

        return parse_pdf(data)
    raw = data.read_bytes() if isinstance(data, Path) else data
    if format is Format.HTML:
        return parse_html(decode_html(raw, encoding, name))
    text = decode(raw, encoding, name)
    document = parse_markdown(text) if format is Format.MARKDOWN else parse_text(text)
    if not document.blocks:
        raise EmptySourceError(f"{name} holds no text.", hint="Remove it, or fill it and ingest again.")
    return document


def decode_html(data: bytes, encoding: str | None = None, name: str = "The source") -> str:
    """A page as text; what it declares about itself is used when it is not UTF-8."""
    if encoding is None:
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            encoding = declared_charset(data)
            if encoding and encoding.lower().replace("-", "") == "utf8":
                encoding = None
            if encoding and encoding.lower() in ("iso-8859-1", "latin1", "ascii", "us-ascii"):
                encoding = "cp1252"
    return decode(data, encoding, name)
