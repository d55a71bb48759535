"""What the columns of a staged file hold. Every distinct value is looked at, so one odd cell changes nothing.

A staged file is a relation `raw` with `row_number`, `line` and the cells as text under c0, c1, …
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import duckdb

from kedge.kinds.tables.feeding import formats
from kedge.kinds.tables.schema import Column, ColumnType
from kedge.stores.queries import load_queries

QUERIES = load_queries(__package__, "queries.sql")
SAMPLE = 2000
"""Distinct values that decide which format is tried on all of them."""
_ID_WORDS = frozenset(
    "id ids nr no num number code key sku ean upc isbn zip zipcode postcode postal plz phone telephone tel fax iban "
    "account uuid guid barcode ssn vin".split()
)
_THINGS = frozenset("flight train bus route line jersey shirt room gate seat ticket invoice lot".split())
"""Whole headings of numbers that name what they say: a flight of number 1545, in the singular."""
_KEY_WORDS = frozenset("id ids key sku uuid guid".split())
_CLOCK_WORDS = frozenset("time clock hhmm uhrzeit hora heure".split())
_DATE_WORDS = frozenset("date day datum dia jour fecha data".split())
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_CODE = r"[\p{L}\p{N}._/#:-]*[0-9][\p{L}\p{N}._/#:-]*"
_YEARS = (1400, 2200)
_EVENING, _MIDNIGHT, _SOME_HOURS = 1700, 2400, 6
_UNIQUE = 0.95
_LONG_ID = 6
_MOST_RECURRING, _OFTEN = 12, 10
"""Words in a column of numbers that are no mistakes: so many at most, so many times each in the mean."""
_FEW_ROWS = 20
_FEW_NUMBERED = 3
_TEXT_WORDS = 5.0
_LISTED_WORDS = 3.0


@dataclass(frozen=True, slots=True)
class Staged:
    """One column of a staged file: what it is and how its cells are read."""

    name: str
    field: str
    type: ColumnType
    expression: str
    """SQL over the relation `raw`; made by this package only."""
    misfits: int = 0
    """Filled cells that this expression cannot read."""
    note: str = ""


def tell(connection: duckdb.DuckDBPyConnection, names: Sequence[str]) -> list[Staged]:
    """The type of every column."""
    fields = [f"c{place}" for place in range(len(names))]
    samples = {field: _samples(connection, field) for field in fields}
    comma = any(formats.has_decimal_comma(_filled(found)) for found in samples.values())
    told = [_column(connection, name, field, samples[field], comma) for name, field in zip(names, fields, strict=True)]
    return _with_empty_words(connection, told)


def _with_empty_words(connection: duckdb.DuckDBPyConnection, columns: Sequence[Staged]) -> list[Staged]:
    """What says that a number or date is missing (NA, n/a) says so in the file's columns of words as well."""
    empty = ", ".join(f"'{token}'" for token in formats.EMPTY if token)
    said: set[str] = set()
    for column in columns:
        if column.type.compared or column.type.dated:
            found = f"SELECT DISTINCT lower(value) FROM v_{column.field} WHERE lower(value) IN ({empty})"  # noqa: S608
            said |= {word for (word,) in connection.execute(found).fetchall()}
    if not said:
        return list(columns)
    words = ", ".join(f"'{word}'" for word in sorted(said))
    return [
        replace(
            column, expression=f"CASE WHEN lower(trim({column.field})) NOT IN ({words}) THEN {column.expression} END"
        )
        if column.expression == f"nullif(trim({column.field}), '')"
        else column
        for column in columns
    ]


def described(connection: duckdb.DuckDBPyConnection, relation: str, columns: Sequence[Staged]) -> list[Column]:
    """The columns with their counts and bounds, as they lie in `relation`."""
    found = []
    for column in columns:
        field = column.field
        bounds = f"min({field}), max({field})" if column.type.compared or column.type.dated else "NULL, NULL"
        row = one(
            connection,
            f"SELECT count(DISTINCT {field}), count(*) - count({field}), {bounds} FROM {relation}",  # noqa: S608
        )
        found.append(Column(column.name, field, column.type, *row))
    return found


