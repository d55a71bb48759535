"""What stands at the edges of many pages and is no text of theirs: running heads, running feet and page numbers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from kedge.ingest.parse.pdf.cells import STRONG_GAP, segments
from kedge.ingest.parse.pdf.page import Line

_EDGE_LINES = 3
_MARGIN = 0.12
_OFTEN, _LEAST = 0.3, 3
"""Share of the pages on which something has to stand, and how many at least."""
_PAGE_NUMBER = re.compile(
    r"(?:page)?[-–—|\s]*+(?:\d{1,4}|[ivxlc]{1,6})(?:\s*+(?:/|of)\s*+\d{1,4})?[-–—|\s]*+", re.IGNORECASE
)
_DIGITS = re.compile(r"\d+")
_NUMBER = re.compile(r"\d+|(?:^|(?<=\s))[ivxlc]{1,6}(?=\s|$)")
"""Of a page in a running head, a Roman one too."""
_SAME_HEIGHT = 0.6
"""Of the font size, twice what the middles of lines beside each other differ by at most."""
_NAME = 6
"""Letters of a part of a line that is a name: of the document, of its publisher."""


def drop_running_lines(pages: Sequence[list[Line]], heights: Sequence[float]) -> list[list[Line]]:
    """Without headers, footers and page numbers: what stands in the margins of many pages, figures apart.

    So does the outermost line with a part that stands there on many, or with the number of its page at one end.
    """
    margins = [_in_margin(lines, height) for lines, height in zip(pages, heights, strict=True)]
    outer = [_outermost(lines) for lines in margins]
    needed = max(_LEAST, round(len(pages) * _OFTEN))
    seen = Counter(shape for lines in margins for shape in {_shape(line.text) for line in lines})
    names = Counter(name for lines in outer for name in {name for line in lines for name in _names(line)})
    numbers = Counter(
        number - page for page, lines in enumerate(outer) for number in {n for line in lines for n in _numbers(line)}
    )
    dropped = {
        id(line)
        for lines in margins
        for line in lines
        if seen[_shape(line.text)] >= needed or _PAGE_NUMBER.fullmatch(line.text)
    }
    for page, lines in enumerate(outer):
        running = [
            line
            for line in lines
            if id(line) in dropped
            or any(names[name] >= needed for name in _names(line))
            or any(numbers[number - page] >= needed for number in _numbers(line))
        ]
        dropped |= {id(line) for line in lines if any(_beside(line, one) for one in running)}
    return [[line for line in lines if id(line) not in dropped] for lines in pages]


def _in_margin(lines: Sequence[Line], height: float) -> list[Line]:
    """The lines of a page near its upper or lower edge, and its very first and last if they hold a number."""
    ordered = sorted(lines, key=lambda line: -line.y1)
    top = [line for line in ordered[:_EDGE_LINES] if line.y0 > (1 - _MARGIN) * height]
    bottom = [line for line in ordered[-_EDGE_LINES:] if line.y1 < _MARGIN * height]
    outermost = [line for line in ordered[:1] + ordered[-1:] if _DIGITS.search(line.text)]
    return list({id(line): line for line in top + bottom + outermost}.values())


def _outermost(lines: Sequence[Line]) -> list[Line]:
    """The uppermost and the lowest of the lines in the margins, with those beside them."""
    ordered = sorted(lines, key=lambda line: -line.y1)
    return [line for line in lines if any(_beside(line, one) for one in ordered[:1] + ordered[-1:])]


def _beside(line: Line, other: Line) -> bool:
    """Whether two lines are on the same height."""
    return abs(line.y0 + line.y1 - other.y0 - other.y1) < _SAME_HEIGHT * max(line.size, other.size)


def _shape(text: str) -> str:
    return _NUMBER.sub("#", text.lower()).strip()


def _names(line: Line) -> Iterator[str]:
    """The parts of a line that wide gaps part, and that have letters enough."""
    parts = segments(line, STRONG_GAP)
    if len(parts) > 1:
        yield from (_shape(part.text) for part in parts if sum(map(str.isalpha, part.text)) >= _NAME)


def _numbers(line: Line) -> Iterator[int]:
    """The numbers at the left and the right end of a line."""
    ends = {line.words[0].text, line.words[-1].text}
    yield from (int(text) for text in ends if text.isdecimal() and len(text) < 5)
