"""What a question over one table can name: its columns, their values, and which columns name the same things."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

import duckdb

from kedge.core.errors import StoreError
from kedge.kinds.tables.asking.columns import Columns
from kedge.kinds.tables.asking.same import kind_of_values
from kedge.kinds.tables.asking.values import ValueIndex, read_values
from kedge.kinds.tables.plans.plan import Scalar
from kedge.kinds.tables.schema import Column, ColumnType, Table

_MOST_PAIRS = 24
_MOST_LABELS = 2
_MOST_NAMED = 500
_YES_NO = (("yes", "no"), ("y", "n"), ("true", "false"), ("t", "f"), ("ja", "nein"), ("si", "no"), ("oui", "non"))


@dataclass(frozen=True)
class Vocabulary:
    """Built once per table, read by every question."""

    table: Table
    columns: Columns
    values: ValueIndex
    flags: Mapping[str, tuple[Scalar, Scalar]] = field(default_factory=dict)
    """For the field of a column that only says yes or no, how it writes them."""
    kinds: frozenset[str] = frozenset()
    """What each row is, told from a column that is different in every row: `state`, `country`."""
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """For the field of an id column, those of text columns with exactly one value for each id, and the reverse."""

    def one_thing(self, columns: Sequence[Column]) -> bool:
        """Whether all these columns have one value for each other."""
        first = columns[0].field if columns else ""
        return bool(columns) and all(
            column.field == first or column.field in self.labels.get(first, ()) for column in columns
        )

    @property
    def year(self) -> Column | None:
        """The one column that holds years as numbers, in a table without dates."""
        found = [column for column in self.table.columns if column.yearly and column.type.measured]
        return found[0] if len(found) == 1 and not self.columns.dated() else None

    def span(self) -> tuple[date, date] | None:
        """First and last day of the table's main date column."""
        for column in self.columns.dated():
            first, last = _day(column.lowest), _day(column.highest)
            if first and last:
                return first, last
        if self.year:
            return date(int(str(self.year.lowest).partition(".")[0]), 1, 1), date(
                int(str(self.year.highest).partition(".")[0]), 12, 31
            )
        return None


def read_vocabulary(connection: duckdb.DuckDBPyConnection, table: Table) -> Vocabulary:
    """Read what questions may name. Takes about a second per million rows. Raises StoreError."""
    values = read_values(connection, table)
    kinds = _kinds(table, values)
    return Vocabulary(table, Columns(table), values, _flags(table, values), kinds, _labels(connection, table))


def _kinds(table: Table, values: ValueIndex) -> frozenset[str]:
    unique = {column.field for column in table.columns if column.distinct == table.rows <= _MOST_NAMED}
    found: dict[str, list[str]] = {}
    for entry in values.entries if unique else ():
        if entry.column in unique:
            found.setdefault(entry.column, []).append(entry.value)
    return frozenset(filter(None, map(kind_of_values, found.values())))


def _flags(table: Table, values: ValueIndex) -> dict[str, tuple[Scalar, Scalar]]:
    """Columns of true and false, 1 and 0, or yes and no."""
    written: dict[str, list[str]] = {column.field: [] for column in table.columns if column.distinct == 2}
    for entry in values.entries:
        if entry.column in written:
            written[entry.column].append(entry.value)
    out: dict[str, tuple[Scalar, Scalar]] = {}
    for column in table.columns:
        if column.type is ColumnType.BOOLEAN:
            out[column.field] = (True, False)
        elif column.type is ColumnType.INTEGER and column.distinct == 2 and (column.lowest, column.highest) == (0, 1):
            out[column.field] = (1, 0)
        elif column.type is ColumnType.CATEGORY:
            found = {value.strip().lower(): value for value in written.get(column.field, ())}
            for yes, no in _YES_NO:
                if set(found) == {yes, no}:
                    out[column.field] = (found[yes], found[no])
    return out


def _labels(connection: duckdb.DuckDBPyConnection, table: Table) -> dict[str, list[str]]:
    """Pairs of an id and a text column with one value for each other: customer_id and company."""
    ids = [column for column in table.columns if column.type is ColumnType.ID and column.distinct > 1]
    texts = [column for column in table.columns if column.type.worded and column.distinct > 1]
    pairs = [
        (one, two) for one in ids for two in texts if one.distinct == two.distinct and one.empty == 0 and two.empty == 0
    ]
    found: dict[str, list[str]] = {}
    for one, two in pairs[:_MOST_PAIRS]:
        # Names of our own only.
        text = f"SELECT count(*) FROM (SELECT DISTINCT {one.field}, {two.field} FROM {table.relation})"  # noqa: S608
        try:
            row = connection.cursor().execute(text).fetchone()
        except duckdb.Error as error:
            raise StoreError(f"The table could not be read: {error}", hint="Feed the table again.") from error
        if row and row[0] == one.distinct and len(found.setdefault(one.field, [])) < _MOST_LABELS:
            found[one.field].append(two.field)
            found.setdefault(two.field, []).append(one.field)
    return found


def _day(value: object) -> date | None:
    if isinstance(value, datetime):
        return value.date()
    return value if isinstance(value, date) else None


def entity(columns: Sequence[Column]) -> Column:
    """Of columns that name the same thing, the one that people read: its name before its number."""
    return next((column for column in columns if column.type.worded), columns[0])
