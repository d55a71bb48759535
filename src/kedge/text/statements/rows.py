"""Rows of tables as statements: caption, unit, group, row label, then each column header with its cell.

A table here is lines whose cells are parted by `|`, as markdown writes them and as PDF and HTML tables are written into
a document's text. Header rows are told by what they hold: in markdown the row above the rule, and rows of periods
without a label right below it; elsewhere the rows before the first that has a label and figures. A header row with a
cell for each column names them one by one; one with fewer cells is laid over them in equal shares. A label with a colon
and nothing beside it names the rows below it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import TypeAlias

from kedge.text.statements.markup import plain
from kedge.text.statements.statement import Cell, Statement

_RULE = re.compile(r"[\s|:=+-]{3,}")
_FIGURE = re.compile(
    r"[\s$€£¥(+−–—~<>=≤≥±-]{0,4}\d[\d,. ]{0,30}\s?[%)‰†‡*]{0,3}(?:\s?(?:million|billion|bn|m|k|x|pp|bps))?"
    r"(?:\s?[(\[±][^()\[\]]{1,30}[)\]]?[%†‡*]{0,3})?|[$€£(]{0,2}[—–-]\)?|[†‡*✓✗×]{1,3}|n/?a|n\.?s\.?",
    re.I,
)
_PERIOD = re.compile(
    r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,7}\.?(?:\s+\d{1,2},?)?(?:\s+\d{4})?|\b(?:19|20)\d\d\b"
    r"|\b(?:three|six|nine|twelve) months|\byears? ended|\bquarter|\bfiscal|\bchange\b|^\W*%\W*$",
    re.IGNORECASE,
)
_CAPTION = re.compile(r"(?:Table|TABLE|Tab\.)\s{1,3}[A-Z]{0,2}\.?\d{1,3}[a-z]?\s{0,2}[:.|–—]\s")
_YEAR_LABEL = re.compile(r"(?:FY\s?)?(?:19|20)\d\d(?!\d|,\d)(?!.*\bended\b)", re.IGNORECASE)
_BLANK = re.compile(r"[|\s]+")
_GROUP_CHARS = 80
_ONLY_HEAD = 6
"""Lines up to which the beginning of a table without rows of figures is taken for nothing but its head."""
MAX_HEAD = 2000
"""Characters of a table's head that are kept with the rest of a table that was cut."""
LONGEST_LINE = 1 << 16
"""Characters of a line that are kept while its end is not known."""


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

    @property
    def is_name(self) -> bool:
        """Whether it names the rows below it, such as `Net sales:`."""
        return len(self.texts) == 1 or (self.texts[0].endswith((":", "：")) and not any(self.texts[1:]))

    @property
    def is_panel(self) -> bool:
        """Whether it names a whole part of the table: a lone cell between bars."""
        return len(self.texts) == 1 and self.line.text.lstrip().startswith("|")


def rows(lines: Sequence[TableLine], caption: str, unit: str, above: str = "") -> list[Statement]:
    """A statement for each row that says something; header rows, rules and group lines are none of their own.

    `above` is the head of a table that was cut, `lines` a later part of it (see `table_head`).
    """
    head = [TableLine(0, text) for text in above.split("\n") if text.strip()]
    captions = [line.text for line in head if _CAPTION.match(line.text)]
    table = _cut([*(line for line in head if not _CAPTION.match(line.text)), *lines])
    caption = plain(captions[0]).rstrip(".") if captions else caption
    made = _under_one_header(table, caption, unit) if table.one_header else _under_headers(table, caption, unit)
    start = lines[0].start if lines else -1
    return [replace(one, table=start) for row, one in made if not any(row.line is line for line in head)]


def is_caption(text: str) -> bool:
    """Whether a line is what a table is called: `Table 3: Results`."""
    return _CAPTION.match(text) is not None


def table_head(text: str) -> str:
    """What must be known of a table to read the rows that come after `text`, which is its beginning: some lines of it.

    They are its caption, its header rows, and the names of the part and of the group in which the text ends.
    """
    head = TableHead()
    head.add(f"{text}\n")
    return head.text()


