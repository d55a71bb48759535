"""Plots on a PDF page, known by the ticks of their axes: figures beside these are no text, and words are labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kedge.ingest.parse.pdf.cells import WEAK_GAP
from kedge.ingest.parse.pdf.headers import PageRules
from kedge.ingest.parse.pdf.page import Line
from kedge.ingest.parse.pdf.runs import PageWord

Box = tuple[float, float, float, float]
_TICK = 12.0
"""Points that a tick is long at most."""
_TICKS, _MOST_AXES = 3, 12
"""Ticks of an axis, and axes of a page, in either direction, that are looked at."""
_NEAR = 60.0
"""Points between the end of one axis and the line of the other."""
_TOUCH = 2.0
"""Points by which a tick may miss the line of its axis."""
_BELOW, _ABOVE = 50.0, 14.0
"""Points at the left of a plot and below it, and at its right and above it, where its labels stand."""
_LABEL = 60
"""Letters of the longest label."""


@dataclass(frozen=True, slots=True)
class _Axis:
    """Ticks side by side: where they begin and end, and from where to where they are spread."""

    at: float
    end: float
    first: float
    last: float


def with_plots(lines: Sequence[Line], rules: PageRules) -> tuple[list[Line], PageRules]:
    """The lines of a page without the figures on the axes of plots, their words marked as labels, and what else is
    drawn."""
    boxes = list(_plots(rules))
    if not boxes:
        return list(lines), rules
    made: list[Line] = []
    for line in lines:
        if not any(_is_of(line, box) for box in boxes):
            made.append(line)
            continue
        words = _worded(line)
        if words:
            made.append(replace(line, text=" ".join(words), label=True))
    return made, PageRules(_outside(rules.across, boxes), _outside(rules.down, boxes))


def _worded(line: Line) -> list[str]:
    """The words of a line, and what stands right behind one, such as a number in a name."""
    kept: list[PageWord] = []
    for word in line.words:
        near = bool(kept) and word.x0 - kept[-1].x1 < WEAK_GAP * line.size
        if near or any(map(str.isalpha, word.text)):
            kept.append(word)
    return [word.text for word in kept]


def _outside(rules: Sequence[Box], boxes: Sequence[Box]) -> tuple[Box, ...]:
    return tuple(
        rule
        for rule in rules
        if not any(
            box[0] <= (rule[0] + rule[2]) / 2 <= box[2] and box[1] <= (rule[1] + rule[3]) / 2 <= box[3] for box in boxes
        )
    )


def _plots(rules: PageRules) -> Iterator[Box]:
    """Where an axis with ticks across stands at the end of one with ticks upright."""
    lines = [((bottom + top) / 2, left, right) for left, bottom, right, top in rules.across if right - left > _TICK]
    walls = [((left + right) / 2, bottom, top) for left, bottom, right, top in rules.down if top - bottom > _TICK]
    upright = _axes((bottom, top, left) for left, bottom, _, top in rules.down if top - bottom < _TICK)
    across = _axes((left, right, bottom) for left, bottom, right, _ in rules.across if right - left < _TICK)
    across = [axis for axis in across if _is_drawn(axis, walls)]
    for low in [axis for axis in upright if _is_drawn(axis, lines)]:
        for side in across:
            beside = low.first - _NEAR < side.at < low.last + _NEAR
            above = low.at - _NEAR < side.first and side.last > low.end and side.first - low.end < _NEAR
            if beside and above:
                left, right = min(low.first, side.at), max(low.last, side.end)
                yield left - _BELOW, low.at - _BELOW, right + _ABOVE, side.last + _ABOVE


def _is_drawn(axis: _Axis, lines: Sequence[tuple[float, float, float]]) -> bool:
    """Whether a line joins the ticks at one of their ends."""
    return any(
        min(abs(at - axis.at), abs(at - axis.end)) < _TOUCH and start < axis.first + _TOUCH and end > axis.last - _TOUCH
        for at, start, end in lines
    )


def _axes(ticks: Iterator[tuple[float, float, float]]) -> list[_Axis]:
    """Ticks from the same place to the same, at three places or more."""
    found: dict[tuple[int, int], list[tuple[float, float, float]]] = {}
    for start, end, place in ticks:
        found.setdefault((round(start), round(end)), []).append((start, end, place))
    axes = [
        _Axis(several[0][0], several[0][1], min(places), max(places))
        for several in found.values()
        if len({round(place) for _, _, place in several}) >= _TICKS
        for places in [[place for _, _, place in several]]
    ]
    return axes[:_MOST_AXES]


def _is_of(line: Line, box: Box) -> bool:
    """Whether a line stands in a plot or beside it, and is as short as its labels are."""
    x, y = (line.x0 + line.x1) / 2, (line.y0 + line.y1) / 2
    around = box[0] <= x <= box[2] and box[1] <= y <= box[3]
    return around and len(line.text) <= _LABEL and line.x1 - line.x0 < box[2] - box[0]
