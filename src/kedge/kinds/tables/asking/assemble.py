"""Puts the mentions of a question together to one plan, and remembers what was taken for what."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import Stemmer

from kedge.kinds.tables.asking.filters import NamedRows, dated, merged
from kedge.kinds.tables.asking.frame import OTHER_MEASURE, OTHER_THING, Alternative, of_groups
from kedge.kinds.tables.asking.naming import naming
from kedge.kinds.tables.asking.nouns import Thing
from kedge.kinds.tables.asking.superlatives import Superlatives
from kedge.kinds.tables.asking.vocabulary import entity
from kedge.kinds.tables.plans.plan import Filter, Func, Group, Measure, Op, Order, Side, TablePlan, Task
from kedge.kinds.tables.schema import Column, ColumnType

_stem = Stemmer.Stemmer("english").stemWord


class Assembly(Superlatives):
    """One attempt at a plan."""

    def plan(self) -> TablePlan | None:
        """The plan, or None with `refusal` saying why."""
        plan = self._plan()
        if plan and self._contradictory(plan.filters):
            self.refusal = "things with one value but not another are more than one plan can say"
            plan = None
        self.ambiguous += self._figures.ambiguous + self._nouns.ambiguous
        self.readings = max(self.readings, self._figures.readings)
        if self.ambiguous and plan is None:
            self.refusal = "; ".join(self.ambiguous)
        return plan

    def _plan(self) -> TablePlan | None:
        if self._any("ask.describe"):
            self._use("ask.describe")
            return TablePlan(task=Task.DESCRIBE, measures=())
        if self._any("logic.open"):
            self.refusal = "the question asks for more than can be computed from the columns"
            return None
        if self._wanted is None and (self._limits or self._any("super.")) and not self._any("ask.", "func."):
            self._wanted = self._nouns.opening()
        named = self._named or self._periods or self._others
        counted = self._groups and self._first_counts()
        if self._wanted is None and named and not counted and not self._any("ask.", "func.", "super.", "logic.share"):
            self._wanted = self._nouns.opening()
            self.score *= 0.9 if self._wanted else 1.0
        ranked = self._any("super.") and self._any("row.")
        if self._wanted is None and self._any("ask.person") and not ranked:
            self._wanted = self._who()
        if self._any("logic.growth") and (self._any("super.") or self._wanted or self._groups):
            self.refusal = "how each of several things changed is more than one plan can say"
            return None
        if self._any("logic.share"):
            return self._share()
        if rate := self._rate():
            return rate
        return self._compare() or self._chosen()

    def _first_counts(self) -> bool:
        """Whether a question opens with things of an id and their groups: licences per month."""
        first = self._content[0].column() if self._content else None
        return first is not None and first.type is ColumnType.ID

    @staticmethod
    def _contradictory(filters: tuple[Filter, ...]) -> bool:
        """In Lisbon but not in Porto: no single row can tell."""
        kept = {item.column for item in filters if item.op in (Op.IS, Op.IN) and item.part is None}
        return any(item.op in (Op.NOT, Op.NOT_IN) and item.column in kept for item in filters)

    def _who(self) -> Thing | None:
        """The persons of a table, if one column (or several with one value for each other) names them."""
        people = self._columns.people()
        word = self._first("ask.person")
        named = naming(self._table)
        fullname = len(named) == 1 and self._table.column(named[0]) in people
        if (fullname or not people) and len(named) == 1 and self._any("super."):
            self.score *= 0.85
            return Thing(word, self._table.column(named[0]))
        if not self._reading.vocabulary.one_thing(people):
            self.refusal = f"it is not clear which column “{word.text}” asks for"
            self.score *= 0.4
            return None
        self.score *= 0.9
        return Thing(word, entity(people))

    def _chosen(self) -> TablePlan | None:
        if self._any("super."):
            return self._superlative()
        if self._any("ask.count", "ask.much", "func.") or self._measures_named() or self._limits_sum() or self._groups:
            return self._aggregate()
        return self._list()

    def _aggregate(self) -> TablePlan | None:
        if self._limits_sum() and not self._any("ask.count", "ask.much", "func.average", "func.median"):
            self._use("func.sum")
            return self._kept_groups()
        measures = self._measures()
        if not measures:
            self.refusal = "it is not clear which figure is meant"
            return None
        if self._any("logic.both") and measures[0].func is Func.DISTINCT:
            self.refusal = "things that have both of two values are more than one plan can say"
            return None
        tally = self._tally(measures[0])
        if tally:
            return tally
        if any(
            one.has("logic.group") and not one.role and two.role == "measure" for one, two in pairwise(self._content)
        ):
            # By a figure with many values: neither a group nor a second figure.
            self.score *= OTHER_THING
        by = self._by()
        if self._wanted:
            if not self._any("ask.count", "ask.much", "func."):
                # "Which products are out of stock": the figure is named, but not what is to be done with it.
                self.score *= 0.55
            by = (*by, *self._labelled(self._grouped_by(self._wanted)))
        filters, having = self._filters(measures[0] if by else None)
        self._use("ask.")
        first = measures[0]
        if first.func is Func.SUM and first.column and not self._func() and not self._adds(first) and not by:
            return self._shown(filters, first)
        measures = self._averaged(measures)
        plan = TablePlan(filters=filters, measures=tuple(measures), groups=by, having=having)
        for other in self._instead:
            self.alternatives.append(Alternative(replace(plan, measures=(other,)), OTHER_THING))
        return plan

    def _tally(self, counted: Measure) -> TablePlan | None:
        """How many customers have more than 5 orders: the total of each is compared, not single rows."""
        column = counted.column if counted.func is Func.DISTINCT and not counted.per else None
        if not column or not self._limits or self._groups or self._table.column(column).distinct == self._table.rows:
            return None
        figure = self._limit_figure(self._limits[0])
        if figure is None or not of_groups(figure) or figure.measure == counted:
            return None
        self._take(figure)
        loose = self._limits[0].target
        before = list(self._limits)
        filters, having = self._filters(figure.measure)
        if not having:
            return None
        self._use("ask.")
        plan = TablePlan(
            filters=filters, measures=(figure.measure,), groups=(Group(column),), having=having, tally=True
        )
        if loose and loose.columns and figure.measure.func is Func.SUM and figure.measure.column:
            # "with a quantity of at least 3" may be that of one row.
            self._limits = before
            rows = Filter(figure.measure.column, before[0].op, before[0].values)
            leaves = OTHER_MEASURE if self._sums_up(figure.measure) else OTHER_THING
            self.alternatives.append(Alternative(TablePlan(filters=(*filters, rows), measures=(counted,)), leaves))
        return plan

    def _kept_groups(self) -> TablePlan | None:
        """Things whose figure is over or under a number."""
        if self._wanted is None:
            return None
        groups = self._grouped_by(self._wanted)
        figure = self._limit_figure(self._limits[0])
        if not groups or figure is None:
            return None
        self._take(figure)
        before = list(self._limits)
        filters, having = self._filters(figure.measure)
        self._use("ask.")
        shown = self._labelled(groups)
        plan = TablePlan(filters=filters, measures=(figure.measure,), groups=shown, having=having, order=Order())
        column = figure.measure.column
        if having and column and figure.measure.func is Func.SUM and not self._sums_up(figure.measure):
            # "Players with more than 60 home runs": in all, or in one row?
            rows = Filter(column, before[0].op, before[0].values)
            fields = tuple(group.column for group in shown)
            listed = TablePlan(Task.LIST, (*filters, rows), (), columns=fields, distinct=True)
            self.alternatives.append(Alternative(listed, OTHER_THING))
        return plan

    def _shown(self, filters: tuple[Filter, ...], measure: Measure) -> TablePlan | None:
        """A price or the like is not added up without being asked: its different values are shown."""
        if not filters or measure.other:
            self.refusal = "it is not said how the figure is put together"
            return None
        self.score *= 0.8
        return TablePlan(task=Task.LIST, filters=filters, measures=(), columns=(measure.column or "",), distinct=True)

    def _list(self) -> TablePlan | None:
        thing = self._wanted
        filters, _ = self._filters(None)
        if thing is None and filters and (when := self._when()):
            return TablePlan(task=Task.LIST, filters=filters, measures=(), columns=(when.field,), distinct=True)
        opens = bool(self._content) and self._content[0].has("row.")
        asked = any(one.has("ask.which") and two.has("row.") for one, two in pairwise(self._content))
        if thing is None and not (filters and (self._any("ask.list") or opens or asked)):
            return None
        self._use("ask.", "row.")
        if thing is None:
            return TablePlan(task=Task.LIST, filters=filters, measures=(), limit=self._limit)
        groups = self._grouped_by(thing)
        if thing.column is None or not groups or self._groups:
            return None
        if self._is_row(thing.column, thing.mention):
            return TablePlan(task=Task.LIST, filters=filters, measures=(), limit=self._limit)
        self.score *= thing.mention.columns.score if thing.mention.columns else 1.0
        shown = [item.column for item in self._labelled(groups)]
        return TablePlan(
            task=Task.LIST, filters=filters, measures=(), columns=tuple(shown), distinct=True, limit=self._limit
        )

    def _when(self) -> Column | None:
        """The date that `when` asks for: the only one, or the one that the verb names (when was it shipped)."""
        if not self._any("ask.when") or self._dates is None or not self._dates.type.dated:
            return None
        self._use("ask.when")
        stems = {_stem(token.folded) for token in self._reading.tokens}
        columns = self._columns.dated()
        named = [column for column in columns if self._columns.named_like(stems - {"date", "time"}, column.field)]
        if len(named) != 1 and len(columns) != 1:
            self.refusal = "it is not clear which date is asked for"
            return None
        chosen = (named or columns)[0]
        for mention in self._content:
            if mention.columns and chosen in mention.columns.columns:
                mention.role = mention.role or "shown"
        return chosen

    def _share(self) -> TablePlan | None:
        word = self._first("logic.share")
        self._use("logic.share", "ask.", "func.sum")
        head = self._nouns.head(self._content.index(word) + 1)
        of_values = head is not None and bool(head.values)
        if head and head.values:
            head = self._nouns.head(self._content.index(head) + 1)
        figure = self._figure_or_count(head) if head and not head.role else None
        measures = [replace(figure.measure)] if figure else self._measures()
        if figure:
            self._take(figure)
        if not measures and of_values:
            # "What percentage of the marine corps is female": of the rows.
            measures = [Measure(Func.COUNT)]
        if not measures:
            self.refusal = "it is not clear of what the share is asked for"
            return None
        if self._groups and of_values and len(self._named) == 1 and not self._others:
            # "Share of women by branch": of the rows of each branch.
            each, self._named = tuple(merged(self._named)), []
            filters, _ = self._filters(None)
            return TablePlan(
                task=Task.SHARE, filters=filters, measures=tuple(measures[:1]), groups=self._by(), part=each
            )
        if self._groups:
            filters, having = self._filters(measures[0])
            return TablePlan(
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
        if self._any("logic.both") and measures[0].func is Func.DISTINCT:
            self.refusal = "things that have both of two values are more than one plan can say"
            return None
        if not wanted:
            self.refusal = "it is not clear which part the share is of"
            return None
        return TablePlan(task=Task.SHARE, filters=filters, measures=tuple(measures[:1]), part=wanted)

    def _compare(self) -> TablePlan | None:
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
        if not measures and self._any("ask.count", "logic.counted"):
            # "How many more men than women": the sides are what is counted.
            self._use("ask.count", "logic.counted")
            measures = [Measure(Func.COUNT)]
        if not measures and self._more_of():
            measures = [Measure(Func.COUNT)]
        if not measures or self._groups:
            self.refusal = "it is not clear by which figure to compare"
            return None
        measures = self._averaged(measures)
        filters, _ = self._filters(None)
        self._use("ask.")
        plan = TablePlan(task=Task.COMPARE, filters=filters, measures=tuple(measures[:1]), sides=sides)
        for rival in self._sold_rivals:
            self.alternatives.append(Alternative(replace(plan, measures=(rival,)), OTHER_MEASURE))
        return plan

    def _more_of(self) -> bool:
        """“Are there more dogs or cats”: rows, where `more` stands right before one of the sides."""
        pairs = pairwise(self._content)
        return any(one.has("logic.comparative") and two.role == "filter" and two.values for one, two in pairs)

    def _rate(self) -> TablePlan | None:
        """The churn rate: the share of the rows in which a column of yes and no says yes."""
        for before, word in pairwise(self._content):
            if word.text.lower() not in ("rate", "rates") or before.role != "filter" or before.end != word.start:
                continue
            part = [item for mention, item in self._others if mention is before and item.column in self._flags]
            if part:
                self._others = [item for item in self._others if item[0] is not before]
                word.role = "cue"
                self._use("ask.")
                filters, _ = self._filters(None)
                groups = self._by()
                return TablePlan(task=Task.SHARE, filters=filters, groups=groups, part=tuple(part))
        return None

    def _sides_of_values(self) -> tuple[Side, ...]:
        counts: dict[str, list[NamedRows]] = {}
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
        kept = [(period.label, dated(period, self._dates)) for period in parts]
        return tuple(Side(label, (item,)) for label, item in kept if item) if all(item for _, item in kept) else ()
