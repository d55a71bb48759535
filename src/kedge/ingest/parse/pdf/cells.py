"""Words of a PDF line to cells: what stands close together, signs with the figures they belong to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from kedge.ingest.parse.pdf.page import Line
from kedge.ingest.parse.pdf.runs import PageWord

STRONG_GAP, WEAK_GAP = 1.5, 0.6
"""White space, in font sizes, that parts cells by itself, and where figures stand on its right."""
_FIGURE = re.compile(
    r"[^\w\s]{0,4}\d[\d.,:/×–−-]{0,24}[^\w\s]{0,4}(?:[kKmMxXwW]|bn|pp|bps)?[^\w\s]{0,2}|[-–—†‡*✓✗×]{1,3}"
    r"|[$€£¥(]{1,2}[-–—]|n/?a|N/?A|n\.s\."
)
_YEAR = re.compile(r"(?:19|20)\d\d[,.]?")
_RANGE = re.compile(r"[<>≤≥]?\d{1,4}(?:[-–—]\d{1,4}|\+)?")
_LIST_MARK = re.compile(
    r"(?:\d{1,3}(?:\.\d{1,3})*[.):]?|[•●◦▪■‣∙·–—*-]|\((?:[a-zA-Z]|[ivxIVX]{1,4}|\d{1,3})\)|(?:Item|ITEM|Part|PART|Note)\s+\w{1,3}\.?)"
)
_SIGN_BEFORE = re.compile(r"[$€£¥(]{1,2}")
_SIGN_AFTER = re.compile(r"\)?%\)?|\)")
_CURRENCIES = frozenset("$€£¥")
_SIGN_REACH = 12.0
"""Font sizes over which a currency sign at the left of its column belongs to the figure at the right of it."""


@dataclass(frozen=True, slots=True)
class CellPart:
    """Words of a line that belong to one cell."""

    x0: float
    x1: float
    words: tuple[PageWord, ...]

    @property
    def text(self) -> str:
        return cell_text(self.words)

    @property
    def figure_x0(self) -> float:
        """Where it begins, a currency sign at the left of the column left out."""
        first, *others = self.words
        return others[0].x0 if others and first.text in _CURRENCIES else self.x0

    @property
    def middle(self) -> float:
        return (self.x0 + self.x1) / 2

    @property
    def is_figure(self) -> bool:
        """Whether it holds figures only, e.g. `0.59 (0.41–0.85)` or `$ 28,408`."""
        return all(_FIGURE.fullmatch(word.text) or _is_sign(word) for word in self.words)

    @property
    def is_year(self) -> bool:
        return all(_YEAR.fullmatch(word.text) for word in self.words)


def names_columns(parts: Sequence[CellPart]) -> bool:
    """Whether a row with a label has nothing but years, or but ranges such as `50–54` and `90+`, in its other cells."""
    values = [part.text for part in parts[1:]]
    ranges = all(_RANGE.fullmatch(value) for value in values) and sum(not value.isdigit() for value in values) > 1
    return len(values) > 1 and (ranges or all(part.is_year for part in parts[1:]))


def segments(line: Line, gap: float = WEAK_GAP) -> list[CellPart]:
    """The cells of a line where white space of `gap` font sizes parts them; a list's mark goes with its item."""
    reach = gap * line.size
    parts: list[list[PageWord]] = []
    for word in line.words:
        if parts and _belongs(parts[-1][-1], word, reach, line.size):
            parts[-1].append(word)
        else:
            parts.append([word])
    found = [_segment(part) for part in parts]
    if len(found) > 1 and _LIST_MARK.fullmatch(found[0].text) and not found[1].is_figure:
        found[:2] = [_segment([*found[0].words, *found[1].words])]
    return found


def cell_text(words: Iterable[PageWord]) -> str:
    """Words as one text, without the space that a page leaves between a figure and its sign."""
    text = last = ""
    for word in words:
        joined = _SIGN_BEFORE.fullmatch(last) or (_SIGN_AFTER.fullmatch(word.text) and _FIGURE.fullmatch(last))
        text += word.text if joined or not text else f" {word.text}"
        last = word.text
    return text


def is_strong(line: Line) -> bool:
    """Whether white space alone parts it into cells."""
    return len(segments(line, STRONG_GAP)) > 1


def has_figures(parts: Sequence[CellPart]) -> bool:
    """Whether it ends in two cells of figures or more, after something else."""
    return len(parts) > 2 and parts[-1].is_figure and parts[-2].is_figure


def _belongs(before: PageWord, word: PageWord, reach: float, size: float) -> bool:
    gap = word.x0 - before.x1
    if gap >= reach:
        if _SIGN_BEFORE.fullmatch(before.text):
            return gap < _SIGN_REACH * size and _FIGURE.fullmatch(word.text) is not None
        return (
            gap < STRONG_GAP * size
            and _SIGN_AFTER.fullmatch(word.text) is not None
            and _FIGURE.fullmatch(before.text) is not None
        )
    return word.text not in _CURRENCIES or _FIGURE.fullmatch(before.text) is None


def _is_sign(word: PageWord) -> bool:
    return _SIGN_BEFORE.fullmatch(word.text) is not None or _SIGN_AFTER.fullmatch(word.text) is not None


def _segment(words: Sequence[PageWord]) -> CellPart:
    return CellPart(words[0].x0, max(word.x1 for word in words), tuple(words))
