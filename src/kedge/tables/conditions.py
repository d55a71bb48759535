"""Which rows a question means: filters from the values, periods, numbers and empty cells that it names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import Stemmer

from kedge.tables.filters import Named, scaled
from kedge.tables.lexicon import load
from kedge.tables.mentions import Mention, Reading
from kedge.tables.periods import Period
from kedge.tables.plan import Filter, Op, Scalar
from kedge.tables.schema import Column, ColumnType
from kedge.tables.values import ValueMatch
from kedge.tables.words import name_words

_OPS = {
    "compared.more": Op.MORE,
    "compared.at_least": Op.AT_LEAST,
    "compared.less": Op.LESS,
    "compared.at_most": Op.AT_MOST,
}
_NEAR = 3
_JOINS = ("and", "und", "y", "et")
_MANY_MORE = 5
_COLUMN_WORD = 0.45
_WITHIN = ("in", "from", "within", "at")
_NO_CHOICE = 0.55
_LOOSE = 0.8
_THAN = ("than", "als", "que", "from", "von", "de")
_JOINING = frozenset(
    {"logic.and", "logic.or", "logic.compare", "logic.difference", "logic.not", "compared.to", "compared.more"}
    | {"compared.less", "compared.between", "way.to"}
)
_stem = Stemmer.Stemmer("english").stemWord


@dataclass(slots=True)
class Limit:
    """A number compared with something: `more than 8000 units`."""

    mention: Mention
    op: Op
    values: tuple[float, ...]
    unit: str
    target: Mention | None
    """The column, measure or noun it is about."""
    concept: str = ""
    """The kind of measure that the comparing word itself says: older is age."""


@dataclass(slots=True)
class Conditions:
    """All that a question says about rows, taken from its mentions."""

    named: list[Named] = field(default_factory=list)
    periods: list[tuple[Mention, Period]] = field(default_factory=list)
    limits: list[Limit] = field(default_factory=list)
    others: list[tuple[Mention, Filter]] = field(default_factory=list)
    """Ids, numbers and empty cells."""
    rivals: list[tuple[Mention, list[ValueMatch]]] = field(default_factory=list)
    """Values that fit several columns equally."""
    notes: list[str] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    loose: bool = False
    """Whether some value was not named exactly."""


class Finder:
    """Finds the conditions of one reading. `choice` picks another of the rival columns."""

    def __init__(self, reading: Reading, choice: int = 0) -> None:
        self._reading = reading
        self._choice = choice
        self._content = reading.content
        self._columns = reading.vocabulary.columns
        self.found = Conditions()

    def find(self) -> Conditions:
        for place, mention in enumerate(self._content):
            if mention.values:
                self._value(place, mention)
            elif mention.period:
                self.found.periods.append((mention, mention.period))
            elif mention.amount and not mention.role:
                self._amount(place, mention)
            elif mention.has("logic.empty", "logic.undone", "logic.filled"):
                self._empty(place, mention)
            elif mention.columns and len(mention.columns.columns) == 1:
                self._boolean(place, mention)
        self._join_equals()
        self._one_or_other()
        return self.found

    def _one_or_other(self) -> None:
        """Two values of one column with no `and` or `or` between them are no choice: deaths that were suicides."""
        for one, two in pairwise(self.found.named):
            if one.filter.column != two.filter.column or one.negated != two.negated:
                continue
            between = self._reading.tokens[one.mention.end : two.mention.start]
            joined = any(self._reading.lexicon.tags(t.folded) & _JOINING or t.folded in _THAN for t in between)
            first = self._reading.tokens[one.mention.end - 1].end
            last = self._reading.tokens[two.mention.start].start
            if not joined and not set(self._reading.text[first:last]) & set(",;/&+-"):
                self.found.scores.append(_NO_CHOICE)

    def _value(self, place: int, mention: Mention) -> None:
        ranked = self._ranked(place, mention)
        best = [match for score, match in ranked if score > ranked[0][0] - 0.03]
        if len(best) > 1:
            self.found.rivals.append((mention, best))
        chosen = best[self._choice % len(best)]
        score = min(1.0, chosen.score) - (_COLUMN_WORD if self._column_word(mention, chosen, ranked[0][0]) else 0.0)
        following = self._content[place + 1] if place + 1 < len(self._content) else None
        if chosen.score < _LOOSE and following and following.start == mention.end and following.concept():
            # Part of a figure's name rather than of a value: market value, food markets.
            score *= _LOOSE
        self.found.scores.append(score)
        self.found.loose = self.found.loose or chosen.score < 1.0
        if chosen.score < 0.9:
            name = self._reading.vocabulary.table.column(chosen.column).name
            some = ", ".join(chosen.values[:3]) + (" …" if len(chosen.values) > 3 else "")
            self.found.notes.append(f"“{mention.text}” taken as {name}: {some}")
        op = Op.IS if len(chosen.values) == 1 else Op.IN
        mention.role = "filter"
        self.found.named.append(Named(mention, Filter(chosen.column, op, chosen.values), self._negated(place)))

    def _ranked(self, place: int, mention: Mention) -> list[tuple[float, ValueMatch]]:
        """Candidates by how well they fit, columns named beside the value first."""
        beside = self._beside(place)
        around = self._around(mention)
        out = []
        for match in mention.values:
            score = match.score
            for other in beside:
                if other.columns and any(column.field == match.column for column in other.columns.columns):
                    if self._counted_in(other, mention):
                        score -= 0.2
                        continue
                    score += 0.3
                    other.role = other.role or "describes"
            if around & self._columns.words(match.column) or self._directed(mention, match.column):
                score += 0.1
            out.append((score - self._unlikely(match, mention.values), match))
        fewest = {match.column: len(self._columns.words(match.column)) for _, match in out}
        return sorted(out, key=lambda item: (-round(item[0], 3), fewest[item[1].column]))

    def _counted_in(self, thing: Mention, mention: Mention) -> bool:
        """How many counties are in Ohio: not those called Ohio, if something else is called so too."""
        place = self._content.index(thing)
        asked = place > 0 and self._content[place - 1].has("ask.count", "ask.which", "ask.list")
        between = self._reading.tokens[thing.end : mention.start]
        return asked and len(mention.values) > 1 and any(token.folded in _WITHIN for token in between)

    def _column_word(self, mention: Mention, chosen: ValueMatch, rank: float) -> bool:
        """Whether the word is also in other columns' names, and its own column is not said: coupon, coupon_disc."""
        if rank > chosen.score or mention.end - mention.start > 1:
            return False
        word = self._reading.tokens[mention.start].word
        return any(word in fields and chosen.column != field for field, fields in self._columns.names())

    def _directed(self, mention: Mention, column: str) -> bool:
        """`from Oslo` is the origin, `to Rome` the destination."""
        before = self._reading.tokens[mention.start - 1].folded if mention.start else ""
        lexicon = self._reading.lexicon
        ways = {tag for tag in lexicon.tags(before) if tag.startswith("way.")}
        english = load("english")
        return any(
            f"ends.{way.partition('.')[2]}" in english.tags(word)
            for way in ways
            for word in name_words(self._reading.vocabulary.table.column(column).name)
        )

    def _unlikely(self, match: ValueMatch, rivals: Sequence[ValueMatch]) -> float:
        """Unqualified, a value is of the plainer column (city, not ship_city), or of the one with many more rows."""
        words = self._columns.words(match.column)
        plainer = any(self._columns.words(other.column) < words for other in rivals)
        rarer = any(other.rows >= _MANY_MORE * match.rows and other.score >= match.score for other in rivals)
        return 0.05 * plainer + 0.05 * rarer

    def _beside(self, place: int) -> list[Mention]:
        near = [self._content[other] for other in (place - 1, place + 1) if 0 <= other < len(self._content)]
        if place >= 2 and self._content[place - 1].has("logic.not", "logic.or", "logic.and"):
            near.append(self._content[place - 2])
        return [mention for mention in near if mention.columns]

    def _around(self, mention: Mention) -> frozenset[str]:
        tokens = self._reading.tokens
        near = [*tokens[max(0, mention.start - _NEAR) : mention.start], *tokens[mention.end : mention.end + _NEAR]]
        return frozenset(_stem(token.folded) for token in near)

    def _negated(self, place: int) -> bool:
        """Whether a `not` stands before it, with at most columns and joined values between."""
        for other in reversed(self._content[:place]):
            if other.has("logic.not"):
                other.role = "negation"
                return True
            if not (other.values or other.columns or other.has("logic.or", "logic.and", "verb.") or other.text == "by"):
                return False
        return False

    def _amount(self, place: int, mention: Mention) -> None:
        amount = mention.amount
        before = self._content[place - 1] if place else None
        after = self._content[place + 1] if place + 1 < len(self._content) else None
        if amount is None:
            return
        if before and before.has("compared.between") and after and after.has("logic.and", "compared.to"):
            last = self._content[place + 2] if place + 2 < len(self._content) else None
            if last and last.amount:
                unit = amount.unit or last.amount.unit
                values = (amount.value, last.amount.value)
                self._limit(mention, Op.BETWEEN, (values, unit), place - 1, place + 2)
                before.role = after.role = last.role = "number"
            return
        op = next((_OPS[tag] for tag in sorted(before.tags) if tag in _OPS), None) if before else None
        if op and before:
            before.role = "number"
            self._limit(mention, self._turned(place - 1, op), ((amount.value,), amount.unit), place - 1, place)
        elif after and after.has("compared.or_more", "compared.or_less"):
            after.role = "number"
            op = Op.AT_LEAST if after.has("compared.or_more") else Op.AT_MOST
            self._limit(mention, op, ((amount.value,), amount.unit), place, place + 1)
        elif after and self._counts(mention, before, after):
            self._equal(mention, after, amount.value, amount.unit)
        elif before and before.columns and not amount.worded:
            self._equal(mention, before, amount.value, amount.unit)

    def _counts(self, mention: Mention, before: Mention | None, after: Mention) -> bool:
        """`4 cylinder cars`: the number belongs to the column that follows at once."""
        column = after.column()
        if after.columns is None or len(after.columns.columns) != 1 or column is None:
            return False
        if not column.type.measured and not self._written(mention, column):
            return False
        beside = before is not None and before.columns is not None and before.end == mention.start
        return after.start == mention.end and not after.role and not beside

    def _written(self, mention: Mention, column: Column) -> bool:
        """Whether a column of texts has this number as a value."""
        token = self._reading.tokens[mention.start]
        found = self._reading.vocabulary.values.whole((token.word,), mention.start, mention.end)
        return column.type is ColumnType.CATEGORY and any(match.column == column.field for match in found)

    def _turned(self, place: int, op: Op) -> Op:
        """`not more than 5` is at most 5."""
        before = self._content[place - 1] if place else None
        if before and before.has("logic.not", "logic.empty") and self._reading.mentions[-1] is not before:
            before.role = "number"
            return {Op.MORE: Op.AT_MOST, Op.LESS: Op.AT_LEAST, Op.AT_LEAST: Op.LESS, Op.AT_MOST: Op.MORE}[op]
        return op

    def _limit(self, mention: Mention, op: Op, numbers: tuple[Sequence[float], str], first: int, last: int) -> None:
        values, unit = numbers
        mention.role = "number"
        said = next(
            (tag.partition(".")[2] for tag in sorted(self._content[first].tags) if tag.startswith("implies.")), ""
        )
        target = None if said else self._target(first, last, unit)
        if target and not target.role:
            target.role = "limited"
        self.found.limits.append(Limit(mention, op, tuple(values), unit, target, said))

    def _target(self, first: int, last: int, unit: str) -> Mention | None:
        """What a comparison is about: the noun after the number, else the nearest measure before it."""
        after = self._content[last + 1] if last + 1 < len(self._content) else None
        if after and (after.columns or after.concept() or after.has("row.")) and self._close(last, after):
            return after
        if after and after.has("time.") and unit == "duration":
            after.role = "unit"
        for other in reversed(self._content[max(0, first - 3) : first]):
            column = other.column()
            if (column and column.type.measured) or (other.concept() and not other.has("concept.sold")):
                return other
            if other.amount or other.period:
                break
        return None

    def _close(self, last: int, after: Mention) -> bool:
        """Whether only `of` stands between the number and the noun."""
        between = self._reading.tokens[self._content[last].end : after.start]
        tags = self._reading.lexicon.tags
        small = ("of", "de", "von", "different")
        return all(token.folded in small or "units.physical" in tags(token.folded) for token in between)

    def _equal(self, mention: Mention, before: Mention, value: float, unit: str) -> None:
        """`household 906`, `week 12`, `quantity of 3`: the number is the column's value."""
        if before.columns is None or before.role in ("filter", "number"):
            return
        columns = [column for column in before.columns.columns if column.type is ColumnType.ID] or [
            column for column in before.columns.columns if column.type.measured or self._written(mention, column)
        ]
        between = self._reading.tokens[before.end : mention.start] if before.start < mention.start else ()
        if len(columns) != 1 or any(
            token.folded not in ("of", "is", "no", "number", "nr", "#", "=") for token in between
        ):
            return
        column = columns[0]
        given: Scalar = scaled(value, unit, column)
        if not column.type.measured:
            given = self._reading.tokens[mention.start].text
        mention.role = before.role = "filter"
        self.found.others.append((mention, Filter(column.field, Op.IS, (given,))))

    def _join_equals(self) -> None:
        """`week 10 to week 20` is a range, `store 3 or store 5` either."""
        out: list[tuple[Mention, Filter]] = []
        for mention, item in self.found.others:
            same = next((place for place, (_, other) in enumerate(out) if _both_equal(other, item)), None)
            if same is None:
                out.append((mention, item))
                continue
            first, other = out[same]
            between = [token.folded for token in self._reading.tokens[first.end : mention.start]]
            to = any("compared.to" in self._reading.lexicon.tags(word) and word not in _JOINS for word in between)
            ranged = to and self._reading.vocabulary.table.column(item.column).type.measured and other.op is Op.IS
            op = Op.BETWEEN if ranged else Op.IN
            out[same] = (first, Filter(item.column, op, (*other.values, *item.values)))
        self.found.others = out

    def _empty(self, place: int, mention: Mention) -> None:
        """`no discount`, `without category`, `not been shipped yet`."""
        target = self._content[place + 1] if place + 1 < len(self._content) else None
        column = target.column() if target else None
        if mention.has("logic.undone"):
            column = self._undone(target)
        elif column is None and mention.has("logic.empty") and place and self._content[place - 1].columns:
            target = self._content[place - 1]
            column = target.column()
        if target is None or column is None:
            return
        if target.columns and len(target.columns.columns) > 1:
            return
        mention.role = target.role = "filter"
        if flag := self._reading.vocabulary.flags.get(column.field):
            kept = Filter(column.field, Op.IS, (flag[not mention.has("logic.filled")],))
        elif mention.has("logic.filled"):
            kept = Filter(column.field, Op.FILLED)
        elif column.type.measured and column.empty == 0:
            kept = Filter(column.field, Op.IS, (0,))
        else:
            kept = Filter(column.field, Op.EMPTY)
        self.found.others.append((mention, kept))

    def _undone(self, target: Mention | None) -> Column | None:
        """The date column that records what a verb names: shippedDate for `not been shipped`."""
        if target is None:
            return None
        stems = {_stem(token.folded) for token in self._reading.tokens[target.start : target.end]}
        fitting = [
            column for column in self._columns.dated() if stems & self._columns.words(column.field) and column.empty
        ]
        return fitting[0] if len(fitting) == 1 else None

    def _boolean(self, place: int, mention: Mention) -> None:
        """A yes/no column named as an attribute: `discontinued products`."""
        column = mention.column()
        flag = self._reading.vocabulary.flags.get(column.field) if column else None
        if column is None or flag is None or mention.role:
            return
        before = self._content[place - 1] if place else None
        after = self._content[place + 1] if place + 1 < len(self._content) else None
        if before and before.has("logic.group", "logic.empty", "func.", "super."):
            return
        if after and (after.amount or after.values) and after.start == mention.end:
            return
        mention.role = "filter"
        self.found.others.append((mention, Filter(column.field, Op.IS, (flag[self._negated(place)],))))


def _both_equal(one: Filter, two: Filter) -> bool:
    return one.column == two.column and one.op in (Op.IS, Op.IN) and two.op is Op.IS and one.values != two.values
