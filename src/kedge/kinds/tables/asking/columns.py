"""Which columns the words of a question mean: by name, parts of the name, synonyms and kinds of measure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import Stemmer
from rapidfuzz.distance import OSA

from kedge.answer.sheets.words import abbreviates
from kedge.kinds.tables.asking.lexicon import Lexicon, load
from kedge.kinds.tables.asking.words import Token, name_words, singular, written_out
from kedge.kinds.tables.schema import Column, ColumnType, Table

_KEYS = frozenset("id key code no nr number name title label identifier uuid ref".split())
"""Words by which a column says that it names a thing: `customer_id` is the customer."""
_PLAIN = frozenset(
    "value amount total usd eur gbp in the of per net gross minute min hour second sec day km kg cm mm mile meter "
    "metre lb celsius percent maximum minimum each".split()
)
_AT_THE_END = frozenset("minute min hour second sec day km kg cm mm mile meter metre lb".split())
"""Those of them that are units, and say more before another word: the charge of the day in `total_day_charge`."""
"""Words that a measure's name may have beside the one people say: `sales_value` is the sales."""
_TIMES = frozenset("date time timestamp datetime day at on when".split())
_NOT_ADDED = frozenset(
    "price rate rating score age salary wage temperature percent percentage ratio average avg mean median grade level "
    "index rank height weight width length latitude longitude lat lon year month day week hour "
    "share unit bmi pressure speed fare satisfaction stars star nps quality mark marks maximum minimum gdp density "
    "% speed depth elevation altitude acceleration horsepower displacement mpg iq".split()
)
"""Words of measures that one does not add up over rows."""
_AMOUNTS = frozenset(
    "distance delay duration time total sum count weight size length volume area point goal vote score unit".split()
)
"""Words of measures that have no lexicon entry of their own."""
_FLOWS = frozenset(
    "sale revenue turnover profit loss cost expense spending freight tax fee charge commission donation payment qty "
    "quantity unit".split()
)
"""Words of measures that one adds up: where one ends a name, it outweighs what stands before it (unit_sales)."""
_FIGURE = frozenset("value amount count figure number obs n".split())
_RESULTS = frozenset("profit result earning margin gain pnl".split())
"""Words of what is left of sales when costs are taken off."""
_SPANS = frozenset("year month day week hour".split())
"""Levels where they end a name; before another word they say when: total_day_charge."""
_EACH = frozenset("per average avg mean price rate ratio".split())
_LOST = frozenset(
    "delay delays late wait waiting error errors fault faults defect defects complaint complaints loss losses cost "
    "costs expense expenses debt death deaths injury injuries accident accidents crime crimes murder murders churn "
    "absence absences penalty penalties fine fines tax taxes emission emissions pollution unemployment mortality "
    "downtime".split()
)
"""Words of measures of which less is better."""
_RATED = frozenset("rating score satisfaction grade star mark nps quality rate".split())
"""Words of measures that are given anew each time, so that many become one by averaging."""
ADDED = ("revenue", "quantity")
_FITS = 0.6
_LINKING = frozenset("of the in on a an and or by to for".split())
_SAYS_LITTLE = ("thing.", "ends.", "evidence.", "measure.", "event.", "synonyms.")
"""Tags of words that may still be an abbreviated column written out."""
_PURCHASES = frozenset("order invoice basket transaction purchase sale receipt cart bill".split())
_PERSONS = frozenset(
    "name fullname person employee customer client player patient student author doctor user member".split()
)
_stem = Stemmer.Stemmer("english").stemWord
_BRACKETS = re.compile(r"\([^)]*\)|\[[^\]]*\]")
_IN_UNITS = re.compile(r"(?<=\w)[ _]in[ _]([^\W_]+)$", re.IGNORECASE)
_OTHER_UNITS = frozenset(
    "knots newtons newton years year usd eur gbp thousands millions sqft kwh mph kmh g m l".split()
)
_SIGNS = frozenset("$ € £ ¥".split())
_INITIALS = 4
"""Letters that an abbreviation in capitals has at most."""


