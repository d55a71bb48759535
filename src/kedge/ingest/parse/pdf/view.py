"""A page of a PDF as people see it: its picture, and where each character stands on it."""

from __future__ import annotations

import ctypes
import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pypdfium2
import pypdfium2.raw as pdfium

from kedge.core.errors import UnreadableError
from kedge.ingest.parse.pdf.read import open_pdf

UNITS = 100_000
"""Of a page's width and height, in which places are asked for."""
MOST_CHARACTERS = 100_000
_GAP = 0.6
"""Of its height, by which a character may stand apart from the one before it on the same line."""
Box = tuple[float, float, float, float]
"""Left, top, right and bottom, as shares of the page's width and height."""


@dataclass(frozen=True, slots=True)
class PagePicture:
    """A page as PNG."""

    png: bytes
    width: int
    height: int


@dataclass(frozen=True, slots=True)
class PageCharacters:
    """The characters of a page in the order of its file, each with its box where it has one."""

    pages: int
    width: float
    """In points, as it is shown."""
    height: float
    text: str
    boxes: tuple[Box | None, ...]


def page_picture(path: Path, number: int, width: int) -> PagePicture:
    """The page with this number, from 1 on, so many pixels wide. UnreadableError for a page that is not there."""
    document = open_pdf(path)
    try:
        page = _page(document, number)
        shown = page.render(scale=width / page.get_width(), rev_byteorder=True, prefer_bgrx=False)
        pixels = shown.to_numpy()[:, :, :3]
        return PagePicture(_png(np.ascontiguousarray(pixels)), shown.width, shown.height)
    finally:
        document.close()


def page_characters(path: Path, number: int) -> PageCharacters:
    """What stands where on the page. UnreadableError."""
    document = open_pdf(path)
    try:
        page = _page(document, number)
        held = page.get_textpage()
        count = min(pdfium.FPDFText_CountChars(held), MOST_CHARACTERS)
        codes = [pdfium.FPDFText_GetUnicode(held, index) for index in range(count)]
        boxes = tuple(_box(page, held, index) for index in range(count))
        text = "".join(chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else " " for code in codes)
        return PageCharacters(len(document), page.get_width(), page.get_height(), text, boxes)
    finally:
        document.close()


def lines_of(boxes: Sequence[Box | None]) -> list[Box]:
    """One box for each stretch of a line that the characters fill, in their order."""
    lines: list[Box] = []
    for box in boxes:
        if box is None:
            continue
        if lines and _goes_on(lines[-1], box):
            left, top, right, bottom = lines[-1]
            lines[-1] = (min(left, box[0]), min(top, box[1]), max(right, box[2]), max(bottom, box[3]))
        else:
            lines.append(box)
    return lines


def _goes_on(line: Box, box: Box) -> bool:
    height = max(line[3] - line[1], box[3] - box[1])
    overlap = min(line[3], box[3]) - max(line[1], box[1])
    return overlap > 0.4 * min(line[3] - line[1], box[3] - box[1]) and -height < box[0] - line[2] < 3 * _GAP * height


def _page(document: pypdfium2.PdfDocument, number: int) -> pypdfium2.PdfPage:
    if not 1 <= number <= len(document):
        raise UnreadableError(f"There is no page {number}.", hint=f"The document has {len(document)} pages.")
    return document[number - 1]


def _box(page: pypdfium2.PdfPage, held: pypdfium2.PdfTextPage, index: int) -> Box | None:
    box = pdfium.FS_RECTF()
    if not pdfium.FPDFText_GetLooseCharBox(held, index, box) or box.left == box.right:
        return None
    one, other = _shown(page, box.left, box.top), _shown(page, box.right, box.bottom)
    (left, right), (top, bottom) = sorted((one[0], other[0])), sorted((one[1], other[1]))
    return (left, top, right, bottom) if right > 0 and bottom > 0 and left < 1 and top < 1 else None


def _shown(page: pypdfium2.PdfPage, x: float, y: float) -> tuple[float, float]:
    """A point of the page as it is shown, turned and cropped, in shares of it."""
    across, down = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDF_PageToDevice(page, 0, 0, UNITS, UNITS, 0, x, y, across, down)
    return across.value / UNITS, down.value / UNITS


def _png(pixels: np.ndarray) -> bytes:
    """Without a picture library: three channels, or one where there is no colour."""
    grey = bool((pixels[:, :, 0] == pixels[:, :, 1]).all() and (pixels[:, :, 1] == pixels[:, :, 2]).all())
    shown = pixels[:, :, :1] if grey else pixels
    height, width, channels = shown.shape
    rows = shown.reshape(height, width * channels)
    filtered = np.zeros((height, width * channels + 1), np.uint8)
    filtered[:, 1:] = rows
    filtered[1:, 1:] -= rows[:-1]  # each row as its difference from the one above
    filtered[:, 0] = 2
    header = struct.pack(">IIBBBBB", width, height, 8, 0 if grey else 2, 0, 0, 0)
    body = zlib.compress(filtered.tobytes(), 6)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", body) + _chunk(b"IEND", b"")


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
