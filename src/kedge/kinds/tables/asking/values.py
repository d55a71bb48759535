"""Index of the different values of a table's text columns, to find what a question names.

A phrase of the question may match a value exactly (case, accents, plural and word order aside), a part of it between
separators (`COOKIES/CONES`), its abbreviation (`FRZN`), some of its words, or any of these with a typing error mended.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice, product

import duckdb
from rapidfuzz import process
from rapidfuzz.distance import OSA

from kedge.core.errors import StoreError
from kedge.kinds.tables.asking.words import Token, skeleton, words
from kedge.kinds.tables.schema import ColumnType, Table

MOST_VALUES = 300_000
"""Different values of one column that are indexed; a column with more is searched by meaning instead."""
MOST_LETTERS = 120
MOST_WORDS = 8
MOST_PARTIAL = 500
_SEPARATORS = re.compile(r"(?:(?<!\s)\s+)?[/,;:|()&]\s*+|(?<!\s)\s+-\s+")

EXACT, REORDERED, SEGMENT, ABBREVIATED, SOME_WORDS = 1.0, 0.97, 0.92, 0.88, 0.8
SAME = 0.98
"""Other words for the same: women, F."""
_MOST_MENDED = 16
_SHORT_ALONE = 0.3
"""What it costs when a mended word of five letters or less stands alone: boots are no books."""
_LOOSE = 0.55
_OPENING = 0.85
_LEAST = 4
"""Letters of a word that a typing error may lead to: a code of three letters is no misspelt word."""


@dataclass(frozen=True, slots=True)
class ValueMatch:
    """Tokens `start` to `end` of a question name these values of a column."""

    start: int
    end: int
    column: str
    values: tuple[str, ...]
    score: float
    rows: int = 0
    """How many rows have one of the values."""

    @property
    def exact(self) -> bool:
        return self.score >= SEGMENT


@dataclass(slots=True)
class _Entry:
    column: str
    value: str
    words: tuple[str, ...]
    rows: int


@dataclass(slots=True)
class ValueIndex:
    """The values of a table. Build it with `read_values` or `add`."""

    entries: list[_Entry] = field(default_factory=list)
    _whole: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    _segments: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    _postings: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    _skeletons: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    _buckets: dict[tuple[str, int], list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, column: str, values: Iterable[tuple[str, int]]) -> None:
        """Take in values of a column (by field) with the number of their rows."""
        for value, rows in values:
            found = words(value)
            if not found or len(value) > MOST_LETTERS:
                continue
            number = len(self.entries)
            self.entries.append(_Entry(column, value, found, rows))
            self._whole[" ".join(sorted(found))].append(number)
            if _SEPARATORS.search(value):
                parts = {" ".join(sorted(words(part))) for part in _SEPARATORS.split(value)}
                for part in parts - {""} if len(parts) > 1 else ():
                    self._segments[part].append(number)
            for word in set(found):
                if word not in self._postings:
                    self._buckets[word[:1], len(word)].append(word)
                    if len(word) > 2 and word == skeleton(word) and word.isalpha():
                        self._skeletons[word].add(word)
                self._postings[word].append(number)

    def matches(self, question: Sequence[Token], start: int, end: int) -> list[ValueMatch]:
        """Values that these tokens name, without mending errors: one match per column, the best kind only."""
        asked = tuple(token.word for token in question[start:end])
        typed = " ".join(token.text for token in question[start:end]).lower()
        found = self._as_typed(asked, typed) or self._find(asked, question[start].quote > 0)
        if question[start].text[:1].isupper():
            found = [
                (column, values, max(score, self._opening(asked, values)), rows)
                for column, values, score, rows in found
            ]
        return [ValueMatch(start, end, column, values, score, rows) for column, values, score, rows in found]

    def whole(self, asked: tuple[str, ...], start: int, end: int) -> list[ValueMatch]:
        """Values that are exactly these words, which mean the same as the tokens of a question."""
        found = self._by_column(self._whole.get(" ".join(sorted(asked)), ()), SAME)
        return [ValueMatch(start, end, column, values, score, rows) for column, values, score, rows in found]

    def mended(self, question: Sequence[Token], start: int, end: int) -> list[ValueMatch]:
        """Like `matches` after each unknown word is replaced by the nearest known ones."""
        choices = [self.near(token.word) for token in question[start:end]]
        if not all(choices):
            return []
        out: list[ValueMatch] = []
        for chosen in islice(product(*choices), _MOST_MENDED):
            cost = sum(1 - score for _, score in chosen)
            cost += _SHORT_ALONE if len(chosen) == 1 and len(chosen[0][0]) <= 5 else 0.0
            for column, values, score, rows in self._find(tuple(word for word, _ in chosen), False):
                if score - cost > 0.5:
                    out.append(ValueMatch(start, end, column, values, score - cost, rows))
        best = max((match.score for match in out), default=0.0)
        return [match for match in out if match.score > best - 0.01]

    def near(self, word: str, most: int = 3) -> list[tuple[str, float]]:
        """Known words within one typing error (two from eight letters on), best first, with a score."""
        if word in self._postings:
            return [(word, 1.0)]
        if len(word) < 4 or not word.isalpha():
            return []
        allowed = 2 if len(word) >= 8 else 1
        letters = {word[:1], word[1:2]}
        pool = [
            known
            for letter in letters
            for length in range(max(_LEAST, len(word) - allowed), len(word) + allowed + 1)
            for known in self._buckets.get((letter, length), ())
        ]
        found = process.extract(word, pool, scorer=OSA.distance, score_cutoff=allowed, limit=most)
        costs = 0.15 if len(word) <= 5 else 0.1 if len(word) < 8 else 0.07
        return [(known, 1 - costs * distance) for known, distance, _ in found]

    def _find(self, asked: tuple[str, ...], quoted: bool) -> list[tuple[str, tuple[str, ...], float, int]]:
        key = " ".join(sorted(asked))
        whole = self._whole.get(key, ())
        if whole:
            same = [number for number in whole if self.entries[number].words == asked]
            return self._by_column(same or whole, EXACT if same else REORDERED)
        if key in self._segments:
            return self._segment(key)
        if len(key) < 3 and not quoted:
            return []
        if all(word in self._postings for word in asked) and (found := self._some_words(asked)):
            return found
        for shortened in islice(product(*(self._forms(word) for word in asked)), _MOST_MENDED):
            if shortened != asked and (found := self._find_known(shortened)):
                return [(column, values, score * ABBREVIATED, rows) for column, values, score, rows in found]
        return []

    def _as_typed(self, asked: tuple[str, ...], typed: str) -> list[tuple[str, tuple[str, ...], float, int]]:
        """Values with the same words, those alone that are written as they were asked: Emily is no Emilie.

        Empty where no column has one that is.
        """
        found = self._by_column(self._whole.get(" ".join(sorted(asked)), ()), EXACT)
        if not any(len(values) > 1 and typed in map(str.lower, values) for _, values, _, _ in found):
            return []
        numbers = [
            number
            for number in self._whole[" ".join(sorted(asked))]
            if self.entries[number].value.lower() == typed or not self._typed(self.entries[number].column, asked, typed)
        ]
        return self._by_column(numbers, EXACT)

    def _typed(self, column: str, asked: tuple[str, ...], typed: str) -> bool:
        """Whether a column has a value that is written so."""
        return any(
            self.entries[number].column == column and self.entries[number].value.lower() == typed
            for number in self._whole[" ".join(sorted(asked))]
        )

    def _find_known(self, asked: tuple[str, ...]) -> list[tuple[str, tuple[str, ...], float, int]]:
        whole = self._whole.get(" ".join(sorted(asked)), ())
        return self._by_column(whole, EXACT) if whole else self._some_words(asked)

    def _segment(self, key: str) -> list[tuple[str, tuple[str, ...], float, int]]:
        """Values with this part between separators; loose when the column has its words in other values too."""
        out = []
        found = set(self._segments[key])
        common = set.intersection(*(set(self._postings[word]) for word in key.split()))
        for column, values, score, rows in self._by_column(self._segments[key], SEGMENT):
            others = any(self.entries[number].column == column for number in common - found)
            out.append((column, values, _LOOSE if others else score, rows))
        return out

    def _forms(self, word: str) -> list[str]:
        """The word itself if some value has it, and abbreviations of it that values have."""
        short = sorted(self._skeletons.get(skeleton(word), ())) if len(word) > 4 else []
        return ([word] if word in self._postings else []) + [form for form in short if form != word]

    def _some_words(self, asked: tuple[str, ...]) -> list[tuple[str, tuple[str, ...], float, int]]:
        lists = sorted((self._postings[word] for word in set(asked)), key=len)
        common = set(lists[0][: MOST_PARTIAL * 20])
        for numbers in lists[1:]:
            common.intersection_update(numbers)
        if not common or len(common) > MOST_PARTIAL:
            return []
        out = []
        for column, values, _, rows in self._by_column(sorted(common), SOME_WORDS):
            lengths = [len(self.entries[n].words) for n in common if self.entries[n].column == column]
            covered = len(asked) / min(lengths)
            score = 0.6 + 0.3 * covered if len(values) == 1 else 0.4 + 0.3 * covered
            out.append((column, values, score, rows))
        return out

    def _opening(self, asked: tuple[str, ...], values: tuple[str, ...]) -> float:
        """How well words in capitals name the one value that begins with them: Delta, Delta Air Lines."""
        named = words(values[0]) if len(values) == 1 else ()
        return _OPENING if len(named) > len(asked) and named[: len(asked)] == asked else 0.0

    def _by_column(self, numbers: Iterable[int], score: float) -> list[tuple[str, tuple[str, ...], float, int]]:
        columns: dict[str, list[_Entry]] = defaultdict(list)
        for number in numbers:
            columns[self.entries[number].column].append(self.entries[number])
        return [
            (column, tuple(entry.value for entry in found), score, sum(entry.rows for entry in found))
            for column, found in columns.items()
        ]


def read_values(connection: duckdb.DuckDBPyConnection, table: Table) -> ValueIndex:
    """Index the different values of the table's text columns and of the ids that are no plain numbers."""
    index = ValueIndex()
    for column in table.columns:
        if not (column.type.worded or column.type is ColumnType.ID) or column.distinct > MOST_VALUES:
            continue
        # Names of our own only: the field was made by the store, the relation too.
        text = (
            f"SELECT CAST({column.field} AS VARCHAR), count(*) FROM {table.relation} "  # noqa: S608
            f"WHERE {column.field} IS NOT NULL GROUP BY 1 LIMIT {MOST_VALUES}"
        )
        try:
            found = connection.cursor().execute(text).fetchall()
        except duckdb.Error as error:
            raise StoreError(f"The table's values could not be read: {error}", hint="Feed the table again.") from error
        kept = column.type is ColumnType.CATEGORY
        index.add(column.field, ((value, rows) for value, rows in found if kept or not value.isdigit()))
    return index