@dataclass(frozen=True, slots=True)
class ColumnMatch:
    """Tokens `start` to `end` name one of these columns, the best first; several when they fit equally."""

    start: int
    end: int
    columns: tuple[Column, ...]
    score: float


@dataclass(frozen=True)
class _Known:
    column: Column
    words: tuple[str, ...]
    core: tuple[str, ...]
    concepts: frozenset[str]
    added: bool


class Columns:
    """The columns of one table by their words."""

    def __init__(self, table: Table) -> None:
        self.table = table
        english = load("english")
        self._known = [_know(column, english) for column in table.columns]
        self._by_field = {known.column.field: known for known in self._known}
        synonyms: dict[str, set[str]] = {}
        for phrase, tags in english.phrases.items():
            for tag in tags:
                if tag.startswith("synonyms.") and len(phrase) == 1:
                    synonyms.setdefault(singular(phrase[0]), set()).add(singular(tag.partition(".")[2]))
        self._synonyms = synonyms
        self.longest = max((len(known.words) for known in self._known), default=0)
        self._by_word: dict[str, list[_Known]] = {}
        for known in self._known:
            for word in {*known.words, *map(_stem, known.words)}:
                self._by_word.setdefault(word, []).append(known)

    def of_concept(self, concept: str) -> list[Column]:
        """Measured columns whose name speaks of this kind of measure."""
        return [known.column for known in self._known if concept in known.concepts and known.column.type.measured]

    def has_concept(self, field: str, concept: str) -> bool:
        return concept in self._by_field[field].concepts

    def amount(self, field: str) -> bool:
        """Whether it is a measure by its name, of which a plural means the figures: distances, delays, units."""
        known = self._by_field[field]
        return bool(known.concepts or _AMOUNTS & set(known.words))

    def adds(self, field: str) -> bool:
        """Whether one adds this measure up over rows, by its name."""
        return self._by_field[field].added

    def flows(self, field: str) -> bool:
        """Whether it is an amount by its name, of which a thing has the total of all its rows: profit, freight."""
        known = self._by_field[field]
        return known.added and bool(_FLOWS & set(known.core)) and not _EACH & set(known.words)

    def result(self) -> Column | None:
        """The one column that may hold losses: a profit that is sometimes below 0."""
        found = [
            known.column
            for known in self._known
            if known.added and _RESULTS & set(known.words) and _below_zero(known.column)
        ]
        return found[0] if len(found) == 1 else None

    def unnamed(self) -> Column | None:
        """The one figure of a table that says nothing by its heading but that it is one: value."""
        found = [k.column for k in self._known if k.added and k.column.added and set(k.words) <= _FIGURE]
        others = [k for k in self._known if k.column.type is ColumnType.REAL and k.column not in found]
        return found[0] if len(found) == 1 and not others else None

    def plural(self, field: str) -> bool:
        """Whether a measure is called by things, not by what it is measured in: births, not Area (hectares)."""
        return any(singular(word) != word for word in name_words(_bare(self._by_field[field].column.name)))

    def pieces(self, field: str) -> bool:
        """Whether it counts pieces by its name: unit_sales, qty."""
        return bool({"unit", "piece", "item", "qty", "quantity"} & set(self._by_field[field].words))

    def per_something(self, field: str) -> bool:
        """Whether its name says that it is so much for each of something: units_per_case."""
        return "per" in self._by_field[field].words

    def totals(self, field: str) -> bool:
        """Whether its name says that it holds the whole of something: Cost Total."""
        return bool({"total", "overall", "gross"} & set(self._by_field[field].words))

    def rated(self, field: str) -> bool:
        """Whether it is a rating, by its name."""
        return bool(_RATED & set(self._by_field[field].words))

    def lost(self, field: str) -> bool:
        """Whether less of it is better, by its name."""
        return bool(_LOST & set(self._by_field[field].words))

    def unlike_said(self, field: str, said: set[str], ways: set[str]) -> tuple[int, int]:
        """How far a column's name is from what is said, nearest first: its words left over, less those meant.

        `ways` are `from` and `to`: a word such as `dep` begins departure, which is where one comes from.
        """
        ends = load("english")
        names = self._by_field[field].words
        whole = {
            word: tag.partition(".")[2]
            for (word, *more), tags in ends.phrases.items()
            for tag in tags
            if tag.startswith("ends.") and not more
        }
        meant = 0
        for name in names:
            spoken = any(name == word or abbreviates(name, word) for word in said)
            way = any(side in ways and abbreviates(name, word) for word, side in whole.items())
            meant += spoken or way
        return (-meant, len(names))

    def transacted(self, field: str) -> bool:
        """Whether the column names purchases, whose price is what all their rows come to."""
        return bool(_PURCHASES & set(self._by_field[field].words))

    def words(self, field: str) -> frozenset[str]:
        """Stems of the words in the column's name."""
        return frozenset(_stem(word) for word in self._by_field[field].words)

    def said_in(self, word: str, field: str) -> bool:
        """Whether the column's name has this word."""
        return word in self._by_field[field].words

    def same_thing(self, columns: Sequence[Column]) -> bool:
        """Whether columns name one kind of thing, as product_id and product_name do."""
        return len({self._by_field[column.field].core for column in columns}) == 1

    def names(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """The field of every column without dates, with the words of its name."""
        return ((known.column.field, known.words) for known in self._known if not known.column.type.dated)

    def named_like(self, stems: frozenset[str] | set[str], field: str) -> bool:
        """Whether the column's name has a word with one of these stems: hired and HireDate."""
        return bool(stems & self.words(field))

    def people(self) -> list[Column]:
        """Columns that name persons."""
        return [k.column for k in self._known if is_entity(k.column) and _PERSONS & set(k.words)]

    def dated(self) -> list[Column]:
        return [known.column for known in self._known if known.column.type.dated]

    def matches(self, question: Sequence[Token], start: int, end: int, lexicon: Lexicon) -> ColumnMatch | None:
        """The columns that these tokens name, without mending errors."""
        forms = [tuple(token.word for token in question[start:end])]
        folded = tuple(token.folded for token in question[start:end])
        translated = [tag.partition(".")[2] for tag in lexicon.tags(*folded) if tag.startswith("nouns.")]
        forms += [tuple(singular(word) for word in noun.split("_")) for noun in translated]
        forms += [tuple(singular(written_out(word)) for word in folded)]
        forms += self._abbreviated(question[start:end])
        if len(folded) > 2 and folded[1] == "of" and not (lexicon.tags(*folded[:1]) or lexicon.tags(*folded[:2])):
            forms += [(*forms[0][:1], *forms[0][2:])]
        best = self._scores(forms)
        if not best and all(tag.startswith(_SAYS_LITTLE) for tag in lexicon.tags(*folded)):
            named = len(folded) == 2 and all(token.text[:1].isupper() for token in question[start:end])
            best = [] if named else self._shortened(forms[0])
        measures = [tag.partition(".")[2] for tag in lexicon.tags(*folded) if tag.startswith("concept.")]
        if not best and end - start == 1 and not any(map(self.of_concept, measures)):
            other = [(word,) for form in forms for word in sorted(self._synonyms.get(form[0], ()))]
            near = self._scores(other) or [found for form in dict.fromkeys(other) for found in self._shortened(form)]
            best = [(known, 0.95 * score) for known, score in near]
        return _chosen(start, end, best)

    def _abbreviated(self, asked: Sequence[Token]) -> list[tuple[str, ...]]:
        """The words with those that a column's name cuts short in its form: departure delay, dep_delay."""
        form = tuple(
            token.word if token.word in self._by_word else self._cut(token.folded) or token.word for token in asked
        )
        return [form] if len(form) > 1 and form != tuple(token.word for token in asked) else []

    def _cut(self, word: str) -> str:
        """The one word of column names that is this one cut short; empty where there is none or several."""
        found = [short for short in self._by_word if abbreviates(short, word)]
        return found[0] if len(set(map(singular, found))) == 1 else ""

    def _shortened(self, asked: tuple[str, ...]) -> list[tuple[_Known, float]]:
        """Columns named by initials (mpg, miles per gallon), without a gap (marketvalue), or by a beginning (displ)."""
        out = []
        first = "".join(word[:1] for word in asked)
        for known in self._known:
            capitals = known.column.type.measured and known.column.name.isupper()  # HR: home runs
            enough = len(asked) > 2 or (len(asked) == 2 and capitals and not _LINKING & set(asked))
            whole = len(known.words) == 1 and enough and known.words[0] == first
            initials = "".join(word[:1] for word in known.words)
            spelt = len(asked) == 1 and len(known.words) > 2 and asked[0] == initials
            begins = len(asked) == 1 and any(_begins(word, asked[0]) for word in known.core)
            joined = "".join(known.words)
            spelt = spelt or (len(asked) + len(known.words) > 2 and "".join(asked) in (joined, singular(joined)))
            if whole or spelt or (begins and not known.column.type.dated):
                out.append((known, 0.95 if whole or spelt else 0.85 if len(known.core) == 1 else 0.75))
        return out

    def spread(self, question: Sequence[Token], place: int) -> ColumnMatch | None:
        """The one column whose words all stand somewhere in the question, this one among them: goals were scored."""
        said = {token.word for token in question} | {_stem(token.folded) for token in question}
        word = question[place].word
        if question[place].folded in _LINKING:
            return None
        forms = {word, _stem(word), self._cut(question[place].folded)}
        found = [known for form in sorted(forms) for known in self._by_word.get(form, ())]
        near = {known.column.field: known for known in found if not known.column.type.dated}
        whole = [known for known in near.values() if len(known.core) > 1 and all(_said(w, said) for w in known.core)]
        most = max((len(known.core) for known in whole), default=0)
        best = [known for known in whole if len(known.core) == most]
        return ColumnMatch(place, place + 1, (best[0].column,), 0.88) if len(best) == 1 else None

    def mended(self, token: Token, position: int) -> ColumnMatch | None:
        """The columns one typing error away from this word."""
        if len(token.word) < 5 or not token.word.isalpha():
            return None
        near = [
            word
            for word in self._by_word
            if len(word) > 4 and OSA.distance(token.word, word, score_cutoff=1) <= 1 and word != token.word
        ]
        scores = self._scores([(word,) for word in near])
        return _chosen(position, position + 1, [(known, 0.9 * score) for known, score in scores])

    def _scores(self, forms: Sequence[tuple[str, ...]]) -> list[tuple[_Known, float]]:
        """Columns that share a word with one of the forms and fit it well enough, with their best score."""
        out: dict[str, tuple[_Known, float]] = {}
        for form in forms:
            if not form or len(form) > self.longest:
                continue
            for known in (*self._by_word.get(form[0], ()), *self._by_word.get(_stem(form[0]), ())):
                score = _score(known, form)
                if score >= _FITS and score > out.get(known.column.field, (known, 0.0))[1]:
                    out[known.column.field] = (known, score)
        return list(out.values())


def _below_zero(column: Column) -> bool:
    return isinstance(column.lowest, int | float) and column.lowest < 0


def _said(name: str, said: set[str]) -> bool:
    """Whether a word of a column's name stands among these words, or cuts one of them short."""
    return name in said or _stem(name) in said or any(abbreviates(name, word) for word in said)


def _begins(short: str, word: str) -> bool:
    """Whether a column's word is cut off from a longer one: displ of displacement. Short words are too common."""
    cut = len(short) > 3 and len(word) > len(short) + 2 and word.startswith(short) and short.isalpha()
    return cut and not word.endswith(("ed", "ing", "er", "ly"))


def _chosen(start: int, end: int, scores: Sequence[tuple[_Known, float]]) -> ColumnMatch | None:
    top = max((score for _, score in scores), default=0.0)
    if top < _FITS:
        return None
    return ColumnMatch(start, end, tuple(known.column for known, score in scores if score > top - 0.03), top)


def _know(column: Column, english: Lexicon) -> _Known:
    said = _bare(column.name) if column.type.measured else column.name
    plain = tuple(word for word in name_words(said) if word not in _SIGNS) or name_words(column.name)
    found = tuple(singular(word) for word in plain)
    core = tuple(word for word in found if word not in _KEYS) or found
    if column.type.measured:
        bare = tuple(map(singular, name_words(_without_unit(column.name)))) or found
        core = tuple(word for place, word in enumerate(bare) if not _says_nothing(bare, place)) or core
    tags = {tag for word in plain for tag in english.tags(word)}
    concepts = frozenset(tag.partition(".")[2] for tag in tags if tag.startswith(("concept.", "measure.")))
    concepts -= {"sold"}
    if "unit" in found and "price" in found:
        concepts -= {"quantity"}
    if len(concepts) > 1 and "discount" in concepts:
        concepts = frozenset({"discount"})
    if "price" in concepts and "revenue" in concepts:
        concepts -= {"revenue"} if "price" in plain else {"price"}
    added = column.type.measured and _adds_up(core, plain)
    return _Known(column, found, core, concepts, added)


def _says_nothing(words: Sequence[str], place: int) -> bool:
    """Whether a word of a measure's name is one that people leave out."""
    word = words[place]
    if word in _AT_THE_END and place < len(words) - 1 and words[place - 1 : place] != ("per",):
        return set(words[place + 1 :]) <= _PLAIN
    return word in _KEYS or word in _PLAIN


def _bare(name: str) -> str:
    """A heading without what stands in brackets or is the unit at its end."""
    name = _BRACKETS.sub(" ", name)
    unit = _IN_UNITS.search(name)
    word = unit[1].lower() if unit else ""
    known = word in _OTHER_UNITS or any(tag.startswith("units.") for tag in load("english").tags(word))
    return name[: unit.start()] if unit and known else name


def _without_unit(name: str) -> str:
    """A measure's heading without what it is measured in: Speed IAS in knots, Price (USD), Weight [kg]."""
    bare = _bare(name)
    kept = [word for word in bare.split() if not (word.isupper() and 1 < len(word) <= _INITIALS)]
    return " ".join(kept) if len(kept) > 0 and not name.isupper() else bare


def _adds_up(core: Sequence[str], found: Sequence[str]) -> bool:
    """Whether a measure is added up over rows: not one called by a level, unless it ends in a word for amounts."""
    levels = {word for word in found if word not in _SPANS} | set(found[-1:])
    if not _NOT_ADDED & levels:
        return True
    return bool(core) and core[-1] in _FLOWS - {"cost", "unit"} and not _EACH & set(found)


def _score(known: _Known, asked: tuple[str, ...]) -> float:  # noqa: PLR0911 (a list of cases, best first)
    """How well words name a column: 1 for the whole name, less for parts of it."""
    if not known.words or not asked:
        return 0.0
    if asked == known.words:
        return 1.0
    if asked == known.core and (set(known.words) - set(known.core)):
        return 0.95
    if tuple(map(_stem, asked)) == tuple(map(_stem, known.words)) and not asked[-1].endswith(("ed", "ing")):
        return 0.93
    if len(asked) == 1 and _stem(asked[0]) == _stem(known.words[0]) and len(known.words) == 1 and _two(known.column):
        return 0.9
    if sorted(asked) == sorted(known.words):
        return 0.95
    if sorted(asked) == sorted(known.core):
        return 0.9
    if known.column.type.dated:
        rest = set(known.words) - set(asked)
        return 0.85 if set(asked) <= set(known.words) and rest and not (rest & _TIMES) and len(asked) > 1 else 0.0
    if len(asked) < len(known.core) and known.core[-len(asked) :] == asked:
        return 0.82
    if known.column.type.measured and len(asked) < len(known.words) and known.words[: len(asked)] == asked:
        return 0.8 if set(known.words[len(asked) :]) <= _PLAIN else 0.0
    return 0.0


def _two(column: Column) -> bool:
    """Whether it only says one of two things, so that a verb may name it: denied, of deny."""
    return column.type is ColumnType.BOOLEAN or (column.distinct == 2 and not column.type.dated)


def is_entity(column: Column) -> bool:
    """Whether a column names things that can be counted, listed and grouped by."""
    return column.type.worded or column.type in (ColumnType.ID, ColumnType.BOOLEAN)
