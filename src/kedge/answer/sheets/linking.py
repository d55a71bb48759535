"""Which words of a question speak of which columns, cells, numbers and dates of a sheet."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kedge.answer.sheets.cells import Day, day_of
from kedge.answer.sheets.sheet import Sheet, SheetColumn, rows_of
from kedge.answer.sheets.words import (
    FUNCTION_WORDS,
    MONTHS,
    NUMBER_WORDS,
    ORDINALS,
    abbreviates,
    akin,
    folded,
    number_of,
    stem,
    tokens,
)

Places = frozenset[int]
"""Places of words in the question."""
MOST_VALUES = 14
LONGEST_VALUE = 10
EXACT, PIECE, PHRASE, AKIN, NUMBERED, DATED, MEANT = range(7)
"""How a cell was found: whole, as a piece of a list, by words inside it, by one like it, as number, date, synonym."""
_WEIGHT = {EXACT: 2.0, PIECE: 1.2, PHRASE: 0.6, AKIN: 0.0, NUMBERED: -0.3, DATED: 2.5, MEANT: 0.2}
_NAMED_BY_FUNCTION = frozenset(("name", "year", "number", "time", "total"))
_IN_HEADINGS = frozenset(("of", "the", "in", "and", "s", "a"))
_LINKING = frozenset(("of", "the", "and", "in", "de"))
_DECADE = re.compile(r"\b(\d{4})s\b")
_SAME = (
    "win wins won winning victory victories|w;win;won;winner;1st",
    "lose loses lost loss losses losing|l;loss;lost",
    "draw draws drawn tie tied ties|d;t;draw;drawn;tie",
    "american americans us usa|united states;usa;us",
    "french|france;fra",
    "spanish spaniard|spain;esp",
    "german germans|germany;ger",
    "swiss|switzerland;sui",
    "dutch|netherlands;ned",
    "british|united kingdom;great britain;uk;gbr",
    "english|england;eng",
    "polish|poland;pol",
    "danish|denmark;den",
    "greek|greece;gre",
    "turkish|turkey;tur",
    "welsh|wales",
    "irish|ireland;irl",
    "finnish|finland;fin",
    "swedish|sweden;swe",
    "chinese|china;chn",
    "japanese|japan;jpn",
    "thai|thailand",
    "scottish|scotland;sco",
    "soviet|soviet union;urs",
    "home|h;home",
    "away|a;away",
    "gold|1st;1",
    "silver|2nd;2",
    "bronze|3rd;3",
    "champion champions|1st",
    "retired retire|ret;retired",
    "male males men|m;male",
    "female females women|f;female",
)
SYNONYMS = {
    word: tuple(" ".join(tokens(same)) for same in line.partition("|")[2].split(";"))
    for line in _SAME
    for word in line.partition("|")[0].split()
}
"""How cells say what a word of a question says."""


@dataclass(frozen=True, slots=True)
class AskedNumber:
    """A number that the question names."""

    value: float
    place: int
    form: str
    """digits, word or ordinal."""


@dataclass(frozen=True, slots=True)
class ColumnLink:
    """How well the question names a column: 3 by all words of its heading, 2 by half, 1 by some, 0 not at all."""

    level: int
    places: Places


@dataclass(frozen=True, slots=True)
class ValueLink:
    """Cells of a column that the question names."""

    column: int
    rows: int
    how: int
    start: int
    """First of its words in the question; -1 for a date."""
    end: int
    score: float

    @property
    def length(self) -> int:
        return self.end - self.start

    @property
    def clear(self) -> bool:
        """Whether it is hard to take for anything else."""
        return self.how in (EXACT, PIECE, DATED) or (self.how == PHRASE and self.length > 1)


@dataclass(frozen=True, slots=True)
class LinkedQuestion:
    """A question and what its words speak of."""

    text: str
    """Folded, in lower case, without the mark at its end."""
    words: list[str]
    stems: list[str]
    numbers: list[AskedNumber]
    day: Day | None
    decade: tuple[int, int] | None
    columns: list[ColumnLink]
    """For each whole column."""
    values: list[ValueLink]
    """Likeliest first."""


def link(question: str, sheet: Sheet) -> LinkedQuestion:
    """Look for everything of the sheet that the question names."""
    text = folded(question).lower().strip().rstrip("?.! ").replace('"', " ")
    words = tokens(text)
    stems = [stem(word) for word in words]
    asked = list(_numbers(words))
    day = day_of(text)
    columns = [_column_link(column, words, stems) for column in sheet.columns[: sheet.whole]]
    found: dict[tuple[int, int], ValueLink] = {}
    for place, column in enumerate(sheet.columns[: sheet.whole]):
        for made in _ValueLinks(place, column, columns[place], sheet.count).found(words, asked):
            known = found.get((place, made.rows))
            if made.rows and (known is None or (made.length, -made.how) > (known.length, -known.how)):
                found[place, made.rows] = made
    for made in _dated_links(sheet, day, columns) if day and day[1] else ():
        found.setdefault((made.column, made.rows), made)
    values = sorted(found.values(), key=lambda one: -one.score)[:MOST_VALUES]
    return LinkedQuestion(text, words, stems, asked, day, _decade(text), columns, values)


def unlinked_words(linked: LinkedQuestion, common: frozenset[str]) -> list[str]:
    """Words that name something and that no reading can use: they speak of no column, cell, number or date.

    `common`: words that are frequent in questions, and that name nothing.
    """
    used = {place for one in linked.columns for place in one.places} | {number.place for number in linked.numbers}
    used.update(place for one in linked.values if one.start >= 0 for place in range(one.start, one.end))
    return [
        word
        for place, word in enumerate(linked.words)
        if place not in used
        and word not in MONTHS
        and not word[0].isdigit()
        and word not in FUNCTION_WORDS
        and word not in NUMBER_WORDS
        and word not in common
    ]


def _numbers(words: Sequence[str]) -> Iterator[AskedNumber]:
    for place, word in enumerate(words):
        if word[0].isdigit():
            value = number_of(word)
            if value is not None:
                yield AskedNumber(value, place, "digits")
        elif word in NUMBER_WORDS:
            yield AskedNumber(NUMBER_WORDS[word], place, "word")
        elif word in ORDINALS:
            yield AskedNumber(ORDINALS[word], place, "ordinal")


def _decade(text: str) -> tuple[int, int] | None:
    match = _DECADE.search(text)
    if not match:
        return None
    first = int(match[1])
    return first, first + (99 if first % 100 == 0 else 9)


def _column_link(column: SheetColumn, words: Sequence[str], stems: Sequence[str]) -> ColumnLink:
    heading = [word for word in column.words if word not in _IN_HEADINGS]
    places: set[int] = set()
    hits = 0
    for word in heading:
        met = [
            place
            for place, asked in enumerate(stems)
            if asked == word and (words[place] not in FUNCTION_WORDS or word in _NAMED_BY_FUNCTION)
        ]
        if not met and len(word) >= 4:
            met = [place for place, asked in enumerate(stems) if akin(asked, word)]
        if not met:
            met = [place for place, asked in enumerate(words) if len(asked) > 3 and abbreviates(word, asked)]
        hits += bool(met)
        places.update(met)
    level = 0 if not hits else 3 if hits == len(heading) else 2 if hits >= 0.5 * len(heading) else 1
    return ColumnLink(level, frozenset(places))


class _ValueLinks:
    """Finds what the words of a question name in one column."""

    def __init__(self, place: int, column: SheetColumn, heading: ColumnLink, count: int) -> None:
        self._place = place
        self._column = column
        self._named_column = heading.level >= 2
        self._count = count

    def found(self, words: Sequence[str], asked: Sequence[AskedNumber]) -> Iterator[ValueLink]:
        """By spelling, longest first; what is left by likeness and meaning; numbers written as words."""
        taken: list[tuple[int, int]] = []
        for start, end in _spans(len(words)):
            if any(first <= start and end <= last for first, last in taken):
                continue
            rows, how = _named(self._column, words[start:end])
            if rows:
                taken.append((start, end))
                yield self._link(rows, how, start, end)
        for at, word in enumerate(words):
            free = not any(first <= at < last for first, last in taken)
            telling = len(word) >= 4 and not word[0].isdigit() and word not in FUNCTION_WORDS and word not in MONTHS
            if free and telling and (rows := _like(self._column, word)):
                yield self._link(rows, AKIN, at, at + 1)
            if word in SYNONYMS and (rows := _meant(self._column, SYNONYMS[word])):
                yield self._link(rows, MEANT, at, at + 1)
        for number in asked:
            for form in _written_forms(number):
                if rows := self._column.exact.get(form, 0):
                    yield self._link(rows, NUMBERED, number.place, number.place + 1)

    def _link(self, rows: int, how: int, start: int, end: int) -> ValueLink:
        score = end - start + _WEIGHT[how] + 0.4 * self._named_column
        score -= 0.5 if rows.bit_count() == self._count else 0
        return ValueLink(self._place, rows, how, start, end, score)


def _written_forms(number: AskedNumber) -> list[str]:
    """How cells write a number that the question writes as a word."""
    if number.form == "digits":
        return []
    whole = int(number.value)
    ending = {1: "st", 2: "nd", 3: "rd"}.get(whole, "th")
    return [str(whole), f"{whole} {ending}"] if number.form == "ordinal" else [str(whole)]


def _spans(count: int) -> Iterator[tuple[int, int]]:
    """Longest first."""
    for length in range(min(LONGEST_VALUE, count), 0, -1):
        for start in range(count - length + 1):
            yield start, start + length


def _named(column: SheetColumn, words: Sequence[str]) -> tuple[int, int]:  # noqa: PLR0911 (one line per way)
    """Rows whose cell has these words, and how."""
    if all(word in FUNCTION_WORDS and not (word == "no" and len(words) == 1) for word in words):
        return 0, EXACT
    phrase = " ".join(words)
    if rows := column.exact.get(phrase, 0):
        return rows, EXACT
    if rows := column.pieces.get(phrase, 0):
        return rows, PIECE
    if words[0] in FUNCTION_WORDS or words[-1] in FUNCTION_WORDS:
        return 0, EXACT
    rows = -1
    for word in words:
        if word not in _LINKING:
            rows &= column.mentioned.get(word, 0)
        if not rows:
            return 0, EXACT
    if rows < 0 or (len(words) == 1 and len(words[0]) <= 2 and not words[0][0].isdigit()):
        return 0, EXACT
    if len(words) > 1:
        together = 0
        for row in rows_of(rows):
            if phrase in column.joined[row]:
                together |= 1 << row
        rows = together or (rows if rows.bit_count() <= 3 else 0)
    return rows, PHRASE


def _like(column: SheetColumn, word: str) -> int:
    rows = 0
    base = stem(word)
    start = base[:4]
    for other, mask in column.mentioned.items():
        if other != word and other.startswith(start) and akin(stem(other), base):
            rows |= mask
    return rows


def _meant(column: SheetColumn, synonyms: Sequence[str]) -> int:
    rows = 0
    for row, cell in enumerate(column.joined):
        spaced = f" {cell} "
        for synonym in synonyms:
            short = len(synonym) < 3
            if (cell == synonym or cell.startswith(synonym + " ")) if short else f" {synonym} " in spaced:
                rows |= 1 << row
    return rows


def _dated_links(sheet: Sheet, day: Day, columns: Sequence[ColumnLink]) -> Iterator[ValueLink]:
    """Cells whose date fits the question's, as far as both are written."""
    for sight in sheet.sights:
        if sight.kind != "date":
            continue
        rows = 0
        for row, key in enumerate(sight.values):
            if math.isfinite(key):
                year, month, date = int(key) // 400, (int(key) % 400) // 32, int(key) % 32
                fits = month == day[1] and (not day[2] or not date or date == day[2])
                if fits and (not day[0] or not year or year == day[0]):
                    rows |= 1 << row
        if rows:
            score = _WEIGHT[DATED] - (0.5 if rows.bit_count() == sheet.count else 0)
            yield ValueLink(sight.column, rows, DATED, -1, -1, score + 0.4 * (columns[sight.column].level >= 2))
