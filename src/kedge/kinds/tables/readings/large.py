"""Readings of a table that is too large to be read whole: linked and weighed over some of its rows, run over all.

What a question may mean depends on headings, on the cells that it names and on what kind of thing a column holds. Some
hundred rows show all of that: every so-manieth, those with the highest and lowest numbers, and those with the cells and
numbers that the question names. Over them readings are made and weighed as over a small table, by the same weights; the
likeliest become plans, are run over all rows by DuckDB, and only then are read by the reader, with their values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import duckdb
import numpy as np

from kedge.answer.sheets.candidates import Candidate
from kedge.answer.sheets.choice import beside_reader
from kedge.answer.sheets.enumerate import Enumerated, enumerate_readings
from kedge.answer.sheets.lines import Wordings, fitting, identity_of
from kedge.answer.sheets.model import ReadingModel
from kedge.answer.sheets.read import left_words, weighed_lines
from kedge.answer.sheets.sheet import Sheet, build_sheet
from kedge.answer.sheets.support import PlanReader
from kedge.answer.sheets.words import number_of, tokens
from kedge.core.errors import PlanError, QueryError
from kedge.kinds.tables.asking.mentions import TableReading
from kedge.kinds.tables.asking.vocabulary import Vocabulary
from kedge.kinds.tables.plans.execute import PlanResult, execute
from kedge.kinds.tables.plans.plan import TablePlan, Task
from kedge.kinds.tables.readings.load import cell_text
from kedge.kinds.tables.readings.planned import Planner
from kedge.kinds.tables.schema import ROW, Table

SPREAD = 60
"""Rows from all over the table."""
OF_EACH = 3
"""Rows with a cell that the question names."""
RUN = 6
"""Likeliest plans that are run."""
LEAST = 0.04
"""Chance below which a plan is not run."""
_MOST_VALUES = 6
_MOST_NUMBERS = 3
Row = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class LargeReading:
    """One way to read the question, run over all rows."""

    chance: float
    plan: TablePlan
    result: PlanResult
    line: str
    """As the reader saw it."""


@dataclass(frozen=True, slots=True)
class LargeAnswer:
    """Readings with different results, likeliest first."""

    readings: Sequence[LargeReading]
    sure: bool
    left: Sequence[str]
    """Words that the first reading does not use."""


class SampledTable:
    """Some rows of a large table, and whatever others a question names. One for each generation."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, vocabulary: Vocabulary) -> None:
        self._connection = connection
        self._vocabulary = vocabulary
        self.table: Table = vocabulary.table
        """With the bounds of its columns."""
        self._fields = ", ".join(column.field for column in self.table.columns)
        self._base: Mapping[int, Row] | None = None

    def sheet(self, question: str) -> Sheet:
        """The rows that show what the question may mean, in the order of the table. duckdb.Error."""
        cursor = self._connection.cursor()
        try:
            if self._base is None:
                self._base = self._spread(cursor)
            rows = {**self._base, **self._named(cursor, question)}
        finally:
            cursor.close()
        cells = [[cell_text(cell) for cell in rows[number]] for number in sorted(rows)]
        return _as_typed(build_sheet([column.name for column in self.table.columns], cells), self.table)

    def run(self, plan: TablePlan) -> PlanResult:
        """A plan over all rows. Raises as `execute`."""
        return execute(self._connection, self.table, plan)

    def _spread(self, cursor: duckdb.DuckDBPyConnection) -> dict[int, Row]:
        """Every so-manieth row, and the ends of every column of numbers or dates."""
        step = max(1, self.table.rows // SPREAD)
        out = self._rows(cursor, f"{ROW} % {step} = 0", [], SPREAD)
        for column in self.table.columns:
            if column.type.compared or column.type.dated:
                ends = f"{column.field} IN (?, ?)"
                out |= self._rows(cursor, ends, [column.lowest, column.highest], 2)
        return out

    def _named(self, cursor: duckdb.DuckDBPyConnection, question: str) -> dict[int, Row]:
        out: dict[int, Row] = {}
        for mention in TableReading(question, self._vocabulary).mentions:
            for match in mention.values[:4]:
                for value in match.values[:_MOST_VALUES]:
                    out |= self._rows(cursor, f"CAST({match.column} AS VARCHAR) = ?", [value], OF_EACH)
        numbers = [number for word in tokens(question) if word[0].isdigit() and (number := number_of(word)) is not None]
        counted = [column.field for column in self.table.columns if column.type.compared]
        for number in numbers[:_MOST_NUMBERS]:
            for field in counted:
                out |= self._rows(cursor, f"{field} = ?", [number], 2)
        return out

    def _rows(
        self, cursor: duckdb.DuckDBPyConnection, condition: str, values: Sequence[object], most: int
    ) -> dict[int, Row]:
        # Names of our own only; values are bound.
        statement = f"SELECT {ROW}, {self._fields} FROM {self.table.relation} WHERE {condition} LIMIT {most}"  # noqa: S608
        return {int(row[0]): row[1:] for row in cursor.execute(statement, list(values)).fetchall()}


def _as_typed(sheet: Sheet, table: Table) -> Sheet:
    """Without sights that the whole column does not have: ids are no numbers, clock times are not added up."""
    sights = []
    for sight in sheet.sights:
        column = table.columns[sight.column]
        if column.type.compared or column.type.dated or (sight.kind in ("year", "date") and column.yearly):
            summed = sight.summed and column.added
            sights.append(replace(sight, summed=summed))
    return replace(sheet, sights=sights)


def read_large(
    question: str, sampled: SampledTable, model: ReadingModel, reader: PlanReader | None = None
) -> LargeAnswer:
    """Link, enumerate and weigh over some rows, run over all, choose. Raises as `execute`; duckdb.Error, ModelError."""
    sheet, table = sampled.sheet(question), sampled.table
    made = enumerate_readings(question, sheet, model.common)
    kept, plans = _planned(made, sheet, table)
    if not kept.candidates:
        return LargeAnswer((), False, left_words(made, None))
    found, rows = weighed_lines(kept, model)
    chances = model.trees(rows)
    order = [int(place) for place in np.argsort(-chances, kind="stable")]
    wordings = Wordings(sheet)
    run: dict[object, LargeReading] = {}
    first: Candidate | None = None
    for place in order[:RUN]:
        candidate = kept.candidates[int(found.best[place])]
        plan = plans[candidate.answers]
        if chances[place] < LEAST:
            break
        try:
            result = sampled.run(plan)
        except (PlanError, QueryError):
            continue
        if not result.row_count or not result.rows or result.truncated:
            continue
        values = result_values(plan, result)
        known = run.get(tuple(values))
        chance = float(chances[place]) + (known.chance if known else 0.0)
        first = first or candidate
        line = wordings.line(candidate, values)
        told = replace(known, chance=min(chance, 0.99)) if known else LargeReading(chance, plan, result, line)
        run[tuple(values)] = told
    readings = sorted(run.values(), key=lambda one: -one.chance)
    least = model.sure
    if reader is not None and model.mixed is not None and model.reader == reader.digest and readings:
        lines = fitting([one.line for one in readings])
        support = reader.support(question, identity_of(sheet), lines)
        mixed = model.mixed(beside_reader(np.array([one.chance for one in readings]), support))
        readings = [replace(one, chance=float(chance)) for one, chance in zip(readings, mixed, strict=True)]
        readings.sort(key=lambda one: -one.chance)
        least = model.sure_read
    sure = bool(readings) and readings[0].chance >= least
    return LargeAnswer(readings, sure, left_words(made, first))


def _planned(made: Enumerated, sheet: Sheet, table: Table) -> tuple[Enumerated, dict[tuple[str, ...], TablePlan]]:
    """The candidates that have a plan, told apart by it: over some rows different plans may give the same."""
    planner = Planner(sheet, table)
    numbers: dict[TablePlan, int] = {}
    plans: dict[tuple[str, ...], TablePlan] = {}
    kept = []
    for one in made.candidates:
        plan = planner.plan(one)
        if plan is not None:
            key = (f"plan {numbers.setdefault(plan, len(numbers))}",)
            plans[key] = plan
            kept.append(replace(one, answers=key))
    return replace(made, candidates=kept), plans


def result_values(plan: TablePlan, result: PlanResult) -> list[str]:
    """What a result says, as cells are written: names of a list or of the first, else the figure."""
    if plan.task is Task.COMPARE and len(result.rows) == 2:
        difference = result.rows[1][-2]
        return [cell_text(abs(difference))] if isinstance(difference, int | float) else []
    named = bool(plan.groups and not plan.tally) or plan.task is Task.LIST
    return [cell_text(row[0] if named else row[-1]) for row in result.rows if row]
