"""Dates and periods as questions write them, resolved against the dates that the table has.

`March 2017`, `between March and May 2017`, `Q2`, `before 2017-04-01`, `the last week`, `on Saturdays`, `in 1997`.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta

from kedge.kinds.tables.asking.lexicon import Lexicon
from kedge.kinds.tables.asking.words import Token
from kedge.kinds.tables.plans.plan import DatePart, Op

_ISO = re.compile(r"(\d{4})-(\d{1,2})-(\d{1,2})")
_WRITTEN = re.compile(r"(\d{1,2})([./])(\d{1,2})[./](\d{4})")
_YEAR = re.compile(r"(?:1[6-9]|20|21)\d\d")
_DECADE = re.compile(r"(?:1[6-9]|20)\d0s")
_QUARTER = re.compile(r"[qt]([1-4])")
_DAY = re.compile(r"(\d{1,2})(?:st|nd|rd|th|er)?")
_SPANS = ("year", "quarter", "month", "week", "day")


@dataclass(frozen=True, slots=True)
class AskedPeriod:
    """Tokens `start` to `end` name a stretch of time, or a part of the calendar that recurs."""

    start: int
    end: int
    first: date | None = None
    last: date | None = None
    part: DatePart | None = None
    """Set when it recurs: every March, on Saturdays."""
    values: tuple[int, ...] = ()
    dated: bool = True
    """Whether its year was said; if not, it was taken from the table."""
    note: str = ""
    day_of_year: tuple[int, int] | None = None
    """Month and day, of a day in every year: 4 July, Christmas Day."""
    negated: bool = False
    """Of one that recurs: all other times are meant."""
    ends: tuple[AskedPeriod, ...] = ()
    """Of a range, the two periods it was made of."""

    @property
    def label(self) -> str:
        """As a heading."""
        if self.day_of_year:
            return "-".join(f"{number:02}" for number in self.day_of_year)
        if self.part:
            return ", ".join(str(value) for value in self.values)
        if self.first and self.last:
            if self.first == date(self.first.year, 1, 1) and self.last == date(self.first.year, 12, 31):
                return str(self.first.year)
            if self.first.day == 1 and self.last == _month_end(self.first):
                return self.first.isoformat()[:7]
            return self.first.isoformat() if self.first == self.last else f"{self.first} to {self.last}"
        return f"until {self.last}" if self.last else f"from {self.first}"

    def op(self) -> tuple[Op, tuple[date, ...]]:
        """As a filter on a date column."""
        if self.first and self.last:
            return Op.BETWEEN, (self.first, self.last)
        if self.first:
            return Op.AT_LEAST, (self.first,)
        return Op.AT_MOST, (self.last or date.max,)


def periods(question: Sequence[Token], lexicon: Lexicon, earliest: date, latest: date) -> list[AskedPeriod]:
    """All periods of a question, ranges joined, in order."""
    reader = _Periods(question, lexicon, earliest, latest)
    found: list[AskedPeriod] = []
    place = 0
    while place < len(question):
        period = reader.single(place)
        if period:
            found.append(period)
        place = period.end if period else place + 1
    return reader.joined(found)


class _Periods:
    def __init__(self, question: Sequence[Token], lexicon: Lexicon, earliest: date, latest: date) -> None:
        self._question = question
        self._lexicon = lexicon
        self._earliest = earliest
        self._latest = latest

    def single(self, start: int) -> AskedPeriod | None:
        """One date or period that begins here."""
        for read in (
            self._whole_date,
            self._quarter,
            self._half,
            self._relative,
            self._month,
            self._feast,
            self._weekday,
            self._year,
        ):
            period = read(start)
            if period:
                return period
        return None

    def joined(self, found: Sequence[AskedPeriod]) -> list[AskedPeriod]:
        """`between A and B`, `from A to B`, `before A`, `since A`: ranges of the periods in them."""
        out: list[AskedPeriod] = []
        skip = False
        for place, period in enumerate(found):
            if skip:
                skip = False
                continue
            following = found[place + 1] if place + 1 < len(found) else None
            ranged = self._range(period, following) if following else None
            skip = ranged is not None
            out.append(ranged or self._open(period))
        return out

    def _range(self, one: AskedPeriod, two: AskedPeriod) -> AskedPeriod | None:
        between = [token.folded for token in self._question[one.end : two.start]]
        lead = self._before(one.start)
        ranged = "compared.between" in lead or "compared.since" in lead
        joined = len(between) == 1 and "compared.to" in self._lexicon.tags(between[0])
        bare = len(between) == 1 and between[0] in (
            "to",
            "until",
            "till",
            "through",
            "bis",
            "hasta",
            "jusqua",
            "a",
            "au",
        )
        hyphen = not between and "-" in self._gap(one, two)
        if not ((ranged and joined) or bare or hyphen):
            return None
        if one.part and two.part and one.part == two.part and one.values[0] <= two.values[0]:
            values = tuple(range(one.values[0], two.values[-1] + 1))
            return AskedPeriod(self._lead(one.start), two.end, part=one.part, values=values, dated=False)
        one, two = self._same_year(one, two)
        if not (one.first and two.last) or one.first > two.last:
            return None
        start = self._lead(one.start) if ranged else one.start
        return AskedPeriod(start, two.end, one.first, two.last, note=one.note or two.note, ends=(one, two))

    def _same_year(self, one: AskedPeriod, two: AskedPeriod) -> tuple[AskedPeriod, AskedPeriod]:
        """A month without year takes the year of its partner: March and May 2017."""
        if not one.dated and two.dated and two.first:
            one = self._in_year(one, two.first.year)
        elif one.dated and not two.dated and one.first:
            two = self._in_year(two, one.first.year)
        return one, two

    def _in_year(self, period: AskedPeriod, year: int) -> AskedPeriod:
        if period.part is DatePart.MONTH_OF_YEAR:
            first = date(year, period.values[0], 1)
            return replace(period, first=first, last=_month_end(first), part=None, values=(), dated=True, note="")
        if period.day_of_year:
            day = _date(year, *period.day_of_year)
            return replace(period, first=day, last=day, dated=True, day_of_year=None)
        if period.first and period.last:
            first, last = _with_year(period.first, year), _with_year(period.last, year)
            return replace(period, first=first, last=last, dated=True, note="")
        return period

    def _open(self, period: AskedPeriod) -> AskedPeriod:
        lead = self._before(period.start)
        start = self._lead(period.start)
        if not (period.first and period.last):
            return period
        day = timedelta(days=1)
        if "compared.before" in lead:
            return replace(period, start=start, first=None, last=period.first - day)
        if "compared.after" in lead:
            return replace(period, start=start, first=period.last + day, last=None)
        if "compared.until" in lead:
            return replace(period, start=start, first=None)
        if "compared.since" in lead and "compared.between" not in lead:
            return replace(period, start=start, last=None)
        return period

    def _before(self, start: int) -> frozenset[str]:
        for length in (3, 2, 1):
            words = [token.folded for token in self._question[max(0, start - length) : start]]
            tags = self._lexicon.tags(*words)
            if len(words) == length and any(tag.startswith("compared.") for tag in tags):
                return tags
        return frozenset()

    def _lead(self, start: int) -> int:
        for length in (3, 2, 1):
            words = [token.folded for token in self._question[max(0, start - length) : start]]
            if len(words) == length and any(tag.startswith("compared.") for tag in self._lexicon.tags(*words)):
                return start - length
        return start

    def _gap(self, one: AskedPeriod, two: AskedPeriod) -> str:
        # The sign between two dates is no token: it is recognised by the distance in the text.
        distance = self._question[two.start].start - self._question[one.end - 1].end
        return "-" if distance in (1, 3) and one.dated and two.dated and one.first and two.first else ""

    def _tagged(self, place: int, section: str) -> str | None:
        if not 0 <= place < len(self._question):
            return None
        tags = self._lexicon.tags(self._question[place].folded)
        return next((tag.partition(".")[2] for tag in tags if tag.startswith(section + ".")), None)

    def _year_at(self, place: int) -> tuple[int | None, int]:
        """A year here, also after a little word or comma: `of 2017`."""
        for skip in (0, 1):
            where = place + skip
            if where < len(self._question) and _YEAR.fullmatch(self._question[where].folded):
                if skip and not (self._lexicon.tags(self._question[place].folded) & {"stop.plain", "concept.x"}):
                    return None, place
                return int(self._question[where].folded), where + 1
        return None, place

    def _whole_date(self, start: int) -> AskedPeriod | None:
        text = self._question[start].folded
        found = None
        match = _ISO.fullmatch(text)
        if match:
            found = _date(*(int(part) for part in match.groups()))
        match = _WRITTEN.fullmatch(text)
        if match:
            one, sign, two, year = int(match[1]), match[2], int(match[3]), int(match[4])
            if sign == "." or one > 12:
                found = _date(year, two, one)
            elif two > 12:
                found = _date(year, one, two)
        return AskedPeriod(start, start + 1, found, found) if found else None

    def _month(self, start: int) -> AskedPeriod | None:
        """`March`, `March 2017`, `March 3, 2017`, `3 March 2017`, `3rd of March`."""
        day, place = None, start
        match = _DAY.fullmatch(self._question[start].folded)
        if match and start + 1 < len(self._question):
            place = start + 2 if self._question[start + 1].folded in ("of", "de") else start + 1
            day = int(match[1])
        month_name = self._tagged(place, "months")
        if month_name is None or (day is None and place != start) or not self._is_month(place):
            return None
        month, place = int(month_name), place + 1
        if day is None and place < len(self._question):
            match = _DAY.fullmatch(self._question[place].folded)
            if match and 1 <= int(match[1]) <= 31:
                day, place = int(match[1]), place + 1
        year, place = self._year_at(place)
        said = year is not None
        if year is None:
            years = [y for y in range(self._earliest.year, self._latest.year + 1) if self._has(y, month)]
            if len(years) != 1:
                if day is not None:
                    each = (month, day) if _date(2000, month, day) else None
                    return AskedPeriod(start, place, dated=False, day_of_year=each) if each else None
                return AskedPeriod(start, place, part=DatePart.MONTH_OF_YEAR, values=(month,), dated=False)
            year = years[0]
        first = _date(year, month, day or 1)
        if first is None:
            return None
        last = first if day else _month_end(first)
        return AskedPeriod(start, place, first, last, dated=said, note="" if said else f"year taken as {year}")

    def _feast(self, start: int) -> AskedPeriod | None:
        """`Christmas Day`, `New Year's Eve 2012`: feasts with the same day each year."""
        phrase = self._lexicon.at(self._question, start)
        said = next((tag for tag in phrase.tags if tag.startswith("feasts.")), None) if phrase else None
        if phrase is None or said is None:
            return None
        month, day = (int(number) for number in said.partition(".")[2].split("-"))
        year, place = self._year_at(phrase.end)
        years = {self._earliest.year, self._latest.year}
        if year is None and len(years) > 1:
            return AskedPeriod(start, phrase.end, dated=False, day_of_year=(month, day))
        first = _date(year or years.pop(), month, day)
        return AskedPeriod(start, place, first, first, dated=year is not None) if first else None

    def _is_month(self, place: int) -> bool:
        """Short words such as `may` and `mar` are months only when written so or next to a date word."""
        token = self._question[place]
        if token.folded not in ("may", "mar", "march", "mai"):
            return True
        before = self._question[place - 1].folded if place else ""
        after = self._question[place + 1].folded if place + 1 < len(self._question) else ""
        return (
            token.text[:1].isupper() or before in ("in", "of", "and", "to", "since", "im") or after[:2] in ("19", "20")
        )

    def _has(self, year: int, month: int) -> bool:
        first = date(year, month, 1)
        return first <= self._latest and _month_end(first) >= self._earliest

    def _quarter(self, start: int) -> AskedPeriod | None:
        match = _QUARTER.fullmatch(self._question[start].folded)
        place, number = start + 1, int(match[1]) if match else 0
        if not match:
            ordinal = self._tagged(start, "ordinals")
            if ordinal is None or self._tagged(start + 1, "time") != "quarter":
                return None
            number, place = int(ordinal), start + 2
        year, place = self._year_at(place)
        said = year is not None
        if year is None:
            if self._earliest.year != self._latest.year and (self._latest - self._earliest).days > 370:
                return AskedPeriod(start, place, part=DatePart.QUARTER_OF_YEAR, values=(number,), dated=False)
            year = self._earliest.year
        first = date(year, 3 * number - 2, 1)
        last = _month_end(date(year, 3 * number, 1))
        return AskedPeriod(start, place, first, last, dated=said, note="" if said else f"year taken as {year}")

    def _half(self, start: int) -> AskedPeriod | None:
        ordinal = self._tagged(start, "ordinals")
        if ordinal not in ("1", "2") or self._tagged(start + 1, "time") != "half":
            return None
        year, place = self._year_at(start + 2)
        if year is None:
            return None
        return (
            AskedPeriod(start, place, date(year, 1, 1), date(year, 6, 30))
            if ordinal == "1"
            else AskedPeriod(start, place, date(year, 7, 1), date(year, 12, 31))
        )

    def _relative(self, start: int) -> AskedPeriod | None:
        """`last month`, `the first 3 weeks`: counted from the ends of the table's dates, never from today."""
        way = {tag for tag in self._lexicon.tags(self._question[start].folded) if tag in ("time.last", "time.first")}
        if len(way) != 1:
            return None
        place, many = start + 1, 1
        if place < len(self._question) and self._question[place].folded.isdigit():
            many, place = int(self._question[place].folded), place + 1
        elif number := self._tagged(place, "numbers"):
            many, place = int(number), place + 1
        span = self._tagged(place, "time")
        if span not in _SPANS or not 0 < many < 1000:
            return None
        first, last = self._ends(span, many, way == {"time.last"})
        last, first = min(last, self._latest), max(first, self._earliest)
        return AskedPeriod(
            start,
            place + 1,
            first,
            last,
            note=f"{'last' if way == {'time.last'} else 'first'} {many} {span}(s) of the data",
        )

    def _ends(self, span: str, many: int, ending: bool) -> tuple[date, date]:
        if span in ("day", "week"):
            days = timedelta(days=many * (7 if span == "week" else 1) - 1)
            return (self._latest - days, self._latest) if ending else (self._earliest, self._earliest + days)
        months = many * {"month": 1, "quarter": 3, "year": 12}[span]
        anchor = self._latest if ending else self._earliest
        size = {"month": 1, "quarter": 3, "year": 12}[span]
        index = anchor.year * 12 + (anchor.month - 1) // size * size
        first = index + size - months if ending else index
        begin = date(max(1, first // 12), first % 12 + 1, 1)
        end = first + months - 1
        return begin, _month_end(date(end // 12, end % 12 + 1, 1))

    def _weekday(self, start: int) -> AskedPeriod | None:
        number = self._tagged(start, "weekdays")
        if number is not None:
            return AskedPeriod(start, start + 1, part=DatePart.WEEKDAY, values=(int(number),), dated=False)
        if self._tagged(start, "time") == "weekend":
            return AskedPeriod(start, start + 1, part=DatePart.WEEKDAY, values=(6, 7), dated=False)
        return None

    def _year(self, start: int) -> AskedPeriod | None:
        text = self._question[start].folded
        if _DECADE.fullmatch(text):
            return AskedPeriod(start, start + 1, date(int(text[:4]), 1, 1), date(int(text[:3] + "9"), 12, 31))
        following = self._question[start + 1].folded if start + 1 < len(self._question) else ""
        if self._lexicon.tags(following) & {"units.physical", "units.percent", "units.money"}:
            return None
        if not _YEAR.fullmatch(text) or not self._earliest.year - 30 <= int(text) <= self._latest.year + 30:
            return None
        return AskedPeriod(start, start + 1, date(int(text), 1, 1), date(int(text), 12, 31))


def _date(year: int, month: int, day: int) -> date | None:
    if 1 <= month <= 12 and 1 <= year <= 9999 and 1 <= day <= monthrange(year, month)[1]:
        return date(year, month, day)
    return None


def _month_end(first: date) -> date:
    return first.replace(day=monthrange(first.year, first.month)[1])


def _with_year(day: date, year: int) -> date:
    return _date(year, day.month, day.day) or _month_end(date(year, day.month, 1))
