"""One PDF page to lines: characters → words → runs → rows → columns in reading order."""

from __future__ import annotations

import ctypes
import math
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, groupby, pairwise
from statistics import median

import pypdfium2.raw as pdfium

_RUN_GAP = 1.5
"""Gap, in font sizes, that separates table cells and columns."""
_CAPTION = re.compile(r"(?:Table|TABLE|Tab\.|Figure|FIGURE|Fig\.) [A-Z]{0,2}\.?\d{1,3}[a-z]?[:.]")
_REACH = 80
"""Rows above and below a caption that may stand beside another's."""
_HYPHENS = frozenset((0x02, 0xFFFE, 0xAD))
_PLOTTED = frozenset("●○▲△■□◆◇ ")
"""Marks of a plot, which say nothing."""
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


@dataclass(frozen=True, slots=True)
class Line:
    """A row of words within one column, or a row of a table that was found."""

    text: str
    words: tuple[PageWord, ...]
    x0: float
    x1: float
    y0: float
    y1: float
    size: float
    bold: bool
    column: tuple[float, float]
    """Left and right edge of the column it stands in."""
    table: int = 0
    """Which table of the page it is a row of, from 1; its text parts the cells by `|`."""
    gapped: bool = False
    """Whether wide gaps part it like a row, though it is of no table: no line of a paragraph."""
    even: bool = False
    """Whether all its letters are as wide as each other, as in code."""
    code: bool = False
    """Whether it is of a stretch of code."""


def read_lines(page: object, width: float) -> list[Line]:
    """Lines of a text page (a pdfium handle) in reading order."""
    runs = [run for run in _runs(page) if run.words and not run.turned]
    for run in runs:
        run.even = _is_even(run, run.even and _is_code_font(page, run))
        run.bold = run.bold and _is_bold(page, run.last, run.even)
    _even_out(runs)
    return in_lines(runs, width)


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


def in_lines(runs: list[Run], width: float) -> list[Line]:
    """Runs put together to lines in reading order."""
    lines: list[Line] = []
    for column in _columns(runs, width):
        edges = (min(run.x0 for run in column), max(run.x1 for run in column))
        lines.extend(_line(row, edges) for row in _rows(column))
    return [line for line in lines if not _PLOTTED.issuperset(line.text)]


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
        box.left, box.right, box.bottom, box.top, size, _is_bold(page, index), turned, even, first=index, last=index
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


def _rows(runs: Sequence[Run]) -> list[list[Run]]:
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


def _columns(runs: list[Run], width: float) -> list[list[Run]]:
    """Groups of runs in reading order: the page itself, or bands of left and right column under what spans both."""
    gutter = _gutter(runs, width)
    if gutter is None:
        return _beside_each_other(runs) if runs else []
    spanning = _across(_rows(runs), gutter)
    wide = {id(run) for row in spanning for run in row}
    heights = [sum(run.y0 + run.y1 for run in row) / (2 * len(row)) for row in spanning]
    groups: dict[tuple[int, int], list[Run]] = {}
    for run in runs:
        middle = (run.y0 + run.y1) / 2
        if id(run) not in wide:
            band = sum(height > middle for height in heights)
            groups.setdefault((band, 0 if run.x1 <= gutter + 2 else 1), []).append(run)
    for number, row in enumerate(spanning):
        groups.setdefault((number, 2), []).extend(row)
    return _joined_spans(groups)


def _across(rows: Sequence[list[Run]], gutter: float) -> list[list[Run]]:
    """The rows that lie across the gutter, and those of a table between them whose gap lies there by chance."""
    crossing = [any(run.x0 < gutter - 2 and run.x1 > gutter + 2 for run in row) for row in rows]
    figures = [
        any(run.x1 <= gutter + 2 for run in row)
        and any(run.x0 >= gutter - 2 for run in row)
        and all(_is_numeric(run) for run in row if run.x0 >= gutter - 2)
        for row in rows
    ]
    return [
        row
        for at, row in enumerate(rows)
        if crossing[at] or (figures[at] and any(crossing[max(at - 3, 0) : at + 4] + figures[max(at - 2, 0) : at]))
    ]


def _beside_each_other(runs: list[Run]) -> list[list[Run]]:
    """Groups of one column where tables or figures with a caption each stand side by side, the left one first."""
    rows = _rows(runs)
    left = min(run.x0 for run in runs)
    wide = max(run.x1 for run in runs) - left
    groups: list[list[Run]] = []
    done = 0
    for at, row in enumerate(rows):
        caption = next((run for run in row if run.x0 > left + 0.2 * wide and _CAPTION.match(_opening(run))), None)
        if caption is None or at < done:
            continue
        edge = caption.x0 - 0.5 * caption.size
        first, last = at, _caption_end(rows, at, edge)
        while first > max(done, at - _REACH) and not _crossed(rows[first - 1], edge):
            first -= 1
        beside = _flat(rows[first : last + 1])
        if any(run.x0 < edge and _CAPTION.match(_opening(run)) for run in beside):
            groups.append(_flat(rows[done:first]))
            groups.append([run for run in beside if run.x0 < edge])
            groups.append([run for run in beside if run.x0 >= edge])
            done = last + 1
    groups.append(_flat(rows[done:]))
    return [group for group in groups if group] if done else [runs]


