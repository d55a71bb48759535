"""Which figure a question means: the column or the arithmetic behind a word such as sales, price or units."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from kedge.kinds.tables.asking.columns import Columns
from kedge.kinds.tables.asking.mentions import TableMention
from kedge.kinds.tables.asking.words import name_words
from kedge.kinds.tables.plans.plan import Arithmetic, Func, Measure
from kedge.kinds.tables.plans.plan_text import column_name, measure_text
from kedge.kinds.tables.schema import Column


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

    def __init__(self, columns: Columns) -> None:
        self._columns = columns
        self.ambiguous: list[str] = []
        self.prefer = ""
        """Of several columns, the one with this word in its name: the highest temperature is of temp_max."""

    def of(self, mention: TableMention) -> Figure | None:
        """The figure that a mention names, if it names one."""
        if mention.columns:
            measured = [column for column in mention.columns.columns if column.type.measured]
            return self._one(mention.text, measured, mention.columns.score) if measured else None
        figures = (self.of_concept(concept, mention.text) for concept in mention.concepts())
        return next((figure for figure in figures if figure), None)

    def of_concept(self, concept: str, said: str) -> Figure | None:
        """The figure behind a kind of measure."""
        if concept == "sold":
            return self._sold(said)
        found = self._columns.of_concept(concept)
        if found:
            figure = self._one(said, found, 0.97)
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
        if len(columns) > 1:
            names = ", ".join(column_name(self._columns.table, column.field) for column in columns)
            self.ambiguous.append(f"“{said}” fits several columns: {names}")
            return None
        column = columns[0]
        return Figure(Measure(Func.SUM, column.field), self._columns.adds(column.field), score)

    def _computed(self, said: str) -> Figure | None:
        """Revenue as quantity × price where no column holds it."""
        prices, quantities = self._columns.of_concept("price"), self._columns.of_concept("quantity")
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
