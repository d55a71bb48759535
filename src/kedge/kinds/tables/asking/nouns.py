"""Where in a question the things asked for stand: what is counted, what is wanted, what it is grouped by."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kedge.kinds.tables.asking.columns import Columns, is_entity
from kedge.kinds.tables.asking.mentions import TableMention
from kedge.kinds.tables.asking.vocabulary import entity
from kedge.kinds.tables.plans.plan import DatePart, Group
from kedge.kinds.tables.schema import Column, ColumnType

_PARTS = {
    "time.weekday": DatePart.WEEKDAY,
    "time.hour": DatePart.HOUR,
    "time.day": DatePart.DAY,
    "time.week": DatePart.WEEK,
    "time.month": DatePart.MONTH,
    "time.quarter": DatePart.QUARTER,
    "time.year": DatePart.YEAR,
}

_FEW = 30
_BY = ("by", "per", "for each", "for every", "each", "every", "in each", "of each")


@dataclass(frozen=True, slots=True)
class Thing:
    """A column, or a part of the date, that stands for the things a question is about."""

    mention: TableMention
    column: Column | None
    part: DatePart | None = None

    def group(self, dated: Column | None) -> Group | None:
        """As a grouping; a part of the date needs the date column."""
        if self.column:
            return Group(self.column.field, DatePart.DAY if self.column.type is ColumnType.TIME else None)
        if dated and dated.type.measured:
            return Group(dated.field) if self.part is DatePart.YEAR else None
        return Group(dated.field, self.part) if dated else None


class Nouns:
    """Finds things among the mentions of one question."""

    def __init__(self, content: Sequence[TableMention], columns: Columns) -> None:
        self._content = content
        self._columns = columns
        self.ambiguous: list[str] = []

    def thing(self, mention: TableMention, counted: bool = False) -> Thing | None:
        """What a mention stands for, if it is a thing at all. Numbers that are measured are none."""
        part = next((_PARTS[tag] for tag in sorted(mention.tags) if tag in _PARTS), None)
        if part:
            return Thing(mention, None, part)
        if mention.columns is None or mention.role in ("filter", "number"):
            return None
        things = [column for column in mention.columns.columns if is_entity(column) or column.type.dated]
        if not things:
            return None
        if len(things) > 1 and not self._columns.same_thing(things):
            names = ", ".join(column.name for column in things)
            self.ambiguous.append(f"“{mention.text}” fits several columns: {names}")
            return None
        if counted:
            return Thing(mention, next((column for column in things if column.type is ColumnType.ID), things[0]))
        return Thing(mention, entity(things))

    def head(self, place: int) -> TableMention | None:
        """The noun that begins at this place or after the words that describe it: `order lines` is lines."""
        chosen: TableMention | None = None
        value: TableMention | None = None
        for mention in self._content[place:]:
            if chosen is None:
                if value and mention.has("logic.and", "logic.or"):
                    value = mention
                    continue
                if value and not mention.values and mention.start != value.end:
                    return value
                value = mention if mention.values else value
                if mention.has("logic.distinct", "func.", "super.") or mention.values or mention.role == "filter":
                    if mention.has("logic.distinct"):
                        mention.role = "cue"
                    continue
                if value and mention.has("logic.group"):
                    return value
                chosen = mention
                if not _noun(mention):
                    break
                continue
            column = mention.column()
            if mention.start != chosen.end or not _noun(mention) or mention.role or (column and column.type.measured):
                break
            if not chosen.unknown:
                chosen.role = chosen.role or "describes"
            chosen = mention
        return chosen or value

    def wanted(self) -> Thing | None:
        """The things to name in the answer: which X, top 5 X, cheapest X, X with the most."""
        for place, mention in enumerate(self._content):
            if mention.has("ask.which", "ask.list") or (mention.has("super.") and not mention.has("time.adverb")):
                thing = self._next_thing(place + 1)
                if thing:
                    return self._mark(thing)
        for place, mention in enumerate(self._content):
            following = self._content[place + 1] if place + 1 < len(self._content) else None
            if following and following.has("super.") and not mention.role:
                thing = self.thing(mention)
                if thing and not self._before(place).has("logic.group", "ask.count"):
                    return self._mark(thing)
        return None

    def opening(self) -> Thing | None:
        """A question that begins with a thing: `stores with sales over 5000`."""
        thing = self.thing(self._content[0]) if self._content and not self._content[0].role else None
        return self._mark(thing) if thing else None

    def groups(self) -> list[tuple[TableMention, Thing]]:
        """What figures are asked for by, per, for each; with the word that says so."""
        out: list[tuple[TableMention, Thing]] = []
        for place, mention in enumerate(self._content):
            if mention.has("time.adverb"):
                thing = self.thing(mention)
                if thing:
                    out.append((mention, self._mark(thing)))
            if mention.has("logic.group") and not mention.role and self._agent(place):
                mention.role = "cue"
            if mention.has("logic.group") and not mention.role:
                out += self._grouped(place, mention)
        return out

    def _agent(self, place: int) -> bool:
        """`Which products were ordered by customers`: that `by` names who did it."""
        asked = any(mention.has("ask.which", "ask.list") for mention in self._content[:place])
        return asked and self._content[place].text == "by" and self._before(place).has("concept.sold", "verb.")

    def _grouped(self, place: int, by: TableMention) -> list[tuple[TableMention, Thing]]:
        out: list[tuple[TableMention, Thing]] = []
        position = place + 1
        while position < len(self._content):
            mention = self._content[position]
            thing = self.thing(mention) or self._numbered(mention) or self._few(by, mention)
            ranking = thing and thing.column and thing.column.type.measured and self._ranked(place)
            if thing is None or ranking:
                break
            following = self._content[position + 1] if position + 1 < len(self._content) else None
            if following and following.amount and following.start == mention.end:
                break
            by.role = "cue"
            out.append((by, self._mark(thing)))
            position += 1
            if following is None or not (following.has("logic.and") or following.start == mention.end):
                break
            if following.has("logic.and"):
                after = self._content[position + 1] if position + 1 < len(self._content) else None
                if after is None or not (self.thing(after) or self._numbered(after)):
                    break
                position += 1
        return out

    def _few(self, by: TableMention, mention: TableMention) -> Thing | None:
        """Numbers with few different values after a plain `by`: average price by screen."""
        column = mention.column()
        few = column is not None and column.type.measured and 1 < column.distinct <= _FEW and not mention.role
        return Thing(mention, column) if few and by.text.lower() in _BY else None

    def _ranked(self, place: int) -> bool:
        """`Top 5 cars by age`: that `by` says the order."""
        return any(mention.has("super.") for mention in self._content[:place])

    def _numbered(self, mention: TableMention) -> Thing | None:
        """Numbers that one groups by rather than adds up: week, age, year."""
        column = mention.column()
        if column and column.type is ColumnType.INTEGER and not mention.role and not self._columns.adds(column.field):
            return Thing(mention, column)
        return None

    def _next_thing(self, place: int) -> Thing | None:
        for position in range(place, len(self._content)):
            mention = self._content[position]
            if mention.amount and mention.role == "limit":
                continue
            if mention.values or mention.has("super.", "logic.distinct", "logic.is"):
                continue
            if mention.has("func."):
                return None
            if mention.has("concept.sold") and position > place - 1 and self._before(position).has("super."):
                continue
            head = self.head(position)
            if head is None or head.has("ask.count"):
                return None
            direct = head is mention and self._before(position).has("ask.which")
            return self.thing(head) or (self._numbered(head) if direct else None)
        return None

    def _before(self, place: int) -> TableMention:
        return self._content[place - 1] if place else TableMention(0, 0, "")

    @staticmethod
    def _mark(thing: Thing) -> Thing:
        thing.mention.role = "thing"
        return thing


def _noun(mention: TableMention) -> bool:
    return bool(mention.columns) or mention.has("row.", "concept.quantity", "time.") or mention.unknown
