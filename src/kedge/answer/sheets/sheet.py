"""A small table in memory: every column as text, and as numbers, dates, years and spans where most of its cells allow.

Row sets are whole numbers with a bit for each row, so that a thousand filters cost microseconds.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from kedge.answer.sheets.cells import BLANK, canonical, day_key, day_of, numbers, plain, span, years
from kedge.answer.sheets.words import folded, heading_words, tokens

Values = NDArray[np.float64]
MOST_ROWS = 1000
"""Larger tables are asked by plans over DuckDB alone."""
MOST_DERIVED = 8
MOST_LENGTHS = 2
HALF = 0.5
"""Share of the filled cells that must fit for a column to be read as numbers, dates or years."""
SOME = 0.3
FEWER, FEW_WORDS = 0.2, 4
"""Share of numbers that is enough where all other cells say one of so few things: Free, Undisclosed, Loan."""
_TOTAL = re.compile(r"^(grand )?totals?\b")
_PARTS = re.compile(r"\n|, | / |/|;| & | and ")
_LISTED = re.compile(r"\n|, |;| / ")
_INNER = re.compile(r"\(([^)]{0,200})\)")
_THOUSANDS = re.compile(r"\d,\d{3}")
_RANGE = re.compile(r"\d\s*-\s*\d")
_SPLITS = ((r", ", "comma"), (r"\n", "line"), (r" ?\(", "bracket"), (r" / |/", "slash"), (r" - |: ", "dash"))
_NAMING = frozenset(
    "rank id code no # number pos position year season phone zip tel postcode jersey flight ref".split()
)
"""Headings of numbers that name or order something: never added up."""

_CALENDAR = {"month": 12, "day": 31, "week": 53, "weekday": 7, "quarter": 4, "hour": 24, "minute": 60}
"""Headings of parts of a date or time, in the singular, and their highest number."""
_EVENING = 1300

_KEYS = frozenset("id code phone zip tel postcode sku".split())
"""Headings of numbers that are neither added up nor compared."""


@dataclass(frozen=True, slots=True, eq=False)
class Sight:
    """A column read as numbers of one kind."""

    column: int
    kind: str
    """num, second (number of a cell), both (the two together), margin (first less second), date, year, span, parts,
    length (years from one column's date to another's)."""
    values: Values
    """NaN where a cell says nothing of the kind."""
    summed: bool
    """Whether adding its values up can mean anything."""
    until: int = -1
    """Of a length, the column of its end."""


@dataclass(slots=True, eq=False)
class SheetColumn:
    """A column of text, whole or a part of each cell of another one."""

    name: str
    words: list[str]
    texts: list[str]
    kind: str = "text"
    base: int = 0
    """The column that it is a part of; its own place else."""
    part: str = ""
    """Which part: year, first, second, comma0 …; empty for a whole column."""
    plain: list[str] = field(default_factory=list)
    canonical: list[str] = field(default_factory=list)
    joined: list[str] = field(default_factory=list)
    """The words of each cell, with one space between."""
    equal: dict[str, int] = field(default_factory=dict)
    """Rows by their whole plain text."""
    exact: dict[str, int] = field(default_factory=dict)
    """Rows by all words of the plain text."""
    pieces: dict[str, int] = field(default_factory=dict)
    """Rows by the words of one piece of a list, or of what stands in brackets."""
    mentioned: dict[str, int] = field(default_factory=dict)
    """Rows by each of their words."""


@dataclass(slots=True, eq=False)
class Sheet:
    """The table, ready to be asked."""

    columns: list[SheetColumn]
    whole: int
    """How many columns the table has; parts of them follow."""
    sights: list[Sight]
    count: int
    """Rows."""
    totals: int
    """Rows that only add up the others."""
    every: int
    """All rows but the totals."""

    @property
    def names(self) -> Sequence[str]:
        return [column.name for column in self.columns[: self.whole]]


def rows_of(mask: int) -> list[int]:
    """The rows of a set, in order."""
    out = []
    while mask:
        low = mask & -mask
        out.append(low.bit_length() - 1)
        mask ^= low
    return out


def mask_of(chosen: NDArray[np.bool_]) -> int:
    """The set of the rows that are true."""
    return int.from_bytes(np.packbits(chosen, bitorder="little").tobytes(), "little")


def build_sheet(names: Sequence[str], rows: Sequence[Sequence[str]]) -> Sheet:
    """Read a table's cells. Rows shorter than the header are filled with nothing."""
    width = len(names)
    filled = [[*row[:width], *[""] * (width - len(row))] for row in rows]
    columns, sights = [], []
    for place, name in enumerate(names):
        column = _column(name, [row[place] for row in filled], place)
        found = _sights(place, column)
        column.kind = _kind(found)
        columns.append(column)
        sights += found
    sights += _lengths(columns, sights)
    totals = _totals(columns, len(filled))
    sheet = Sheet(columns, width, sights, len(filled), totals, ((1 << len(filled)) - 1) & ~totals)
    _add_parts(sheet)
    return sheet


