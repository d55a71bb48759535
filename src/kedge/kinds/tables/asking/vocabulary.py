"""What a question over one table can name: its columns, their values, and which columns name the same things."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

import duckdb

from kedge.core.errors import StoreError
from kedge.kinds.tables.asking.calendar import Calendar, read_calendar
from kedge.kinds.tables.asking.columns import Columns
from kedge.kinds.tables.asking.naming import naming
from kedge.kinds.tables.asking.same import kind_of_values
from kedge.kinds.tables.asking.values import ValueIndex, read_values
from kedge.kinds.tables.asking.words import name_words
from kedge.kinds.tables.plans.plan import Scalar
from kedge.kinds.tables.schema import Column, ColumnType, Table

_MOST_PAIRS = 24
_MOST_LABELS = 2
_MOST_NAMED = 500
_FEW = 12
_MOST_CODES = 500
_BOTH = 2
_NEARLY_EACH = 0.9
_TITLES = frozenset("name title label".split())
_CALLED = frozenset("name title label description desc fullname".split())
_OF_PERSONS = frozenset("employee customer client player patient student member user person".split())
_LEAST_THINGS, _LOOKED_AT = 5, 20_000
_CODE = 5
"""Letters of a code that a longer text may stand for."""
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
    calendar: Calendar = field(default_factory=Calendar)
    """Columns with parts of dates."""
    labels: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """For the field of an id column, those of text columns with exactly one value for each id, and the reverse."""

    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """For the field of an id column, those of the names or the title of which each id has one."""

    attributes: frozenset[str] = frozenset()
    """Fields of measures that tell of a thing that recurs, the same in all its rows: a product's weight."""

    headers: frozenset[str] = frozenset()
    """Fields of ids that recur and have one date each: of orders with several lines, not of a flight's number."""

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
    few = _written(values, {column.field for column in table.columns if column.type.worded and column.distinct <= _FEW})
    labels = _labels(connection, table, values)
    return Vocabulary(
        table,
        Columns(table),
        values,
        _flags(table, values),
        kinds,
        read_calendar(table, few),
        labels,
        _names(connection, table),
        _attributes(connection, table),
        _headers(connection, table),
    )


def _kinds(table: Table, values: ValueIndex) -> frozenset[str]:
    unique = {column.field for column in table.columns if column.distinct == table.rows <= _MOST_NAMED}
    found: dict[str, list[str]] = {}
    for entry in values.entries if unique else ():
        if entry.column in unique:
            found.setdefault(entry.column, []).append(entry.value)
    return frozenset(filter(None, map(kind_of_values, found.values())))


def _written(values: ValueIndex, fields: Collection[str]) -> dict[str, list[str]]:
    """The different values of these columns."""
    out: dict[str, list[str]] = {field: [] for field in fields}
    for entry in values.entries:
        if entry.column in out:
            out[entry.column].append(entry.value)
    return out


def _flags(table: Table, values: ValueIndex) -> dict[str, tuple[Scalar, Scalar]]:
    """Columns of true and false, 1 and 0, or yes and no."""
    written = _written(values, {column.field for column in table.columns if column.distinct == 2})
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


def _labels(connection: duckdb.DuckDBPyConnection, table: Table, values: ValueIndex) -> dict[str, list[str]]:
    """Pairs of an id or a code and a text column with one value for each other: customer_id and company."""
    texts = [column for column in table.columns if column.type.worded and column.distinct > 1]
    ids = [column for column in table.columns if column.type is ColumnType.ID and column.distinct > 1]
    coded = _coded(texts, values)
    pairs = [
        (one, two)
        for one in (*ids, *coded)
        for two in texts
        if one.distinct == two.distinct and two not in coded and (one in coded or one.empty == two.empty == 0)
    ]
    found: dict[str, list[str]] = {}
    for one, two in pairs[:_MOST_PAIRS]:
        together = _together(connection, table, (one.field, two.field))
        if together == one.distinct and len(found.setdefault(one.field, [])) < _MOST_LABELS:
            found[one.field].append(two.field)
            found.setdefault(two.field, []).append(one.field)
    return found


def _together(connection: duckdb.DuckDBPyConnection, table: Table, fields: Sequence[str]) -> int:
    """How many different combinations of these columns there are. StoreError."""
    # Names of our own only.
    filled = " OR ".join(f"{name} IS NOT NULL" for name in fields)
    text = f"SELECT count(*) FROM (SELECT DISTINCT {', '.join(fields)} FROM {table.relation} WHERE {filled})"  # noqa: S608
    try:
        row = connection.cursor().execute(text).fetchone()
    except duckdb.Error as error:
        raise StoreError(f"The table could not be read: {error}", hint="Feed the table again.") from error
    return int(row[0]) if row else 0


