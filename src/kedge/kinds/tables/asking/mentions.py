"""A question as mentions that do not overlap: values, columns, periods, numbers, function words and the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

from kedge.kinds.tables.asking.amounts import Amount, amounts
from kedge.kinds.tables.asking.columns import ColumnMatch
from kedge.kinds.tables.asking.lexicon import Lexicon, lexicon_for
from kedge.kinds.tables.asking.periods import AskedPeriod, periods
from kedge.kinds.tables.asking.rownouns import mark_rows
from kedge.kinds.tables.asking.same import same_as
from kedge.kinds.tables.asking.values import MOST_WORDS, SEGMENT, ValueMatch
from kedge.kinds.tables.asking.vocabulary import Vocabulary
from kedge.kinds.tables.asking.words import Token, tokens, words
from kedge.kinds.tables.schema import Column, ColumnType

MOST_TOKENS = 80
_ASKING = ("ask.which", "ask.count", "logic.distinct")
_GOOD = 0.85
_CODE = 2
_YIELDING = (frozenset({"logic.open"}), frozenset({"logic.loss"}))
"""Tags of words that mean a column where one is called so."""
_CALLED = 0.8
_TAIL = 0.85
_OF_LINES = frozenset("order invoice sale receipt basket bill table data".split())
_SAID_OF_VALUES = frozenset("single individual own whole".split())
"""Function words that are values too, where a column has them."""
_SOME_VALUES = 4
"""Values of a column that end in a noun, from which on the noun says what all of them are: airlines."""
_KIND = 0.85
_BY_WAY_OF = frozenset({"through", "via"})
_SILENT = (
    "synonyms.",
    "nouns.",
    "units.",
    "numbers.",
    "ordinals.",
    "months.",
    "weekdays.",
    "feasts.",
    "moved.",
    "ends.",
    "way.",
    "thing.",
    "evidence.",
    "measure.",
    "event.",
)
_WEAK = ("concept.", "row.", "time.", "verb.")
"""Tags that a column's or value's own name overrules."""


@dataclass(slots=True)
class TableMention:
    """Tokens `start` to `end` and what they mean: one of the fields below is set, none for an unknown word."""

    start: int
    end: int
    text: str
    values: list[ValueMatch] = field(default_factory=list)
    columns: ColumnMatch | None = None
    period: AskedPeriod | None = None
    amount: Amount | None = None
    tags: frozenset[str] = frozenset()
    given: ColumnMatch | None = None
    """Of a noun that means rows, the column of what each row gives: ratings."""
    role: str = ""
    """What the plan uses it for; empty as long as it is not accounted for."""

    @property
    def unknown(self) -> bool:
        return not (self.values or self.columns or self.period or self.amount or self.tags)

    @property
    def stop(self) -> bool:
        return any(tag.startswith("stop.") for tag in self.tags)

    def has(self, *tags: str) -> bool:
        """Whether it carries one of these tags, or one of these sections (`super.`)."""
        return any(
            tag == wanted or (wanted.endswith(".") and tag.startswith(wanted)) for tag in self.tags for wanted in tags
        )

    def concepts(self) -> list[str]:
        """The kinds of measure it may speak of."""
        return [tag.partition(".")[2] for tag in sorted(self.tags) if tag.startswith("concept.")]

    def concept(self) -> str | None:
        """The first of them."""
        return next(iter(self.concepts()), None)

    def column(self) -> Column | None:
        return self.columns.columns[0] if self.columns else None


@dataclass(frozen=True, slots=True)
class _Candidate:
    rank: tuple[float, ...]
    mention: TableMention


class TableReading:
    """The mentions of one question over one table."""

    def __init__(self, text: str, vocabulary: Vocabulary) -> None:
        self.text = text
        self.vocabulary = vocabulary
        self.tokens: Sequence[Token] = tokens(text)[:MOST_TOKENS]
        self.lexicon = lexicon_for(self.tokens)
        self.mentions = _resolve(self.tokens, self.lexicon, vocabulary)
        for before, mention in pairwise(self.mentions):
            if before.columns and mention.has("ask.person", "ask.which") and mention.end - mention.start == 1:
                # "Customers who spent" asks nothing by that word.
                mention.tags = frozenset({"stop.plain"})
        for before, mention in pairwise(self.content):
            if before.text.lower() in _BY_WAY_OF and mention.values:
                before.tags = frozenset({"stop.plain"})
        self._name_kinds()
        self._values_of_times()
        mark_rows(self.mentions, self.tokens, self.lexicon, vocabulary)

    def _values_of_times(self) -> None:
        """`By day nor at night`: a heading's word or a part of time that is a value like the one it is joined with."""
        content = self.content
        for first, joint, last in zip(content, content[1:], content[2:], strict=False):
            if not joint.has("logic.or", "logic.and"):
                continue
            for timed, valued in ((first, last), (last, first)):
                if not (timed.has("time.") or timed.columns) or not valued.values:
                    continue
                form = tuple(token.word for token in self.tokens[timed.start : timed.end])
                near = self.vocabulary.values.whole(form, timed.start, timed.end)
                columns = {match.column for match in valued.values}
                same = [replace(match, score=1.0) for match in near if match.column in columns]
                if same:
                    timed.values, timed.tags, timed.columns = same, frozenset(), None

    def _name_kinds(self) -> None:
        """A noun that many values of a column hold, and its heading too, is that column: which airline."""
        columns = self.vocabulary.columns
        for mention in self.mentions:
            word = self.tokens[mention.start].word
            if mention.end - mention.start > 1:
                continue
            for match in mention.values:
                if len(match.values) >= _SOME_VALUES and match.score < _KIND and columns.said_in(word, match.column):
                    column = self.vocabulary.table.column(match.column)
                    mention.columns = ColumnMatch(mention.start, mention.end, (column,), _KIND)
                    mention.values = []
                    break

    @property
    def content(self) -> list[TableMention]:
        """All mentions but those that only join others."""
        return [mention for mention in self.mentions if not mention.stop]