def one(connection: duckdb.DuckDBPyConnection, statement: str) -> tuple[Any, ...]:
    """The one row of a result; all of it is fetched, since a half-read result blocks its connection."""
    row: tuple[Any, ...] = connection.execute(statement).fetchall()[0]
    return row


def name_words(name: str) -> list[str]:
    """The words of a column's name, lower-case: `orderId`, `order_id` and `Order ID` alike."""
    return [word.lower() for word in _WORDS.findall(name)]


def _samples(connection: duckdb.DuckDBPyConnection, field: str) -> list[str]:
    """Distinct values in an order that is no order, kept beside with their counts as `v_<field>`."""
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE v_{field} AS SELECT trim({field}) AS value, count(*) AS times "  # noqa: S608
        f"FROM raw WHERE trim({field}) <> '' GROUP BY ALL"
    )
    rows = connection.execute(f"SELECT value FROM v_{field} ORDER BY hash(value) LIMIT {SAMPLE}").fetchall()  # noqa: S608
    return [value for (value,) in rows]


def _filled(values: Sequence[str]) -> list[str]:
    return [value for value in values if value.lower() not in formats.EMPTY]


def _column(
    connection: duckdb.DuckDBPyConnection, name: str, field: str, samples: Sequence[str], comma: bool
) -> Staged:
    filled = _filled(samples)
    if not filled:
        return Staged(name, field, ColumnType.CATEGORY, f"nullif(trim({field}), '')")
    words = name_words(name)
    if all(value.lower() in ("true", "false") for value in filled):
        return _checked(connection, name, field, formats.Read(ColumnType.BOOLEAN, "TRY_CAST(value AS BOOLEAN)"))
    if _DATE_WORDS & set(words) and all(re.fullmatch(r"(?:19|20)\d{6}", value) for value in filled):
        compact = formats.Read(ColumnType.DATE, "CAST(try_strptime(value, '%Y%m%d') AS DATE)")
        return _checked(connection, name, field, compact)
    short = sum(map(formats.is_short_date, filled)) >= len(filled) * formats.MOST
    read = formats.moment(filled, _day_first(connection, field) if short else None)
    if read is not None:
        return _checked(connection, name, field, read)
    read = formats.number(filled, comma=comma)
    return _worded(connection, name, field) if read is None else _number(connection, name, field, read)


def _number(connection: duckdb.DuckDBPyConnection, name: str, field: str, read: formats.Read) -> Staged:
    """Integers, reals, or numbers that only name something."""
    row = one(
        connection,
        f"SELECT bool_or(regexp_full_match(value, '0[0-9]+')), max(length(value)), "  # noqa: S608
        f"bool_and({read.expression} = trunc({read.expression})) AND NOT bool_or(regexp_matches(value, '[eE]')), "
        f"bool_or(regexp_matches(value, '[.]')) FROM v_{field} WHERE {read.expression} IS NOT NULL",
    )
    if row[1] is None:
        return _worded(connection, name, field)
    zeros, longest, whole, pointed = row
    plain = read.expression == "TRY_CAST(value AS DOUBLE)"
    if plain and whole and not pointed and (zeros or longest > 18):
        return Staged(name, field, ColumnType.ID, f"nullif(trim({field}), '')")
    if plain and whole and not pointed:
        named = (_names_something(name_words(name)) and not _are_years(connection, name, field)) or (
            field == "c0" and _numbers_rows(connection)
        )
        named = named or _ends_in_id(connection, name, field)
        kind = ColumnType.ID if named else ColumnType.INTEGER
        if not named and _tells_time(connection, name, field):
            kind = ColumnType.CLOCK
        return _checked(connection, name, field, formats.Read(kind, "TRY_CAST(value AS BIGINT)", read.note))
    if not plain and whole and not _has_fraction(connection, field, read):
        integer = formats.Read(ColumnType.INTEGER, f"TRY_CAST({read.expression} AS BIGINT)")
        return _checked(connection, name, field, integer)
    return _checked(connection, name, field, read)


