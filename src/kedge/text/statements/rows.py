"""Rows of tables as statements: caption, unit, group, row label, then each column header with its cell.

A table here is lines whose cells are parted by `|`, as markdown writes them and as PDF and HTML tables are written into
a document's text. Header rows are told by what they hold: in markdown the row above the rule, and rows of periods
without a label right below it; elsewhere the rows before the first that has a label and figures. A header row with a
cell for each column names them one by one; one with fewer cells is laid over them in equal shares, and what stands over
several columns is written over the first of them. A label with a colon and nothing beside it names the rows below it,
and so does a row above others that come again and again (`Cancer`, `Deaths`, `Person-years`).

What all rows share is read with each of them, so it is kept short: of a long caption its beginning, and what stands
over all columns once.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice, pairwise, takewhile
from typing import TypeAlias

from kedge.text.statements.markup import plain
from kedge.text.statements.statement import Cell, Statement

_RULE = re.compile(r"[\s|:=+-]{3,}")
_FIGURE = re.compile(
    r"[\s$€£¥(+−–—~<>=≤≥±-]{0,4}\d[\d,./ ]{0,30}\s?[%)‰†‡*]{0,3}(?:\s?(?:million|billion|bn|m|k|x|pp|bps))?"
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
_CAPTION_CHARS = 90
"""Characters of a caption that are read with each row, up to the end of a word."""
_CLAUSE = re.compile(r"[,;:(–—]|\s(?:among|according|during|between|across|for each|with respect)\b")
"""Where a long caption may end."""
_UNIT_LABEL = re.compile(
    r"\W{0,3}(?:[$€£¥%]\s?(?:m|k|bn|000s?)?|(?:in\s)?(?:millions?|thousands?|billions?|percent)|[a-zµ]{1,3}[²³/]?[a-z]{0,3})\W{0,3}",
    re.I,
)
"""What may stand where a header row has no label: the unit of the table."""
_SHARED_CHARS = 10
"""Characters from which on what stands over all columns is read once."""
_COME_AGAIN = 2
"""Least number of labels that come again below different rows."""
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
            elif self._first is None and (_is_data(row) or _has_figure_for_label(rows, self._looked)):
                self._first = _first_of_group(rows, self._looked, self._gaps)
            self._looked += 1
        if self._ruled:
            self._first = self._least if self._first is None else self._first
            while self._first < len(rows) - 1 and _is_further_header(rows, self._first):
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
    first = next(
        (place for place in range(len(table)) if _is_data(table[place]) or _has_figure_for_label(table, place)), None
    )
    if first is None:
        return _CutTable(table[:1], table[1:], one_header=True)
    first = _first_of_group(table, first, any(not text for row in table for text in row.texts))
    return _CutTable(table[:first], table[first:], one_header=False)


def _ruled(table: list[_CutRow], heads: int) -> _CutTable:
    """Markdown has one header row, which may be blank: then nothing names the columns.

    Further header rows stand below the rule, without a label: dates under `Months Ended`.
    """
    first = heads
    while first < len(table) - 1 and _is_further_header(table, first):
        first += 1
    one = first == heads and not any(row.is_name for row in table[heads:])
    return _CutTable(table[:first], table[first:], one_header=one)


def _first_of_group(table: Sequence[_CutRow], first: int, by_column: bool) -> int:
    """The first group's name stands between headers and rows."""
    while first and _names_rows(table[first - 1], by_column):
        first -= 1
    return first


def _is_further_header(table: Sequence[_CutRow], place: int) -> bool:
    """Whether a row below a rule names columns too: it has no label, or a unit below columns that share their header,
    and nothing in it is a figure."""
    row, above = table[place], table[place - 1].texts[1:] if place else []
    label, values = row.texts[0], [text for text in row.texts[1:] if text]
    if not label and _is_header(row):
        return True
    if not values or row.is_name:
        return False
    if label and not (len(set(above)) < len(above) and _UNIT_LABEL.fullmatch(label)):
        return False
    return all(_PERIOD.search(text) or not _FIGURE.fullmatch(text) for text in values)


def _row(line: TableLine) -> _CutRow:
    spans = line.cells()
    return _CutRow(line, spans, [plain(line.text[start - line.start : end - line.start]) for start, end in spans])


def _names_rows(row: _CutRow, by_column: bool) -> bool:
    return row.is_name and (by_column or row.texts[0].endswith(":") or not _PERIOD.search(row.texts[0]))


def _is_data(row: _CutRow) -> bool:
    label, values = row.texts[0], [text for text in row.texts[1:] if text]
    figures = sum(_FIGURE.fullmatch(value) is not None for value in values)
    return bool(values) and bool(label) and not _is_header(row) and 2 * figures >= max(1, len(values))


