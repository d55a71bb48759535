"""How numbers, dates and times are written in a column: told from examples, read by DuckDB.

A format is an expression over `value`, the trimmed cell; it gives NULL for what it cannot read.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kedge.kinds.tables.schema import ColumnType

EMPTY = (
    "", "na", "n/a", "null", "none", "nan", "-", "--", "---", "–", "—", "−", "?", "nil", "#n/a", "tba", "tbd", "tbc",
    "unknown", "n.a.",
)  # fmt: skip
"""Cells that mean "no value" in columns of numbers and dates."""
MOST = 0.9
"""Share of the filled cells that must fit for a column to be numbers or dates; rows with the others are bad rows."""

DECIMAL_COMMAS = "decimal commas"
_PLAIN = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d{1,3})?")
_MONEY = r"(?:[$€£¥₹₽₩₺₫₴₪฿]|[A-Z]{2}\$|USD|EUR|GBP|CHF|JPY|CNY|INR|VND|SEK|NOK|DKK|PLN|CZK|AUD|CAD|kr\.?|zł)"
_SIGNED = re.compile(_MONEY)
_NUMBER = re.compile(
    rf"(?P<open>\()?\s*(?:(?P<sign>[-+])\s*)?(?:{_MONEY}\s*)?(?:(?P<sign2>[-+])\s*)?"
    rf"(?P<digits>\d(?:[\d.,'’_\s]*[\d.,'’_])?|[.,]\d+)\s*(?:(?:%|{_MONEY})\s*)?(?P<close>\))?"
)
_SQL_NUMBER = rf"\(?\s*[-+]?\s*(?:{_MONEY})?\s*[-+]?\s*(?:\d[\d.,''’_\s]*|[.,]\d+)\s*(?:%|{_MONEY})?\s*\)?"
_TIME = r"(?P<time>[ T](?P<clock>\d{1,2}:\d{2}(?P<seconds>:\d{2}(?P<fraction>\.\d+)?)?)(?P<half> ?[AaPp][Mm])?)?"
_ISO = re.compile(rf"\d{{4}}-\d{{1,2}}-\d{{1,2}}{_TIME}(?P<zone>Z|[+-]\d{{2}}(?::?\d{{2}})?)?")
_YMD = re.compile(rf"\d{{4}}(?P<mark>[/.])\d{{1,2}}(?P=mark)\d{{1,2}}{_TIME}")
_PARTS = re.compile(
    rf"(?P<first>\d{{1,2}})(?P<mark>[/.-])(?P<second>\d{{1,2}})(?P=mark)(?P<year>\d{{4}}|\d{{2}}){_TIME}"
)
_NAMED = re.compile(
    r"(?:(?P<day>\d{1,2})(?P<a>[ -])(?P<month>[A-Za-z]{3,9})(?P=a)"
    r"|(?P<month2>[A-Za-z]{3,9}) (?P<day2>\d{1,2}),? )"
    rf"(?P<year>\d{{4}}|\d{{2}}){_TIME}"
)


@dataclass(frozen=True, slots=True)
class Read:
    """How the cells of a column become values."""

    type: ColumnType
    expression: str
    """SQL over `value`; made of constants of this module only."""
    note: str = ""


def looks_like_value(cell: str) -> bool:
    """A number, a date or a time: nothing that names a column."""
    return bool(_NUMBER.fullmatch(cell) or any(one.fullmatch(cell) for one in (_PLAIN, _ISO, _YMD, _PARTS, _NAMED)))


def number(samples: Sequence[str], *, comma: bool = False) -> Read | None:
    """How these are read as numbers, or None. `comma`: elsewhere in the file decimals have a comma."""
    fitting = [sample for sample in samples if _NUMBER.fullmatch(sample) or _PLAIN.fullmatch(sample)]
    if not fitting or len(fitting) < len(samples) * MOST:
        return None
    if all(_PLAIN.fullmatch(sample) for sample in fitting) and not _grouped(fitting, comma):
        return Read(ColumnType.REAL, "TRY_CAST(value AS DOUBLE)")
    priced = any(_SIGNED.search(sample) for sample in fitting)  # nobody writes prices with three decimals
    mark = _decimal_mark(fitting, comma and not priced)
    return Read(ColumnType.REAL, _number_sql(mark), "" if mark == "." else DECIMAL_COMMAS)


def has_decimal_comma(samples: Sequence[str]) -> bool:
    """Whether some of these say plainly that their comma is a decimal one."""
    digits = _digits(samples)
    return sum(map(_comma_decimal, digits)) > sum(map(_point_decimal, digits))


def moment(samples: Sequence[str], day_first: bool | None) -> Read | None:
    """How these are read as dates or points in time, or None.

    `day_first` says which of two numbers is the day where the column tells; None where it does not.
    """
    for pattern, reader in ((_ISO, _iso), (_YMD, _year_first), (_PARTS, _short), (_NAMED, _month_name)):
        matches = [match for sample in samples if (match := pattern.fullmatch(sample))]
        if matches and len(matches) >= len(samples) * MOST:
            return reader(matches, day_first)
    return None


def is_short_date(sample: str) -> bool:
    """Two numbers and a year, so that day and month may be either way round."""
    return _PARTS.fullmatch(sample) is not None


def _grouped(samples: Sequence[str], comma: bool) -> bool:
    """Only a file with decimal commas writes 1.234 for a thousand and more."""
    return (
        comma
        and all(re.fullmatch(r"[-+]?\d{1,3}(?:\.\d{3})+|[-+]?\d{1,3}", sample) for sample in samples)
        and any("." in sample for sample in samples)
    )


def _digits(samples: Sequence[str]) -> list[str]:
    return [match["digits"].strip() for sample in samples if (match := _NUMBER.fullmatch(sample))]


def _comma_decimal(digits: str) -> bool:
    after = digits.rpartition(",")[2]
    if "," not in digits:
        return digits.count(".") > 1
    return digits.rfind(",") > digits.rfind(".") and (("." in digits) or (digits.count(",") == 1 and len(after) != 3))


def _point_decimal(digits: str) -> bool:
    after = digits.rpartition(".")[2]
    if "." not in digits:
        return digits.count(",") > 1
    return digits.rfind(".") > digits.rfind(",") and (("," in digits) or (digits.count(".") == 1 and len(after) != 3))


def _decimal_mark(samples: Sequence[str], comma: bool) -> str:
    digits = _digits(samples)
    commas, points = sum(map(_comma_decimal, digits)), sum(map(_point_decimal, digits))
    if commas == points:
        return "," if comma else "."
    return "," if commas > points else "."


def _number_sql(mark: str) -> str:
    bare = rf"regexp_replace(value, '[^0-9{mark}]', '', 'g')"
    plain = f"replace({bare}, '{mark}', '.')" if mark == "," else bare
    sign = "CASE WHEN starts_with(value, '(') OR contains(value, '-') THEN -1 ELSE 1 END"
    return f"CASE WHEN regexp_full_match(value, '{_SQL_NUMBER}') THEN {sign} * TRY_CAST({plain} AS DOUBLE) END"


def _iso(matches: Sequence[re.Match[str]], _day_first: bool | None) -> Read:
    if any(match["time"] for match in matches):
        zoned = any(match["zone"] for match in matches)
        # A zone is applied, so that all moments are in UTC.
        source = "TRY_CAST(TRY_CAST(value AS TIMESTAMPTZ) AT TIME ZONE 'UTC' AS TIMESTAMP)" if zoned else ""
        return Read(ColumnType.TIME, source or "TRY_CAST(value AS TIMESTAMP)", "times in UTC" if zoned else "")
    return Read(ColumnType.DATE, "TRY_CAST(value AS DATE)")


def _year_first(matches: Sequence[re.Match[str]], _day_first: bool | None) -> Read:
    mark = matches[0]["mark"]
    return _parsed(f"%Y{mark}%m{mark}%d", matches)


def _short(matches: Sequence[re.Match[str]], day_first: bool | None) -> Read:
    mark = matches[0]["mark"]
    year = "%Y" if len(matches[0]["year"]) == 4 else "%y"
    days = mark != "/" if day_first is None else day_first
    date = f"%d{mark}%m{mark}{year}" if days else f"%m{mark}%d{mark}{year}"
    shown = "day/month/year" if days else "month/day/year"
    note = f"dates are read as {shown}; no value says which way round they are" if day_first is None else shown
    return _parsed(date, matches, note)


def _month_name(matches: Sequence[re.Match[str]], _day_first: bool | None) -> Read:
    years = {"%Y" if len(match["year"]) == 4 else "%y" for match in matches}
    months = {"%b" if len(match["month"] or match["month2"]) == 3 else "%B" for match in matches} | {"%B", "%b"}
    shapes = {f"%d{match['a']}{{m}}{match['a']}{{y}}" if match["day"] else "{m} %d, {y}" for match in matches}
    shapes |= {"{m} %d {y}"} if any(match["month2"] for match in matches) else set()
    dates = sorted(shape.format(m=month, y=year) for shape in shapes for month in months for year in years)
    return _parsed(dates, matches)


def _parsed(date: str | list[str], matches: Sequence[re.Match[str]], note: str = "") -> Read:
    dates = [date] if isinstance(date, str) else date
    clocks = {_clock(match) for match in matches}
    formats = [f"'{one}{clock}'" for one in dates for clock in sorted(clocks, reverse=True)]
    parsed = f"try_strptime(value, [{', '.join(formats)}])"
    if clocks == {""}:
        return Read(ColumnType.DATE, f"CAST({parsed} AS DATE)", note)
    return Read(ColumnType.TIME, parsed, note)


def _clock(match: re.Match[str]) -> str:
    if not match["time"]:
        return ""
    hour = "%I" if match["half"] else "%H"
    seconds = "" if not match["seconds"] else ":%S.%g" if match["fraction"] else ":%S"
    half = "" if not match["half"] else " %p" if match["half"].startswith(" ") else "%p"
    return f"{match['time'][0]}{hour}:%M{seconds}{half}"
