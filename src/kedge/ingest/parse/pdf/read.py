"""PDF to text and blocks, page by page, with layout rules; the text layer only, no pictures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pypdfium2
from pypdfium2 import raw

from kedge.core.errors import EncryptedError, NoTextLayerError, UnreadableError
from kedge.core.values import ParsedDocument
from kedge.ingest.parse.ocr import LONGEST_SIDE, lines_of
from kedge.ingest.parse.ocr_extra import OFFER, can_read_pictures
from kedge.ingest.parse.pdf.columns import gutter_of
from kedge.ingest.parse.pdf.document import ReadPage, document_of_pages
from kedge.ingest.parse.pdf.headers import NO_RULES
from kedge.ingest.parse.pdf.runs import read_runs
from kedge.ingest.parse.pdf.tables import read_rules
from kedge.ingest.telling import tell

_LEAST_LETTERS = 20
_SCAN_ANEW = "No words could be read in them: scan it anew at 200 to 300 dots an inch."
MAX_PICTURES = 500
"""Pages without text of one file that are read as pictures."""
MAX_RULES = 500_000
"""Drawn lines of one file that are kept until all pages are read; from there on tables are found by alignment alone."""


def parse_pdf(data: bytes | Path, *, tables: bool = True) -> ParsedDocument:
    """Blocks with their pages. Raises EncryptedError, NoTextLayerError or UnreadableError.

    `tables=False` leaves out ruled tables; those without lines are found anyway.
    """
    document = open_pdf(data)
    try:
        pages, warnings = _read_pages(document)
        properties = document.get_metadata_dict(skip_empty=True)
    finally:
        document.close()
    if sum(map(_letters, pages)) < _LEAST_LETTERS:
        where = f"its {len(pages)} pages" if len(pages) > 1 else "its only page"
        raise NoTextLayerError(
            f"The PDF has no text layer on {where}: it holds pictures of text.",
            hint=_SCAN_ANEW if can_read_pictures() else OFFER,
        )
    return document_of_pages(pages, properties, warnings, tables=tables)


def _letters(page: ReadPage) -> int:
    return sum(len(line.text) for line in page.lines) + sum(len(word.text) for run in page.runs for word in run.words)


def open_pdf(data: bytes | Path) -> pypdfium2.PdfDocument:
    """The document with at least one page. Raises EncryptedError or UnreadableError."""
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


def _read_pages(document: pypdfium2.PdfDocument) -> tuple[list[ReadPage], list[str]]:
    """What was read of every page, and what was odd."""
    pages: list[ReadPage] = []
    warnings: list[str] = []
    pictures: list[int] = []
    count = len(document)
    read = can_read_pictures()
    room = MAX_RULES
    for number in range(count):
        scanned = False
        try:
            page = _read_page(document, number, room)
            room -= len(page.rules.across) + len(page.rules.down)
            if not page.runs and _has_picture(document, number):
                pictures.append(number + 1)
                scanned = read and len(pictures) <= MAX_PICTURES
                page = _read_picture(document, number) if scanned else page
        except pypdfium2.PdfiumError:
            warnings.append(f"Page {number + 1} is damaged and was left out.")
            page = ReadPage(0.0)
        pages.append(page)
        tell(number + 1, count, picture=scanned)
    unread = pictures[MAX_PICTURES:] if read else pictures
    if unread:
        warnings.append(f"No text on {_named(unread)}, but pictures. {'Split the file.' if read else OFFER}")
    return pages, warnings


def _read_picture(document: pypdfium2.PdfDocument, number: int) -> ReadPage:
    """The lines of a page that is a picture."""
    page = document[number]
    width, height = page.get_size()
    pixels = page.render(scale=LONGEST_SIDE / max(width, height)).to_numpy()
    lines = lines_of(pixels, width, height)
    page.close()
    return ReadPage(height, lines)


def _has_picture(document: pypdfium2.PdfDocument, number: int) -> bool:
    page = document[number]
    found = next(iter(page.get_objects(filter=[raw.FPDF_PAGEOBJ_IMAGE], max_depth=2)), None) is not None
    page.close()
    return found


def _named(pages: Sequence[int]) -> str:
    """`page 3`, `pages 2, 4–6`: what follows each other is put together."""
    runs: list[list[int]] = []
    for page in pages:
        if runs and page == runs[-1][-1] + 1:
            runs[-1].append(page)
        else:
            runs.append([page])
    told = ", ".join(f"{run[0]}–{run[-1]}" if len(run) > 1 else str(run[0]) for run in runs)
    return f"page{'s' if len(pages) > 1 else ''} {told}"


def _read_page(document: pypdfium2.PdfDocument, number: int, room: int) -> ReadPage:
    """The words of a page, and what is drawn on it as long as there is room for it."""
    page = document[number]
    text = page.get_textpage()
    width, height = map(float, page.get_size())
    runs = read_runs(text.raw)
    rules = read_rules(page) if runs and room > 0 else NO_RULES
    text.close()
    page.close()
    return ReadPage(height, rules=rules, width=width, runs=runs, gutter=gutter_of(runs, width))
