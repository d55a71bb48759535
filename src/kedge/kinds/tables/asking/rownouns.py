"""What one row of a table is called: cars, people, airports. Such a noun says nothing more than `rows` does."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import Stemmer

from kedge.kinds.tables.asking.lexicon import Lexicon, load
from kedge.kinds.tables.asking.naming import naming
from kedge.kinds.tables.asking.values import REORDERED
from kedge.kinds.tables.asking.words import Token, name_words, singular
from kedge.kinds.tables.schema import Column, ColumnType
from kedge.text.analyze import fold

if TYPE_CHECKING:
    from kedge.kinds.tables.asking.mentions import TableMention
    from kedge.kinds.tables.asking.vocabulary import Vocabulary

_PERSONS = frozenset(
    "victim worker student teacher patient passenger player voter prisoner mother child politician judge artist "
    "soldier driver person".split()
)
_STRICT = frozenset("victim voter prisoner mother child family death birth event".split())
"""Nouns that say more than that there is a row, unless the table is known to be of them."""
_PLACES = frozenset("company school country state city county airport team club".split())
"""What rows often belong to: they are rows only where something says so."""
_LOOSE = 0.85
_ROWS = frozenset({"row.rows"})
_STOP = frozenset({"stop.plain"})
_FILLERS = frozenset(
    "status level levels value values type types category categories class code codes column field".split()
)
"""What may follow a column's name without saying more: conservation status."""
_CALLS = frozenset("code called named abbreviation".split())
"""What may stand before a value without saying more."""
_LIGHT = frozenset({"verb.light"})
_MOST_EMPTY = 0.05
_COUNTING = (
    "ask.count",
    "logic.counted",
    "super.amount",
    "super.high_count",
    "logic.group",
    "logic.share",
    "logic.comparative",
)
"""What stands before a noun whose number is asked for."""
_stem = Stemmer.Stemmer("english").stemWord


def mark_rows(
    mentions: Sequence[TableMention], tokens: Sequence[Token], lexicon: Lexicon, vocabulary: Vocabulary
) -> None:
    """Tag the noun that stands for rows, and the verbs that only say that a row is there."""
    events = _events(vocabulary)
    own = _own_things(lexicon, vocabulary)
    chosen = ""
    for place, mention in enumerate(mentions):
        before = mentions[place - 1] if place else None
        if mention.end - mention.start > 1:
            continue
        after_column = before is not None and before.columns is not None and before.end == mention.start
        of = before.column() if before else None
        known = bool(mention.values or mention.columns or (mention.tags and not (of and of.type.measured)))
        if after_column and tokens[mention.start].folded in _FILLERS and not known:
            _become(mention, _STOP)
            continue
        if _one_each(mention, tokens[mention.start], before, vocabulary):
            mention.given = mention.columns
            _become(mention, _ROWS)
            continue
        if not _free(mention, lexicon.things.get(tokens[mention.start].word, "")):
            continue
        unit = "units.physical" in lexicon.tags(tokens[mention.start].folded)
        if unit and before and before.amount and before.end == mention.start:
            _become(mention, _STOP)
            continue
        token = tokens[mention.start]
        following = mentions[place + 1] if place + 1 < len(mentions) else None
        if following and following.values and following.start == mention.end and token.folded in _CALLS:
            _become(mention, _STOP)
            continue
        undone = before is not None and before.has("logic.undone", "logic.not", "logic.empty")
        if not undone and (_happened(token, lexicon, events) or _made(token, vocabulary)):
            _become(mention, _LIGHT)
            continue
        thing = lexicon.things.get(token.word, "")
        describes = (
            following is not None and following.start == mention.end and _noun(following, tokens, lexicon, vocabulary)
        )
        fits = thing and not describes and chosen in ("", thing) and _fits(thing, own, vocabulary, events)
        counted = before is not None and before.has("ask.count", "logic.counted") and token.folded != token.word
        fits = fits or ((counted or not describes) and _named_after(token, vocabulary))
        if fits or (_stem(token.folded) in events and not describes):
            chosen = chosen or thing
            _become(mention, _ROWS)


def _one_each(mention: TableMention, token: Token, before: TableMention | None, vocabulary: Vocabulary) -> bool:
    """`flights` where a column `flight` numbers each of them, `ratings` where each row has one: rows are counted."""
    column = mention.column()
    if column is None or not column.type.measured or token.folded == column.name.casefold():
        return False
    if _has_amounts(token, column, vocabulary):
        return True
    rated = before is not None and vocabulary.columns.rated(column.field)
    if column.type is not ColumnType.INTEGER and not rated:
        return False
    named = (token.word,) == tuple(singular(word) for word in name_words(column.name)) and token.folded.endswith("s")
    amount = vocabulary.columns.amount(column.field) or not vocabulary.columns.adds(column.field)
    counted = before is None or before.has(*_COUNTING)
    return named and counted and (rated or not amount)


