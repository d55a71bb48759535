"""The most and the least: which brand sold the most, the cheapest article, top 5 by quantity."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import Stemmer

from kedge.kinds.tables.asking.columns import ADDED
from kedge.kinds.tables.asking.figures import Figure
from kedge.kinds.tables.asking.frame import OTHER_MEASURE, OTHER_THING, Alternative
from kedge.kinds.tables.asking.measuring import Measuring
from kedge.kinds.tables.asking.mentions import TableMention
from kedge.kinds.tables.asking.naming import naming
from kedge.kinds.tables.asking.nouns import Thing
from kedge.kinds.tables.asking.words import name_words
from kedge.kinds.tables.plans.plan import DatePart, Func, Group, Measure, Order, TablePlan, Task
from kedge.kinds.tables.schema import Column, ColumnType

_TITLED = (("name",), ("title",))
_OFTEN = 0.65
"""How sure `the most` without a figure is the number of rows."""
_stem = Stemmer.Stemmer("english").stemWord


class Superlatives(Measuring):
    """Plans that put things into an order and give the first."""

    def _superlative(self) -> TablePlan | None:
        word = next(mention for mention in self._content if mention.has("super."))
        tag = self._super_tag(word)
        high = tag.startswith("super.high")
        concept = tag.partition("_")[2]
        if word.has("super.quality") and self._any_loss():
            high = not high
        word.role = "cue"
        self._figures.prefer = "maximum" if high else "minimum"
        concept = "" if concept == "sold" and self._different_after(word) else concept
        rows = self._of_kinds(self._rows_ranked(word), concept)
        if rows is None and concept == "date" and self._wanted and self._wanted.part:
            # "The date of the first order" is a date, not the first of all dates.
            self._wanted = None
            self._use("time.")
        figure = self._super_figure(word, concept, high, rows)
        if figure is None:
            self.refusal = f"it is not clear by what figure “{word.text}” is meant"
            return None
        self._take(figure)
        func = self._func()
        measure = figure.measure
        if rows and not func and (listed := self._ranked(rows, figure, high)):
            return listed
        if measure.func is Func.SUM:
            measure = replace(measure, func=func or self._plain(figure, word, concept, high))
        if self._wanted and self._wanted.column and self._wanted.column is self._calendar.day:
            # "On which day": one day, not a number in all months.
            self._wanted = Thing(self._wanted.mention, None, DatePart.DAY)
        groups = self._grouped_by(self._wanted) if self._wanted else ()
        if not groups and self._any("ask.when") and concept != "date":
            groups = self._days()
            self.score *= 1.0 if groups else OTHER_THING
        self._use("ask.when", "ask.which", "ask.list", "ask.much")
        filters, having = self._filters(measure if groups else None)
        if not groups:
            if self._wanted or measure.func not in (Func.MAX, Func.MIN):
                self.refusal = f"it is not clear of what the “{word.text}” is asked for"
                return None
            return TablePlan(filters=filters, measures=(measure,), groups=self._by())
        if self._groups:
            self.refusal = "the first of every group is more than one plan can say"
            return None
        plan = TablePlan(
            filters=filters,
            measures=(measure,),
            groups=self._labelled(groups),
            having=having,
            order=Order(None, high),
            limit=self._limit or 1,
        )
        self._rivals(plan, figure)
        if measure.func is Func.DISTINCT and self._table.column(measure.column or "").type is not ColumnType.ID:
            # "Returned the most articles": different ones, or how many times?
            times = replace(plan, measures=(Measure(Func.COUNT),))
            self.alternatives.append(Alternative(times, OTHER_MEASURE))
        if measure.func is Func.SUM and not func and self._once_or_in_all(measure) and plan.limit:
            once = replace(measure, func=Func.MAX if high else Func.MIN)
            leaves = OTHER_MEASURE if plan.limit == 1 or self._counts_up(measure) else OTHER_THING
            self.alternatives.append(Alternative(replace(plan, measures=(once,)), leaves))
        return plan

    def _plain(self, figure: Figure, word: TableMention, concept: str, high: bool) -> Func:
        """How the figures of a thing become one where no function is said."""
        single = self._wanted and self._wanted.column and self._wanted.column.distinct == self._table.rows
        # "The highest n" is that of one row, "the highest sales" those of all rows together.
        once = word.has("super.size") and self._once_or_in_all(figure.measure) and not self._counts_up(figure.measure)
        added = figure.added and self._wanted and concept in ("", "price") and not single and not once
        if added or concept == "sold":
            return Func.SUM
        rated = self._wanted and not single and self._columns.rated(figure.measure.column or "")
        return Func.AVERAGE if rated else Func.MAX if high else Func.MIN

    def _different_after(self, word: TableMention) -> bool:
        """“Sells the most different products”: how many different ones, not how much of them."""
        place = self._content.index(word)
        return any(mention.has("logic.distinct") for mention in self._content[place + 1 : place + 2])

    def _of_kinds(self, rows: TableMention | None, concept: str) -> TableMention | None:
        """The noun for rows, unless what sold best is asked for and a column says what rows are of."""
        kind = self._kind_column() if rows and concept == "sold" else None
        if rows and kind:
            self._wanted = Thing(rows, kind)
            return None
        return rows

    def _kind_column(self) -> Column | None:
        """The one column that names what rows are of, several of each: the pizzas of a table of pizzas sold."""
        found = [
            column
            for column in self._table.columns
            if column.type.worded and name_words(column.name)[-1:] in _TITLED and column.distinct < self._table.rows / 2
        ]
        return found[0] if len(found) == 1 else None

    def _any_loss(self) -> bool:
        """Whether the best is the least, as of delays, errors and costs."""
        named = [column for mention in self._content if mention.columns for column in mention.columns.columns]
        return any(column.type.measured and self._columns.lost(column.field) for column in named)

    def _days(self) -> tuple[Group, ...]:
        """What `when` asks for: days, or years where a table has nothing smaller."""
        by_numbers = () if self._dates_named() else self._calendar.group(DatePart.DAY)
        if by_numbers or self._dates is None:
            return by_numbers
        return (Group(self._dates.field, None if self._dates.type.measured else DatePart.DAY),)

    def _rows_ranked(self, word: TableMention) -> TableMention | None:
        """The noun for rows whose first are asked for: the heaviest cars, which car has the highest."""
        place = self._content.index(word)
        for other, mention in enumerate(self._content):
            if not mention.has("row.") or mention.role:
                continue
            before = self._content[other - 1] if other else None
            limited = before is not None and before.role == "limit"
            lead = self._content[other - 2] if limited and other > 1 else before
            beside = other == place + 1 or (limited and lead is word)
            asked = lead is not None and lead.has("ask.which", "ask.list") and not self._of(mention)
            joined = self._reading.tokens[mention.end : word.start] if mention.end < word.start else ()
            owns = other + 1 == place and any("stop.with" in self._tags(token.folded) for token in joined)
            if beside or asked or owns:
                return mention
        return None

    def _of(self, mention: TableMention) -> bool:
        return mention.start > 0 and "stop.of" in self._tags(self._reading.tokens[mention.start - 1].folded)

    def _tags(self, word: str) -> frozenset[str]:
        return self._reading.lexicon.tags(word)

    def _ranked(self, rows: TableMention, figure: Figure, high: bool) -> TablePlan | None:
        """Rows in an order, the first of them, with what names them and what else is asked for."""
        column = figure.measure.column
        ranked = figure.measure.func in (Func.SUM, Func.MAX, Func.MIN) and not figure.measure.other
        if not ranked or not column or self._groups:
            return None
        rows.role = "thing"
        self._wanted = None
        asked: list[str] = []
        for mention in self._content:
            if mention.columns and mention.role in ("", "thing", "measure", "describes"):
                fields = [item.field for item in mention.columns.columns]
                if len(fields) == 1 or self._columns.same_thing(mention.columns.columns):
                    mention.role = "shown"
                    asked += fields
            elif mention.has("ask.named") and not mention.role:
                mention.role = "shown"
        self._use("ask.")
        filters, _ = self._filters(None)
        named = naming(self._table)
        if asked and not named and set(asked) == {column} and (self._limit or 1) == 1:
            return TablePlan(filters=filters, measures=(Measure(Func.MAX if high else Func.MIN, column),))
        if not named and not asked and (kind := self._kind_column()):
            each = (Measure(Func.MAX if high else Func.MIN, column),)
            return TablePlan(
                filters=filters,
                measures=each,
                groups=(Group(kind.field),),
                order=Order(None, high),
                limit=self._limit or 1,
            )
        shown = tuple(dict.fromkeys((*named, *asked, column))) if named or asked else ()
        return TablePlan(
            task=Task.LIST,
            filters=filters,
            measures=(),
            columns=shown,
            order=Order(column, high),
            limit=self._limit or 1,
        )

    def _once_or_in_all(self, measure: Measure) -> bool:
        """Whether “the highest attendance” of a team may be that of one match. Sales and pieces are added up."""
        added = measure.column and (
            self._columns.flows(measure.column)
            or any(self._columns.has_concept(measure.column, concept) for concept in ADDED)
        )
        return bool(measure.column) and not added and not measure.other

    def _super_tag(self, word: TableMention) -> str:
        """The oldest is by age where the table has ages, else by date."""
        tags = sorted(tag for tag in word.tags if tag.startswith(("super.high", "super.low")))
        aged = [tag for tag in tags if tag.endswith("_age")]
        if len(tags) > 1 and aged and not self._columns.of_concept("age"):
            tags = [tag for tag in tags if tag not in aged]
        return tags[0]

    def _super_figure(self, word: TableMention, concept: str, high: bool, rows: TableMention | None) -> Figure | None:
        """By what the most or least is told."""
        place = self._content.index(word)
        following = self._content[place + 1] if place + 1 < len(self._content) else None
        if concept in ("date", "count"):
            return self._by_date(high) if concept == "date" else Figure(Measure(Func.COUNT), True)
        named_beside = following and following.columns and concept not in ("", "sold")
        beside = self._figures.of(following) if following and named_beside else None
        if following and beside:
            following.role = "measure"
            return beside
        if concept:
            return (self._by_figure(place) if rows else None) or self._said(concept, word)
        pieces = following and following.values and word.has("super.amount") and self._any("concept.sold")
        if following and (verb := self._pieces(following) if pieces else self._participle(following)):
            return verb
        for mention in (*self._content[place + 1 :], *reversed(self._content[:place])):
            unused = not mention.role and not mention.has("concept.sold")
            if mention is rows and not word.has("super.amount"):
                continue
            if unused and (found := self._figure_or_count(mention)):
                return found
        return self._not_said(word)

    def _by_figure(self, place: int) -> Figure | None:
        """`The heaviest animal by body weight` says by what."""
        for by, mention in pairwise(self._content[place:]):
            if by.has("logic.group") and (figure := self._figures.of(mention)):
                by.role, mention.role = "cue", "measure"
                return figure
        return None

    def _participle(self, mention: TableMention) -> Figure | None:
        """“Best rated” is by the average rating."""
        stems = {_stem(token.folded) for token in self._reading.tokens[mention.start : mention.end]}
        fitting = [
            column
            for column in self._table.columns
            if column.type.measured
            and mention.unknown
            and mention.role in ("", "describes")
            and self._columns.named_like(stems, column.field)
        ]
        if len(fitting) != 1:
            return None
        mention.role = "measure"
        return Figure(Measure(Func.AVERAGE, fitting[0].field), False, 0.9)

    def _pieces(self, mention: TableMention) -> Figure | None:
        """“Bought the most bananas”: in pieces, in money as the other reading."""
        pieces = self._figures.of_concept("quantity", mention.text)
        money = self._figures.of_concept("revenue", mention.text)
        if pieces and money:
            pieces.rivals.append(money.measure)
        return pieces or money

    def _said(self, concept: str, word: TableMention) -> Figure | None:
        """The figure that a word such as best-selling or cheapest says itself."""
        named = self._measures_named() if concept in ("sold", "price") else []
        if named:
            return named[0]
        if concept == "sold" and not any(self._columns.of_concept(kind) for kind in ADDED):
            # Each row is a sale where nothing says of how much.
            return Figure(Measure(Func.COUNT), True, 0.8)
        wanted = self._wanted.column if self._wanted else None
        if concept == "price" and wanted and self._columns.transacted(wanted.field):
            total = self._figures.of_concept("revenue", word.text)
            return Figure(total.measure, True, total.score, total.notes) if total else None
        return self._priced(word) if concept == "price" else self._of_word(concept, word)

    def _of_word(self, concept: str, word: TableMention) -> Figure | None:
        """The figure of a kind that the table may have, if it is clear which."""
        if concept == "duration" and (far := self._columns.of_concept("distance")):
            # The longest race takes the most time or goes the farthest.
            if self._columns.of_concept("duration"):
                self._figures.ambiguous.append(f"“{word.text}” may be by time or by {far[0].name}")
                return None
            return self._figures.of_concept("distance", word.text)
        return self._figures.of_concept(concept, word.text)

    def _priced(self, word: TableMention) -> Figure | None:
        """What a thing costs: the price that is the same in all of its rows before costs that add up."""
        known = self._columns.of_concept("price")
        own = [column for column in known if column.field in self._reading.vocabulary.attributes]
        if len(own) == 1:
            return Figure(Measure(Func.SUM, own[0].field), False, 0.97)
        figure = self._figures.of_concept("price", word.text)
        if figure and figure.measure.column and self._wanted and self._columns.flows(figure.measure.column):
            recurs = self._wanted.column is None or self._wanted.column.distinct < self._table.rows
            figure.score = min(figure.score, OTHER_THING) if recurs else figure.score
        return figure

    def _by_date(self, high: bool) -> Figure | None:
        """The last order is one order, the last 5 orders are five: by their dates."""
        if self._dates is None:
            return None
        self.score *= 1.0 if self._any("ask.when") else 0.9
        return Figure(Measure(Func.MAX if high else Func.MIN, self._dates.field), False)

    def _not_said(self, word: TableMention) -> Figure | None:
        """“The best products”: by what was sold."""
        if self._any("concept.sold"):
            return self._figures.of_concept("sold", self._first("concept.sold").text)
        for tag, concept in (("super.big", "size"), ("super.tall", "height")):
            if word.has(tag) and self._columns.of_concept(concept):
                return self._figures.of_concept(concept, word.text)
        if self._wanted and word.has("super.amount") and self._any("verb.light"):
            # "Which plane flew the most": most often.
            return Figure(Measure(Func.COUNT), True, _OFTEN)
        worth = any(self._columns.of_concept(concept) for concept in ("revenue", "quantity", "price"))
        if self._wanted and self._limit and not worth and not any(map(self._measure_unused, self._content)):
            # "Top 5 breeds", where nothing is sold: those that come up most often.
            return Figure(Measure(Func.COUNT), True, _OFTEN)
        said = self._wanted and not word.has("super.quality")
        figure = self._figures.of_concept("revenue", word.text) if said else None
        if figure:
            figure.score *= 0.75
        return figure

    def _measure_unused(self, mention: TableMention) -> bool:
        column = mention.column()
        return column is not None and column.type.measured and not mention.role

    def _figure_or_count(self, mention: TableMention) -> Figure | None:
        figure = self._figures.of(mention)
        if figure:
            mention.role = "measure"
            return figure
        counted = self._counted(mention)
        if counted:
            mention.role = "measure"
            return Figure(counted, True, mention.columns.score if mention.columns else 1.0)
        return None
