"""Periods and dates that a text names: in a question, on a cover page, over the columns of a table.

>>> [str(one) for one in periods("How much was sold in the quarter that ended 1 July 2023, and in Q2 fiscal 2023?")]
['quarter ended July 1, 2023', 'fiscal 2023 Q2']
>>> agreement(periods("the June 2023 quarter"), periods("Three Months Ended July 1, 2023"))
1.0
>>> agreement(periods("the December 2022 quarter"), periods("Three Months Ended July 1, 2023"))
-1.0

Fiscal quarters are not those of the calendar. Which dates belong to a fiscal quarter is known only where a document
states both for one of its own periods; `dated` says the others by that.

>>> own = periods("2023 Q3") + periods("quarter ended July 1, 2023")
>>> [str(one) for one in dated(periods("Q1 fiscal 2023"), own)]
['quarter ended December 2022']
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import lru_cache
from typing import TypeAlias

MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
NEAR_DAYS = 7
"""Years of 52 or 53 weeks end on the weekday next to the end of a month: so far may an end be off."""


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of time or a date, as far as the text says it; what it does not say is None."""

    year: int | None = None
    """Of the end; of the fiscal year where `quarter` or `fiscal` is set and `month` is not."""
    quarter: int | None = None
    """1–4: the quarter of its year that it is, or that it ends with; as counted by whoever speaks."""
    month: int | None = None
    """1–12: the month it ends in."""
    day: int | None = None
    """The day of that month it ends on."""
    months: int | None = None
    """How long it is: 3 for a quarter, 12 for a year; None for a date, and where it is not said."""
    fiscal: bool = False
    """The text itself says that the year is a fiscal one."""
    latest: bool = False
    """It is the newest there is: `latest`, `most recent`."""
    start: int = field(default=0, compare=False)
    """Offset of its words in the text."""
    end: int = field(default=0, compare=False)
    """Offset behind its words."""

    @property
    def end_date(self) -> date | None:
        """The day it ends on, where the text says it."""
        if self.year is None or self.month is None or self.day is None:
            return None
        return date(self.year, self.month, self.day)

    def __str__(self) -> str:
        """In words that `periods` reads back."""
        return _words(self)


def periods(text: str) -> tuple[Period, ...]:
    """All periods that `text` names, in order.

    >>> [str(one) for one in periods("first nine months of fiscal 2022")]
    ['first 9 months of fiscal 2022']
    >>> [str(one) for one in periods("between June 4 and July 1, 2023")]
    ['June 4, 2023', 'July 1, 2023']
    >>> [str(one) for one in periods("FY2022, in 2021, december 2022 quarter, 2023 Q3 AAPL.pdf, the latest filing")]
    ['fiscal 2022', '2021', 'quarter ended December 2022', '2023 Q3', 'latest']
    >>> periods("May I ask how 2,023 sailors and 1998.5 tons came on board?")
    ()
    """
    return _periods(text)


def agreement(asked: Sequence[Period], stated: Sequence[Period]) -> float:
    """How well what is stated names what is asked, from -1 to 1: 1 the same, 0 nothing to compare, -1 they contradict.

    Several stated periods are several names of one thing, or several things of which one is enough; so are those asked.

    >>> filing = periods("2023 Q3") + periods("quarter ended July 1, 2023")
    >>> [agreement(periods(text), filing) for text in ("third quarter of 2023", "Q2 2023", "in 2023", "iPhone sales")]
    [1.0, -1.0, 0.5, 0.0]
    >>> [agreement(periods("nine months to July 1, 2023"), periods(f"{n} months ended July 1, 2023")) for n in (9, 3)]
    [1.0, -1.0]
    """
    found = [value for one in asked if (value := _agreement_of(one, stated)) is not None]
    return max(found, default=0.0)