class TableHead:
    """The `table_head` of a table that is read on from its beginning, piece by piece.

    Each line is looked at once, however often it is asked: a long table is cut into many passages, and each begins
    with the head of all that stands before it.
    """

    def __init__(self) -> None:
        self._begins = ""
        self._rest = ""
        """Of the last line, which has not ended; it does not count yet."""
        self._lines = 0
        self._caption = ""
        self._blank = False
        """Whether the first line has nothing in its cells."""
        self._rule = ""
        self._ruled = False
        self._rows: list[_CutRow] = []
        self._gaps = False
        """Whether a row has an empty cell."""
        self._forget()

    def add(self, text: str) -> None:
        """Read on."""
        if len(self._begins) < MAX_HEAD:
            self._begins = (self._begins + text[: 2 * MAX_HEAD]).lstrip("\n")[: 2 * MAX_HEAD]
        first, *further = text.split("\n")
        lines = [self._rest + first, *further]
        self._rest = lines.pop()[:LONGEST_LINE]
        for line in lines:
            if line.strip():
                self._add_line(line)

    def text(self) -> str:
        """The head of what was read so far."""
        if not self._lines:
            return self._rest[:MAX_HEAD]
        one_header = not self._named and self._first == self._least if self._ruled else self._first is None
        if one_header and not self._rule and self._lines <= _ONLY_HEAD:
            return self._begins.strip("\n")[:MAX_HEAD]
        kept = [self._caption] if self._caption else []
        size = 0
        for row in islice(self._rows, 1 if self._first is None else self._first):
            kept.append(row.line.text)
            size += len(row.line.text)
            if size > MAX_HEAD:
                break
        kept += [self._rule] if self._rule else []
        if not one_header and self._first is not None:
            names = self._names if len(self._rows) <= self._first else _named_by(self._names, self._rows[-1])
            kept += [name.line.text for name in names if name is not None]
        return "\n".join(kept)[:MAX_HEAD]

    def _add_line(self, line: str) -> None:
        self._lines += 1
        if self._lines == 1 and _CAPTION.match(line):
            self._caption = line
            return
        if self._lines == 1 + bool(self._caption):
            self._blank = _BLANK.fullmatch(line) is not None
        if _RULE.fullmatch(line):
            self._rule = self._rule or line
            if "-" in line and not self._ruled:
                self._ruled = True
                self._forget()
        else:
            row = _row(TableLine(0, line))
            self._rows.append(row)
            if not self._gaps and not all(row.texts):
                self._gaps = True
                self._forget()
        self._read_on()

    def _forget(self) -> None:
        """What was read is read otherwise from now on. That happens twice at most."""
        self._first: int | None = None
        """How many header rows there are; None: not known yet."""
        self._looked = self._told = 0
        """Rows that were looked at, and those whose names are among `_names`."""
        self._named = False
        """Whether a row below the header names others."""
        self._names: _Names = (None, None)

    def _read_on(self) -> None:
        """Look at the rows that were not looked at; the last one may still turn out to be a header."""
        rows = self._rows
        for row in rows[self._looked :]:
            if self._ruled:
                self._named |= self._looked >= self._least and row.is_name
            elif self._first is None and _is_data(row):
                self._first = _first_of_group(rows, self._looked, self._gaps)
            self._looked += 1
        if self._ruled:
            self._first = self._least if self._first is None else self._first
            while self._first < len(rows) - 1 and _is_lower_header(rows[self._first]):
                self._first += 1
        if self._first is not None:
            self._told = max(self._told, self._first)
            while self._told < len(rows) - 1:
                self._names = _named_by(self._names, rows[self._told])
                self._told += 1

    @property
    def _least(self) -> int:
        """Header rows above a rule: one, or none where nothing stands in it."""
        return 0 if self._blank else 1


_Names: TypeAlias = tuple["_CutRow | None", "_CutRow | None"]
"""Rows that name the part and the group that a table has come to."""


def _named_by(names: _Names, row: _CutRow) -> _Names:
    """The names below this row."""
    if not row.is_name:
        return names
    return (row, None) if row.is_panel else (names[0], row)


@dataclass(frozen=True, slots=True)
class _CutTable:
    heads: list[_CutRow]
    body: list[_CutRow]
    one_header: bool
    """Whether its first row names the columns, and nothing else is told apart."""


def _cut(lines: Sequence[TableLine]) -> _CutTable:
    ruled = any(_RULE.fullmatch(line.text) and "-" in line.text for line in lines)
    table = [_row(line) for line in lines if not _RULE.fullmatch(line.text)]
    if ruled and table:
        return _ruled(table, heads=0 if _BLANK.fullmatch(lines[0].text) else 1)
    first = next((place for place, row in enumerate(table) if _is_data(row)), None)
    if first is None:
        return _CutTable(table[:1], table[1:], one_header=True)
    first = _first_of_group(table, first, any(not text for row in table for text in row.texts))
    return _CutTable(table[:first], table[first:], one_header=False)