def _has_figure_for_label(table: Sequence[_CutRow], place: int) -> bool:
    """Whether a row of figures is called by one too, such as `1600 | 8/10 | 3.2`: columns are named right above it."""
    row, above = table[place], table[place - 1] if place else None
    if above is None or len(above.texts) != len(row.texts) or _PERIOD.search(row.texts[0]):
        return False
    named = not any(_FIGURE.fullmatch(text) for text in above.texts if text) and all(above.texts[1:])
    figures = [_FIGURE.fullmatch(text) is not None for text in row.texts if text]
    return named and len(figures) > 1 and figures[0] and 2 * sum(figures) >= len(figures)


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
        last = heads[-1].texts if heads else []
        self._alike = {place for place, text in enumerate(last) if place and text and last.count(text) > 1}
        """Columns that only what stands further above tells apart."""
        units = [row.texts[0] for row in heads[1:] if _UNIT_LABEL.fullmatch(row.texts[0])]
        self.unit = units[0] if units else ""
        """The unit that stands where a further header row has no label."""

    def over(self, row: _CutRow) -> list[str]:
        """What stands over each cell of a row, outermost first, each once."""
        count = len(row.texts)
        return [self._over(column, count) for column in range(count)]

    def _over(self, column: int, count: int) -> str:
        parts: list[str] = []
        for head in self._heads:
            text = self._cell(head, column, count)
            if text and text not in parts and (column or text != self.unit):
                parts.append(text)
        return " ".join(parts)

    def _cell(self, head: _CutRow, column: int, count: int) -> str:
        texts = head.texts
        if len(texts) >= self._width:
            if texts[column] or head is self._heads[-1] or column not in self._alike:
                return texts[column]
            return next((text for text in texts[column:0:-1] if text), "")  # it reaches over further columns
        if column == 0 or (len(texts) == 1 and count > 2 and not _PERIOD.search(texts[0])):
            return ""  # the label has no header; a line of its own is over no column in particular
        width = self._width if len(texts) == self._width - 1 else count
        return texts[min((column - 1) * len(texts) // (width - 1), len(texts) - 1)]


def _under_headers(table: _CutTable, caption: str, unit: str) -> list[tuple[_CutRow, Statement]]:
    heads = _Heads(table.heads, table.body)
    made = []
    unit = unit or heads.unit
    for row, named in _in_groups(table.body):
        made.append((row, _statement(row, heads.over(row), caption, unit, named)))
    return made


def _in_groups(body: Sequence[_CutRow]) -> Iterator[tuple[_CutRow, str]]:
    """The rows that say something, each with the names of the part and the group it belongs to."""
    panel = group = outer = over = ""
    over_others = _rows_over_others(body)
    times = Counter(row.texts[0] for row in body if row.is_name)
    for place, row in enumerate(body):
        if row.is_name:
            name = row.texts[0].rstrip(":") if len(row.texts[0]) <= _GROUP_CHARS else ""
            if row.is_panel:
                panel, group, outer, over = name, "", "", ""
            elif over_others and times[row.texts[0]] == 1:
                group = outer = name
                over = ""
            else:
                group = name
            continue
        if place in over_others:
            group, over = outer, ""
        inner = group if group != outer or not over else ""
        yield row, ": ".join(part for part in (panel, outer if over else "", over, inner) if part)
        if place in over_others:
            over = row.texts[0]
        if row.texts[0].lower().startswith("total"):
            group = outer = ""


def _rows_over_others(body: Sequence[_CutRow]) -> frozenset[int]:
    """Places of rows, each alone in its name, below which the same labels come again: `Deaths`, `Person-years` below
    `Cancer` as below `All causes`."""
    found: set[int] = set()
    parts: list[list[int]] = [[]]
    for place, row in enumerate(body):
        if row.is_panel:
            parts.append([])
        elif not row.is_name:
            parts[-1].append(place)
    for part in parts:
        counts = Counter(body[place].texts[0] for place in part)
        again = {label for label, count in counts.items() if count > 1}
        if len(again) < _COME_AGAIN:
            continue
        first = next(body[place].texts[0] for place in part if body[place].texts[0] in again)
        above = [before for before, place in pairwise(part) if body[place].texts[0] == first]
        if len(above) == counts[first] and all(counts[body[place].texts[0]] == 1 for place in above):
            found.update(above)
    return frozenset(found)


def _statement(row: _CutRow, headers: Sequence[str], caption: str, unit: str, group: str) -> Statement:
    called = f"{caption} ({unit})" if caption and unit else caption or (f"({unit})" if unit else "")
    about = called.replace(caption, _short(caption)) if caption else called
    lead = f"{about}. " if about else ""
    label = f"{headers[0]}: {row.texts[0]}" if headers[0] else row.texts[0]
    named = f"{group}: {label}" if group else label
    shared = _over_all(headers[1:])
    above = [headers[0], *(header.removeprefix(shared).strip(" :") for header in headers[1:])]
    cells = tuple(
        Cell(header, *span, text, f"{said}: {text}" if said else text)
        for header, said, span, text in zip(headers, above, row.spans, row.texts, strict=True)
    )
    values = "; ".join(cell.read for cell in cells[1:] if cell.text)
    read = f"{lead}{named} — {shared}: {values}" if shared and values else f"{lead}{named} — {values}"
    read = read if values else f"{lead}{named}"
    end = row.line.start + len(row.line.text.rstrip())
    return Statement("row", row.spans[0][0], max(end, row.spans[0][0]), read, cells, lead, group, caption=called)


def _short(caption: str) -> str:
    """A caption, or the beginning of a long one."""
    if len(caption) <= _CAPTION_CHARS:
        return caption
    ends = [match.start() for match in _CLAUSE.finditer(caption) if match.start() >= _CAPTION_CHARS // 2]
    if ends and ends[0] <= _CAPTION_CHARS:
        return caption[: ends[0]].rstrip()
    return caption[:_CAPTION_CHARS].rpartition(" ")[0].rstrip(",;:") or caption[:_CAPTION_CHARS]


def _over_all(headers: Sequence[str]) -> str:
    """The words with which the headers of all columns begin, where they go on differently; never a time."""
    if len(headers) <= 1 or not all(headers):
        return ""
    words = [header.split() for header in headers]
    same = [one[0] for one in takewhile(lambda column: len(set(column)) == 1, zip(*words, strict=False))]
    shared = " ".join(same)
    tells_apart = all(len(one) > len(same) for one in words)
    return shared if len(shared) >= _SHARED_CHARS and tells_apart and not _PERIOD.search(shared) else ""