def dated(asked: Sequence[Period], own: Sequence[Period]) -> tuple[Period, ...]:
    """What is asked, with fiscal quarters said by the month they end in, as far as a document's `own` periods tell.

    `own` are names of one period; where one is a numbered quarter and one a date, the others follow.

    >>> own = periods("Q3 2023") + periods("quarter ended July 1, 2023")
    >>> [str(one) for one in dated(periods("first nine months of fiscal 2022, or in 2021"), own)]
    ['9 months ended June 2022', '2021']
    """
    numbered = next((one for one in own if one.quarter is not None and one.year is not None), None)
    ended = next((one for one in own if one.month is not None and one.year is not None), None)
    if numbered is None or ended is None:
        return tuple(asked)
    return tuple(_dated(one, numbered, ended) for one in asked)


def without_lengths(found: Sequence[Period]) -> tuple[Period, ...]:
    """The same ends: a report on a quarter also holds the months before it."""
    return tuple(replace(one, months=None) for one in found)


# ---------------------------------------------------------------------------------------------------- comparing


def _agreement_of(asked: Period, stated: Sequence[Period]) -> float | None:
    """By those of the stated periods that are said the same way, if there are any; None: nothing can be compared."""
    compared = [pair for one in stated if (pair := _compared(asked, one)) is not None]
    if not compared:
        return None
    alike = any(same for same, _ in compared)
    return max(value for same, value in compared if same is alike)


def _compared(asked: Period, stated: Period) -> tuple[bool, float] | None:
    """Whether both are said the same way (as numbered quarters, as dates, as years), and how well they agree."""
    kinds = _kind(asked), _kind(stated)
    if None in kinds:
        return None
    if asked.months and stated.months and asked.months != stated.months:
        return kinds[0] == kinds[1], -1.0
    if kinds == ("quarter", "quarter"):
        value = _quarters_agree(asked, stated)
    elif kinds == ("date", "date"):
        value = _dates_agree(asked, stated)
    elif kinds == ("year", "year"):
        value = 1.0 if asked.year == stated.year else -1.0
    else:
        return False, _unlike_agree(asked, stated)
    return True, value if value < 1 or bool(asked.months) == bool(stated.months) else 0.75


def _kind(period: Period) -> str | None:
    if period.month is not None:
        return "date"
    if period.quarter is not None:
        return "quarter"
    return "year" if period.year is not None else None


def _quarters_agree(asked: Period, stated: Period) -> float:
    if asked.quarter != stated.quarter or not _same_or_unsaid(asked.year, stated.year):
        return -1.0
    return 1.0 if asked.year is not None and stated.year is not None else 0.5


def _same_or_unsaid(one: int | None, other: int | None) -> bool:
    return one is None or other is None or one == other


def _dates_agree(asked: Period, stated: Period) -> float:
    ends = asked.end_date, stated.end_date
    if ends[0] is not None and ends[1] is not None:
        apart = abs((ends[0] - ends[1]).days)
        return 1.0 if apart == 0 else 0.5 if apart <= NEAR_DAYS else -1.0
    if asked.year is None or stated.year is None:
        same = asked.month == stated.month and _same_or_unsaid(asked.day, stated.day)
        return 0.5 if same else -1.0
    return 1.0 if _month_ends(asked) & _month_ends(stated) else -1.0


def _month_ends(period: Period) -> set[int]:
    """The month of a date, counted on from year 0; a day just behind the end of a month also stands for that month."""
    literal = 12 * (period.year or 0) + (period.month or 1) - 1
    return {literal, literal - 1} if period.day is not None and period.day <= NEAR_DAYS else {literal}


def _nominal(period: Period) -> int:
    return min(_month_ends(period))


