"""Puts the mentions of a question together to one plan, and remembers what was taken for what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import Stemmer

from kedge.tables.columns import ADDED
from kedge.tables.conditions import Finder, Limit, Named, dated, merged, months_together, scaled
from kedge.tables.figures import Figure, Figures
from kedge.tables.mentions import Mention, Reading
from kedge.tables.nouns import Nouns, Thing
from kedge.tables.periods import Period
from kedge.tables.plan import Filter, Func, Group, Having, Measure, Order, Part, Plan, Side, Task
from kedge.tables.plan_text import column_name
from kedge.tables.schema import Column, ColumnType
from kedge.tables.vocabulary import entity
from kedge.tables.words import name_words, words

_FUNCS = {"func.sum": Func.SUM, "func.average": Func.AVERAGE, "func.median": Func.MEDIAN}
_MANY = 50
_OTHER_MEASURE = 0.8
"""Sold in money or in pieces: the plan says which, and the other answer is told."""
_stem = Stemmer.Stemmer("english").stemWord


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another reading of a question."""

    plan: Plan
    leaves: float
    """What remains of `sure` when its answer is another one."""


class Assembly:
    """One attempt at a plan. `choice` picks another reading where several fit equally."""

    def __init__(self, reading: Reading, choice: int = 0) -> None:
        self._reading = reading
        self._choice = choice
        self._content = reading.content
        self._table = reading.vocabulary.table
        self._columns = reading.vocabulary.columns
        self._figures = Figures(self._columns)
        self._table_words = set(words(" ".join(name_words(self._table.name))))
        self._nouns = Nouns(self._content, self._columns)
        self.score = 1.0
        self.readings = 1
        self.notes: list[str] = []
        self.ambiguous: list[str] = []
        self.alternatives: list[Alternative] = []
        self.refusal = "the question names nothing of the table that could be computed"

    def plan(self) -> Plan | None:
        """The plan, or None with `refusal` saying why."""
        plan = self._plan()
        self.ambiguous += self._figures.ambiguous + self._nouns.ambiguous
        if self.ambiguous and plan is None:
            self.refusal = "; ".join(self.ambiguous)
        return plan

    def _plan(self) -> Plan | None:
        if self._any("ask.describe"):
            self._use("ask.describe")
            return Plan(task=Task.DESCRIBE, measures=())
        if self._any("logic.open"):
            self.refusal = "the question asks for more than can be computed from the columns"
            return None
        self._claim_limit()
        conditions = Finder(self._reading, self._choice).find()
        self._named, self._limits = conditions.named, conditions.limits
        self._periods = conditions.periods
        self._others = conditions.others
        for score in conditions.scores:
            self.score *= score
        self.notes += conditions.notes
        for mention, rivals in conditions.rivals:
            self.readings = max(self.readings, len(rivals))
            names = ", ".join(column_name(self._table, match.column) for match in rivals)
            self.ambiguous.append(f"“{mention.text}” is a value of several columns: {names}")
        self._dates = self._date_column()
        self._groups = self._nouns.groups()
        self._wanted = self._nouns.wanted()
        if self._wanted is None and (self._limits or self._any("super.")) and not self._any("ask.", "func."):
            self._wanted = self._nouns.opening()
        if self._wanted is None and self._any("ask.person"):
            self._wanted = self._who()
        if self._any("logic.share"):
            return self._share()
        return self._compare() or self._chosen()

    def _who(self) -> Thing | None:
        """The persons of a table, if one column (or several with one value for each other) names them."""
        people = self._columns.people()
        word = self._first("ask.person")
        if not self._reading.vocabulary.one_thing(people):
            self.refusal = f"it is not clear which column “{word.text}” asks for"
            self.score *= 0.4
            return None
        self.score *= 0.9
        return Thing(word, entity(people))

    def _chosen(self) -> Plan | None:
        if self._any("super."):
            return self._superlative()
        if self._any("ask.count", "ask.much", "func.") or self._measures_named() or self._limits_sum() or self._groups:
            return self._aggregate()
        return self._list()

    # What is asked

    def _superlative(self) -> Plan | None:
        word = next(mention for mention in self._content if mention.has("super."))
        tag = next(tag for tag in sorted(word.tags) if tag.startswith(("super.high", "super.low")))
        high = tag.startswith("super.high")
        concept = tag.partition("_")[2]
        word.role = "cue"
        figure = self._super_figure(word, concept, high)
        if figure is None:
            self.refusal = f"it is not clear by what figure “{word.text}” is meant"
            return None
        self._take(figure)
        func = self._func()
        measure = figure.measure
        if measure.func is Func.SUM:
            single = self._wanted and self._wanted.column and self._wanted.column.distinct == self._table.rows
            added = figure.added and self._wanted and not concept and not single
            plain = Func.SUM if added else Func.MAX if high else Func.MIN
            if concept == "sold":
                plain = Func.SUM
            measure = replace(measure, func=func or plain)
        group = self._wanted.group(self._dates) if self._wanted else None
        if group is None and self._any("ask.when") and self._dates and concept != "date":
            group = Group(self._dates.field, Part.DAY)
        self._use("ask.when", "ask.which", "ask.list", "ask.much")
        filters, having = self._filters(measure if group else None)
        if group is None:
            if self._wanted or measure.func not in (Func.MAX, Func.MIN):
                self.refusal = f"it is not clear of what the “{word.text}” is asked for"
                return None
            return Plan(filters=filters, measures=(measure,), groups=self._by())
        if self._groups:
            self.refusal = "the first of every group is more than one plan can say"
            return None
        plan = Plan(
            filters=filters,
            measures=(measure,),
            groups=self._labelled(group),
            having=having,
            order=Order(None, high),
            limit=self._limit or 1,
        )
        self._rivals(plan, figure)
        if measure.func is Func.SUM and not func and measure.column and self._size_word(word) and not measure.other:
            # "Which team had the highest attendance": in all, or at one time?
            if not any(self._columns.has_concept(measure.column, concept) for concept in ADDED):
                once = replace(measure, func=Func.MAX if high else Func.MIN)
                self.alternatives.append(Alternative(replace(plan, measures=(once,)), _OTHER_MEASURE))
        return plan

    @staticmethod
    def _size_word(word: Mention) -> bool:
        return word.has("super.size")

    def _super_figure(self, word: Mention, concept: str, high: bool) -> Figure | None:
        if concept == "date":
            if self._dates is None:
                return None
            if not self._any("ask.when"):
                # "the last order" is one order, "the last 5 orders" five: by their dates.
                self.score *= 0.9
            return Figure(Measure(Func.MAX if high else Func.MIN, self._dates.field), False)
        if concept == "count":
            return Figure(Measure(Func.COUNT), True)
        place = self._content.index(word)
        following = self._content[place + 1] if place + 1 < len(self._content) else None
        if following and concept not in ("", "sold") and (beside := self._figures.of(following)):
            following.role = "measure"
            return beside
        if concept == "sold" and (named := self._measures_named()):
            return named[0]
        if concept:
            return self._figures.of_concept(concept, word.text)
        for mention in (*self._content[place + 1 :], *reversed(self._content[:place])):
            if mention.role or mention.has("concept.sold"):
                continue
            found = self._figure_or_count(mention)
            if found:
                return found
        if self._any("concept.sold"):
            return self._figures.of_concept("sold", self._first("concept.sold").text)
        figure = self._figures.of_concept("revenue", word.text) if self._wanted else None
        if figure:
            figure.score *= 0.75
        return figure

    def _figure_or_count(self, mention: Mention) -> Figure | None:
        figure = self._figures.of(mention)
        if figure:
            mention.role = "measure"
            return figure
        counted = self._counted(mention)
        if counted:
            mention.role = "measure"
            return Figure(counted, True, mention.columns.score if mention.columns else 1.0)
        return None

    def _aggregate(self) -> Plan | None:
        if self._limits_sum() and not self._any("ask.count", "ask.much", "func."):
            return self._kept_groups()
        measures = self._measures()
        if not measures:
            self.refusal = "it is not clear which figure is meant"
            return None
        by = self._by()
        if self._wanted:
            group = self._wanted.group(self._dates)
            by = (*by, *(self._labelled(group) if group else ()))
        filters, having = self._filters(measures[0] if by else None)
        self._use("ask.")
        first = measures[0]
        if first.func is Func.SUM and first.column and not self._func() and not self._adds(first):
            return self._shown(filters, first)
        return Plan(filters=filters, measures=tuple(measures), groups=by, having=having)

    def _kept_groups(self) -> Plan | None:
        """Things whose figure is over or under a number."""
        if self._wanted is None:
            return None
        group = self._wanted.group(self._dates)
        figure = self._limit_figure(self._limits[0])
        if group is None or figure is None:
            return None
        self._take(figure)
        filters, having = self._filters(figure.measure)
        self._use("ask.")
        return Plan(
            filters=filters, measures=(figure.measure,), groups=self._labelled(group), having=having, order=Order()
        )

    def _shown(self, filters: tuple[Filter, ...], measure: Measure) -> Plan | None:
        """A price or the like is not added up without being asked: its different values are shown."""
        if not filters or measure.other:
            self.refusal = "it is not said how the figure is put together"
            return None
        self.score *= 0.8
        return Plan(task=Task.LIST, filters=filters, measures=(), columns=(measure.column or "",), distinct=True)

    def _list(self) -> Plan | None:
        thing, listing = self._wanted, self._any("ask.list", "row.")
        filters, _ = self._filters(None)
        if thing is None and not (listing and filters and self._any("ask.list")):
            return None
        self._use("ask.", "row.")
        if thing is None:
            return Plan(task=Task.LIST, filters=filters, measures=(), limit=self._limit)
        group = thing.group(self._dates)
        if thing.column is None or group is None or self._groups:
            return None
        self.score *= thing.mention.columns.score if thing.mention.columns else 1.0
        shown = [item.column for item in self._labelled(group)]
        return Plan(
            task=Task.LIST, filters=filters, measures=(), columns=tuple(shown), distinct=True, limit=self._limit
        )

    def _share(self) -> Plan | None:
        word = self._first("logic.share")
        self._use("logic.share", "ask.", "func.sum")
        head = self._nouns.head(self._content.index(word) + 1)
        if head and head.values:
            head = self._nouns.head(self._content.index(head) + 1)
        figure = self._figure_or_count(head) if head and not head.role else None
        measures = [replace(figure.measure)] if figure else self._measures()
        if figure:
            self._take(figure)
        if not measures:
            self.refusal = "it is not clear of what the share is asked for"
            return None
        if self._groups:
            filters, having = self._filters(measures[0])
            return Plan(
                task=Task.SHARE, filters=filters, measures=tuple(measures[:1]), groups=self._by(), having=having
            )
        verbs = [
            mention.start for mention in self._reading.mentions if mention.has("verb.", "concept.sold", "logic.is")
        ]
        after = min((start for start in verbs if start > word.end), default=-1)
        part = [item for item in self._named if item.mention.start > after] if after >= 0 else list(self._named)
        others = [item for item in self._others if item[0].start > after] if after >= 0 else list(self._others)
        if not part and not others:
            part, others = list(self._named), list(self._others)
        self._others = [item for item in self._others if item not in others]
        periods = [] if part or others else self._period_filters(self._periods)
        kept = [item for item in self._named if item not in part]
        self._named = kept
        if periods:
            self._periods = []
        limits = self._limit_filters() if not part and not others and not periods else ()
        filters, _ = self._filters(None)
        wanted = (*merged(part), *(item for _, item in others), *periods, *limits)
        if not wanted:
            self.refusal = "it is not clear which part the share is of"
            return None
        return Plan(task=Task.SHARE, filters=filters, measures=tuple(measures[:1]), part=wanted)

    def _compare(self) -> Plan | None:
        asked = self._any("logic.compare", "logic.difference", "logic.growth", "logic.comparative")
        than = [m for m in self._content if m.has("compared.more", "compared.less") and not m.role]
        if not asked and not than:
            return None
        sides = self._sides_of_values() or self._sides_of_periods()
        if not sides:
            return None
        self._use(
            "logic.compare",
            "logic.difference",
            "logic.growth",
            "logic.comparative",
            "compared.",
            "logic.or",
            "logic.and",
        )
        measures = self._measures()
        if not measures and self._any("ask.which", "logic.comparative"):
            found = (self._figure_or_count(mention) for mention in self._content if not mention.role)
            figure = next((item for item in found if item), None)
            measures = [figure.measure] if figure else []
        if not measures or self._groups:
            self.refusal = "it is not clear by which figure to compare"
            return None
        filters, _ = self._filters(None)
        self._use("ask.")
        plan = Plan(task=Task.COMPARE, filters=filters, measures=tuple(measures[:1]), sides=sides)
        for rival in self._sold_rivals:
            self.alternatives.append(Alternative(replace(plan, measures=(rival,)), _OTHER_MEASURE))
        return plan

    def _sides_of_values(self) -> tuple[Side, ...]:
        counts: dict[str, list[Named]] = {}
        for item in self._named:
            if not item.negated:
                counts.setdefault(item.filter.column, []).append(item)
        several = [items for items in counts.values() if len(items) > 1]
        if len(several) != 1:
            return ()
        self._named = [item for item in self._named if item not in several[0]]
        return tuple(Side(", ".join(map(str, item.filter.values[:3])), (item.filter,)) for item in several[0])

    def _sides_of_periods(self) -> tuple[Side, ...]:
        if self._dates is None:
            return ()
        parts = [period for _, period in self._periods]
        if len(parts) == 1 and len(parts[0].ends) == 2:
            parts = list(parts[0].ends)
        if len(parts) < 2:
            return ()
        for mention, period in self._periods:
            mention.role = "filter"
            if period.note:
                self.notes.append(period.note)
        self._periods = []
        return tuple(Side(period.label, (dated(period, self._dates),)) for period in parts)

    # The figure

    _sold_rivals: Sequence[Measure] = ()

    def _measures(self) -> list[Measure]:
        count = next((m for m in self._content if m.has("ask.count", "logic.counted")), None)
        func = self._func()
        if count:
            head = self._nouns.head(self._content.index(count) + 1)
            count.role = "cue"
            measure = self._counting(head)
            return [self._nested(measure, func)] if measure is not None else []
        figures = self._measures_named()
        if not figures:
            figure = self._implied()
            figures = [figure] if figure else []
        out = []
        for figure in figures:
            self._take(figure)
            measure = figure.measure
            if measure.func is Func.SUM and measure.column:
                measure = self._nested(measure, func) if figure.added else replace(measure, func=func or Func.SUM)
            out.append(measure)
        functions = self._funcs()
        if len(functions) > 1 and len(out) == 1 and not out[0].per:
            out = [replace(out[0], func=each) for each in functions]
        return out

    def _counting(self, head: Mention | None) -> Measure | None:
        """What `how many` counts."""
        quantity = self._first_or_none("concept.quantity")
        if head is None or head.values:
            wanted = quantity or self._first_or_none("concept.sold")
            figure = self._figures.of_concept("quantity", wanted.text) if wanted else None
            if figure:
                self._take(figure)
                return figure.measure
            return Measure(Func.COUNT) if self._named else None
        figure = self._figures.of(head)
        if figure and not head.has("concept.revenue"):
            head.role = "measure"
            self._take(figure)
            return replace(figure.measure, func=Func.SUM)
        counted = self._counted(head)
        if counted:
            head.role = "measure"
            if head.columns:
                self.score *= min(1.0, head.columns.score + 0.03)
            return counted
        if head.has("concept.revenue", "verb.", "concept.sold") and self._named:
            head.role = "cue"
            sold = self._figures.of_concept("quantity", head.text) if head.has("concept.sold") else None
            return sold.measure if sold else Measure(Func.COUNT)
        return Measure(Func.COUNT) if head.unknown else None

    def _counted(self, mention: Mention) -> Measure | None:
        """Rows, or the different things of a column."""
        if mention.has("row."):
            return Measure(Func.COUNT)
        thing = self._nouns.thing(mention, counted=True)
        if thing is None or thing.column is None:
            return None
        if self._is_row(thing.column, mention):
            return Measure(Func.COUNT)
        return Measure(Func.DISTINCT, thing.column.field)

    def _is_row(self, column: Column, mention: Mention) -> bool:
        """A table named after the thing has one row for each, unless its id says otherwise: flights, flight_number."""
        named = {token.word for token in self._reading.tokens[mention.start : mention.end]} <= self._table_words
        if not named or column.distinct == self._table.rows or "id" in name_words(column.name):
            return False
        self.score *= 0.85
        self.notes.append(
            f"“{mention.text}” counted as rows, not as different {column_name(self._table, column.field)}"
        )
        return True

    def _measures_named(self) -> list[Figure]:
        """Figures that the question names and nothing else uses."""
        out: list[Figure] = []
        for mention in self._content:
            if mention.role not in ("", "measure") or mention.has("concept.sold"):
                continue
            figure = self._figures.of(mention)
            if figure is None:
                continue
            mention.role = "measure"
            if all(figure.measure != other.measure for other in out):
                out.append(figure)
        if len(out) > 1 and any(figure.notes for figure in out) and any(not figure.notes for figure in out):
            # A column that is named beats a word that only hints at one.
            out = [figure for figure in out if not figure.notes]
        return out

    def _implied(self) -> Figure | None:
        sold = self._first_or_none("concept.sold")
        if sold or self._any("ask.much"):
            figure = self._figures.of_concept("sold", (sold or self._first("ask.much")).text)
            if figure:
                self._sold_rivals = [] if self._any("ask.much") else figure.rivals
            return figure
        if Func.SUM in self._funcs() or self._groups:
            for mention in self._content:
                if not mention.role and (counted := self._counted(mention)):
                    mention.role = "measure"
                    return Figure(counted, True)
        return None

    def _nested(self, measure: Measure, func: Func | None) -> Measure:
        """`average sales per basket`: a figure for each basket first."""
        inner = measure.func
        if func is not Func.AVERAGE and func is not Func.MEDIAN:
            return replace(measure, func=func) if func and inner is Func.SUM else measure
        counting = inner in (Func.COUNT, Func.DISTINCT)
        for place, (word, thing) in enumerate(self._groups):
            column = thing.column
            many = column is not None and (column.type is ColumnType.ID or column.distinct > _MANY)
            if column and word.has("logic.per") and (counting or many):
                del self._groups[place]
                return replace(measure, func=func, per=column.field, inner=inner)
            if column and word.has("logic.per"):
                self.score *= 0.75
                self.notes.append("averaged over rows, one figure for each group")
        for mention in self._content:
            column = mention.column()
            if (
                column
                and column.type is ColumnType.ID
                and not mention.role
                and not counting
                and self._compound(mention)
            ):
                mention.role = "measure"
                return replace(measure, func=func, per=column.field, inner=inner)
        if counting and self._groups and self._groups[-1][1].column:
            _, thing = self._groups.pop()
            return replace(measure, func=func, per=thing.column.field if thing.column else None, inner=inner)
        return measure if counting else replace(measure, func=func)

    def _compound(self, mention: Mention) -> bool:
        """Whether a thing and a measure make one noun: basket value."""
        return any(
            other.role == "measure" and mention.end == other.start and (other.columns or other.concept())
            for other in self._content
        )

    def _adds(self, measure: Measure) -> bool:
        return measure.other is not None or self._columns.adds(measure.column or "")

    def _func(self) -> Func | None:
        found = self._funcs()
        return found[-1] if found else None

    def _funcs(self) -> list[Func]:
        out = []
        for mention in self._content:
            for tag, func in _FUNCS.items():
                if mention.has(tag):
                    mention.role = "cue"
                    out.append(func)
        return out

    # Rows and groups

    def _filters(self, measure: Measure | None) -> tuple[tuple[Filter, ...], tuple[Having, ...]]:
        """All filters, and those numbers that apply to the figure of a group."""
        filters = [*merged(self._named), *(item for _, item in self._others), *self._period_filters(self._periods)]
        having: list[Having] = []
        for limit in self._limits:
            figure = self._limit_figure(limit)
            if measure and figure and _of_groups(figure) and figure.measure == measure:
                having.append(Having(limit.op, limit.values))
                self._done(limit)
            else:
                filters += self._row_filter(limit, figure)
        return tuple(filters), tuple(having)

    def _limit_filters(self) -> tuple[Filter, ...]:
        out = [item for limit in self._limits for item in self._row_filter(limit, self._limit_figure(limit))]
        self._limits = []
        return tuple(out)

    def _row_filter(self, limit: Limit, figure: Figure | None) -> list[Filter]:
        column = limit.target.column() if limit.target else None
        field = (
            figure.measure.column if figure and figure.measure.func is Func.SUM and not figure.measure.other else None
        )
        if field is None and column and (column.type.measured or column.type.dated):
            field = column.field
        if field is None:
            limit.mention.role = ""
            if limit.target:
                limit.target.role = ""
            return []
        self._done(limit)
        known = self._table.column(field)
        return [Filter(field, limit.op, tuple(scaled(value, limit.unit, known) for value in limit.values))]

    def _done(self, limit: Limit) -> None:
        if limit.target:
            limit.target.role = "measure"

    def _limit_figure(self, limit: Limit) -> Figure | None:
        if limit.concept:
            return self._figures.of_concept(limit.concept, limit.concept)
        if limit.target is None:
            if limit.unit != "money":
                return None
            return self._figures.of_concept("revenue", "money") or self._figures.of_concept("price", "money")
        figure = self._figures.of(limit.target)
        if figure:
            return figure
        counted = self._counted(limit.target)
        return Figure(counted, True) if counted else None

    def _limits_sum(self) -> bool:
        """Whether things are asked for whose total is over or under a number."""
        if not self._wanted or not self._limits:
            return False
        figure = self._limit_figure(self._limits[0])
        return figure is not None and _of_groups(figure)

    def _period_filters(self, periods: Sequence[tuple[Mention, Period]]) -> list[Filter]:
        if not periods or self._dates is None:
            return []
        kinds: dict[Part | None, list[Period]] = {}
        for _, period in periods:
            kinds.setdefault(period.part, []).append(period)
        out = []
        for parts in kinds.values():
            together = parts[0] if len(parts) == 1 else months_together(parts)
            if together is None:
                return []
            out.append(dated(together, self._dates))
        for mention, period in periods:
            mention.role = "filter"
            if period.note:
                self.notes.append(period.note)
        return out

    def _date_column(self) -> Column | None:
        columns = self._columns.dated()
        if len(columns) < 2:
            return columns[0] if columns else None
        stems = {_stem(token.folded) for token in self._reading.tokens}
        named = [column for column in columns if (self._columns.words(column.field) - {"date", "time"}) & stems]
        chosen = named[0] if len(named) == 1 else next((c for c in columns if c in named), columns[0])
        if self._periods or self._any("time."):
            self.notes.append(f"dates taken from {chosen.name}")
            self.score *= 1.0 if len(named) == 1 else 0.93
        return chosen

    def _by(self) -> tuple[Group, ...]:
        out: list[Group] = []
        for _, thing in self._groups:
            group = thing.group(self._dates)
            if group and group not in out:
                out.append(group)
            if thing.mention.columns:
                self.score *= min(1.0, thing.mention.columns.score + 0.03)
        return tuple(out)

    def _labelled(self, group: Group) -> tuple[Group, ...]:
        """An id together with the column that names it."""
        if group.part:
            return (group,)
        others = self._reading.vocabulary.labels.get(group.column, ())
        return (group, *(Group(field) for field in others))

    def _claim_limit(self) -> None:
        """The number of things wanted: top 5, three best, which 3 departments, list 10 products."""
        self._limit: int | None = None
        for place, mention in enumerate(self._content):
            amount = mention.amount
            if amount is None or amount.unit or amount.value != int(amount.value) or not 1 <= amount.value <= 1000:
                continue
            before = self._content[place - 1] if place else None
            after = self._content[place + 1] if place + 1 < len(self._content) else None
            asked = (
                before
                and before.has("ask.which", "ask.list")
                and after
                and (after.columns or after.has("row.", "super."))
            )
            things = after and after.columns and not after.columns.columns[0].type.measured and self._any("super.")
            if asked or things or (before and before.has("super.")) or (after and after.has("super.")):
                mention.role = "limit"
                self._limit = int(amount.value)
                return

    # Small things

    def _take(self, figure: Figure) -> None:
        self.score *= figure.score
        self.notes += figure.notes

    def _rivals(self, plan: Plan, figure: Figure) -> None:
        for rival in figure.rivals:
            measure = replace(rival, func=plan.measures[0].func)
            self.alternatives.append(Alternative(replace(plan, measures=(measure,)), _OTHER_MEASURE))

    def _any(self, *tags: str) -> bool:
        return any(mention.has(*tags) for mention in self._content)

    def _first(self, tag: str) -> Mention:
        return next(mention for mention in self._content if mention.has(tag))

    def _first_or_none(self, tag: str) -> Mention | None:
        return next((mention for mention in self._content if mention.has(tag)), None)

    def _use(self, *tags: str) -> None:
        for mention in self._content:
            if mention.has(*tags):
                mention.role = mention.role or "cue"


def _of_groups(figure: Figure) -> bool:
    """Whether a number is about the sum of a group rather than about single rows."""
    return figure.added or figure.measure.func in (Func.COUNT, Func.DISTINCT)
