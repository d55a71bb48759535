"""What every plan of a question shares: its rows, its groups, and the words that were used for them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import Stemmer

from kedge.kinds.tables.asking.conditions import Finder
from kedge.kinds.tables.asking.figures import Figure, Figures
from kedge.kinds.tables.asking.filters import dated, merged, months_together, scaled
from kedge.kinds.tables.asking.mentions import TableMention, TableReading
from kedge.kinds.tables.asking.nouns import Nouns, Thing
from kedge.kinds.tables.asking.numbers import Limit
from kedge.kinds.tables.asking.periods import AskedPeriod
from kedge.kinds.tables.asking.words import name_words, words
from kedge.kinds.tables.plans.plan import DatePart, Filter, Func, Group, Having, Measure, Op, TablePlan
from kedge.kinds.tables.plans.plan_text import column_name
from kedge.kinds.tables.schema import Column, ColumnType

OTHER_THING = 0.5
"""Different things or pieces: not worth a guess."""
OTHER_MEASURE = 0.8
"""Sold in money or in pieces: the plan says which, and the other answer is told."""
_stem = Stemmer.Stemmer("english").stemWord


@dataclass(frozen=True, slots=True)
class Alternative:
    """Another reading of a question."""

    plan: TablePlan
    leaves: float
    """What remains of `sure` when its answer is another one."""


class Frame:
    """The parts of one attempt at a plan. `choice` picks another reading where several fit equally."""

    def __init__(self, reading: TableReading, choice: int = 0) -> None:
        self._reading = reading
        self._content = reading.content
        self._table = reading.vocabulary.table
        self._columns = reading.vocabulary.columns
        self._calendar = reading.vocabulary.calendar
        self._flags = reading.vocabulary.flags
        self._figures = Figures(
            self._columns, reading.vocabulary.attributes, choice, lines=bool(reading.vocabulary.headers)
        )
        self._table_words = set(words(" ".join(name_words(self._table.name))))
        self._nouns = Nouns(self._content, self._columns)
        self.score = 1.0
        self.readings = 1
        self.notes: list[str] = []
        self.ambiguous: list[str] = []
        self.alternatives: list[Alternative] = []
        self.refusal = "the question names nothing of the table that could be computed"
        self._limit: int | None = None
        self._claim_limit()
        conditions = Finder(reading, choice).find()
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
        self.loose = conditions.loose
        self._dates = self._date_column()
        self._groups = self._nouns.groups()
        self._wanted = self._nouns.wanted()

    def _filters(self, measure: Measure | None) -> tuple[tuple[Filter, ...], tuple[Having, ...]]:
        """All filters, and those numbers that apply to the figure of a group."""
        filters = [*merged(self._named), *(item for _, item in self._others), *self._period_filters(self._periods)]
        having: list[Having] = []
        for limit in self._limits:
            figure = self._limit_figure(limit)
            if measure and figure and of_groups(figure) and figure.measure == measure:
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
        if limit.concept == "clock":
            return self._clock_filter(limit)
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

    def _clock_filter(self, limit: Limit) -> list[Filter]:
        """A time of day as a condition on the column of such times that the question speaks of, or on hours."""
        clocks = [column for column in self._table.columns if column.type is ColumnType.CLOCK]
        said = {token.folded for token in self._reading.tokens}
        ways = {way for token in self._reading.tokens for way in _ways(self._reading.lexicon.tags(token.folded))}
        ranked = sorted(clocks, key=lambda column: self._columns.unlike_said(column.field, said, ways))
        if ranked:
            tied = (
                len(ranked) > 1
                and len({self._columns.unlike_said(column.field, said, ways) for column in ranked[:2]}) == 1
            )
            self.score *= OTHER_THING if tied else 1.0
            return [Filter(ranked[0].field, limit.op, limit.values)]
        whole = all(value % 100 == 0 for value in limit.values)
        hours = tuple(int(value) // 100 for value in limit.values)
        if whole and self._calendar.hour and limit.op in (Op.LESS, Op.AT_LEAST):
            return [Filter(self._calendar.hour.field, limit.op, hours)]
        timed = self._dates is not None and self._dates.type is ColumnType.TIME
        if whole and timed and self._dates and limit.op in (Op.LESS, Op.AT_LEAST):
            return [Filter(self._dates.field, limit.op, hours, DatePart.HOUR)]
        limit.mention.role = ""
        return []

    def _done(self, limit: Limit) -> None:
        if limit.target:
            limit.target.role = "measure"

    def _counted(self, mention: TableMention) -> Measure | None:
        """Rows, or the different things of a column."""
        if mention.has("row."):
            return Measure(Func.COUNT)
        thing = self._nouns.thing(mention, counted=True)
        if thing and thing.part and self._dates:
            return self._counted_time(thing.part, self._dates)
        if thing is None or thing.column is None:
            return None
        if self._is_row(thing.column, mention):
            return Measure(Func.COUNT)
        return Measure(Func.DISTINCT, thing.column.field)

    def _counted_time(self, part: DatePart, column: Column) -> Measure | None:
        """How many days, or how many years: those of a column that has nothing smaller."""
        smallest = DatePart.YEAR if column.yearly else DatePart.DAY if column.type is ColumnType.DATE else None
        if part is not smallest:
            return None
        return Measure(Func.COUNT) if column.distinct == self._table.rows else Measure(Func.DISTINCT, column.field)

    def _is_row(self, column: Column, mention: TableMention) -> bool:
        """A table named after the thing has one row for each, unless its id says otherwise: flights, flight_number."""
        named = {token.word for token in self._reading.tokens[mention.start : mention.end]} <= self._table_words
        known = column.field in self._reading.vocabulary.headers or "id" in name_words(column.name)
        if not named or column.distinct == self._table.rows or known:
            return False
        note = f"“{mention.text}” counted as rows, not as different {column_name(self._table, column.field)}"
        if note not in self.notes:
            self.score *= 0.85
            self.notes.append(note)
        return True

    def _limit_figure(self, limit: Limit) -> Figure | None:
        if limit.concept == "clock":
            return None
        self._figures.prefer = "minimum" if limit.op in (Op.LESS, Op.AT_MOST) else "maximum"
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
        return figure is not None and of_groups(figure)

    def _period_filters(self, periods: Sequence[tuple[TableMention, AskedPeriod]]) -> list[Filter]:
        if not periods:
            return []
        kinds: dict[DatePart | None, list[AskedPeriod]] = {}
        for _, period in periods:
            kinds.setdefault(period.part, []).append(period)
        out = []
        for parts in kinds.values():
            whole = len(parts) == 1 and not parts[0].negated
            together = parts[0] if whole else months_together(parts)
            if together is not None and together.part and not together.values:
                return []
            if together is None:
                return []
            by_numbers = [] if self._dates_named() else self._calendar.filters(together)
            by_date = None if by_numbers or self._dates is None else dated(together, self._dates)
            if not by_numbers and by_date is None:
                return []
            out += by_numbers if by_date is None else [by_date]
        for mention, period in periods:
            mention.role = "filter"
            if period.note:
                self.notes.append(period.note)
        return out

    def _dates_named(self) -> bool:
        """Whether the question says which date it means: debuted in 2004."""
        if self._dates is None or not self._dates.type.dated:
            return False
        stems = {_stem(token.folded) for token in self._reading.tokens}
        return bool((self._columns.words(self._dates.field) - {"date", "time", "hour"}) & stems)

    def _date_column(self) -> Column | None:
        columns = self._columns.dated()
        if len(columns) < 2:
            return columns[0] if columns else self._reading.vocabulary.year
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
            found = self._grouped_by(thing)
            if not found:
                # By month, in a table without dates: nothing that could be answered in part.
                self.score *= OTHER_THING
            if len(found) == 1 and found[0].part is None and self._table.column(found[0].column).type is ColumnType.ID:
                found = self._labelled(found)
            out += [group for group in found if group not in out]
            if thing.mention.columns:
                self.score *= min(1.0, thing.mention.columns.score + 0.03)
        return tuple(out)

    def _grouped_by(self, thing: Thing) -> tuple[Group, ...]:
        """A thing as groups; several for a day whose year, month and day stand apart. Empty: there is no such date."""
        by_numbers = () if self._dates_named() else self._calendar.group(thing.part)
        group = None if by_numbers else thing.group(self._dates)
        return by_numbers or ((group,) if group else ())

    def _labelled(self, groups: Sequence[Group]) -> tuple[Group, ...]:
        """Ids and codes together with the columns that name them."""
        out: list[Group] = []
        for group in groups:
            known = self._reading.vocabulary
            others = () if group.part else (*known.labels.get(group.column, ()), *known.names.get(group.column, ()))
            out += [one for one in (group, *map(Group, others)) if one not in out]
        return tuple(out)

    def _claim_limit(self) -> None:
        """The number of things wanted: top 5, three best, which 3 departments, list 10 products."""
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

    def _take(self, figure: Figure) -> None:
        self.score *= figure.score
        self.notes += figure.notes

    def _rivals(self, plan: TablePlan, figure: Figure) -> None:
        for rival in figure.rivals:
            measure = replace(rival, func=plan.measures[0].func)
            self.alternatives.append(Alternative(replace(plan, measures=(measure,)), OTHER_MEASURE))

    def _any(self, *tags: str) -> bool:
        return any(mention.has(*tags) for mention in self._content)

    def _first(self, tag: str) -> TableMention:
        return next(mention for mention in self._content if mention.has(tag))

    def _first_or_none(self, tag: str) -> TableMention | None:
        return next((mention for mention in self._content if mention.has(tag)), None)

    def _use(self, *tags: str) -> None:
        for mention in self._content:
            if mention.has(*tags):
                mention.role = mention.role or "cue"


def _ways(tags: frozenset[str]) -> set[str]:
    return {tag.partition(".")[2] for tag in tags if tag.startswith(("moved.", "ends."))}


def of_groups(figure: Figure) -> bool:
    """Whether a number is about the sum of a group rather than about single rows."""
    return figure.added or figure.measure.func in (Func.COUNT, Func.DISTINCT)
