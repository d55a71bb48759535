"""The characters of a PDF page to runs: what stands close together on one line, with its size and font."""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import pypdfium2.raw as pdfium

_RUN_GAP = 1.5
"""Gap, in font sizes, that separates table cells and columns."""
_HYPHENS = frozenset((0x02, 0xFFFE, 0xAD))
_UNNAMED = {
    0x10: "“", 0x11: "”", 0x15: "–", 0x16: "—", 0x1B: "ff", 0x1C: "fi", 0x1D: "fl", 0x1E: "ffi", 0x1F: "ffl",
    0x0F: "•", 0x88: "•", 0xF0A7: "▪", 0xF0B7: "•", 0xF0D8: "•", 0xF0FC: "✓",
}  # fmt: skip
"""Letters of fonts that do not say what they stand for: TeX's ligatures, quotes and dashes, bullets of symbol fonts."""
_SYMBOLS = (b"CMEX", b"CMSY", b"MSAM", b"MSBM")
"""Fonts of formulas, where the codes below 32 are others."""
_BOLD = (b"Bold", b"bold", b"Black", b"Semibold", b"Medi", b"CMBX", b"BX1")
_PLAIN = (b"Regular", b"Light", b"Book")
_EVEN = (
    b"Mono", b"mono", b"Courier", b"CMTT", b"CMSLTT", b"CMITT", b"SFTT", b"Consol", b"Menlo", b"Typewriter",
    b"NimMon", b"NimbusMon",
)  # fmt: skip
_NARROW = sum(1 << ord(letter) for letter in "fijlrtI1")
_WIDE = sum(1 << ord(letter) for letter in "mwMW")
"""Letters, each a bit, that are as wide as each other in fonts of code alone."""
_SAME_WIDTH = 0.03
"""Share of the font size by which the widths of letters of one font differ where they are the same."""
_ASKED = 8
"""Characters of a run whose font is looked up."""


@dataclass(slots=True)
class PageWord:
    """Characters without a space between them."""

    x0: float
    x1: float
    text: str


@dataclass(slots=True)
class Run:
    """Characters of one font that stand close together on one line."""

    x0: float
    x1: float
    y0: float
    y1: float
    size: float
    bold: bool = False
    guessed: bool = False
    """Whether it is bold by the weight of its stems alone."""
    turned: bool = False
    even: bool = False
    """Whether all letters are as wide as each other, as in code."""
    least: float = math.inf
    most: float = 0.0
    """Widths of the narrowest and the widest of its letters and figures."""
    letters: int = 0
    """Which letters and figures of ASCII it has, each a bit."""
    first: int = 0
    last: int = 0
    """Indices of the first and the last character."""
    words: list[PageWord] = field(default_factory=list)


def read_runs(page: object) -> list[Run]:
    """Runs of a text page (a pdfium handle) in the order of its file, without those that are turned."""
    runs = [run for run in _runs(page) if run.words and not run.turned]
    for run in runs:
        run.even = _is_even(run, run.even and _is_code_font(page, run))
        run.bold = run.bold and _is_bold(page, run.last, run.even)
        run.guessed = run.bold and not _is_named(_font(page, run.last), _BOLD)
    _even_out(runs)
    return runs


def rows_of(runs: Sequence[Run]) -> list[list[Run]]:
    """Runs on the same height together, rows from the top, runs from the left."""
    rows: list[list[Run]] = []
    for run in sorted(runs, key=lambda run: -(run.y0 + run.y1)):
        middle = (run.y0 + run.y1) / 2
        anchor = rows[-1][0] if rows else None
        if anchor and abs(middle - (anchor.y0 + anchor.y1) / 2) < 0.5 * max(anchor.size, run.size):
            rows[-1].append(run)
        else:
            rows.append([run])
    return [sorted(row, key=lambda run: run.x0) for row in rows]