def _unlike_agree(asked: Period, stated: Period) -> float:
    """Two that are said in different ways: what their years allow."""
    if asked.year is None or stated.year is None:
        return 0.0
    apart = abs(asked.year - stated.year)
    kinds = {_kind(asked): asked, _kind(stated): stated}
    fiscal = asked.fiscal or stated.fiscal or "quarter" in kinds
    if apart > (1 if fiscal else 0):
        return -1.0
    if "quarter" in kinds and "date" in kinds:
        quarter, day = kinds["quarter"], kinds["date"]
        of_calendar = 12 * (quarter.year or 0) + 3 * (quarter.quarter or 0) - 1
        if not quarter.fiscal and _nominal(day) == of_calendar:
            return 0.75
        return 0.25 if apart == 0 else 0.0
    if apart:
        return -0.5
    return 0.75 if asked.months and asked.months == stated.months else 0.5


def _dated(asked: Period, numbered: Period, ended: Period) -> Period:
    if asked.quarter is None or asked.year is None or asked.month is not None:
        return asked
    quarters = 4 * (asked.year - (numbered.year or 0)) + asked.quarter - (numbered.quarter or 0)
    if not quarters and ended.day is not None:
        return replace(asked, year=ended.year, quarter=None, month=ended.month, day=ended.day, fiscal=False)
    year, month = divmod(_nominal(ended) + 3 * quarters, 12)
    return replace(asked, year=year, quarter=None, month=month + 1, fiscal=False)


# ---------------------------------------------------------------------------------------------------- in words

_LENGTHS = {1: "month", 3: "quarter", 12: "year"}


def _words(period: Period) -> str:
    if period.latest:
        return "latest"
    year = f"{'fiscal ' if period.fiscal else ''}{period.year}" if period.year is not None else ""
    if period.month is not None:
        day = f" {period.day}" if period.day is not None else ""
        comma = "," if day and year else ""
        said = f"{MONTHS[period.month - 1]}{day}{comma} {period.year or ''}".strip()
        return f"{_LENGTHS.get(period.months, f'{period.months} months')} ended {said}" if period.months else said
    if period.quarter is None:
        return year
    if period.months in (None, 3):
        return f"{year} Q{period.quarter}".strip()
    if period.months == 6 and period.quarter == 4:
        return f"second half of {year}".removesuffix(" of ")
    return f"first {period.months} months of {year}".removesuffix(" of ")


# ---------------------------------------------------------------------------------------------------- reading

_Found: TypeAlias = Period | None
_NAMES: dict[str, int] = {}
for _line in (
    "january february march april may june july august september october november december",
    "jan feb mar apr may jun jul aug sep oct nov dec",
    "januar februar märz april mai juni juli august september oktober november dezember",
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
    "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
):
    _NAMES |= {name: number for number, name in enumerate(_line.split(), 1)}
_NAMES["sept"] = 9
_COUNTS = {
    word: number
    for number, word in enumerate(
        "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
        "eighteen".split(),
        1,
    )
}
_WEEKS = {4: 1, 5: 1, 12: 3, 13: 3, 14: 3, 24: 6, 26: 6, 27: 6, 36: 9, 39: 9, 40: 9, 52: 12, 53: 12}
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4, "final": 4}
_CJK = {"一": 1, "二": 2, "三": 3, "四": 4}