def _column(name: str, texts: list[str], base: int, part: str = "") -> SheetColumn:
    column = SheetColumn(name, heading_words(name), texts, base=base, part=part)
    column.plain = [plain(text) for text in texts]
    column.canonical = [canonical(text) if text else "" for text in texts]
    equal: dict[str, int] = defaultdict(int)
    for row, text in enumerate(column.plain):
        equal[text] |= 1 << row
    column.equal = equal
    if part:
        return column
    lower = [folded(text).lower() for text in texts]
    column.joined = [" ".join(tokens(text)) for text in lower]
    exact: dict[str, int] = defaultdict(int)
    for text, mask in equal.items():
        exact[" ".join(tokens(text))] |= mask
    exact.pop("", None)
    pieces: dict[str, int] = defaultdict(int)
    mentioned: dict[str, int] = defaultdict(int)
    for row, text in enumerate(lower):
        for word in set(column.joined[row].split(" ")):
            mentioned[word] |= 1 << row
        parts = [piece.strip() for piece in _PARTS.split(text) if piece.strip()]
        if len(parts) > 1 or text != column.plain[row]:
            for piece in parts:
                for named in (piece, *_INNER.findall(piece)):
                    pieces[" ".join(tokens(plain(named)))] |= 1 << row
    pieces.pop("", None)
    mentioned.pop("", None)
    column.exact, column.pieces, column.mentioned = exact, pieces, mentioned
    return column


def _sights(place: int, column: SheetColumn) -> list[Sight]:
    """The kinds of numbers that enough cells of a column hold."""
    if _KEYS & set(column.words) and len(column.equal) > HALF * len(column.texts):
        return []
    found: Mapping[str, Values] = defaultdict(lambda: np.full(len(column.texts), np.nan))
    filled, listed = 0, 0
    for row, text in enumerate(column.texts):
        if column.plain[row] in BLANK:
            continue
        filled += 1
        lower = folded(text).lower()
        read, day, named, length = numbers(text), day_of(text), years(text), span(text)
        found["parts"][row] = len([piece for piece in _LISTED.split(lower) if piece.strip()])
        listed += len([piece for piece in _PARTS.split(lower) if piece.strip()]) > 1
        if read:
            found["num"][row] = read[0]
        if len(read) > 1 and not day and not _THOUSANDS.search(lower):
            second = abs(read[1]) if _RANGE.search(lower) else read[1]
            found["second"][row] = second
            found["both"][row] = read[0] + second
            found["margin"][row] = read[0] - second
        if day:
            found["date"][row] = day_key(day)
        if named:
            found["year"][row] = named[0]
        if length is not None:
            found["span"][row] = length
    filled = max(filled, 1)
    share = {kind: float(np.isfinite(values).sum()) / filled for kind, values in found.items()}
    dated, yearly = share.get("date", 0.0) >= HALF, share.get("year", 0.0) >= HALF
    kinds = [kind for kind in ("date", "year") if share.get(kind, 0.0) >= HALF]
    numeric = share.get("num", 0.0) >= HALF or (share.get("num", 0.0) >= FEWER and _few_words(column, found["num"]))
    if numeric and not dated and not (yearly and _same(found["num"], found["year"])):
        kinds.append("num")
    if share.get("second", 0.0) >= HALF and not yearly:
        kinds += ["second", "both", "margin"]
    if share.get("span", 0.0) >= SOME:
        kinds.append("span")
    if listed >= SOME * filled and share.get("num", 0.0) < HALF:
        kinds.append("parts")
    naming = bool(_NAMING & set(column.words[:2])) and len(column.equal) > HALF * len(column.texts)
    naming = naming or _tells_time(column, found["num"])
    return [Sight(place, kind, found[kind], kind not in ("date", "year") and not naming) for kind in kinds]


