"""The sets of rows that a question may speak of: all of them, those with a named cell, a compared number, and so on."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from kedge.answer.sheets.cells import BLANK, day_key
from kedge.answer.sheets.linking import AskedNumber, LinkedQuestion, Places, ValueLink
from kedge.answer.sheets.sheet import Sheet, Sight, Values, mask_of, rows_of
from kedge.answer.sheets.words import MONTHS

Feature = tuple[object, ...]
"""A name, and what it is about."""
NONE: Places = frozenset()
_NEGATED = re.compile(r"\b(not|other|besides|except|never|without|another|else|excluding|n't|aside|didn't|no)\b")
_ALIKE = re.compile(r"\b(same|also|other|another|besides|equal|tied)\b")
_COMPARING = re.compile(
    r"\b(more|less|over|under|above|below|at least|at most|greater|higher|lower|fewer|than|after|before|since|until|"
    r"between|exceed\w*|up to|later|earlier|prior|minimum|maximum|within|older|younger|or|longer|shorter|beyond|top|"
    r"from|to|following)\b"
)
_THAN = re.compile(r"\b(than|before|after|above|below|ahead|behind)\b")
_OPERATORS = (">", ">=", "<", "<=")
_CUTTING = frozenset(("first", "top", "last", "bottom", "next", "final"))
_YEARS = (1000, 2100)
_RANKING = frozenset("top best most least bottom worst first last biggest fewest".split())
_MOST_THAN = 4
_MOST_COMPARED, _MOST_PAIRS, _MOST_THREES, _MOST_UNITED = 40, 40, 8, 8


@dataclass(frozen=True, slots=True)
class Condition:
    """What rows have to fulfil, for people to read."""

    kind: str
    """is, not, same, compare, between, than, first, last, top, bottom, blank, filled, zero, above zero, either."""
    column: int = -1
    sign: str = ""
    values: tuple[float, ...] = ()
    text: str = ""
    others: tuple[Condition, ...] = ()
    """Of `either`: what is joined by or."""
    rows: int = 0
    """Of `is` and `not`: the rows whose cell was found."""


@dataclass(frozen=True, slots=True)
class RowSet:
    """Rows, the words of the question that ask for them, and how."""

    rows: int
    cover: Places
    features: list[Feature]
    form: str
    """all, is, not, same, compare, equal, decade, between, than, cut, blank, or what was joined."""
    columns: tuple[int, ...]
    depth: int
    """How many conditions there are."""
    main: int
    """The column of the last one."""
    conditions: tuple[Condition, ...] = ()


class RowSets:
    """All sets that one question may mean, from none to three conditions."""

    def __init__(self, question: LinkedQuestion, sheet: Sheet, content: Places) -> None:
        self._question = question
        self._sheet = sheet
        self._content = content
        self.negated = bool(_NEGATED.search(question.text))
        self.named = [self._named(value) for value in question.values]
        compared = self._compared()
        others = [*self._others(), *self._alike(), *self._than()]
        cut = [*self._cut(), *self._ranked_cut()]
        blank = list(self._blank())[:10]
        self.pairs = self._pairs(self.named[:10] + compared[:24] + others[:6] + blank[:6] + cut)
        united = list(self._united())[:_MOST_UNITED]
        everything = RowSet(sheet.every, NONE, [], "all", (), 0, -1)
        self.all = _different(
            [
                everything,
                *self.named,
                *others,
                *compared,
                *cut,
                *blank,
                *self.pairs,
                *self._threes(),
                *united,
                *self._within(united[:3], (self.named + compared)[:16]),
            ]
        )

    def _named(self, value: ValueLink) -> RowSet:
        question, sheet = self._question, self._sheet
        column = sheet.columns[value.column]
        level = question.columns[value.column].level
        spans: dict[tuple[int, int], set[int]] = defaultdict(set)
        best: dict[tuple[int, int], int] = defaultdict(lambda: 9)
        headings = frozenset(place for one in question.columns for place in one.places)
        for one in question.values:
            spans[one.start, one.end].add(one.column)
            best[one.start, one.end] = min(best[one.start, one.end], one.how)
        first = (value.rows & -value.rows).bit_length() - 1
        size = len(column.joined[first].split()) or 1
        places = range(value.start, value.end)
        dated = (place for place, word in enumerate(question.words) if word in MONTHS or word[0].isdigit())
        cover = frozenset(places) if value.start >= 0 else frozenset(dated)
        at = (value.start, value.end)
        features: list[Feature] = [
            ("found", value.how, min(value.length, 4)),
            ("found column", level > 1, value.how),
            ("found kind", column.kind, value.how),
            ("found rows", min(value.rows.bit_count(), 5)),
            ("found heading", column.words[0] if column.words else ""),
            ("found share", value.how, min(4, int(4 * value.length / size))),
            ("found rivals", min(3, len(spans[at])), value.how == best[at]),
            ("found is heading", headings.issuperset(places), value.how, level > 1),
        ]
        text = " ".join(question.words[value.start : value.end]) if value.start >= 0 else "that date"
        condition = Condition("is", value.column, text=text, rows=value.rows)
        return RowSet(value.rows, cover, features, "is", (value.column,), 1, value.column, (condition,))

    def _others(self) -> Iterator[RowSet]:
        for one in self.named[:6] if self.negated else ():
            rows = self._sheet.every & ~one.rows
            if rows:
                condition = replace(one.conditions[0], kind="not")
                features: list[Feature] = [("not",), *one.features]
                yield RowSet(rows, one.cover, features, "not", one.columns, 1, one.main, (condition,))

    def _alike(self) -> Iterator[RowSet]:
        """Rows with the same cell as the one row that is named."""
        if not _ALIKE.search(self._question.text):
            return
        for one in self.named[:5]:
            rows = rows_of(one.rows)
            for place, column in enumerate(self._sheet.columns[: self._sheet.whole] if len(rows) == 1 else ()):
                text = column.plain[rows[0]]
                alike = column.equal[text] & ~one.rows
                if place != one.main and alike and text:
                    linked = self._question.columns[place]
                    features: list[Feature] = [("same",), ("same column", linked.level), *one.features[:2]]
                    condition = Condition("same", place, text=one.conditions[0].text)
                    cover = one.cover | linked.places
                    yield RowSet(alike, cover, features, "same", (one.main, place), 1, place, (condition,))

    def _than(self) -> Iterator[RowSet]:
        """Rows with more or less of something than the one row that is named."""
        question, sheet = self._question, self._sheet
        if not _THAN.search(question.text):
            return
        sights = sorted(sheet.sights, key=lambda sight: -question.columns[sight.column].level)[:_MOST_THAN]
        for one in self.named[:4]:
            if one.rows.bit_count() != 1:
                continue
            row = one.rows.bit_length() - 1
            for sight in sights:
                own, linked = float(sight.values[row]), question.columns[sight.column]
                if sight.column == one.main or np.isnan(own):
                    continue
                for sign in (">", "<"):
                    rows = mask_of(_holds(sight.values, sign, own)) & sheet.every
                    if rows:
                        features: list[Feature] = [
                            ("than", sign),
                            ("than column", linked.level, sight.kind),
                            *one.features[:2],
                        ]
                        condition = Condition("than", sight.column, sign, (own,), one.conditions[0].text)
                        cover = one.cover | linked.places
                        columns = (one.main, sight.column)
                        yield RowSet(rows, cover, features, "than", columns, 1, sight.column, (condition,))

    def _compared(self) -> list[RowSet]:
        comparing = bool(_COMPARING.search(self._question.text))
        out: list[RowSet] = []
        for number in self._question.numbers[:4]:
            if number.form != "ordinal" or comparing:
                for sight in self._sheet.sights:
                    out += self._by_number(number, sight, comparing)
        out += self._periods()
        if len(out) > _MOST_COMPARED:
            out = sorted(out, key=lambda one: -len(one.cover))[:_MOST_COMPARED]
        return out

    def _by_number(self, number: AskedNumber, sight: Sight, comparing: bool) -> Iterator[RowSet]:
        words, place, asked = self._question.words, number.place, number.value
        yearly = _YEARS[0] <= asked <= _YEARS[1]
        if sight.kind in ("both", "margin", "second") and number.form == "ordinal":
            return
        if sight.kind in ("date", "year") and not yearly:
            return
        values = sight.values // 400 if sight.kind == "date" else sight.values
        after = words[place + 1 : place + 4]
        texts = self._sheet.columns[sight.column].texts
        if sight.kind == "num" and after and after[0].startswith("min") and any(":" in text for text in texts[:3]):
            values = values / 60.0
        known = any(one.column == sight.column and one.start <= place < one.end for one in self._question.values)
        linked = self._question.columns[sight.column]
        before = words[max(0, place - 2) : place]
        for sign in (*(_OPERATORS if comparing else ()), *(() if known else ("=",))):
            rows = mask_of(_holds(values, sign, asked)) & self._sheet.every
            if not rows or rows == self._sheet.every:
                continue
            features: list[Feature] = [
                ("compared", sign),
                ("compared before", sign, " ".join(words[max(0, place - 4) : place])[-12:]),
                ("compared before 1", sign, before[-1] if before else ""),
                ("compared before 2", sign, " ".join(before)),
                ("compared after 1", sign, after[0] if after else ""),
                ("compared after 2", sign, " ".join(after[:2])),
                ("compared column", linked.level, sight.kind),
                ("compared kind", sight.kind),
                ("compared near", bool(linked.places & frozenset(range(place - 4, place + 5)))),
                ("compared form", number.form, sign),
                *(("compared heading", word) for word in self._sheet.columns[sight.column].words[:3]),
            ]
            cover = linked.places | {place}
            condition = Condition("compare", sight.column, sign, (asked,), sight.kind)
            form = "equal" if sign == "=" else "compare"
            yield RowSet(rows, cover, features, form, (sight.column,), 1, sight.column, (condition,))

    def _periods(self) -> Iterator[RowSet]:
        question = self._question
        digits = frozenset(place for place, word in enumerate(question.words) if word[0].isdigit())
        written = [number for number in question.numbers if number.form == "digits"]
        for sight in self._sheet.sights:
            if sight.kind not in ("year", "date", "num"):
                continue
            values = sight.values // 400 if sight.kind == "date" else sight.values
            linked = question.columns[sight.column]
            if question.decade and sight.kind != "num":
                told: list[Feature] = [("decade", sight.kind)]
                yield from self._between(values, question.decade, sight, digits | linked.places, told)
            if len(written) >= 2:
                low, high = sorted(number.value for number in written[:2])
                cover = frozenset(number.place for number in written) | linked.places
                for inclusive in (0, 1):
                    ends = (low, high) if inclusive else (np.nextafter(low, np.inf), np.nextafter(high, -np.inf))
                    features: list[Feature] = [("between", inclusive), ("between kind", sight.kind, linked.level)]
                    yield from self._between(values, ends, sight, cover, features)
            if sight.kind == "date" and question.day and question.day[1]:
                yield from self._by_date(sight, digits)

    def _between(
        self, values: Values, ends: tuple[float, float], sight: Sight, cover: Places, features: list[Feature]
    ) -> Iterator[RowSet]:
        form = str(features[0][0])
        with np.errstate(invalid="ignore"):
            rows = mask_of((values >= ends[0]) & (values <= ends[1])) & self._sheet.every
        if rows and (form == "decade" or rows != self._sheet.every):
            condition = Condition("between", sight.column, "", (round(ends[0], 6), round(ends[1], 6)), sight.kind)
            yield RowSet(rows, cover, features, form, (sight.column,), 1, sight.column, (condition,))

    def _by_date(self, sight: Sight, digits: Places) -> Iterator[RowSet]:
        day = self._question.day
        assert day is not None
        key = day_key(day)
        values = sight.values if day[0] else sight.values % 400
        months = frozenset(place for place, word in enumerate(self._question.words) if word in MONTHS)
        for sign in (">", "<"):
            limit = key if day[2] or sign == "<" else key + 31
            rows = mask_of(_holds(values, sign, limit)) & self._sheet.every
            if rows:
                condition = Condition("compare", sight.column, sign, (float(key),), "date")
                features: list[Feature] = [("date compared", sign)]
                yield RowSet(rows, digits | months, features, "compare", (sight.column,), 1, sight.column, (condition,))

    def _cut(self) -> Iterator[RowSet]:
        """The first or last so many rows."""
        words, every = self._question.words, rows_of(self._sheet.every)
        for number in self._question.numbers[:3]:
            size, place = int(number.value), number.place
            fits = number.form != "ordinal" and 1 < size < len(every) and size == number.value
            if fits and place > 0 and words[place - 1] in _CUTTING:
                for name, chosen in (("first", every[:size]), ("last", every[-size:])):
                    rows = sum(1 << row for row in chosen)
                    condition = Condition(name, values=(float(size),))
                    yield RowSet(rows, frozenset([place]), [("cut", name)], "cut", (), 1, -1, (condition,))

    def _ranked_cut(self) -> Iterator[RowSet]:
        """The so many rows with most or least of something."""
        question, sheet = self._question, self._sheet
        sights = [sight for sight in sheet.sights if sight.kind in ("num", "date", "year")]
        sights.sort(key=lambda sight: -question.columns[sight.column].level)
        for number in question.numbers[:3]:
            size, place = int(number.value), number.place
            around = question.words[max(0, place - 1) : place] + question.words[place + 1 : place + 2]
            ranking = any(word in _RANKING or (len(word) > 4 and word.endswith("est")) for word in around)
            if number.form == "ordinal" or not 1 < size == number.value or not ranking:
                continue
            for sight in sights[:3]:
                linked = question.columns[sight.column]
                for sign, name in ((1, "top"), (-1, "bottom")):
                    if rows := _best_of(sight.values * sign, size, sheet.every):
                        features: list[Feature] = [("cut", name), ("cut column", name, linked.level, sight.kind)]
                        condition = Condition(name, sight.column, values=(float(size),))
                        cover = linked.places | {place}
                        yield RowSet(rows, cover, features, "cut", (), 1, sight.column, (condition,))

    def _blank(self) -> Iterator[RowSet]:
        sheet = self._sheet
        for place, column in enumerate(sheet.columns[: sheet.whole]):
            linked = self._question.columns[place]
            if not linked.level:
                continue
            blank = zero = 0
            for text, rows in column.equal.items():
                blank |= rows if text in BLANK or text == "no" else 0
                zero |= rows if text in ("0", "0.0") else 0
            blank, zero = blank & sheet.every, zero & sheet.every
            kinds = (
                ("blank", blank),
                ("filled", sheet.every & ~blank if blank else 0),
                ("zero", zero),
                ("above zero", sheet.every & ~zero & ~blank if zero else 0),
            )
            for kind, rows in kinds:
                if rows:
                    features: list[Feature] = [("blank", kind), ("blank column", kind, linked.level, self.negated)]
                    condition = Condition(kind, place)
                    yield RowSet(rows, linked.places, features, "blank", (place,), 1, place, (condition,))

    def _pairs(self, sets: Sequence[RowSet]) -> list[RowSet]:
        out = []
        for number, one in enumerate(sets):
            for two in sets[:number]:
                rows = one.rows & two.rows
                if not rows or one.cover <= two.cover or two.cover <= one.cover:
                    continue
                if one.columns == two.columns and one.form == "is":
                    continue
                if one.form == two.form == "compare" and one.columns != two.columns:
                    continue
                form = "&".join(sorted((one.form, two.form)))
                joined: Feature = ("pair", one.form + two.form, rows in (one.rows, two.rows))
                features = [*one.features, *two.features, joined]
                conditions = (*two.conditions, *one.conditions)
                columns = one.columns + two.columns
                out.append(RowSet(rows, one.cover | two.cover, features, form, columns, 2, two.main, conditions))
        out.sort(key=lambda pair: -len(pair.cover & self._content))
        return out[:_MOST_PAIRS]

    def _threes(self) -> list[RowSet]:
        out = []
        for pair in self.pairs[:12]:
            for one in self.named[:8]:
                rows = pair.rows & one.rows
                if rows and not pair.cover & one.cover and not set(pair.columns) & set(one.columns):
                    features = pair.features + one.features
                    conditions = (*pair.conditions, *one.conditions)
                    columns, cover = pair.columns + one.columns, pair.cover | one.cover
                    out.append(RowSet(rows, cover, features, "three", columns, 3, pair.main, conditions))
        out.sort(key=lambda three: -len(three.cover))
        return out[:_MOST_THREES]

    def _united(self) -> Iterator[RowSet]:
        """Two cells of one column, joined by or."""
        for number, one in enumerate(self.named):
            for two in self.named[:number]:
                if one.main == two.main and not one.cover & two.cover and one.rows != two.rows:
                    features: list[Feature] = [*one.features, *two.features, ("either",)]
                    either = Condition("either", one.main, others=(*two.conditions, *one.conditions))
                    rows, cover = one.rows | two.rows, one.cover | two.cover
                    yield RowSet(rows, cover, features, "either", one.columns, 2, one.main, (either,))

    def _within(self, united: Sequence[RowSet], sets: Sequence[RowSet]) -> list[RowSet]:
        out = []
        for one in united:
            for two in sets:
                rows = one.rows & two.rows
                if rows and rows != one.rows and not one.cover & two.cover:
                    features, cover = one.features + two.features, one.cover | two.cover
                    columns, conditions = one.columns + two.columns, (*one.conditions, *two.conditions)
                    out.append(RowSet(rows, cover, features, "either&", columns, 3, one.main, conditions))
        return out[:8]


def _holds(values: Values, sign: str, asked: float) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    with np.errstate(invalid="ignore"):
        match sign:
            case ">":
                found = values > asked
            case ">=":
                found = values >= asked
            case "<":
                found = values < asked
            case "<=":
                found = values <= asked
            case _:
                found = values == asked
    return np.asarray(found, dtype=np.bool_)


def _best_of(values: Values, size: int, among: int) -> int:
    """The so many rows with the highest values; none where equal values leave open which."""
    rows = [row for row in rows_of(among) if np.isfinite(values[row])]
    if len(rows) <= size:
        return 0
    rows.sort(key=lambda row: -float(values[row]))
    if values[rows[size - 1]] == values[rows[size]]:
        return 0
    return sum(1 << row for row in rows[:size])


def _different(sets: Sequence[RowSet]) -> list[RowSet]:
    kept: dict[object, RowSet] = {}
    for one in sets:
        kept.setdefault((one.rows, one.cover, one.form, one.columns[:1]), one)
    return list(kept.values())