_GAP = r"[\s,]{1,6}"
_MONTH = "(?:" + "|".join(sorted(_NAMES, key=len, reverse=True)) + r")\b\.?"
_YEAR = r"(?:19|20)\d\d"
_NO_MORE = r"(?![\d%]|[.,]\d)"
_ST = r"(?:st|nd|rd|th)?"
_DAY_FIRST = (
    rf"(?<![\d.,])(?P<d1>\d{{1,2}})(?:st|nd|rd|th|\.)?\s{{1,3}}(?:of\s|de\s)?(?P<m1>{_MONTH})"
    rf"(?:[\s,]{{1,6}}(?:de\s|of\s)?(?P<y1>{_YEAR}){_NO_MORE})?"
)
_MONTH_FIRST = rf"\b(?P<m2>{_MONTH})\s{{1,3}}(?P<d2>\d{{1,2}}){_ST}(?![\d%]|[.:]\d)(?:{_GAP}(?P<y2>{_YEAR}){_NO_MORE})?"
_MONTH_YEAR = rf"\b(?P<m3>{_MONTH})[\s,]{{1,4}}(?:of\s|de\s|in\s)?(?P<y3>{_YEAR}){_NO_MORE}"
_ISO = rf"(?<![\d./-])(?P<y4>{_YEAR})(?P<sep>[-/.])(?P<m4>\d\d)(?:(?P=sep)(?P<d4>\d\d))?(?![\d]|[-/.]\d)"
_DIGITS = rf"(?<![\d./-])(?P<a5>\d{{1,2}})(?P<sep5>[./-])(?P<b5>\d{{1,2}})(?P=sep5)(?P<y5>{_YEAR})(?!\d)"
_HAN = rf"(?P<y6>{_YEAR})\s?年\s?(?P<m6>\d{{1,2}})\s?月(?:\s?(?P<d6>\d{{1,2}})\s?日)?"
_DATE = f"(?:{_DAY_FIRST}|{_MONTH_FIRST}|{_MONTH_YEAR}|{_ISO}|{_DIGITS}|{_HAN})"
_COUNT = r"(?:\d{1,2}|" + "|".join(_COUNTS) + ")"
_FISCAL = r"(?:fiscal|financial|fy)"
_LENGTH = (
    rf"(?:(?P<n>{_COUNT})[\s-]{{1,2}}(?P<unit>month|week)s?(?:\speriods?)?|"
    rf"(?P<span>quarter(?:ly\speriod)?|half(?:[\s-]year)?|(?:{_FISCAL}\s)?year|annual\speriod|month)s?)"
)
_ENDED = (
    r"(?:that\s|which\s)?(?:ended|ending|ends|closed|closing|to|through|until|till|up\sto)\s{1,3}"
    r"(?:(?:on|in|at|the|end|of|last|day)\s){0,5}"
)
_FISCAL_YEAR = rf"(?:(?P<fy>{_FISCAL}[\s-]?(?:year\s)?)|year\s)?['’]?(?P<year>{_YEAR}|(?<=['’yq])\d\d){_NO_MORE}"
_OF = r"(?:\s?[,/'’_-]\s?|\s)(?:(?:of|in|for|the)\s){0,2}"
_NUMBER = (
    rf"(?:(?<![^\W\d_])q\s?(?P<q1>[1-4])(?!\d|[.,]\d)|(?<![^\W_])(?<![.,])(?P<q2>[1-4])q(?=\d|\b)|"
    rf"\b(?P<q3>{'|'.join(_ORDINALS)})[\s-](?P<f3>fiscal\s)?quarter|\bquarter\s(?P<q4>[1-4]|one|two|three|four)\b)"
)
_HALF = r"\b(?:h(?P<h1>[12])|(?P<h2>first|second|1st|2nd)[\s-]half)"
_CUMULATED = rf"\bfirst[\s-](?P<n>{_COUNT})[\s-]months?"


def _date_of(match: re.Match[str]) -> Period | None:
    """The date in a match of `_DATE`, or None for what is none: a 31st of June, a verb."""
    said = match.groupdict()
    if said["a5"]:
        return _of_digits(said)
    parts = next(
        (said[f"y{form}"], said[f"m{form}"], said.get(f"d{form}")) for form in "123456" if said.get(f"m{form}")
    )
    year, name, day = parts
    if not name[0].isdigit():
        plain = name.rstrip(".")
        if (year is None and plain in ("may", "march", "mar", "mai", "mars")) or plain == "Mars":
            return None  # a verb, or the planet
    month = int(name) if name.isdigit() else _NAMES[name.rstrip(".").lower()]
    return _valid(Period(int(year) if year else None, month=month, day=int(day) if day else None))


def _of_digits(said: dict[str, str | None]) -> Period | None:
    first, second, year = int(said["a5"] or 0), int(said["b5"] or 0), int(said["y5"] or 0)
    if said["sep5"] == "." or first > 12:
        return _valid(Period(year, month=second, day=first))
    if second > 12 or first == second:
        return _valid(Period(year, month=first, day=second))
    return Period(year)  # 03/04: in some countries April, in some March


