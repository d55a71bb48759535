"""Columns of text on a PDF page: where the white strip between two lies, and in which order they are read.

A page says it by itself where both sides are prose; one of code, formulas or pictures is read as the others are.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from statistics import median

from kedge.ingest.parse.pdf.runs import Run, rows_of

_CAPTION = re.compile(r"(?:Table|TABLE|Tab\.|Figure|FIGURE|Fig\.) [A-Z]{0,2}\.?\d{1,3}[a-z]?[:.]")
_REACH = 80
"""Rows above and below a caption that may stand beside another's."""
_AGREEING, _SHARE = 2, 0.2
"""Pages with a gutter, and their share of all, from which on it is that of the document."""
_AWAY = 0.025
"""Share of a page's width by which the gutters of one document differ."""
_CROSSING = 0.02
"""Share of a page's runs that may lie across the gutter of its document."""
_ROWS, _BEGIN, _EDGE = 4, 0.25, 3.0
"""Lines of a side, the share of them that begin at the edge of its column, and points by which they may miss it."""


@dataclass(frozen=True, slots=True)
class Gutter:
    """The white strip between two columns of text."""

    at: float
    left: float
    right: float
    """Where the lines of either column begin."""


def reading_order(runs: list[Run], gutter: Gutter | None) -> list[list[Run]]:
    """Groups of runs as they are read: the page itself, or bands of left and right column under what spans both."""
    if gutter is None:
        return _beside_each_other(runs) if runs else []
    return _parted(runs, gutter.at)


def shared_gutter(found: Sequence[Gutter | None], width: float) -> Gutter | None:
    """Where the pages of a document that say so have their gutter; None where they are few or do not agree."""
    own = [gutter for gutter in found if gutter is not None]
    if len(own) < max(_AGREEING, _SHARE * len(found)):
        return None
    middle = median(gutter.at for gutter in own)
    near = [gutter for gutter in own if abs(gutter.at - middle) < _AWAY * width]
    if 3 * len(near) < 2 * len(own):
        return None
    return Gutter(middle, *(median(edges) for edges in zip(*((one.left, one.right) for one in near), strict=True)))


def fitted(runs: Sequence[Run], gutter: Gutter, width: float) -> Gutter | None:
    """The gutter of the document as it is on a page of code, formulas and pictures; None where the page has none.

    Next to nothing lies across it, and on both sides lines begin where those of the columns do.
    """
    tries = [gutter.at + _AWAY * width * step / 5 for step in range(-5, 6)]
    crossing = [sum(run.x0 + 2 < x < run.x1 - 2 for run in runs) for x in tries]
    least = min(crossing)
    strip = [x for x, count in zip(tries, crossing, strict=True) if count == least]
    at = strip[len(strip) // 2]
    left, right = _sides(runs, at)
    if least > _CROSSING * len(runs) or not (_keeps(left, gutter.left) and _keeps(right, gutter.right)):
        return None
    return Gutter(at, gutter.left, gutter.right)


def _keeps(runs: Sequence[Run], edge: float) -> bool:
    """Whether lines of a side begin at the edge of its column."""
    starts = [row[0].x0 for row in rows_of(runs)]
    return len(starts) >= _ROWS and sum(abs(x - edge) < _EDGE for x in starts) >= _BEGIN * len(starts)


def _parted(runs: list[Run], gutter: float) -> list[list[Run]]:
    """Bands of left and right column, and what spans both."""
    spanning = _across(rows_of(runs), gutter)
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
    rows = rows_of(runs)
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


def gutter_of(runs: Sequence[Run], width: float) -> Gutter | None:
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
    left, right = _sides(runs, gutter)
    if least > 0.3 * len(runs) or not (_is_prose(left) and _is_prose(right)):
        return None
    return Gutter(gutter, _edge(left), _edge(right))


def _sides(runs: Sequence[Run], gutter: float) -> tuple[list[Run], list[Run]]:
    return [run for run in runs if run.x1 <= gutter + 2], [run for run in runs if run.x0 >= gutter - 2]


def _edge(runs: Sequence[Run]) -> float:
    """Where most lines of a column begin."""
    return float(Counter(round(row[0].x0) for row in rows_of(runs)).most_common(1)[0][0])


def _is_prose(runs: Sequence[Run]) -> bool:
    """Whether most rows fill the column with words, as text does and a table's cells do not; code is left out."""
    runs = [run for run in runs if not run.even]
    rows = rows_of(runs)
    if len(rows) < 6 or sum(map(_is_numeric, runs)) > 0.5 * len(runs):
        return False
    wide = max(run.x1 for run in runs) - min(run.x0 for run in runs)
    return median(sum(run.x1 - run.x0 for run in row) for row in rows) > 0.6 * wide


def _is_numeric(run: Run) -> bool:
    return not any(letter.isalpha() for word in run.words for letter in word.text)