def _ruled(table: list[_CutRow], heads: int) -> _CutTable:
    """Markdown has one header row, which may be blank: then nothing names the columns.

    Further header rows stand below the rule, without a label: dates under `Months Ended`.
    """
    first = heads
    while first < len(table) - 1 and _is_lower_header(table[first]):
        first += 1
    one = first == heads and not any(row.is_name for row in table[heads:])
    return _CutTable(table[:first], table[first:], one_header=one)


def _first_of_group(table: Sequence[_CutRow], first: int, by_column: bool) -> int:
    """The first group's name stands between headers and rows."""
    while first and _names_rows(table[first - 1], by_column):
        first -= 1
    return first


def _is_lower_header(row: _CutRow) -> bool:
    """Whether it is a header row below a rule."""
    return not row.texts[0] and _is_header(row)


def _row(line: TableLine) -> _CutRow:
    spans = line.cells()
    return _CutRow(line, spans, [plain(line.text[start - line.start : end - line.start]) for start, end in spans])


def _names_rows(row: _CutRow, by_column: bool) -> bool:
    return row.is_name and (by_column or row.texts[0].endswith(":") or not _PERIOD.search(row.texts[0]))


def _is_data(row: _CutRow) -> bool:
    label, values = row.texts[0], [text for text in row.texts[1:] if text]
    figures = sum(_FIGURE.fullmatch(value) is not None for value in values)
    return bool(values) and bool(label) and not _is_header(row) and 2 * figures >= max(1, len(values))


def _is_header(row: _CutRow) -> bool:
    if _is_year_with_figures(row):
        return False
    return all(_PERIOD.search(text) for text in row.texts if text) or _FIGURE.fullmatch(row.texts[0]) is not None


def _is_year_with_figures(row: _CutRow) -> bool:
    """Whether a row is called by a year and holds figures, such as `2026 | 3,079`; a row of years is a header."""
    values = [text for text in row.texts[1:] if text]
    figures = all(_FIGURE.fullmatch(text) and not _PERIOD.search(text) for text in values)
    return bool(values) and figures and _YEAR_LABEL.match(row.texts[0]) is not None


def _under_one_header(table: _CutTable, caption: str, unit: str) -> list[tuple[_CutRow, Statement]]:
    head = table.heads[0].texts if table.heads else []
    made = []
    for row in table.body:
        fits = len(head) > 1 and len(head) >= len(row.texts)
        headers = head[: len(row.texts)] if fits else [""] * len(row.texts)
        made.append((row, _statement(row, headers, caption, unit, "")))
    return made


class _Heads:
    """The header rows of a table, laid over its columns."""

    def __init__(self, heads: Sequence[_CutRow], body: Sequence[_CutRow]) -> None:
        self._heads = heads
        self._width = max(len(row.texts) for row in body)

    def over(self, row: _CutRow) -> list[str]:
        """What stands over each cell of a row, outermost first, each once."""
        count = len(row.texts)
        return [self._over(column, count) for column in range(count)]

    def _over(self, column: int, count: int) -> str:
        parts: list[str] = []
        for head in self._heads:
            text = self._cell(head, column, count)
            if text and text not in parts:
                parts.append(text)
        return " ".join(parts)

    def _cell(self, head: _CutRow, column: int, count: int) -> str:
        texts = head.texts
        if len(texts) >= self._width:
            return texts[column]
        if column == 0 or (len(texts) == 1 and count > 2 and not _PERIOD.search(texts[0])):
            return ""  # the label has no header; a line of its own is over no column in particular
        width = self._width if len(texts) == self._width - 1 else count
        return texts[min((column - 1) * len(texts) // (width - 1), len(texts) - 1)]


def _under_headers(table: _CutTable, caption: str, unit: str) -> list[tuple[_CutRow, Statement]]:
    heads = _Heads(table.heads, table.body)
    panel = group = ""
    made = []
    for row in table.body:
        if row.is_name:
            name = row.texts[0].rstrip(":") if len(row.texts[0]) <= _GROUP_CHARS else ""
            panel, group = (name, "") if row.is_panel else (panel, name)
            continue
        named = f"{panel}: {group}" if panel and group else panel or group
        made.append((row, _statement(row, heads.over(row), caption, unit, named)))
        if row.texts[0].lower().startswith("total"):
            group = ""
    return made


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
    return Statement("row", row.spans[0][0], max(end, row.spans[0][0]), read, cells, lead, group)
