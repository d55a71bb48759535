"""Which figure a question means: the column or the arithmetic behind a word such as sales, price or units."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from kedge.kinds.tables.asking.columns import Columns
from kedge.kinds.tables.asking.lexicon import load
from kedge.kinds.tables.asking.mentions import TableMention
from kedge.kinds.tables.asking.words import name_words
from kedge.kinds.tables.plans.plan import Arithmetic, Func, Measure
from kedge.kinds.tables.plans.plan_text import column_name, measure_text
from kedge.kinds.tables.schema import Column

UNSURE = 0.9
"""What remains of `sure` where a word fits several columns; the others are other readings besides."""


@dataclass(slots=True)
class Figure:
    """A measure and how it was found."""

    measure: Measure
    """With `sum`; the function asked for is put in later."""
    added: bool
    """Whether one adds it up over rows."""
    score: float = 1.0
    notes: list[str] = field(default_factory=list)
    rivals: list[Measure] = field(default_factory=list)
    """Other readings of the same word."""


class Figures:
    """Finds figures among the columns of one table."""

    def __init__(
        self, columns: Columns, attributes: Collection[str] = (), choice: int = 0, *, lines: bool = False
    ) -> None:
        self._columns = columns
        self._attributes = attributes
        self._choice = choice
        self._lines = lines
        """Whether rows are lines of orders or the like."""
        self.summed: set[str] = set()
        """Fields of prices that are added up, because each row is a sale of one piece."""
        self.readings = 1
        """Columns that a word of the question fits alike; `choice` picks another than the first."""
        self.ambiguous: list[str] = []
        self.prefer = ""
        """Of several columns, the one with this word in its name: the highest temperature is of temp_max."""

    def of(self, mention: TableMention) -> Figure | None:
        """The figure that a mention names, if it names one."""
        if mention.columns:
            measured = [column for column in mention.columns.columns if column.type.measured]
            kept = self._of_kind(_kind_said(mention.text), measured)
            return self._one(mention.text, kept, mention.columns.score) if measured else None
        figures = (self.of_concept(concept, mention.text) for concept in mention.concepts())
        return next((figure for figure in figures if figure), None)

    def of_concept(self, concept: str, said: str) -> Figure | None:
        """The figure behind a kind of measure."""
        if concept == "sold":
            return self._sold(said)
        found = self._columns.of_concept(concept)
        if found:
            figure = self._one(said, self._of_kind(concept, found), 0.97)
            if figure:
                figure.notes.append(
                    f"“{said}” taken as {column_name(self._columns.table, figure.measure.column or '')}"
                )
            return figure
        return self._computed(said) if concept == "revenue" else None

    def _one(self, said: str, columns: Sequence[Column], score: float) -> Figure | None:
        plain = [column for column in columns if len(name_words(column.name)) == 1]
        columns = plain if len(plain) == 1 else columns
        if len(columns) > 1 and self.prefer:
            preferred = [column for column in columns if self._columns.said_in(self.prefer, column.field)]
            columns = preferred if len(preferred) == 1 else columns
        columns = self._whole(columns)
        if len(columns) > 1:
            names = ", ".join(column_name(self._columns.table, column.field) for column in columns)
            self.ambiguous.append(f"“{said}” fits several columns: {names}")
            self.readings = max(self.readings, len(columns))
            score = min(score, UNSURE)
        column = columns[self._choice % len(columns)]
        added = self._columns.adds(column.field) and column.field not in self._attributes
        return Figure(Measure(Func.SUM, column.field), added, score)

    def _of_kind(self, concept: str, columns: Sequence[Column]) -> Sequence[Column]:
        """Of columns of one kind of measure, those of events, in money for sales: no units_per_case, no unit_sales."""
        events = [
            column
            for column in columns
            if column.field not in self._attributes and not self._columns.per_something(column.field)
        ]
        columns = events or columns
        money = [column for column in columns if not self._columns.pieces(column.field)]
        return money if money and concept == "revenue" else columns

    def _whole(self, columns: Sequence[Column]) -> Sequence[Column]:
        """Of several columns those that hold rows' own figures, and of these the one that says it is the total."""
        if len(columns) == 1:
            return columns
        events = [column for column in columns if column.field not in self._attributes]
        columns = events or columns
        whole = [column for column in columns if self._columns.totals(column.field)]
        return whole if len(whole) == 1 else columns

    def _computed(self, said: str) -> Figure | None:
        """Revenue as quantity × price where no column holds it."""
        prices = self._of_kind("price", self._columns.of_concept("price"))
        quantities = self._of_kind("quantity", self._columns.of_concept("quantity"))
        if len(prices) == 1 and not quantities and self._lines:
            note = f"“{said}” taken as the sum of {column_name(self._columns.table, prices[0].field)}, one piece a row"
            self.summed.add(prices[0].field)
            return Figure(Measure(Func.SUM, prices[0].field), True, 0.75, [note])
        if len(prices) != 1 or len(quantities) != 1:
            return None
        measure = Measure(Func.SUM, prices[0].field, Arithmetic.TIMES, quantities[0].field)
        note = f"“{said}” taken as the {measure_text(measure, self._columns.table)}"
        if self._columns.of_concept("discount"):
            note += ", discounts not taken off"
        return Figure(measure, True, 0.93, [note])

    def _sold(self, said: str) -> Figure | None:
        """What was sold, in money; in pieces as the other reading."""
        money, pieces = self.of_concept("revenue", said), self.of_concept("quantity", said)
        if money and pieces:
            money.rivals.append(pieces.measure)
            money.score = min(money.score, 0.9)
        return money or pieces


def _kind_said(text: str) -> str:
    """`revenue` where the last word says money that comes in: store sales."""
    last = text.lower().split()[-1:]
    return "revenue" if last and "concept.revenue" in load("english").tags(last[0]) else ""