def _names(connection: duckdb.DuckDBPyConnection, table: Table) -> dict[str, Sequence[str]]:
    """Names beside the id of what they name: playerID, nameFirst and nameLast; movieId and title."""
    persons = [field for field in naming(table) if table.column(field).type.worded]
    ids = [column for column in table.columns if column.type is ColumnType.ID and 1 < column.distinct <= table.rows]
    out: dict[str, Sequence[str]] = {}
    for column in [one for one in ids if one.empty == 0][:_MOST_LABELS]:
        titled = [
            [one.field]
            for one in table.columns
            if one.type.worded
            and one.name.strip().lower() in _TITLES
            and _NEARLY_EACH * column.distinct <= one.distinct < column.distinct
        ]
        titled += [[one.field] for one in table.columns if _names_same(column, one)]
        for named in [*([persons] if len(persons) == _BOTH else []), *titled]:
            if column.field not in out and _together(connection, table, (column.field, *named)) == column.distinct:
                out[column.field] = named
    return out


def _attributes(connection: duckdb.DuckDBPyConnection, table: Table) -> frozenset[str]:
    """Measures with one value for each of the things that some column names, of which many have several rows.

    Some of these things are looked at, with all their rows. StoreError.
    """
    measures = [column for column in table.columns if column.type.measured and column.distinct > 1]
    things = [
        column
        for column in table.columns
        if (column.type is ColumnType.ID or column.type is ColumnType.CATEGORY)
        and _LEAST_THINGS <= column.distinct <= table.rows / _BOTH
    ]
    out: set[str] = set()
    for thing in things:
        left = [column for column in measures if column.field not in out and column.distinct <= thing.distinct]
        if left:
            out |= _constant(connection, table, thing, left)
    return frozenset(out)


def _headers(connection: duckdb.DuckDBPyConnection, table: Table) -> frozenset[str]:
    """Ids of things with several rows each and one date. StoreError."""
    dates = [column for column in table.columns if column.type.dated and column.distinct > _LEAST_THINGS]
    ids = [
        column
        for column in table.columns
        if column.type is ColumnType.ID and _LEAST_THINGS <= column.distinct < _NEARLY_EACH * table.rows
    ]
    return frozenset(one.field for one in ids if dates and _constant(connection, table, one, dates))


def _constant(
    connection: duckdb.DuckDBPyConnection, table: Table, thing: Column, measures: Sequence[Column]
) -> set[str]:
    """Of these measures, those that have one value for each value of a column. StoreError."""
    of_each = max(1, round(table.rows / _LOOKED_AT))
    ends = ", ".join(
        f"min({one.field}) AS a{place}, max({one.field}) AS b{place}" for place, one in enumerate(measures)
    )
    same = ", ".join(f"bool_and(a{place} IS NOT DISTINCT FROM b{place})" for place in range(len(measures)))
    # Names of our own and numbers only.
    text = (
        f"SELECT count(*), {same} FROM (SELECT {ends} FROM {table.relation} "  # noqa: S608
        f"WHERE {thing.field} IS NOT NULL AND hash({thing.field}) % {of_each} = 0 "
        f"GROUP BY {thing.field} HAVING count(*) > 1)"
    )
    try:
        row = connection.cursor().execute(text).fetchone()
    except duckdb.Error as error:
        raise StoreError(f"The table could not be read: {error}", hint="Feed the table again.") from error
    if row is None or row[0] < _LEAST_THINGS:
        return set()
    return {one.field for place, one in enumerate(measures) if row[place + 1]}


def _names_same(thing: Column, name: Column) -> bool:
    """Whether a column says by its heading that it names what the ids stand for: department_description, full_name."""
    whole, said = name_words(thing.name), set(name_words(name.name))
    if not name.type.worded or not _CALLED & said or not _NEARLY_EACH * thing.distinct <= name.distinct:
        return False
    return whole[0] in said or (whole[0] in _OF_PERSONS and said <= {"full", "name", "fullname"})


def _coded(texts: Sequence[Column], values: ValueIndex) -> list[Column]:
    """Columns of short codes in capitals or digits, each of which a longer text may stand for."""
    few = {column.field for column in texts if 2 < column.distinct <= _MOST_CODES}
    written = _written(values, few)
    return [
        column
        for column in texts
        if column.field in few
        and written[column.field]
        and all(len(value) <= _CODE and value == value.upper() for value in written[column.field])
    ]


def _day(value: object) -> date | None:
    if isinstance(value, datetime):
        return value.date()
    return value if isinstance(value, date) else None


def entity(columns: Sequence[Column]) -> Column:
    """Of columns that name the same thing, the one that people read: its name before its number."""
    return next((column for column in columns if column.type.worded), columns[0])