def _valid(period: Period) -> Period | None:
    if period.month not in range(1, 13):
        return None
    if period.day is not None:
        try:
            date(period.year or 2000, period.month or 1, period.day)
        except ValueError:
            return None
    return period


def _months_of(match: re.Match[str]) -> int | None:
    count = match["n"]
    if count:
        number = int(count) if count.isdigit() else _COUNTS[count.lower()]
        return _WEEKS.get(number) if match["unit"].lower() == "week" else number
    span = match["span"].lower()
    if span.startswith("quarter"):
        return 3
    return 6 if span.startswith("half") else 1 if span == "month" else 12


def _year_of(written: str) -> int:
    return int(written) if len(written) == 4 else 2000 + int(written)


def _fiscal_in(match: re.Match[str]) -> bool:
    return bool(match.groupdict().get("fy"))


def _ended(match: re.Match[str]) -> _Found:
    at, months = _date_of(match), _months_of(match)
    return replace(at, months=months) if at is not None else None


def _date_and_length(match: re.Match[str]) -> _Found:
    at = _date_of(match)
    return replace(at, months=_months_of(match)) if at is not None and at.day is None else None


def _month_quarter(match: re.Match[str]) -> _Found:
    year = match["year"]
    return Period(_year_of(year) if year else None, month=_NAMES[match["month"].rstrip(".").lower()], months=3)


def _numbered(match: re.Match[str]) -> _Found:
    said = match.groupdict()
    written = next(value for name in ("q1", "q2", "q3", "q4") if (value := said[name])).lower()
    quarter = int(written) if written.isdigit() else _ORDINALS.get(written) or _COUNTS[written]
    year = said.get("year")
    fiscal = bool(said["f3"]) or _fiscal_in(match)
    return Period(_year_of(year) if year else None, quarter, months=3, fiscal=fiscal)


def _halves(match: re.Match[str]) -> _Found:
    half = 1 if (match["h1"] or match.groupdict()["h2"]).lower() in ("1", "first", "1st") else 2
    return Period(_year_of(match["year"]), 2 * half, months=6, fiscal=_fiscal_in(match))


def _cumulated(match: re.Match[str]) -> _Found:
    count = match["n"].lower()
    months = int(count) if count.isdigit() else _COUNTS[count]
    quarter = months // 3 if months in (3, 6, 9) else None
    return Period(_year_of(match["year"]), quarter, months=months, fiscal=_fiscal_in(match))


def _han_quarter(match: re.Match[str]) -> _Found:
    quarter = match["q"]
    return Period(int(match["year"]), _CJK.get(quarter) or int(quarter), months=3)


def _whole_year(match: re.Match[str]) -> _Found:
    return Period(_year_of(match["year"]), months=12, fiscal=_fiscal_in(match))


def _bare_year(match: re.Match[str]) -> _Found:
    return Period(int(match["year"]))


def _newest(match: re.Match[str]) -> _Found:
    unit = (match["unit"] or "").lower()
    return Period(months={"quarter": 3, "year": 12, "month": 1}.get(unit), latest=True)