def _resolve(question: Sequence[Token], lexicon: Lexicon, vocabulary: Vocabulary) -> list[TableMention]:
    found = _Found(question, lexicon, vocabulary)
    taken = [False] * len(question)
    out: list[TableMention] = []

    def take(candidates: list[_Candidate]) -> None:
        for candidate in sorted(candidates, key=lambda item: item.rank, reverse=True):
            mention = candidate.mention
            if not any(taken[mention.start : mention.end]):
                taken[mention.start : mention.end] = [True] * (mention.end - mention.start)
                out.append(mention)

    take([*found.periods(), *found.phrases(), *found.columns(), *found.values(), *found.amounts()])
    take(found.uncertain(taken))
    out += [found.mention(place, place + 1) for place, known in enumerate(taken) if not known]
    return sorted(out, key=lambda mention: mention.start)


class _Found:
    def __init__(self, question: Sequence[Token], lexicon: Lexicon, vocabulary: Vocabulary) -> None:
        self._question = question
        self._lexicon = lexicon
        self._vocabulary = vocabulary
        self._table_words = set(words(vocabulary.table.name.replace("_", " ").replace("-", " ")))

    def mention(self, start: int, end: int) -> TableMention:
        return TableMention(start, end, " ".join(token.text for token in self._question[start:end]))

    def periods(self) -> list[_Candidate]:
        span = self._vocabulary.span()
        out = []
        for period in periods(self._question, self._lexicon, *span) if span else ():
            mention = self.mention(period.start, period.end)
            mention.period = period
            out.append(_Candidate((period.end - period.start + 1, 8), mention))
        return out

    def amounts(self) -> list[_Candidate]:
        out = []
        for amount in amounts(self._question, self._lexicon):
            mention = self.mention(amount.start, amount.end)
            mention.amount = amount
            out.append(_Candidate((amount.end - amount.start, 4.5), mention))
        return out

    def phrases(self) -> list[_Candidate]:
        out = []
        for start in range(len(self._question)):
            for end in range(start + 1, min(len(self._question), start + self._lexicon.longest) + 1):
                folded = tuple(token.folded for token in self._question[start:end])
                tags = frozenset(tag for tag in self._lexicon.tags(*folded) if not tag.startswith(_SILENT))
                if end == start + 1 and self._question[start].word in self._table_words and not tags:
                    if self._of_table(start, end) is not None:
                        continue
                    tags = frozenset({"row.rows"})
                if not tags or (tags in _YIELDING and self._names_column(start, end)):
                    continue
                mention = self.mention(start, end)
                mention.tags = tags
                weak = all(tag.startswith((*_WEAK, "stop.")) for tag in tags)
                out.append(_Candidate((end - start, 3.0 if weak else 7.0), mention))
        return out

    def _names_column(self, start: int, end: int) -> bool:
        """Whether a column is called by these words, whatever else they may mean: profit."""
        match = self._vocabulary.columns.matches(self._question, start, end, self._lexicon)
        return match is not None and match.score >= _CALLED

    def columns(self) -> list[_Candidate]:
        out = []
        for start in range(len(self._question)):
            for end in range(start + 1, min(len(self._question), start + max(4, self._vocabulary.columns.longest)) + 1):
                match = self._vocabulary.columns.matches(self._question, start, end, self._lexicon)
                match = match or self._of_table(start, end)
                several = match is not None and not self._vocabulary.columns.same_thing(match.columns)
                if end == start + 1 and (match is None or several):
                    match = self._vocabulary.columns.spread(self._question, start) or match
                if match is None or (match.score < 0.7 and self._is_row(start, end)):
                    continue
                if self._says_else(match, start, end):
                    continue
                mention = self.mention(start, end)
                mention.columns = match
                rank = 7.5 if match.score == 1.0 and self._asked_for(start) else 6.0 if match.score >= 0.8 else 3.5
                out.append(_Candidate((end - start, rank), mention))
        return out

    def _of_table(self, start: int, end: int) -> ColumnMatch | None:
        """The table's own name for its one figure, where that is called `value` or the like.

        Payments are rows, each with an amount.
        """
        figure = self._vocabulary.columns.unnamed()
        token = self._question[start]
        amounts = (
            figure is not None
            and token.folded != token.word
            and self._vocabulary.columns.said_in("amount", figure.field)
        )
        said = end == start + 1 and token.word in self._table_words and not amounts
        return ColumnMatch(start, end, (figure,), 0.9) if figure is not None and said else None

    def _says_else(self, match: ColumnMatch, start: int, end: int) -> bool:
        """Whether the end of a heading is said for something else: order lines (rows), managers (a value)."""
        if match.score > _TAIL or end - start > 1:
            return False
        before = self._question[start - 1].word if start else ""
        if before in _OF_LINES and self._is_row(start, end):
            return True
        measured = all(column.type.measured for column in match.columns)
        return measured and bool(self._vocabulary.values.whole((self._question[start].word,), start, end))

    def _asked_for(self, start: int) -> bool:
        """Whether a function, `by` or `which` stands before: then even a function word names a column.

        The sum of count, how many different names, top 10 names.
        """
        for place in range(start - 1, -1, -1):
            tags = self._lexicon.tags(self._question[place].folded)
            tags |= self._lexicon.tags(*(token.folded for token in self._question[max(0, place - 1) : place + 1]))
            if any(tag.startswith(("func.", "super.", "logic.group", *_ASKING)) for tag in tags):
                return True
            if not any(tag.startswith("stop.") for tag in tags) and not self._question[place].word.isdigit():
                return False
        return False

    def _is_row(self, start: int, end: int) -> bool:
        return "row.rows" in self._lexicon.tags(*(token.folded for token in self._question[start:end]))

    def values(self) -> list[_Candidate]:
        out = []
        for start in range(len(self._question)):
            for end in range(start + 1, min(len(self._question), start + MOST_WORDS) + 1):
                quote = self._question[start].quote
                letter = end == start + 1 and (self._letter(start) or self._code(start) or self._plain_value(start))
                if quote != self._question[end - 1].quote or (not quote and not letter and self._function(start, end)):
                    continue
                if not quote and end == start + 1 and self._is_measure(start):
                    continue
                matches = [m for m in self._vocabulary.values.matches(self._question, start, end) if quote or m.exact]
                matches += [other for other in self._same(start, end) if all(other.column != m.column for m in matches)]
                if not matches:
                    continue
                mention = self.mention(start, end)
                mention.values = sorted(matches, key=lambda match: -match.score)
                whole = quote and not self._inside(start - 1, quote) and not self._inside(end, quote)
                out.append(_Candidate((end - start + (20 if whole else 0), 8.0 if letter else 5.0), mention))
        return out

    def _same(self, start: int, end: int) -> list[ValueMatch]:
        """Values that say the same in other words (women, F), if one column alone has such a value."""
        found = [
            match
            for form in same_as(self._question[start:end])
            for match in self._vocabulary.values.whole(form, start, end)
        ]
        single = len({(match.column, match.values) for match in found}) == 1
        return found[:1] if single else []

    def uncertain(self, taken: Sequence[bool]) -> list[_Candidate]:
        """Values of which only some words are named, and words with typing errors, among what nothing else explains."""
        out = []
        for start in range(len(self._question)):
            for end in range(min(len(self._question), start + 5), start, -1):
                if any(taken[start:end]) or (end == start + 1 and len(self._question[start].word) < 3):
                    continue
                matches = self._vocabulary.values.matches(self._question, start, end)
                if max((match.score for match in matches), default=0.0) < _GOOD:
                    matches = [*matches, *self._vocabulary.values.mended(self._question, start, end)]
                if matches:
                    mention = self.mention(start, end)
                    mention.values = _best_of_columns(matches)
                    out.append(_Candidate((end - start, max(match.score for match in matches)), mention))
            if not taken[start] and (column := self._vocabulary.columns.mended(self._question[start], start)):
                mention = self.mention(start, start + 1)
                mention.columns = column
                out.append(_Candidate((1, 0.9 if column.score > 0.7 else 0.6), mention))
        return out

    def _function(self, start: int, end: int) -> bool:
        """Whether these are only function words, which name values in quotation marks alone (`OR`, `no`, `in`)."""
        if end - start > 1:
            return all(self._strong(place) for place in range(start, end))
        return self._strong(start) or len(self._question[start].word) < 2 or self._question[start].word.isdigit()

    def _letter(self, place: int) -> bool:
        """A capital letter after the column that has it as a value: discipline A."""
        token = self._question[place]
        if place == 0 or len(token.text) > 1 or not token.text.isupper():
            return False
        joined = place > 1 and {"logic.or", "logic.and"} & self._lexicon.tags(self._question[place - 1].folded)
        if joined and self._letter(place - 2):
            return True
        named = self._vocabulary.columns.matches(self._question, place - 1, place, self._lexicon)
        found = self._vocabulary.values.whole((token.word,), place, place + 1)
        return named is not None and any(match.column == column.field for match in found for column in named.columns)

    def _plain_value(self, place: int) -> bool:
        """`Are single`, where a column of few values says so; not `a single strike`."""
        token = self._question[place]
        if token.folded not in _SAID_OF_VALUES or (place and self._question[place - 1].folded in ("a", "the", "any")):
            return False
        found = self._vocabulary.values.whole((token.word,), place, place + 1)
        return any(self._vocabulary.table.column(match.column).type is ColumnType.CATEGORY for match in found)

    def _code(self, place: int) -> bool:
        """A value in capitals that is a function word otherwise: the state OR, in a question in small letters."""
        token = self._question[place]
        if len(token.text) < _CODE or not token.text.isupper() or all(one.text.isupper() for one in self._question):
            return False
        found = self._vocabulary.values.whole((token.word,), place, place + 1)
        return any(token.text in match.values for match in found)

    def _is_measure(self, place: int) -> bool:
        """Whether a word such as sales or value stands for a measure that this table has."""
        tags = self._lexicon.tags(self._question[place].folded)
        concepts = [tag.partition(".")[2] for tag in tags if tag.startswith("concept.")]
        return any(self._vocabulary.columns.of_concept(concept) for concept in concepts)

    def _strong(self, place: int) -> bool:
        tags = self._lexicon.tags(self._question[place].folded)
        return any(not tag.startswith((*_SILENT, *_WEAK)) for tag in tags)

    def _inside(self, place: int, quote: int) -> bool:
        return 0 <= place < len(self._question) and self._question[place].quote == quote


def _best_of_columns(matches: Sequence[ValueMatch]) -> list[ValueMatch]:
    best: dict[str, ValueMatch] = {}
    for match in sorted(matches, key=lambda match: match.score):
        best[match.column] = match
    return sorted(best.values(), key=lambda match: -match.score)


__all__ = ["MOST_TOKENS", "SEGMENT", "TableMention", "TableReading"]
