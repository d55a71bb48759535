"""Rows of tables as statements: caption, unit, group, row label, then each column header with its cell.

A table here is lines whose cells are parted by `|`, as markdown writes them and as PDF and HTML tables are written into
a document's text. Header rows are told by what they hold: in markdown the row above the rule; elsewhere the rows before
the first that has a label and figures. Headers that reach over several columns are laid over each of them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kedge.text.statements.markup import plain
from kedge.text.statements.statement import Cell, Statement

_RULE = re.compile(r"[\s|:=+-]{3,}")
_FIGURE = re.compile(
    r"[\s$€£¥(+−–—-]{0,4}\d[\d,. ]{0,30}\s?[%)]{0,2}(?:\s?(?:million|billion|bn|m|k|x|pp|bps))?|[—–-]|n/?a", re.I
)
_PERIOD = re.compile(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,7}\.?(?:\s+\d{1,2},?)?(?:\s+\d{4})?|\b(?:19|20)\d\d\b"
    r"|\b(?:three|six|nine|twelve) months|\byears? ended|\bquarter|\bfiscal|\bchange\b|^\W*%\W*$",
    re.IGNORECASE,
)
_GROUP_CHARS = 80


@dataclass(frozen=True, slots=True)
class TableLine:
    """A line of a table with its place in the passage's text."""

    start: int
    text: str

    def cells(self) -> list[tuple[int, int]]:
        """Spans of its cells in the passage, without the white space around them."""
        found: list[tuple[int, int]] = []
        left, right = 0, len(self.text)
        body = self.text.strip()
        if body.startswith("|"):
            left = self.text.index("|") + 1
        if len(body) > 1 and body.endswith("|"):
            right = self.text.rindex("|")
        at = left
        for piece in self.text[left:right].split("|"):
            begin = at + len(piece) - len(piece.lstrip())
            found.append((self.start + begin, self.start + max(begin, at + len(piece.rstrip()))))
            at += len(piece) + 1
        return found


@dataclass(frozen=True, slots=True)
class _CutRow:
    line: TableLine
    spans: list[tuple[int, int]]
    texts: list[str]


def rows(lines: Sequence[TableLine], caption: str, unit: str) -> list[Statement]:
    """A statement for each row that says something; header rows, rules and group lines are none of their own."""
    ruled = any(_RULE.fullmatch(line.text) and "-" in line.text for line in lines)
    table = [_row(line) for line in lines if not _RULE.fullmatch(line.text)]
    if not table:
        return []
    if ruled:
        return _under_one_header(table, caption, unit)
    first = next((place for place, row in enumerate(table) if _is_data(row)), None)
    if first is None:
        return _under_one_header(table, caption, unit)
    while first and len(table[first - 1].texts) == 1 and not _PERIOD.search(table[first - 1].texts[0]):
        first -= 1  # the first group's name stands between headers and rows
    return _under_headers(table[:first], table[first:], caption, unit)


def _row(line: TableLine) -> _CutRow:
    spans = line.cells()
    return _CutRow(line, spans, [plain(line.text[start - line.start : end - line.start]) for start, end in spans])


def _is_data(row: _CutRow) -> bool:
    label, values = row.texts[0], row.texts[1:]
    figures = sum(_FIGURE.fullmatch(value) is not None for value in values)
    return bool(values) and bool(label) and not _is_header(row) and 2 * figures >= max(1, len(values))


def _is_header(row: _CutRow) -> bool:
    return all(_PERIOD.search(text) for text in row.texts if text) or _FIGURE.fullmatch(row.texts[0]) is not None


def _under_one_header(table: Sequence[_CutRow], caption: str, unit: str) -> list[Statement]:
    head = table[0].texts
    made = []
    for row in table[1:]:
        headers = head if len(head) == len(row.texts) else [""] * len(row.texts)
        made.append(_statement(row, headers, caption, unit, ""))
    return made


def _under_headers(heads: Sequence[_CutRow], body: Sequence[_CutRow], caption: str, unit: str) -> list[Statement]:
    width = max(len(row.texts) for row in body) - 1
    group = ""
    made = []
    for row in body:
        if len(row.texts) == 1:
            group = row.texts[0].rstrip(":") if len(row.texts[0]) <= _GROUP_CHARS else ""
            continue
        count = len(row.texts) - 1
        headers = ["", *(_over(heads, column, width if count == width else count) for column in range(count))]
        made.append(_statement(row, headers, caption, unit, group))
        if row.texts[0].lower().startswith("total"):
            group = ""
    return made


def _over(heads: Sequence[_CutRow], column: int, width: int) -> str:
    """All header cells that reach over a value column, outermost first, each once."""
    parts: list[str] = []
    for head in heads:
        texts = head.texts[1:] if len(head.texts) == width + 1 else head.texts
        if len(texts) == 1 and width > 1 and not _PERIOD.search(texts[0]):
            continue  # a line of its own, over no column in particular
        if texts:
            over = texts[min(column * len(texts) // width, len(texts) - 1)]
            if over and over not in parts:
                parts.append(over)
    return " ".join(parts)


def _statement(row: _CutRow, headers: Sequence[str], caption: str, unit: str, group: str) -> Statement:
    about = f"{caption} ({unit})" if caption and unit else caption or (f"({unit})" if unit else "")
    lead = f"{about}. " if about else ""
    label = f"{headers[0]}: {row.texts[0]}" if headers[0] else row.texts[0]
    named = f"{group}: {label}" if group else label
    values = [
        f"{header}: {text}" if header else text for header, text in zip(headers[1:], row.texts[1:], strict=True) if text
    ]
    read = f"{lead}{named} — {'; '.join(values)}" if values else f"{lead}{named}"
    cells = tuple(Cell(header, *span, text) for header, span, text in zip(headers, row.spans, row.texts, strict=True))
    end = row.line.start + len(row.line.text.rstrip())
    return Statement("row", row.spans[0][0], max(end, row.spans[0][0]), read, cells, lead)