def _are_years(connection: duckdb.DuckDBPyConnection, name: str, field: str) -> bool:
    """Whether a column such as `yearID` holds years rather than numbers of things."""
    low, high = one(connection, f"SELECT min(TRY_CAST(value AS BIGINT)), max(TRY_CAST(value AS BIGINT)) FROM v_{field}")  # noqa: S608
    return name_words(name)[:1] == ["year"] and low is not None and low >= _YEARS[0] and high <= _YEARS[1]


def _ends_in_id(connection: duckdb.DuckDBPyConnection, name: str, field: str) -> bool:
    """Whether a heading such as `geonameid` stands over numbers that are different in nearly every row."""
    words = name_words(name)
    if not words or not words[-1].endswith("id") or len(words[-1]) < _LONG_ID:
        return False
    distinct, filled = one(connection, f"SELECT count(*), sum(times) FROM v_{field}")  # noqa: S608
    return bool(distinct >= filled * _UNIQUE)


def _tells_time(connection: duckdb.DuckDBPyConnection, name: str, field: str) -> bool:
    """Whether whole numbers under such a heading are times of day, hhmm: no minute above 59, most of the day there."""
    if not _CLOCK_WORDS & set(name_words(name)):
        return False
    number = "TRY_CAST(value AS BIGINT)"
    low, high, minutes, hours = one(
        connection,
        f"SELECT min({number}), max({number}), max({number} % 100), count(DISTINCT {number} // 100) FROM v_{field}",  # noqa: S608
    )
    return low is not None and low >= 0 and _EVENING <= high <= _MIDNIGHT and minutes < 60 and hours >= _SOME_HOURS