def _flat(rows: Sequence[list[Run]]) -> list[Run]:
    return [run for row in rows for run in row]


def _caption_end(rows: Sequence[list[Run]], at: int, edge: float) -> int:
    """The last row beside or below a caption at the right of an edge that belongs to it, or to what is left of it."""
    seen = rows[at][-1]
    end = min(len(rows), at + _REACH)
    while at + 1 < end and not _crossed(rows[at + 1], edge):
        row = rows[at + 1]
        if _drop(rows[at][0], row[0]) > 1.5 * max(rows[at][0].size, row[0].size):
            break
        if row[-1].x0 >= edge:
            if _drop(seen, row[-1]) > 1.5 * seen.size:
                break
            seen = row[-1]
        at += 1
    return at


def _drop(upper: Run, lower: Run) -> float:
    return (upper.y0 + upper.y1 - lower.y0 - lower.y1) / 2


def _opening(run: Run) -> str:
    return " ".join(word.text for word in run.words[:3])


def _crossed(row: Sequence[Run], x: float) -> bool:
    return any(run.x0 < x - 1 and run.x1 > x + 1 for run in row)


def _joined_spans(groups: dict[tuple[int, int], list[Run]]) -> list[list[Run]]:
    """Spanning rows with nothing between them are one group, so that their lines can form a paragraph."""
    ordered: list[list[Run]] = []
    last_side = -1
    for _, side in sorted(groups):
        runs = groups[_, side]
        if side == 2 and last_side == 2:
            ordered[-1].extend(runs)
        else:
            ordered.append(list(runs))
        last_side = side
    return ordered


def _gutter(runs: Sequence[Run], width: float) -> float | None:
    """Where the white strip between two text columns lies; None on pages of one column and on tables."""
    if len(runs) < 20:
        return None
    tries = [width * (0.25 + 0.5 * step / 100) for step in range(101)]
    steps = [0] * (len(tries) + 1)
    for run in runs:
        first, behind = bisect_right(tries, run.x0 + 2), bisect_left(tries, run.x1 - 2)
        if first < behind:
            steps[first] += 1
            steps[behind] -= 1
    crossing = list(accumulate(steps[:-1]))
    least = min(crossing)
    strips = [list(strip) for count, strip in groupby(range(len(tries)), key=crossing.__getitem__) if count == least]
    strip = max(strips, key=len)
    gutter = tries[strip[len(strip) // 2]]
    left = [run for run in runs if run.x1 <= gutter + 2]
    right = [run for run in runs if run.x0 >= gutter - 2]
    if least > 0.3 * len(runs) or not (_is_prose(left) and _is_prose(right)):
        return None
    return gutter


def _is_prose(runs: Sequence[Run]) -> bool:
    """Whether most rows fill the column with words, as text does and a table's cells do not."""
    rows = _rows(runs)
    if len(rows) < 6 or sum(map(_is_numeric, runs)) > 0.5 * len(runs):
        return False
    wide = max(run.x1 for run in runs) - min(run.x0 for run in runs)
    return median(sum(run.x1 - run.x0 for run in row) for row in rows) > 0.6 * wide


def _is_numeric(run: Run) -> bool:
    return not any(letter.isalpha() for word in run.words for letter in word.text)


def _line(row: Sequence[Run], column: tuple[float, float]) -> Line:
    main = max(row, key=lambda run: sum(len(word.text) for word in run.words))
    words = _words(row)
    return Line(
        text=" ".join(word.text for word in words),
        words=words,
        x0=row[0].x0,
        x1=max(run.x1 for run in row),
        y0=min(run.y0 for run in row),
        y1=max(run.y1 for run in row),
        size=main.size,
        bold=all(run.bold for run in row),
        column=column,
        even=any(run.even for run in row) and all(run.even or not run.letters for run in row),
    )


def _words(row: Sequence[Run]) -> tuple[PageWord, ...]:
    """Words of a row; those of two fonts that touch, such as small capitals after a large one, are one."""
    if len(row) == 1:
        return tuple(row[0].words)
    placed = [(word, run) for run in row for word in run.words]
    if any(run.x0 < before.x1 - 0.3 * run.size for before, run in pairwise(row)):
        placed.sort(key=lambda pair: pair[0].x0)  # a footnote's mark stands within the run around it
    words = [placed[0][0]]
    for (_, before), (word, run) in pairwise(placed):
        last = words[-1]
        if run is before or word.x0 - last.x1 > 0.15 * run.size:
            words.append(word)
        else:
            words[-1] = PageWord(last.x0, max(last.x1, word.x1), last.text + word.text)
    return tuple(words)
