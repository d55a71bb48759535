"""What is known of a table's columns. Rows lie in DuckDB under names of our own; the file's names are data only."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from kedge.core.outside import outside

_WORDS = re.compile(r"[\W_]+|(?<=\D)(?=\d)")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_YEARS = (1400, 2200)
_CALENDAR = {"month": 12, "day": 366, "week": 53, "weekday": 7, "quarter": 4, "hour": 24, "minute": 60, "yr": 2200}
"""Headings of parts of a date or time, in the singular, and their highest number."""
_ORDERS = frozenset("rank ranking position latitude longitude lat lon lng".split())
ROW = "row_number"
"""Column with the number of each row in its file, from 1 for the first row below the header."""


class ColumnType(StrEnum):
    """What a column holds, which decides how questions use it."""

    TEXT = "text"
    """Mostly different values, several words: embedded and searched."""
    CATEGORY = "category"
    """Few different values, or names: embedded once each, matched by name, grouped by."""
    INTEGER = "integer"
    REAL = "real"
    BOOLEAN = "boolean"
    DATE = "date"
    TIME = "time"
    """A point in time: date with clock."""
    CLOCK = "clock"
    """A time of day written as a whole number, hhmm: ordered and compared, never summed."""
    ID = "id"
    """Integers or codes that name something: matched and counted, never summed."""

    @property
    def measured(self) -> bool:
        """Whether adding up and averaging make sense."""
        return self in (ColumnType.INTEGER, ColumnType.REAL)

    @property
    def compared(self) -> bool:
        """Whether its values are numbers with an order."""
        return self.measured or self is ColumnType.CLOCK

    @property
    def dated(self) -> bool:
        return self in (ColumnType.DATE, ColumnType.TIME)

    @property
    def worded(self) -> bool:
        """Whether its values are texts that a question may name."""
        return self in (ColumnType.TEXT, ColumnType.CATEGORY)


@outside({"type": "holds"}, hidden=("field", "type", "lowest", "highest"))
@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table."""

    name: str
    """As the file's header writes it: any text at all. Shown to people, never put into SQL."""
    field: str
    """Its name in DuckDB, made by us: `c0`, `c1`, … in the file's order."""
    type: ColumnType
    distinct: int = 0
    """How many different values there are, empty ones not counted."""
    empty: int = 0
    """How many rows have no value."""
    lowest: object = None
    """Smallest value of a number or date column."""
    highest: object = None

    @property
    def holds(self) -> str:
        """text, category, integer, real, boolean, date, time, clock or id."""
        return self.type.value

    @property
    def yearly(self) -> bool:
        """Whether it holds years: written as their first days, or as numbers under such a name."""
        low, high = self.lowest, self.highest
        if self.type.dated and isinstance(low, date) and isinstance(high, date):
            first = (low.month, low.day, high.month, high.day) == (1, 1, 1, 1)
            return first and 1 < self.distinct <= high.year - low.year + 1
        named = bool({"year", "yr", "date"} & set(_WORDS.split(_CAMEL.sub(" ", self.name).lower())))
        numbers = isinstance(low, int | float) and isinstance(high, int | float) and self.type.measured
        return named and numbers and _YEARS[0] <= float(str(low)) and float(str(high)) <= _YEARS[1]

    @property
    def added(self) -> bool:
        """Whether adding its numbers up can mean anything: not of years, months, days, hours, ranks and the like."""
        if not self.type.measured or self.yearly:
            return False
        words = _WORDS.split(_CAMEL.sub(" ", self.name).strip().lower())
        highest = _CALENDAR.get(words[-1]) if words else None
        within = isinstance(self.highest, int | float) and highest is not None and self.highest <= highest
        return not within and not (words and words[-1] in _ORDERS)


@dataclass(frozen=True, slots=True)
class Table:
    """One table of a session: `relation` in DuckDB holds `row_number` and every column's field."""

    name: str
    """What people call it: the file's name without its suffix."""
    relation: str
    """Its name in DuckDB, made by us."""
    columns: Sequence[Column]
    rows: int

    def column(self, field: str) -> Column:
        """The column with this field. KeyError."""
        for column in self.columns:
            if column.field == field:
                return column
        raise KeyError(field)