def _tells_time(column: SheetColumn, values: Values) -> bool:
    """Whether whole numbers are times of day, hhmm, or parts of a date: neither is added up."""
    known = values[np.isfinite(values)]
    if not len(known) or (known != np.floor(known)).any() or known.min() < 0:
        return False
    last = folded(column.name).lower().replace("_", " ").split()[-1:]
    if last and known.max() <= _CALENDAR.get(last[0], -1):
        return True
    hours = len(np.unique(known // 100))
    day = _EVENING <= float(known.max()) <= 2400 and bool((known % 100 < 60).all())
    return "time" in column.words and day and hours > 2


def _few_words(column: SheetColumn, values: Values) -> bool:
    return len({text for text, known in zip(column.plain, np.isfinite(values), strict=True) if not known}) <= FEW_WORDS


def _lengths(columns: Sequence[SheetColumn], sights: Sequence[Sight]) -> list[Sight]:
    """Years from the dates of one column to those of a later one that are never before them: from, till."""
    timed: dict[int, Values] = {}
    for sight in sights:
        if sight.kind in ("date", "year") and sight.column not in timed:
            timed[sight.column] = _years(sight.values) if sight.kind == "date" else sight.values
    places = sorted(timed)
    out: list[Sight] = []
    for number, first in enumerate(places):
        for last in places[number + 1 :]:
            length = timed[last] - timed[first]
            known = length[np.isfinite(length)]
            if len(known) >= HALF * len(columns[first].texts) and len(known) > 1 and (known >= 0).all() and known.any():
                out.append(Sight(first, "length", length, False, last))
    return out[:MOST_LENGTHS]


def _years(keys: Values) -> Values:
    """Dates as years with a fraction; 0 stands for a month or a day that is not written."""
    years, months, days = keys // 400, keys % 400 // 32, keys % 32
    dated: Values = years + np.maximum(months - 1, 0) / 12 + np.maximum(days - 1, 0) / 365
    return np.where(years > 0, dated, np.nan)


def _same(one: Values, two: Values) -> bool:
    return bool(np.nanmax(np.abs(np.nan_to_num(one) - np.nan_to_num(two))) < 1e-9)


def _kind(sights: Sequence[Sight]) -> str:
    kinds = [sight.kind for sight in sights]
    for kind in ("date", "year", "num"):
        if kind in kinds:
            return kind
    return "text"


def _totals(columns: Sequence[SheetColumn], count: int) -> int:
    mask = 0
    if count > 3:
        for row in range(count - 3, count):
            if any(_TOTAL.match(column.plain[row]) for column in columns[:2]):
                mask |= 1 << row
    return mask


def _add_parts(sheet: Sheet) -> None:
    """Columns of which a question may ask a part: the year of a date, the town of "Town, Country"."""
    for place in range(sheet.whole):
        if len(sheet.columns) >= sheet.whole + MOST_DERIVED:
            return
        column = sheet.columns[place]
        of_kind = {sight.kind: sight.values for sight in sheet.sights if sight.column == place}
        filled = max(1, sum(bool(text.strip()) for text in column.texts))
        if "year" in of_kind and (column.kind == "date" or any(len(text) > 4 for text in column.plain)):
            _add(sheet, place, "year", [_digits(value) for value in of_kind["year"]], "year")
        if column.kind == "text":
            for pattern, name in _SPLITS:
                cut = [re.split(pattern, folded(text)) for text in column.texts]
                if sum(len(pieces) > 1 for pieces in cut) >= 0.25 * filled:
                    _add(sheet, place, f"{name}0", [pieces[0].strip() for pieces in cut], "text")
                    _add(sheet, place, f"{name}1", [pieces[-1].strip(" )") for pieces in cut], "text")
                    break
        if "second" in of_kind:
            _add(sheet, place, "second", [_digits(abs(value)) for value in of_kind["second"]], "num")
            if "num" in of_kind:
                _add(sheet, place, "first", [_digits(abs(value)) for value in of_kind["num"]], "num")


def _add(sheet: Sheet, base: int, part: str, texts: list[str], kind: str) -> None:
    column = _column(sheet.columns[base].name, texts, base, part)
    column.kind = kind
    sheet.columns.append(column)


def _digits(value: float) -> str:
    return "" if np.isnan(value) else f"{value:g}" if abs(value) < 1e6 else f"{value:.0f}"