def _numbers_rows(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether the first column only numbers the rows: all different, close together and in order."""
    count, distinct, span, falling = one(connection, QUERIES["numbers_in_order"])
    return bool(count >= _FEW_NUMBERED and count == distinct and span < 10 * count and falling == 0)


def _has_fraction(connection: duckdb.DuckDBPyConnection, field: str, read: formats.Read) -> bool:
    """Prices like $5.00 are whole by chance; they are still no integers."""
    mark = "," if read.note == formats.DECIMAL_COMMAS else "."
    row = one(
        connection,
        f"SELECT bool_or(regexp_matches(value, '[{mark}][0-9]{{1,2}}[^0-9]*$')) FROM v_{field}",  # noqa: S608
    )
    return bool(row[0])


def _names_something(words: Sequence[str]) -> bool:
    if len(words) == 1 and words[0] in _THINGS:
        return True
    return bool(words) and (words[-1] in _ID_WORDS or words[0] == "id" or words[-2:] == ["row", "index"])


def _checked(connection: duckdb.DuckDBPyConnection, name: str, field: str, read: formats.Read) -> Staged:
    """This reading if enough cells allow it, else text."""
    empty = ", ".join(f"'{token}'" for token in formats.EMPTY)
    row = one(
        connection,
        f"SELECT sum(times), coalesce(sum(times) FILTER (WHERE ({read.expression}) IS NULL), 0) "  # noqa: S608
        f"FROM v_{field} WHERE lower(value) NOT IN ({empty})",
    )
    filled, misfits = (int(row[0]), int(row[1])) if row[0] else (0, 0)
    if not filled or misfits > filled * (1 - formats.MOST):
        return _worded(connection, name, field)
    inner = f"CASE WHEN lower(trim({field})) NOT IN ({empty}) THEN trim({field}) END"
    expression = (
        read.expression.replace("value", f"({inner})")
        if misfits or _has_empty(connection, field)
        else (read.expression.replace("value", f"nullif(trim({field}), '')"))
    )
    note = read.note
    if misfits and (words := _recurring(connection, field, read)):
        # DNF, DQ, n.s.: what comes up again and again is no mistake, and no reason to put its rows aside.
        misfits, note = 0, f"{note}; {words} count as empty".removeprefix("; ")
    if read.type is ColumnType.TIME and not _has_clock(connection, field, read):
        return Staged(name, field, ColumnType.DATE, f"CAST({expression} AS DATE)", misfits, note)
    return Staged(name, field, read.type, expression, misfits, note)


def _recurring(connection: duckdb.DuckDBPyConnection, field: str, read: formats.Read) -> str:
    """The words that stand in the place of a value, where they are few and each comes up often; else nothing."""
    empty = ", ".join(f"'{token}'" for token in formats.EMPTY)
    rows = connection.execute(
        f"SELECT value, times FROM v_{field} WHERE ({read.expression}) IS NULL AND lower(value) NOT IN ({empty}) "  # noqa: S608
        f"ORDER BY times DESC, value LIMIT {_MOST_RECURRING + 1}"
    ).fetchall()
    if len(rows) > _MOST_RECURRING or sum(times for _, times in rows) < _OFTEN * len(rows):
        return ""
    return ", ".join(f"'{value}'" for value, _ in rows)


def _has_clock(connection: duckdb.DuckDBPyConnection, field: str, read: formats.Read) -> bool:
    """Whether any moment is not midnight: databases write dates as `2024-12-31 00:00:00`."""
    midnight = f"date_trunc('day', {read.expression})"
    return bool(one(connection, f"SELECT bool_or({read.expression} <> {midnight}) FROM v_{field}")[0])  # noqa: S608


def _has_empty(connection: duckdb.DuckDBPyConnection, field: str) -> bool:
    empty = ", ".join(f"'{token}'" for token in formats.EMPTY)
    row = one(connection, f"SELECT count(*) FROM v_{field} WHERE lower(value) IN ({empty})")  # noqa: S608
    return bool(row[0])


def _day_first(connection: duckdb.DuckDBPyConnection, field: str) -> bool | None:
    row = one(
        connection,
        f"SELECT max(TRY_CAST(regexp_extract(value, '^([0-9]+)[/.-]([0-9]+)[/.-]', 1) AS INTEGER)), "  # noqa: S608
        f"max(TRY_CAST(regexp_extract(value, '^([0-9]+)[/.-]([0-9]+)[/.-]', 2) AS INTEGER)) FROM v_{field}",
    )
    first, second = row
    if first is not None and first > 12:
        return True
    return False if second is not None and second > 12 else None


def _worded(connection: duckdb.DuckDBPyConnection, name: str, field: str) -> Staged:
    """Text, categories, or codes."""
    row = one(
        connection,
        f"SELECT count(*), sum(times), avg(length(value) - length(replace(value, ' ', '')) + 1), "  # noqa: S608
        f"avg(CASE WHEN regexp_full_match(value, '{_CODE}') THEN 1 ELSE 0 END), "
        f"avg(CASE WHEN contains(value, ' ') THEN 0 ELSE 1 END) FROM v_{field}",
    )
    expression = f"nullif(trim({field}), '')"
    if not row[0]:
        return Staged(name, field, ColumnType.CATEGORY, expression)
    distinct, filled, spaced, codes, single = row
    unique = distinct >= filled * _UNIQUE and filled > _FEW_ROWS
    words = name_words(name)
    named = bool(words) and words[-1] in _KEY_WORDS and single > formats.MOST  # ALFKI as a customer's id
    if named or (codes > formats.MOST and (unique or _names_something(words))):
        kind = ColumnType.ID
    elif spaced >= _TEXT_WORDS or (distinct > filled * 0.5 and spaced >= _LISTED_WORDS):
        kind = ColumnType.TEXT
    else:
        kind = ColumnType.CATEGORY
    return Staged(name, field, kind, expression)
