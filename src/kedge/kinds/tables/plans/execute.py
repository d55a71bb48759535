"""Runs a plan: one bound SELECT in a read-only transaction, with limits on rows and time."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import duckdb

from kedge.core.errors import QueryError, StoreError
from kedge.core.threads import on_stop
from kedge.kinds.tables.plans.plan import TablePlan, Task
from kedge.kinds.tables.plans.plan_json import check_plan
from kedge.kinds.tables.plans.plan_text import headings
from kedge.kinds.tables.plans.sql import PlanSql, SqlStatement
from kedge.kinds.tables.schema import Table

Cell = Any
"""What DuckDB gives for one cell."""


@dataclass(frozen=True, slots=True)
class PlanLimits:
    """How much one plan may cost."""

    rows: int = 1000
    """Most rows or groups given back."""
    seconds: float = 10.0
    """Longest time before the work is stopped."""


@dataclass(frozen=True, slots=True)
class PlanResult:
    """What a plan gave."""

    columns: Sequence[str]
    """Headings of the rows."""
    rows: Sequence[tuple[Cell, ...]]
    row_count: int
    """How many rows of the table counted."""
    row_numbers: Sequence[int]
    """Of a list, the number of each row given; else a few of the rows that counted."""
    ignored: int = 0
    """Rows that counted but have no value in the measured column."""
    truncated: bool = False
    """Whether there were more rows than the limit."""


def execute(
    connection: duckdb.DuckDBPyConnection, table: Table, plan: TablePlan, limits: PlanLimits | None = None
) -> PlanResult:
    """Run a plan over its table. Uses a cursor of its own, so several may run at once.

    Raises PlanError for a plan that does not fit the table, QueryError when it takes too long or too much memory,
    StoreError when the table cannot be read.
    """
    bounds = limits or PlanLimits()
    check_plan(plan, table)
    if plan.task is Task.DESCRIBE:
        rows = [(column.name, column.type.value, column.distinct, column.empty) for column in table.columns]
        return PlanResult(headings(plan, table), rows, table.rows, ())
    writer = PlanSql(table)
    with _reading(connection, bounds.seconds) as cursor:
        found = _fetch(cursor, writer.statement(plan, bounds.rows + 1))
        count, ignored, samples = _fetch(cursor, writer.facts(plan))[0]
    truncated = len(found) > bounds.rows
    found = found[: bounds.rows]
    numbers: Sequence[int] = [int(number) for number in samples or ()]
    if plan.task is Task.LIST and not plan.distinct:
        numbers = [int(row[0]) for row in found]
        found = [row[1:] for row in found]
    if plan.task is Task.COMPARE:
        found = _against([(side.label, *row[1:]) for side, row in zip(plan.sides, found, strict=True)])
    return PlanResult(headings(plan, table), found, int(count), numbers, int(ignored), truncated)


def _against(rows: list[tuple[Cell, ...]]) -> list[tuple[Cell, ...]]:
    """Each side with its difference from the first, also in percent."""
    first = _number(rows[0][1])
    out = []
    for place, row in enumerate(rows):
        value = _number(row[1])
        known = place > 0 and first is not None and value is not None
        difference = value - first if known and first is not None and value is not None else None
        percent = 100 * difference / abs(first) if difference is not None and first else None
        out.append((*row, difference, percent))
    return out


def _number(cell: Cell) -> float | None:
    return float(cell) if isinstance(cell, int | float | Decimal) and not isinstance(cell, bool) else None


AGAIN_SECONDS = 0.02


def _fetch(cursor: duckdb.DuckDBPyConnection, statement: SqlStatement) -> list[tuple[Cell, ...]]:
    return cursor.execute(statement.text, statement.values).fetchall()


@contextmanager
def _reading(connection: duckdb.DuckDBPyConnection, seconds: float) -> Iterator[duckdb.DuckDBPyConnection]:
    cursor = connection.cursor()
    clock = _Clock(cursor, seconds)
    try:
        cursor.execute("BEGIN TRANSACTION READ ONLY")
        with clock, on_stop(clock.stop):
            yield cursor
        cursor.execute("ROLLBACK")
    except duckdb.InterruptException as error:
        raise QueryError(
            f"The computation took longer than {seconds:g} seconds and was stopped.",
            hint="Ask for fewer rows, for example one month or one category.",
        ) from error
    except duckdb.OutOfMemoryException as error:
        raise QueryError("The computation needs more memory than it may use.", hint="Ask for fewer groups.") from error
    except (duckdb.OutOfRangeException, duckdb.ConversionException) as error:
        raise QueryError(
            f"The table's values cannot be computed with: {error}", hint="Ask for another column."
        ) from error
    except duckdb.Error as error:
        raise StoreError(f"The table could not be read: {error}", hint="Feed the table again.") from error
    finally:
        cursor.close()


class _Clock:
    """Interrupts a cursor after so many seconds or when told to, until the block ends.

    One interrupt is not enough: it is lost when it comes between two statements.
    """

    def __init__(self, cursor: duckdb.DuckDBPyConnection, seconds: float) -> None:
        self._cursor = cursor
        self._seconds = seconds
        self._due = threading.Event()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def stop(self) -> None:
        """Do not wait any longer."""
        self._due.set()

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._due.set()
        self._thread.join()

    def _watch(self) -> None:
        self._due.wait(self._seconds)
        while not self._over.wait(AGAIN_SECONDS):
            self._cursor.interrupt()