def _has_amounts(token: Token, column: Column, vocabulary: Vocabulary) -> bool:
    """`loans` in a table of loans, each of which has a `loan_amount`: not what the amounts come to."""
    names = [singular(word) for word in name_words(column.name)]
    table = [singular(word) for word in name_words(vocabulary.table.name.replace("-", " "))]
    plural = token.folded != token.word
    if any(tag.startswith("concept.") for tag in load("english").tags(token.folded)):
        return False
    return plural and token.word in table and len(names) > 1 and token.word in names


def _become(mention: TableMention, tags: frozenset[str]) -> None:
    mention.tags = tags
    mention.values = []
    mention.columns = None


def _free(mention: TableMention, thing: str) -> bool:
    """Whether nothing but a loose guess explains the word; for what a row may be, nothing but a whole value."""
    if mention.values:
        return max(match.score for match in mention.values) < (REORDERED if thing else _LOOSE)
    return mention.unknown


def _noun(mention: TableMention, tokens: Sequence[Token], lexicon: Lexicon, vocabulary: Vocabulary) -> bool:
    column = mention.column()
    if column and (column.field in vocabulary.flags or tokens[mention.start].folded.endswith("ed")):
        return False
    thing = mention.end - mention.start == 1 and lexicon.things.get(tokens[mention.start].word)
    return bool(mention.columns or thing or mention.has("row."))


def _fits(thing: str, own: frozenset[str], vocabulary: Vocabulary, events: frozenset[str]) -> bool:
    """A table of orders has no customers as rows; a table with a number of inhabitants has no people."""
    numbered = vocabulary.columns.of_concept("heads") or vocabulary.columns.unnamed()
    if thing in _PERSONS | {"death", "birth"} and numbered:
        return False
    likely = own or _likely(vocabulary)
    if thing in likely or (thing == "victim" and "death" in events):
        return True
    if thing in _STRICT | _PLACES:
        return False
    if thing in _PERSONS:
        return bool(likely & _PERSONS) and (thing == "person" or "person" in likely)
    return not own and bool(naming(vocabulary.table))


def _named_after(token: Token, vocabulary: Vocabulary) -> bool:
    """Presidents of a table called presidential, cereals of UScereal."""
    names = name_words(vocabulary.table.name.replace("-", " "))
    same = any(_stem(name) == _stem(token.folded) for name in names)
    return same or (len(token.word) > 4 and token.word in fold(vocabulary.table.name))


def _made(token: Token, vocabulary: Vocabulary) -> bool:
    """Rented in a table of rentals: the verb says no more than that there is a row."""
    stem = _stem(token.folded)
    names = name_words(vocabulary.table.name.replace("-", " "))
    return token.folded.endswith("ed") and len(stem) > 3 and any(name.startswith(stem) for name in names)


def _own_things(lexicon: Lexicon, vocabulary: Vocabulary) -> frozenset[str]:
    """What the rows are: by the table's name or by a column that is different in each row."""
    table = vocabulary.table
    things = lexicon.things
    named = [singular(name) for name in name_words(table.name.replace("-", " "))]
    for column in table.columns:
        if column.distinct == table.rows and not column.type.measured:
            named += [singular(name) for name in name_words(column.name)]
    return frozenset(things[name] for name in named if name in things) | vocabulary.kinds


def _likely(vocabulary: Vocabulary) -> frozenset[str]:
    """What the rows may be by words of the columns' names: bedrooms tell of houses."""
    return frozenset(
        tag.partition(".")[2]
        for column in vocabulary.table.columns
        for word in (column.name.lower(), *name_words(column.name))
        for tag in load("english").tags(word)
        if tag.startswith("evidence.")
    )


def _events(vocabulary: Vocabulary) -> frozenset[str]:
    """Stems of what date columns record of (nearly) every row: death of death_date."""
    rows = vocabulary.table.rows
    columns: list[Column] = [c for c in vocabulary.columns.dated() if c.empty <= _MOST_EMPTY * rows]
    if vocabulary.year and vocabulary.year.empty <= _MOST_EMPTY * rows:
        columns.append(vocabulary.year)
    stems = {stem for column in columns for stem in vocabulary.columns.words(column.field)}
    if len(vocabulary.columns.dated()) + (vocabulary.year is not None) == 1:
        stems |= {"year"} if columns else set()
    return frozenset(stems - {"date", "time"})


def _happened(token: Token, lexicon: Lexicon, events: frozenset[str]) -> bool:
    """Died where the table has a death_date, built where it has one year."""
    named = {_stem(tag.partition(".")[2]) for tag in lexicon.tags(token.folded) if tag.startswith("event.")}
    verb = _stem(token.folded) in events and token.folded.endswith("ed")
    return bool(named & events) or verb
