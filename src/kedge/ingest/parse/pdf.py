"""PDF to text and blocks, page by page, with layout rules; the text layer only, no pictures."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import pypdfium2
from pypdfium2 import raw

from kedge.core.errors import EncryptedError, NoTextLayerError, UnreadableError
from kedge.core.values import Block, BlockKind, Json, ParsedDocument
from kedge.ingest.parse.pdf_grid import with_grids
from kedge.ingest.parse.pdf_layout import LayoutPart, body_size, drop_running_lines, join_broken, page_parts
from kedge.ingest.parse.pdf_page import Line, read_lines
from kedge.ingest.parse.pdf_tables import TableFinder, read_rules
from kedge.ingest.parse.sections import Sections

_PROPERTIES = {"Author": "author", "Subject": "subject", "Keywords": "keywords", "CreationDate": "created"}
_NO_TITLE = re.compile(r"untitled|microsoft (?:word|powerpoint)|\.(?:docx?|pdf|tex|dvi|indd|pptx?)\b", re.IGNORECASE)
_LEAST_LETTERS = 20
_FULL_PAGE = 800
"""Letters of text on a page whose own usual font size counts, as appendices often have another."""


def parse_pdf(data: bytes | Path, *, tables: bool = True) -> ParsedDocument:
    """Blocks with their pages. Raises EncryptedError, NoTextLayerError or UnreadableError.

    `tables=False` leaves out the slow search for ruled tables; those without lines are found anyway.
    """
    document = _open(data)
    try:
        pages, heights, warnings = _read_pages(document, TableFinder(data) if tables else None)
        properties = document.get_metadata_dict(skip_empty=True)
    finally:
        document.close()
    if sum(len(line.text) for lines in pages for line in lines) < _LEAST_LETTERS:
        raise NoTextLayerError(
            f"The PDF has no text layer on its {len(pages)} pages: it holds pictures of text.",
            hint="Run OCR over it first, for instance with ocrmypdf, and ingest the result.",
        )
    return _document(drop_running_lines(pages, heights), properties, warnings)


def _open(data: bytes | Path) -> pypdfium2.PdfDocument:
    try:
        document = pypdfium2.PdfDocument(data)
        if len(document) == 0:
            raise UnreadableError("The PDF has no pages.", hint="Make it anew or leave it out.")
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) in (raw.FPDF_ERR_PASSWORD, raw.FPDF_ERR_SECURITY):
            raise EncryptedError(
                "The PDF wants a password.", hint="Save a copy without a password and ingest that."
            ) from error
        raise UnreadableError("The PDF is damaged or none at all.", hint="Download or make it anew.") from error
    return document


def _read_pages(
    document: pypdfium2.PdfDocument, finder: TableFinder | None
) -> tuple[list[list[Line]], list[float], list[str]]:
    """Lines and height of every page, and what was odd."""
    pages: list[list[Line]] = []
    heights: list[float] = []
    warnings: list[str] = []
    for number in range(len(document)):
        try:
            lines, height = _read_page(document, number, finder)
        except pypdfium2.PdfiumError:
            warnings.append(f"Page {number + 1} is damaged and was left out.")
            lines, height = [], 0.0
        pages.append(lines)
        heights.append(height)
    return pages, heights, warnings + (finder.warnings if finder else [])


def _read_page(document: pypdfium2.PdfDocument, number: int, finder: TableFinder | None) -> tuple[list[Line], float]:
    page = document[number]
    text = page.get_textpage()
    lines = read_lines(text.raw, page.get_width())
    if lines:
        rules = read_rules(page)
        lines = with_grids(lines, rules)
        if finder is not None:
            lines = finder.with_tables(page, number, lines, rules)
    height = float(page.get_height())
    text.close()
    page.close()
    return lines, height


def _document(pages: list[list[Line]], properties: dict[str, str], warnings: list[str]) -> ParsedDocument:
    body = body_size(pages)
    parts: list[LayoutPart] = []
    for number, lines in enumerate(pages, 1):
        full = sum(len(line.text) for line in lines if not line.table) >= _FULL_PAGE
        parts.extend(page_parts(lines, number, body_size([lines]) if full else body))
    text, blocks = _assemble(join_broken(parts))
    metadata: dict[str, Json] = {key: properties[name] for name, key in _PROPERTIES.items() if properties.get(name)}
    metadata["pages"] = len(pages)
    return ParsedDocument(
        text=text,
        blocks=tuple(blocks),
        title=_property_title(properties) or _largest_text(pages[0], body),
        author=properties.get("Author", "").strip() or None,
        metadata=metadata,
        warnings=tuple(warnings),
    )


def _assemble(parts: Sequence[LayoutPart]) -> tuple[str, list[Block]]:
    sections = Sections()
    texts: list[str] = []
    blocks: list[Block] = []
    at = 0
    for part in parts:
        if part.kind is BlockKind.HEADING:
            sections.enter(part.level, part.text)
        texts.append(part.text)
        blocks.append(Block(part.kind, at, at + len(part.text), sections.path, part.page, part.level))
        at += len(part.text) + 2
    return "\n\n".join(texts), blocks


def _property_title(properties: dict[str, str]) -> str | None:
    """The title in the file's properties, unless it is a file name, a number or a word processor's stopgap."""
    title = " ".join(properties.get("Title", "").split())
    words = re.findall(r"[^\W\d_]{2,}", title)
    return title if len(words) >= 2 and not _NO_TITLE.search(title) and "_" not in title else None


def _largest_text(lines: Sequence[Line], body: float) -> str | None:
    """The lines of the largest font on the first page, as far as they stand together."""
    worded = [line for line in lines if sum(letter.isalpha() for letter in line.text) >= 4]
    if not worded:
        return None
    largest = max(line.size for line in worded)
    if largest < 1.15 * body:
        return None
    first = next(number for number, line in enumerate(worded) if line.size > 0.95 * largest)
    title: list[str] = []
    for line in worded[first:]:
        if line.size <= 0.95 * largest or len(title) == 4:
            break
        title.append(line.text)
    return " ".join(title)[:200]
