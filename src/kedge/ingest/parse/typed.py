"""What was typed or printed in a font of code, in parts: tables with their columns, code between fences, plain lines.

A program prints a table by blanks: each figure ends below the end of its column's name, or begins below its beginning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import groupby

from kedge.core.values import BlockKind
from kedge.ingest.parse.listing import fenced, is_listing

_TOKEN = re.compile(r"\S+")
_FIGURE = re.compile(r"[<>~(\[]{0,2}[-+−]?[$€£]?\d(?:[\d.,:%/eE+−-]*[\d.%])?[)\],]{0,2}|NA|NaN|-?Inf|[-.]|<NA>")
_PLACE = re.compile(r"(?<![\d.])[\d.]+%|\[\d*(?:,\d*)?\]")
"""What names a column by figures: a share, or its place."""
_OUTPUT = re.compile(r"\s{0,8}(?:##|#>)(?:\s|$)")
"""What stands before each line that a program printed, where its code is shown with it."""
_CODE = re.compile(
    r"\A\s*(?:[\w.~/@:-]{0,40}[$>#]|\+|>>>)(?:\s|$)|<-|(?<!\S)={1,2}(?!\S)|[,;({]\s*\Z|\A\s*[\w.$:]{1,60}\([^()]*\)?\s*\Z"
)
"""What no line of a table has."""
_LEAST, _NAMED, _FILLED = 3, 0.25, 0.45
"""Figures of a table, and the least share of figures among what stands behind the first words of its rows: below names
of columns, and without any."""
_BELOW = 0.75
"""Least share of the figures of a table that stand below a name."""
_MOST_LINE, _MOST_LINES = 400, 2000
"""Characters of a line and lines that are looked at for columns."""
_HEADLESS = 3
"""Rows from which on they are a table though nothing names its columns, as where it goes on on the next page."""
_LABEL = 4
"""Share, as one of so many, of the other lines that have a figure where the label still goes on."""


def typed_parts(text: str) -> Iterator[tuple[BlockKind, str]]:
    """The parts in order; a text without tables is one part."""
    lines = text.expandtabs(4).split("\n")
    start = 0
    for first, last, rows in _tables(lines):
        yield from _lines(lines[start:first])
        yield BlockKind.TABLE, "\n".join(rows)
        start = last
    yield from _lines(lines[start:])


def _lines(lines: Sequence[str]) -> Iterator[tuple[BlockKind, str]]:
    """What stands between tables: code between fences, and sentences and lists in the same font without."""
    stretches = [list(group) for filled, group in groupby(lines, key=lambda line: bool(line.strip())) if filled]
    for listing, several in groupby(stretches, key=lambda stretch: is_listing("\n".join(stretch))):
        text = "\n\n".join("\n".join(stretch) for stretch in several).rstrip()
        if any(map(str.isalnum, text)):
            yield BlockKind.CODE, fenced(text) if listing else text


def _tables(lines: Sequence[str]) -> Iterator[tuple[int, int, list[str]]]:
    """First line, the one behind the last, and rows of each table."""
    if len(lines) > _MOST_LINES or any(len(line) > _MOST_LINE for line in lines):
        return
    output = all(_OUTPUT.match(line) for line in lines if line.strip())
    bare = [_OUTPUT.sub(lambda mark: " " * len(mark[0]), line) if output else line for line in lines]
    tokens = [[(one.start(), one.end(), one[0]) for one in _TOKEN.finditer(line)] for line in bare]
    at = 0
    for data, group in groupby(range(len(lines)), key=lambda place: _is_data(bare[place], tokens[place])):
        places = list(group)
        if not data:
            continue
        if len(places) > 1 and _is_over(tokens[places[0]], tokens[places[1]]):
            head, places = places[0], places[1:]
        else:
            head = places[0] - 1
        table = None
        if head >= at and _is_head(bare[head], tokens[head]):
            table = _table(bare, tokens, [head, *places], named=True)
        if table is None and len(places) >= _HEADLESS:
            head = places[0]
            table = _table(bare, tokens, places, named=False)
        if table:
            yield head, places[-1] + 1, table
            at = places[-1] + 1


_Tokens = list[tuple[int, int, str]]


def _is_data(line: str, tokens: _Tokens) -> bool:
    """Whether a line holds figures behind a label, and is no code."""
    return len(tokens) > 1 and not _CODE.search(line) and any(map(_is_figure, tokens[1:]))


def _is_over(upper: _Tokens, lower: _Tokens) -> bool:
    """Whether a line with figures names columns, such as `mean 2.5% 97.5%`: it has no label, or few figures."""
    return upper[0][0] > lower[0][1] or 2 * sum(map(_is_figure, upper)) < len(upper)


def _is_head(line: str, tokens: _Tokens) -> bool:
    named = any(any(map(str.isalpha, token[2])) or _PLACE.fullmatch(token[2]) for token in tokens)
    return named and not _CODE.search(line) and not line.rstrip().endswith((":", "."))


def _is_figure(token: tuple[int, int, str]) -> bool:
    return _FIGURE.fullmatch(token[2]) is not None


def _table(lines: Sequence[str], tokens: Sequence[_Tokens], places: Sequence[int], *, named: bool) -> list[str] | None:
    """The rows, the names of the columns first; None where the figures do not stand below what is in the first."""
    head, *data = places
    ends = {end for _, end, _ in tokens[head]}
    starts = {start for start, _, _ in tokens[head]}
    figures = [token for place in data for token in tokens[place][1:] if _is_figure(token)]
    said = sum(len(tokens[place]) - 1 for place in data)
    below = sum(end in ends or start in starts for start, end, _ in figures)
    if (
        below < _BELOW * len(figures)
        or len(figures) < max(_LEAST, (_NAMED if named else _FILLED) * said)
        or len(tokens[head]) < 2
    ):
        return None
    columns = _columns([tokens[place] for place in places], named)
    if len(columns) < 2:
        return None
    rows = [[lines[place][left:right].strip() for left, right in columns] for place in places]
    return [_written(row) for row in rows]


def _columns(rows: Sequence[_Tokens], named: bool) -> list[tuple[int, int]]:
    """From where to where each column goes, between the blanks that all lines have; the label's is the first.

    `named` says that the first row names the columns.
    """
    spans: list[tuple[int, int]] = []
    for start, end, _ in sorted(token for row in rows for token in row):
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(spans[-1][1], end))
        else:
            spans.append((start, end))
    kept: list[tuple[int, int]] = []
    label = True
    waiting = -1
    for left, right in spans:
        begin = left if waiting < 0 else waiting
        waiting = -1
        inside = [[token for token in row if left <= token[0] < right] for row in rows]
        name = inside[0] if named else []
        inside = inside[1:] if named else inside
        figures = sum(any(map(_is_figure, tokens)) for tokens in inside)
        if not any(inside):  # words of a name behind which the figures of its column end
            waiting = begin
        elif kept and label and not name and _LABEL * figures <= len(rows):
            kept[-1] = (kept[-1][0], right)
        else:
            kept.append((begin, right))
            label = label and (len(kept) == 1 or _LABEL * figures <= len(rows))
    if waiting >= 0 and kept:
        kept[-1] = (kept[-1][0], spans[-1][1])
    return kept


def _written(row: Sequence[str]) -> str:
    """A row as text; bars around it where its first cell or its last is empty."""
    cells = [cell.replace("|", "∣") for cell in row]
    while len(cells) > 2 and not cells[-1]:
        cells.pop()
    text = " | ".join(cells)
    whole = text if cells[0] and cells[-1] else f"| {text} |"
    return whole.replace("|  |", "| |").replace("|  |", "| |")
