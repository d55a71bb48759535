"""The figure of a question: what is counted, added up or averaged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from kedge.kinds.tables.asking.columns import ADDED
from kedge.kinds.tables.asking.figures import Figure
from kedge.kinds.tables.asking.frame import OTHER_THING, Frame
from kedge.kinds.tables.asking.mentions import TableMention
from kedge.kinds.tables.asking.nouns import Thing
from kedge.kinds.tables.asking.words import name_words
from kedge.kinds.tables.plans.plan import Arithmetic, DatePart, Func, Group, Measure
from kedge.kinds.tables.plans.plan_text import column_name
from kedge.kinds.tables.schema import Column, ColumnType

_FUNCS = {"func.sum": Func.SUM, "func.average": Func.AVERAGE, "func.median": Func.MEDIAN}
_DO = ("do", "does", "did")
_NEARLY_ALL = 0.98
"""Share of different values from which on an id names rows, a few of which were written twice."""
_MANY = 50
"""A column with more different values than this is a thing to average over, not a heading."""


class Measuring(Frame):
    """Finds the measures of a plan."""

    _sold_rivals: Sequence[Measure] = ()
    _instead: Sequence[Measure] = ()
    """What may have been counted instead."""

    def _measures(self) -> list[Measure]:
        count = next((m for m in self._content if m.has("ask.count", "logic.counted")), None)
        func = self._func()
        if count:
            head = self._nouns.head(self._content.index(count) + 1)
            count.role = "cue"
            measure = self._counting(head)
            return [self._nested(measure, func)] if measure is not None else []
        figures = self._apart(self._measures_named())
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

    def _counting(self, head: TableMention | None) -> Measure | None:
        """What `how many` counts."""
        quantity = self._first_or_none("concept.quantity")
        if head is None or head.values:
            wanted = quantity or self._first_or_none("concept.sold")
            figure = self._figures.of_concept("quantity", wanted.text) if wanted else None
            if figure:
                self._take(figure)
                return figure.measure
            if self._named and self._of_parts():
                # Lines of an order, visits of a patient: it is not clear that rows are what is counted.
                self.score *= 0.55
            if not self._named and any(token.folded in _DO for token in self._reading.tokens):
                # "How many children do they have" asks for no rows.
                self.score *= 0.5
            return Measure(Func.COUNT) if self._named or self._others else None
        figure = None if self._names_things(head) else self._figures.of(head)
        if figure and not head.has("concept.revenue"):
            head.role = "measure"
            self._take(figure)
            summed = self._adds(figure.measure) and not self._fractions(figure.measure, head)
            return replace(figure.measure) if summed else self._different(figure.measure)
        counted = self._counted(head)
        if counted:
            head.role = "measure"
            if head.columns:
                self.score *= min(1.0, head.columns.score + 0.03)
            if counted.func is Func.DISTINCT and self._were_sold() and not self._any("logic.distinct"):
                # "How many products were sold": different ones, or pieces?
                pieces = self._figures.of_concept("quantity", head.text)
                self._instead = [pieces.measure] if pieces else []
            return counted
        if head.has("concept.revenue", "verb.", "concept.sold") and self._named:
            head.role = "cue"
            sold = self._figures.of_concept("quantity", head.text) if head.has("concept.sold") else None
            return sold.measure if sold else Measure(Func.COUNT)
        return Measure(Func.COUNT) if head.unknown else None

    def _names_things(self, head: TableMention) -> bool:
        """Whether a noun fits a column of ids as well as one of figures: of payment_id and payment_amount, payments."""
        columns = head.columns.columns if head.columns else ()
        return any(column.type is ColumnType.ID for column in columns)

    def _fractions(self, measure: Measure, head: TableMention) -> bool:
        """Whether a column holds fractions, which are no number of things: births by thousand. Amounts may be."""
        column = self._table.column(measure.column or "")
        whole = isinstance(column.highest, float) and column.highest.is_integer()
        amount = measure.other or head.concepts() or self._any("func.")
        return column.type is ColumnType.REAL and not whole and not amount

    def _different(self, measure: Measure) -> Measure | None:
        """How many years: different ones. How many days, where days are numbers of a month, cannot be told."""
        column = self._table.column(measure.column or "")
        return Measure(Func.DISTINCT, column.field) if column.yearly or self._any("logic.distinct") else None

    def _of_parts(self) -> bool:
        """Whether several rows make up one thing, by an id that recurs or by pieces, and no column names each row."""
        if any(
            column.distinct >= _NEARLY_ALL * self._table.rows
            for column in self._table.columns
            if column.type is ColumnType.ID or column.distinct == self._table.rows
        ):
            return False
        recurring = any(column.type is ColumnType.ID for column in self._table.columns)
        return recurring or bool(self._columns.of_concept("quantity") or self._columns.of_concept("price"))

    def _were_sold(self) -> bool:
        """Whether the things counted were sold, not selling."""
        for mention in self._content:
            before = self._reading.tokens[mention.start - 1].folded if mention.start else ""
            if mention.has("concept.sold") and "logic.is" in self._reading.lexicon.tags(before):
                return True
        return False

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

    def _apart(self, figures: list[Figure]) -> list[Figure]:
        """Sales minus cost, the difference between budget and actual: one figure of two columns."""
        minus = any(token.folded == "minus" for token in self._reading.tokens)
        if len(figures) != 2 or not (minus or self._any("logic.difference")):
            return figures
        one, two = figures
        if one.measure.other or two.measure.other or not (one.added and two.added):
            return figures
        self._use("logic.difference")
        for mention in self._content:
            if mention.unknown and mention.text.lower() == "minus":
                mention.role = "cue"
        measure = Measure(Func.SUM, one.measure.column, Arithmetic.MINUS, two.measure.column)
        return [Figure(measure, True, min(one.score, two.score), [*one.notes, *two.notes])]

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
                    # "The sum of order_id" asks for what numbers that only name things do not have.
                    named = self._any("func.sum") and self._is_id(mention) and self._spelt(mention)
                    return Figure(counted, True, OTHER_THING if named else 1.0)
        return None

    def _is_id(self, mention: TableMention) -> bool:
        column = mention.column()
        return column is not None and column.type is ColumnType.ID

    def _spelt(self, mention: TableMention) -> bool:
        """Whether a column is named as the table writes it, not by the thing that it names: order_id, not orders."""
        column = mention.column()
        words = self._reading.tokens[mention.start : mention.end]
        return column is not None and len(words) == len(name_words(column.name)) > 1

    def _nested(self, measure: Measure, func: Func | None) -> Measure:
        """`average sales per basket`: a figure for each basket first."""
        inner = measure.func
        if func is not Func.AVERAGE and func is not Func.MEDIAN:
            return replace(measure, func=func) if func and inner is Func.SUM else measure
        counting = inner in (Func.COUNT, Func.DISTINCT)
        for place, (word, thing) in enumerate(self._groups):
            key = self._averaged_over(word, thing, measure, counting)
            if key:
                del self._groups[place]
                return replace(measure, func=func, per=key.column, inner=inner, per_part=key.part)
        beside = self._groups[-1][1].column if counting and self._groups else self._beside_measure(counting)
        if beside:
            del self._groups[-1 if counting else len(self._groups) :]
            return replace(measure, func=func, per=beside.field, inner=inner)
        # An average number of things, but not said of what, is no plan to trust.
        self.score *= 0.4 if counting else 1.0
        return measure if counting else replace(measure, func=func)

    def _averaged_over(self, word: TableMention, thing: Thing, measure: Measure, counting: bool) -> Group | None:
        """What a figure is computed for before it is averaged; None where the groups only head the averages."""
        column, dates = thing.column, self._dates
        if thing.part and dates and word.has("logic.per", "time.adverb"):
            local = self._calendar.daily and thing.part is DatePart.DAY and dates.type is ColumnType.TIME
            self.score *= OTHER_THING if local or not (counting or self._counts_up(measure)) else 1.0
            return Group(dates.field, thing.part)
        if column is None or not word.has("logic.per"):
            return None
        totals = self._counts_up(measure)
        many = column.type is ColumnType.ID or column.distinct > _MANY
        if counting or many or (totals and column is self._calendar.year):
            return Group(column.field)
        if totals and column is self._calendar.day and dates and dates.type is ColumnType.DATE:
            return Group(dates.field, DatePart.DAY)
        # Each day of the month, or each day there was?
        self.score *= OTHER_THING if column in (self._calendar.day, self._calendar.month) else 1.0
        self.score *= 0.75
        self.notes.append("averaged over rows, one figure for each group")
        return None

    def _counts_up(self, measure: Measure) -> bool:
        """Whether a figure is a number of things or of money, of which a year has a total: births, sales, not delay."""
        if measure.column is None or measure.other:
            return True
        column = self._table.column(measure.column)
        plural = column.type is ColumnType.INTEGER and self._columns.plural(column.field)
        known = self._sums_up(measure) or self._columns.has_concept(column.field, "heads")
        return known or (plural and isinstance(column.lowest, int) and column.lowest >= 0)

    def _sums_up(self, measure: Measure) -> bool:
        """Whether a figure of a thing is what all its rows come to: money and pieces."""
        column = measure.column
        known = column is None or self._columns.flows(column)
        return known or any(self._columns.has_concept(column or "", concept) for concept in ADDED)

    def _beside_measure(self, counting: bool) -> Column | None:
        """The thing that makes one noun with a measure: basket value."""
        for mention in () if counting else self._content:
            column = mention.column()
            if column and column.type is ColumnType.ID and not mention.role and self._compound(mention):
                mention.role = "measure"
                return column
        return None

    def _compound(self, mention: TableMention) -> bool:
        return any(
            other.role == "measure" and mention.end == other.start and (other.columns or other.concept())
            for other in self._content
        )

    def _averaged(self, measures: list[Measure]) -> list[Measure]:
        """A measure that one does not add up (a price, a length) is averaged if nothing else is said; this is told."""
        out = []
        for measure in measures:
            plain = measure.func is Func.SUM and measure.column and not measure.per and not self._func()
            if plain and not self._adds(measure) and not self._any("ask.count", "logic.counted"):
                self.score *= 0.8
                self.notes.append(f"{column_name(self._table, measure.column or '')} averaged, not added up")
                out.append(replace(measure, func=Func.AVERAGE))
            else:
                out.append(measure)
        return out

    def _adds(self, measure: Measure) -> bool:
        added = self._columns.adds(measure.column or "") or measure.column in self._figures.summed
        return measure.other is not None or added

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
        return out or ([] if self._any("super.") else self._said_in_names())

    def _said_in_names(self) -> list[Func]:
        """The sum, where a figure is asked for by a name that begins so: total day charge."""
        for mention in self._content:
            first = self._reading.tokens[mention.start].folded
            column = mention.column()
            if column is not None and column.type.measured and mention.end - mention.start > 1:
                tags = self._reading.lexicon.tags(first)
                if "func.sum" in tags and self._columns.adds(column.field):
                    return [Func.SUM]
        return []