_FORMS: tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], _Found]], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), made)
    for pattern, made in (
        (rf"\b{_LENGTH}\s{{1,3}}{_ENDED}{_DATE}", _ended),
        (rf"{_DATE}\s{{1,3}}{_LENGTH}\b", _date_and_length),
        (rf"\b{_LENGTH}\s(?:of|in)\s{_DATE}", _date_and_length),
        (rf"\b(?P<month>{_MONTH})\squarter(?:{_OF}(?P<year>{_YEAR}){_NO_MORE})?", _month_quarter),
        (rf"{_NUMBER}(?:{_OF})?{_FISCAL_YEAR}", _numbered),
        (
            rf"(?<![^\W_])(?<![.,])(?P<fy>{_FISCAL}[\s-]?(?:year\s)?)?(?P<year>{_YEAR})[\s,_-]{{0,3}}{_NUMBER}",
            _numbered,
        ),
        (rf"{_NUMBER}\b", _numbered),
        (rf"{_HALF}(?:{_OF})?{_FISCAL_YEAR}", _halves),
        (rf"(?<![^\W_])(?<![.,])(?P<year>{_YEAR})[\s_-]?h(?P<h1>[12])\b", _halves),
        (rf"{_CUMULATED}{_OF}{_FISCAL_YEAR}", _cumulated),
        (rf"(?P<year>{_YEAR})\s?年\s?(?:第\s?)?(?P<q>[一二三四1-4])\s?季度", _han_quarter),
        (
            rf"\b(?:(?P<fy>{_FISCAL}[\s-]?(?:year\s)?)|(?:(?:full|whole|calendar)[\s-])?year\s)"
            rf"['’]?(?P<year>{_YEAR}|(?<=y)\d\d){_NO_MORE}",
            _whole_year,
        ),
        (
            rf"(?<![^\W_])(?<![.,])(?P<year>{_YEAR})\s(?P<fy>(?:fiscal|financial)\s)?(?:full\s)?(?:year|annual\sreport)\b",
            _whole_year,
        ),
        (rf"\bannual\sreport\s(?:(?:for|of|the)\s){{0,2}}(?P<year>{_YEAR}){_NO_MORE}", _whole_year),
        (_DATE, _date_of),
        (rf"(?<![^\W_])(?<![.,$€£#/])(?P<year>{_YEAR})(?![^\W_]|%|[.,]\d)", _bare_year),
        (
            r"(?<!at\sthe\s)\b(?:latest|newest|most\srecent(?:ly)?|last(?=\s(?:reported\s)?(?:quarter|report|filing|release|"
            r"meeting|minutes|fiscal|year\sreported)))(?:\s(?:reported\s|fiscal\s)?(?P<unit>quarter|year|month)\b)?",
            _newest,
        ),
    )
)
_AND = re.compile(
    r"[\s,]{0,3}(?:and|or|to|through|vs\.?|versus|compared\s(?:to|with)|und|y|et|&|–|-|,)?[\s,]{0,3}", re.I
)


@lru_cache(maxsize=4096)
def _periods(text: str) -> tuple[Period, ...]:
    found: list[Period] = []
    for pattern, made in _FORMS:
        for match in pattern.finditer(text):
            period = made(match)
            if period is not None:
                found.append(replace(period, start=match.start(), end=match.end()))
    kept: list[Period] = []
    taken = bytearray(len(text))
    for period in sorted(found, key=lambda one: (one.start - one.end, one.start)):
        if not any(taken[period.start : period.end]):  # the longest reading of each place
            taken[period.start : period.end] = b"\x01" * (period.end - period.start)
            kept.append(period)
    return _joined(text, sorted(kept, key=lambda one: one.start))


def _joined(text: str, found: list[Period]) -> tuple[Period, ...]:
    """Members of one list share what only one of them says: `June 4 to July 1, 2023`, `three months to X and Y`."""
    for place in range(len(found) - 2, -1, -1):
        here, after = found[place], found[place + 1]
        if here.year is None and not here.latest and after.year is not None and _beside(text, here, after):
            earlier = (here.month or 0) > (after.month or 12)
            found[place] = replace(here, year=after.year - earlier, fiscal=here.fiscal or after.fiscal)
    for place in range(1, len(found)):
        here, before = found[place], found[place - 1]
        if here.months is None and before.months and _kind(here) == _kind(before) and _beside(text, before, here):
            found[place] = replace(here, months=before.months, fiscal=here.fiscal or before.fiscal)
    return tuple(found)


def _beside(text: str, one: Period, other: Period) -> bool:
    return other.start - one.end <= 20 and _AND.fullmatch(text, one.end, other.start) is not None
