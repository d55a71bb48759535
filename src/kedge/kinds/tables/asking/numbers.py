"""Conditions by numbers: more than 100, between 5 and 10, household 906, 4 cylinder cars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kedge.kinds.tables.asking.filters import NamedRows, scaled
from kedge.kinds.tables.asking.mentions import TableMention, TableReading
from kedge.kinds.tables.asking.periods import AskedPeriod
from kedge.kinds.tables.asking.values import ValueMatch
from kedge.kinds.tables.plans.plan import Filter, Op, Scalar
from kedge.kinds.tables.schema import Column, ColumnType

_OPS = {
    "compared.more": Op.MORE,
    "compared.at_least": Op.AT_LEAST,
    "compared.less": Op.LESS,
    "compared.at_most": Op.AT_MOST,
}
_CLOCK_OPS = {
    "compared.before": Op.LESS,
    "compared.after": Op.MORE,
    "compared.since": Op.AT_LEAST,
    "compared.until": Op.AT_MOST,
}
_JOINS = ("and", "und", "y", "et")


@dataclass(slots=True)
class Limit:
    """A number compared with something: `more than 8000 units`."""

    mention: TableMention
    op: Op
    values: tuple[float, ...]
    unit: str
    target: TableMention | None
    """The column, measure or noun it is about."""
    concept: str = ""
    """The kind of measure that the comparing word itself says: older is age."""


@dataclass(slots=True)
class RowConditions:
    """All that a question says about rows, taken from its mentions."""

    named: list[NamedRows] = field(default_factory=list)
    periods: list[tuple[TableMention, AskedPeriod]] = field(default_factory=list)
    limits: list[Limit] = field(default_factory=list)
    others: list[tuple[TableMention, Filter]] = field(default_factory=list)
    """Ids, numbers and empty cells."""
    rivals: list[tuple[TableMention, list[ValueMatch]]] = field(default_factory=list)
    """Values that fit several columns equally."""
    notes: list[str] = field(default_factory=list)
    scores: list[float] = field(default_factory=list)
    loose: bool = False
    """Whether some value was not named exactly."""


class Numbers:
    """Finds the conditions by numbers of one reading. `choice` picks another of the rival columns."""

    def __init__(self, reading: TableReading, choice: int = 0) -> None:
        self._reading = reading
        self._choice = choice
        self._content = reading.content
        self._columns = reading.vocabulary.columns
        self.found = RowConditions()

    def _amount(self, place: int, mention: TableMention) -> None:
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
        ops = {**_OPS, **_CLOCK_OPS} if amount.unit == "clock" else _OPS
        op = next((ops[tag] for tag in sorted(before.tags) if tag in ops), None) if before else None
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

    def _counts(self, mention: TableMention, before: TableMention | None, after: TableMention) -> bool:
        """`4 cylinder cars`: the number belongs to the column that follows at once."""
        column = after.column()
        if after.columns is None or len(after.columns.columns) != 1 or column is None:
            return False
        if not column.type.measured and not self._written(mention, column):
            return False
        beside = before is not None and before.columns is not None and before.end == mention.start
        return after.start == mention.end and not after.role and not beside

    def _written(self, mention: TableMention, column: Column) -> bool:
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

    def _limit(
        self, mention: TableMention, op: Op, numbers: tuple[Sequence[float], str], first: int, last: int
    ) -> None:
        values, unit = numbers
        mention.role = "number"
        said = next(
            (tag.partition(".")[2] for tag in sorted(self._content[first].tags) if tag.startswith("implies.")), ""
        )
        said = "distance" if (said, unit) == ("duration", "physical") else "clock" if unit == "clock" else said
        target = None if said else self._target(first, last, unit)
        if target and not target.role:
            target.role = "limited"
        self.found.limits.append(Limit(mention, op, tuple(values), unit, target, said))

    def _target(self, first: int, last: int, unit: str) -> TableMention | None:
        """What a comparison is about: the noun after the number, else the nearest measure before it."""
        after = self._content[last + 1] if last + 1 < len(self._content) else None
        close = after is not None and self._close(last, after)
        owner = self._content[first - 1] if first else None
        if unit == "duration" and owner and self._owns(owner, first):
            if after and close:
                after.role = "unit"
            return owner
        timed = close and unit == "duration" and after is not None and self._unit_only(after)
        if after and close and not timed and (after.columns or after.concept() or after.has("row.")):
            return after
        if after and after.has("time.") and unit == "duration":
            after.role = "unit"
            of = self._content[last + 2] if last + 2 < len(self._content) else None
            if of and of.columns and [token.folded for token in self._reading.tokens[after.end : of.start]] == ["of"]:
                return of
        for other in reversed(self._content[max(0, first - 3) : first]):
            column = other.column()
            if other.given:
                return TableMention(other.start, other.end, other.text, columns=other.given)
            if (column and column.type.measured) or (other.concept() and not other.has("concept.sold")):
                return other
            if other.amount or other.period:
                break
        return self._measured_after(last) if timed else None

    def _owns(self, owner: TableMention, first: int) -> bool:
        """`A lead time of more than 180 days`: the figure just before the comparison is what is compared."""
        column = owner.column()
        between = self._reading.tokens[owner.end : self._content[first].start]
        said = all(token.folded in ("of", "is", "was", "are", "were", "takes", "took") for token in between)
        return column is not None and column.type.measured and bool(between) and said

    def _unit_only(self, mention: TableMention) -> bool:
        """Whether a column such as `minute` is but the unit of a number: it holds parts of times, which have no sum."""
        column = mention.column()
        return column is not None and column.type.measured and not column.added

    def _measured_after(self, last: int) -> TableMention | None:
        """The figure behind a number with its unit: more than 60 minutes of delay; else the unit's column."""
        rest = self._content[last + 1 :]
        measured = (one for one in rest[1:3] if (column := one.column()) and column.added)
        return next(measured, rest[0])

    def _close(self, last: int, after: TableMention) -> bool:
        """Whether only `of` stands between the number and the noun."""
        between = self._reading.tokens[self._content[last].end : after.start]
        tags = self._reading.lexicon.tags
        small = ("of", "de", "von", "different")
        return all(token.folded in small or "units.physical" in tags(token.folded) for token in between)

    def _equal(self, mention: TableMention, before: TableMention, value: float, unit: str) -> None:
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
        out: list[tuple[TableMention, Filter]] = []
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


def _both_equal(one: Filter, two: Filter) -> bool:
    return one.column == two.column and one.op in (Op.IS, Op.IN) and two.op is Op.IS and one.values != two.values
