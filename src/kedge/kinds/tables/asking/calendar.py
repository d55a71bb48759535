"""Columns that hold parts of a date: numbers called year, month, day or hour, and names of weekdays or months.

They say local time where a time stamp may be in another zone, and they are all that a table without dates has.
"""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date

from kedge.kinds.tables.asking.lexicon import load
from kedge.kinds.tables.asking.periods import AskedPeriod
from kedge.kinds.tables.plans.plan import DatePart, Filter, Group, Op, Scalar
from kedge.kinds.tables.schema import Column, ColumnType, Table

_NUMBERED = {"month": (1, 12), "day": (1, 31), "hour": (0, 23)}
_NAMED = {"weekdays": (DatePart.WEEKDAY, 7), "months": (DatePart.MONTH_OF_YEAR, 12)}
_LETTERS = 3
_SOME = 5
"""Fewest names by which a column is known to hold weekdays or months."""


@dataclass(frozen=True, slots=True)
class Calendar:
    """What a table has of each; None and empty where there is none."""

    year: Column | None = None
    """Of the row, not of an event: year, yearID, but not birthYear."""
    month: Column | None = None
    day: Column | None = None
    """Of the month."""
    hour: Column | None = None
    named: Mapping[DatePart, tuple[Column, Mapping[int, tuple[Scalar, ...]]]] = field(default_factory=dict)
    """For weekdays and months that are written out: the column and how it writes each number."""

    @property
    def daily(self) -> bool:
        """Whether a day of the year can be told."""
        return self.month is not None and self.day is not None

    def filters(self, period: AskedPeriod) -> list[Filter]:
        """A period as conditions on these columns; empty where they cannot say it."""
        if period.part is not None:
            return self._of_part(period.part, period.values)
        if period.day_of_year:
            return self._of_day(None, *period.day_of_year)
        return self._of_range(period.first, period.last) if period.first and period.last else []

    def _of_range(self, first: date, last: date) -> list[Filter]:
        if self.year is None:
            return []
        if first == last and self.daily:
            return self._of_day(first.year, first.month, first.day)
        whole = first.day == 1 and last.day == monthrange(last.year, last.month)[1]
        years = _between(self.year, first.year, last.year)
        if whole and (first.month, last.month) == (1, 12):
            return [years]
        if whole and self.month and first.year == last.year:
            return [years, _between(self.month, first.month, last.month)]
        return []

    def group(self, part: DatePart | None) -> tuple[Group, ...]:
        """The columns by which rows fall into such parts; empty where a date is needed."""
        if part is not None and part in self.named:
            return (Group(self.named[part][0].field),)
        if part is DatePart.DAY and self.month and self.day:
            years = (self.year,) if self.year and self.year.distinct > 1 else ()
            return tuple(Group(column.field) for column in (*years, self.month, self.day))
        return ()

    def _of_part(self, part: DatePart, values: tuple[int, ...]) -> list[Filter]:
        numbered = {DatePart.MONTH_OF_YEAR: self.month, DatePart.HOUR: self.hour}.get(part)
        if numbered is not None:
            return [Filter(numbered.field, Op.IS if len(values) == 1 else Op.IN, values)]
        if part not in self.named:
            return []
        column, written = self.named[part]
        cells = tuple(cell for value in values for cell in written.get(value, ()))
        return [Filter(column.field, Op.IS if len(cells) == 1 else Op.IN, cells)] if cells else []

    def _of_day(self, year: int | None, month: int, day: int) -> list[Filter]:
        if self.month is None or self.day is None:
            return []
        years = [Filter(self.year.field, Op.IS, (year,))] if self.year and year is not None else []
        return [*years, Filter(self.month.field, Op.IS, (month,)), Filter(self.day.field, Op.IS, (day,))]


def read_calendar(table: Table, written: Mapping[str, Iterable[str]]) -> Calendar:
    """Find them among the columns; `written` has the different values of those with few words."""
    numbered = {name: _numbered(table, name, *ends) for name, ends in _NUMBERED.items()}
    year = next((column for column in table.columns if _only_year(column)), None)
    named = {}
    for section, (part, most) in _NAMED.items():
        for column in table.columns:
            cells = list(written.get(column.field, ()))
            if column.type.worded and _SOME <= column.distinct <= most and part not in named:
                found = _names(section, cells)
                if found and sum(map(len, found.values())) == len(cells):
                    named[part] = (column, found)
    return Calendar(year, numbered["month"], numbered["day"], numbered["hour"], named)


def _names(section: str, cells: Iterable[str]) -> dict[int, tuple[Scalar, ...]]:
    """The cells by their number, where each is the name of one or the beginning of it; else empty."""
    phrases = load("english").phrases.items()
    known = {
        phrase[0]: int(tag.partition(".")[2]) for phrase, tags in phrases for tag in tags if tag.startswith(section)
    }
    out: dict[int, tuple[Scalar, ...]] = {}
    for cell in cells:
        short = cell.strip().rstrip(".").lower()
        numbers = {number for name, number in known.items() if name.startswith(short)}
        if len(short) < _LETTERS or len(numbers) != 1:
            return {}
        number = numbers.pop()
        out[number] = (*out.get(number, ()), cell)
    return out


def _between(column: Column, first: int, last: int) -> Filter:
    return Filter(column.field, Op.IS, (first,)) if first == last else Filter(column.field, Op.BETWEEN, (first, last))


def _only_year(column: Column) -> bool:
    return column.type is ColumnType.INTEGER and column.yearly and column.name.casefold().startswith("year")


def _numbered(table: Table, name: str, low: int, high: int) -> Column | None:
    """The column of whole numbers with this name, all of them inside the bounds."""
    for column in table.columns:
        inside = isinstance(column.lowest, int) and isinstance(column.highest, int)
        if column.name.casefold() == name and column.type is ColumnType.INTEGER and inside:
            return column if low <= int(str(column.lowest)) and int(str(column.highest)) <= high else None
    return None
