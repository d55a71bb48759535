"""Which rows a question means: filters from the values, periods, numbers and empty cells that it names."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import Stemmer

from kedge.kinds.tables.asking.columns import ColumnMatch
from kedge.kinds.tables.asking.filters import NamedRows
from kedge.kinds.tables.asking.lexicon import load
from kedge.kinds.tables.asking.mentions import TableMention
from kedge.kinds.tables.asking.numbers import Limit, Numbers, RowConditions
from kedge.kinds.tables.asking.values import ValueMatch
from kedge.kinds.tables.asking.vocabulary import entity
from kedge.kinds.tables.asking.words import name_words
from kedge.kinds.tables.plans.plan import Filter, Op
from kedge.kinds.tables.schema import Column, ColumnType

_NEAR = 3
_HAVING = frozenset(
    "with include includes included including have has had need needs needed require requires a an".split()
)
_HAS_SOME = 0.9
_ALIKE = 0.1
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


class Finder(Numbers):
    """Finds the conditions of one reading. `choice` picks another of the rival columns."""

    def find(self) -> RowConditions:
        for place, mention in enumerate(self._content):
            if mention.values:
                self._value(place, mention)
            elif mention.period:
                period = mention.period
                negated = period.part is not None and self._negated(place)
                self.found.periods.append((mention, replace(period, negated=negated)))
            elif mention.amount and not mention.role:
                self._amount(place, mention)
            elif mention.has("logic.empty", "logic.undone", "logic.filled"):
                self._empty(place, mention)
            elif mention.has("logic.loss"):
                self._loss(mention)
            elif mention.columns and len(mention.columns.columns) == 1:
                self._boolean(place, mention)
                self._some(place, mention)
        self._join_equals()
        self._one_or_other()
        return self.found

    def _one_or_other(self) -> None:
        """Two values of one column with no `and` or `or` between them are no choice: deaths that were suicides."""
        for one, two in pairwise(self.found.named):
            if one.filter.column != two.filter.column or one.negated != two.negated or one.filter == two.filter:
                continue
            between = self._reading.tokens[one.mention.end : two.mention.start]
            joined = any(self._reading.lexicon.tags(t.folded) & _JOINING or t.folded in _THAN for t in between)
            joined = joined or any(
                mention.tags & _JOINING and one.mention.end <= mention.start < two.mention.start
                for mention in self._content
            )
            first = self._reading.tokens[one.mention.end - 1].end
            last = self._reading.tokens[two.mention.start].start
            if joined or set(self._reading.text[first:last]) & set(",;/&+-"):
                continue
            if not (self._moved(one) or self._moved(two)):
                self.found.scores.append(_NO_CHOICE)

    def _moved(self, item: NamedRows) -> bool:
        """Take a value for one of another column, if it is one there too: cats that are named Luna."""
        taken = {other.filter.column for other in self.found.named}
        for match in item.mention.values:
            if match.column not in taken and match.score >= item.mention.values[0].score - _ALIKE:
                op = Op.IS if len(match.values) == 1 else Op.IN
                item.filter = Filter(match.column, op, match.values)
                item.mention.values = [match, *(other for other in item.mention.values if other is not match)]
                return True
        return False

    def _value(self, place: int, mention: TableMention) -> None:
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
        mention.values = [chosen, *(match for match in mention.values if match is not chosen)]
        self.found.named.append(NamedRows(mention, Filter(chosen.column, op, chosen.values), self._negated(place)))

    def _ranked(self, place: int, mention: TableMention) -> list[tuple[float, ValueMatch]]:
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

    def _counted_in(self, thing: TableMention, mention: TableMention) -> bool:
        """How many counties are in Ohio: not those called Ohio, if something else is called so too."""
        place = self._content.index(thing)
        asked = place > 0 and self._content[place - 1].has("ask.count", "ask.which", "ask.list")
        between = self._reading.tokens[thing.end : mention.start]
        return asked and len(mention.values) > 1 and any(token.folded in _WITHIN for token in between)

    def _column_word(self, mention: TableMention, chosen: ValueMatch, rank: float) -> bool:
        """Whether the word is also in other columns' names, and its own column is not said: coupon, coupon_disc."""
        if rank > chosen.score or mention.end - mention.start > 1:
            return False
        others = (other for other in self._content if other is not mention)
        if any(match.column == chosen.column and match.exact for other in others for match in other.values):
            return False
        word = self._reading.tokens[mention.start].word
        return any(word in fields and chosen.column != field for field, fields in self._columns.names())

    def _directed(self, mention: TableMention, column: str) -> bool:
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

    def _beside(self, place: int) -> list[TableMention]:
        near = [self._content[other] for other in (place - 1, place + 1) if 0 <= other < len(self._content)]
        if place >= 2 and self._content[place - 1].has("logic.not", "logic.or", "logic.and"):
            near.append(self._content[place - 2])
        return [mention for mention in near if mention.columns]

    def _around(self, mention: TableMention) -> frozenset[str]:
        tokens = self._reading.tokens
        near = [*tokens[max(0, mention.start - _NEAR) : mention.start], *tokens[mention.end : mention.end + _NEAR]]
        return frozenset(_stem(token.folded) for token in near)

    def _negated(self, place: int) -> bool:
        """Whether a `not` stands before it, with at most columns and joined values between."""
        for other in reversed(self._content[:place]):
            if other.has("logic.not"):
                other.role = "negation"
                return True
            if not (
                other.values
                or other.columns
                or other.period
                or other.has("logic.or", "logic.and", "verb.")
                or (other.has("row.") and other.text.lower().endswith("ed"))
                or other.text == "by"
            ):
                return False
        return False

    def _empty(self, place: int, mention: TableMention) -> None:
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
            if not self._columns.same_thing(target.columns.columns):
                return
            column = entity(target.columns.columns)
        mention.role = target.role = "filter"
        said = self._said_so(target, column)
        if flag := self._reading.vocabulary.flags.get(column.field):
            kept = Filter(column.field, Op.IS, (flag[not mention.has("logic.filled")],))
        elif said:
            kept = Filter(column.field, Op.NOT if mention.has("logic.filled") else Op.IS, (said,))
        elif mention.has("logic.filled"):
            kept = Filter(column.field, Op.FILLED)
        elif column.type.measured and column.empty == 0:
            kept = Filter(column.field, Op.IS, (0,))
        else:
            kept = Filter(column.field, Op.EMPTY)
        self.found.others.append((mention, kept))

    def _said_so(self, target: TableMention, column: Column) -> str:
        """How a column without empty cells writes that there is none: No Promotion; empty where it does not."""
        if column.empty or not column.type.worded:
            return ""
        words = [token.word for token in self._reading.tokens[target.start : target.end]]
        for form in (("no", *words), ("none",), ("no",)):
            for match in self._reading.vocabulary.values.whole(form, target.start, target.end):
                if match.column == column.field and len(match.values) == 1:
                    return match.values[0]
        return ""

    def _undone(self, target: TableMention | None) -> Column | None:
        """The date column that records what a verb names: shippedDate for `not been shipped`."""
        if target is None:
            return None
        stems = {_stem(token.folded) for token in self._reading.tokens[target.start : target.end]}
        fitting = [
            column for column in self._columns.dated() if stems & self._columns.words(column.field) and column.empty
        ]
        return fitting[0] if len(fitting) == 1 else None

    def _loss(self, mention: TableMention) -> None:
        """Sold at a loss, states that made a loss: a profit below 0."""
        column = self._columns.result()
        if column is None:
            return
        mention.role = "number"
        target = TableMention(mention.start, mention.end, mention.text)
        target.columns = ColumnMatch(mention.start, mention.end, (column,), 1.0)
        self.found.limits.append(Limit(mention, Op.LESS, (0.0,), "", target))

    def _some(self, place: int, mention: TableMention) -> None:
        """Bookings with children, that include babies, with neither: a number of things is over 0 or is 0."""
        column = mention.column()
        if column is None or mention.role or column.type is not ColumnType.INTEGER or column.lowest != 0:
            return
        after = self._content[place + 1] if place + 1 < len(self._content) else None
        if after and (after.amount or after.values or after.has("compared.")):
            return
        before = self._reading.tokens[mention.start - 1] if mention.start else None
        counted = next((one for one in self._content[:place] if one.has("row.")), None)
        none = self._negated(place)
        has = before is not None and before.folded in _HAVING
        if counted is None or not self._content[0].has("ask.count") or not (has or none):
            return
        mention.role = "filter"
        self.found.scores.append(_HAS_SOME)
        self.found.others.append((mention, Filter(column.field, Op.IS if none else Op.MORE, (0,))))

    def _boolean(self, place: int, mention: TableMention) -> None:
        """A yes/no column named as an attribute: `discontinued products`."""
        column = mention.column()
        flag = self._reading.vocabulary.flags.get(column.field) if column else None
        if column is None or flag is None or mention.role:
            return
        before = self._content[place - 1] if place else None
        after = self._content[place + 1] if place + 1 < len(self._content) else None
        if before and before.has("logic.group", "logic.empty", "func.", "super."):
            return
        said = after is not None and any(match.column == column.field for match in after.values)
        if after and (after.amount or said) and after.start == mention.end:
            return
        mention.role = "filter"
        self.found.others.append((mention, Filter(column.field, Op.IS, (flag[self._negated(place)],))))