def _is_code_font(page: object, run: Run) -> bool:
    """Whether the fonts of a run are, by their names, those of code: some characters of it are asked."""
    step = max((run.last - run.first) // _ASKED, 1)
    return all(_is_named(_font(page, index), _EVEN) for index in range(run.last, run.first, -step))


def _is_even(run: Run, named: bool) -> bool:
    """By its font's name, else by letters that are as wide as each other there alone."""
    same = run.most - run.least <= _SAME_WIDTH * run.size
    return named or bool(same and run.letters & _NARROW and run.letters & _WIDE)


def _even_out(runs: Sequence[Run]) -> None:
    """What has too few letters to say, such as figures, is as even as others on the page with letters of its width."""
    known = {(round(run.size), round(_wide(run), 2)) for run in runs if run.even and run.letters}
    for run in runs:
        if run.letters and not run.even and run.most - run.least <= _SAME_WIDTH * run.size:
            size, wide = round(run.size), round(_wide(run), 2)
            run.even = any((size, round(wide + step, 2)) in known for step in (-0.01, 0.0, 0.01))


def _wide(run: Run) -> float:
    return (run.least + run.most) / (2 * run.size) if run.size else 0.0


def _runs(page: object) -> Iterator[Run]:
    box = pdfium.FS_RECTF()
    run: Run | None = None
    space = False
    for index in range(pdfium.FPDFText_CountChars(page)):
        code = pdfium.FPDFText_GetUnicode(page, index)
        if code in (10, 13):
            if run:
                yield run
            run = None
        elif code in (9, 32, 0xA0):
            space = True
        elif code >= 32 or code in _HYPHENS or (code in _UNNAMED and _is_unnamed(page, index)):
            if not pdfium.FPDFText_GetLooseCharBox(page, index, box):
                continue
            size = _size(page, index, box)
            if run and not _continues(run, box, size):
                yield run
                run = None
            if run is None:
                run, space = _new_run(page, index, box, size), False
            run.last = index
            if 48 <= code <= 57 or 65 <= code <= 90 or 97 <= code <= 122:
                wide = box.right - box.left
                run.least, run.most = min(run.least, wide), max(run.most, wide)
                run.letters |= 1 << code
            _extend(run, "-" if code in _HYPHENS else _letter(code), space, box)
            space = False
    if run:
        yield run


def _new_run(page: object, index: int, box: pdfium.FS_RECTF, size: float) -> Run:
    turned = abs(math.sin(pdfium.FPDFText_GetCharAngle(page, index))) > 0.3
    even = _is_named(_font(page, index), _EVEN)
    return Run(
        box.left,
        box.right,
        box.bottom,
        box.top,
        size,
        _is_bold(page, index),
        turned=turned,
        even=even,
        first=index,
        last=index,
    )


def _is_unnamed(page: object, index: int) -> bool:
    """Whether a code below 32 is a letter: in a font of text, small letters near it, or figures beside a dash."""
    code = pdfium.FPDFText_GetUnicode(page, index)
    near = [pdfium.FPDFText_GetUnicode(page, index + step) for step in (-2, -1, 1, 2)]
    plain = any(0x61 <= one <= 0x7A or (code == 0x15 and 0x30 <= one <= 0x39) for one in near)
    return (plain or code == 0x0F) and not _is_named(_font(page, index), _SYMBOLS)


def _letter(code: int) -> str:
    if code in _UNNAMED:
        return _UNNAMED[code]
    return "" if 0xD800 <= code <= 0xDFFF or code > 0x10FFFF or 0x7F <= code < 0xA0 else chr(code)


def _size(page: object, index: int, box: pdfium.FS_RECTF) -> float:
    """Height as drawn: some writers set size 1 and scale by matrix."""
    size = float(pdfium.FPDFText_GetFontSize(page, index))
    height = box.top - box.bottom
    return height if size <= 2 or size > 4 * height > 0 else size


def _is_bold(page: object, index: int, even: bool = False) -> bool:
    """By the font's name, else by the weight that its stems suggest, which is wrong for some plain fonts.

    It is so for those of code: they are bold by their name alone.
    """
    name = _font(page, index)
    if _is_named(name, _BOLD):
        return True
    return not even and not _is_named(name, _PLAIN) and bool(pdfium.FPDFText_GetFontWeight(page, index) >= 600)


def _font(page: object, index: int) -> bytes:
    name = ctypes.create_string_buffer(128)
    pdfium.FPDFText_GetFontInfo(page, index, name, 128, None)
    return name.value


def _is_named(name: bytes, words: Sequence[bytes]) -> bool:
    return any(word in name for word in words)


def _continues(run: Run, box: pdfium.FS_RECTF, size: float) -> bool:
    middle, own = (box.top + box.bottom) / 2, (run.y0 + run.y1) / 2
    em = max(run.size, size)
    gap = float(box.left - run.x1)
    return bool(abs(middle - own) < 0.6 * em) and -0.5 * em < gap < _RUN_GAP * em


def _extend(run: Run, letter: str, space: bool, box: pdfium.FS_RECTF) -> None:
    starts = space or not run.words or box.left - run.x1 > 0.3 * run.size
    run.x1 = max(run.x1, box.right)
    if not starts:
        word = run.words[-1]
        word.text += letter
        word.x1 = run.x1
    elif letter:
        run.words.append(PageWord(box.left, box.right, letter))
