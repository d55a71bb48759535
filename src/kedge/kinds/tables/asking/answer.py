"""A question over a table, answered by computing: understand, settle between readings, run, put into words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import duckdb

from kedge.core.errors import QueryError
from kedge.kinds.tables.asking.understand import SURE, UnderstoodTable, understand
from kedge.kinds.tables.asking.vocabulary import Vocabulary
from kedge.kinds.tables.plans.execute import PlanLimits, PlanResult, execute
from kedge.kinds.tables.plans.phrase import Chart, chart, phrase
from kedge.kinds.tables.plans.plan import Filter, TablePlan
from kedge.kinds.tables.plans.plan_text import plan_text, steps

RIVAL = 0.45
"""Chance of each of several readings of the same words, of what the words are sure."""
MOST_RIVALS = 2
_NOTHING = 0.5
"""What remains of `sure` when a loose match leads to no rows at all."""


@dataclass(frozen=True, slots=True)
class Computed:
    """What came of a question. Without `result`, use retrieval and show `understood.why`."""

    understood: UnderstoodTable
    result: PlanResult | None = None
    text: str = ""
    """The answer as a sentence."""
    plan_text: str = ""
    steps: Sequence[str] = ()
    chart: Chart | None = None
    others: Sequence[Computed] = ()
    """Other readings of the words that give another answer, as likely as this one or nearly so."""


def compute(
    connection: duckdb.DuckDBPyConnection,
    vocabulary: Vocabulary,
    question: str,
    *,
    within: tuple[Filter, ...] | None = (),
    limits: PlanLimits | None = None,
    sure: float = SURE,
) -> Computed:
    """Answer a question exactly, or say why it cannot be: the result is None below `sure`. Raises as `execute`.

    `within` are filters that every reading gets; None: filters that no plan can have, so that nothing is computed.
    """
    understood = understand(question, vocabulary)
    if understood.plan is None or understood.sure < sure:
        text = plan_text(understood.plan, vocabulary.table) if understood.plan else ""
        return Computed(understood, plan_text=text)
    if within is None:
        return Computed(replace(understood, why="The filter of the request cannot be part of a plan."))
    understood = _narrowed(understood, within)
    assert understood.plan is not None
    result = execute(connection, vocabulary.table, understood.plan, limits)
    before = understood.sure
    understood, rivals = settle(connection, vocabulary, understood, result, limits)
    if max(understood.sure, RIVAL * before if rivals else 0.0) < sure:
        return Computed(understood, plan_text=plan_text(understood.plan or TablePlan(), vocabulary.table))
    others = tuple(
        run(vocabulary, replace(understood, plan=plan, sure=round(RIVAL * before, 3), ambiguities=()), found)
        for plan, found in rivals[:MOST_RIVALS]
    )
    if others and understood.sure < SURE:
        understood = replace(understood, sure=max(understood.sure, round(RIVAL * before, 3)))
    return replace(run(vocabulary, understood, result), others=others)


def _narrowed(understood: UnderstoodTable, within: tuple[Filter, ...]) -> UnderstoodTable:
    def narrower(plan: TablePlan) -> TablePlan:
        return replace(plan, filters=(*plan.filters, *within))

    if not within or understood.plan is None:
        return understood
    others = tuple(narrower(plan) for plan in understood.alternatives)
    return replace(understood, plan=narrower(understood.plan), alternatives=others)


def run(vocabulary: Vocabulary, understood: UnderstoodTable, result: PlanResult) -> Computed:
    """A result in words."""
    plan, table = understood.plan or TablePlan(), vocabulary.table
    return Computed(
        understood,
        result,
        phrase(plan, table, result),
        plan_text(plan, table),
        steps(plan, table),
        chart(plan, table, result),
    )


def settle(
    connection: duckdb.DuckDBPyConnection,
    vocabulary: Vocabulary,
    understood: UnderstoodTable,
    result: PlanResult,
    limits: PlanLimits | None = None,
) -> tuple[UnderstoodTable, Sequence[tuple[TablePlan, PlanResult]]]:
    """Run the other readings: if all give the same rows, it does not matter which was meant; else be less sure.

    Returns what is understood now, and the readings with another answer, each once.
    """
    rivals: list[tuple[TablePlan, PlanResult]] = []
    notes: list[str] = []
    sure = understood.sure
    if result.row_count == 0 and understood.loose:
        sure *= _NOTHING
        notes.append("nothing in the table fits what the words were taken for")
    for plan, leaves in zip(understood.alternatives, understood.leaves, strict=True):
        try:
            other = execute(connection, vocabulary.table, plan, limits)
        except QueryError as error:
            notes.append(error.message)
            continue
        if not other.row_count or _names(understood.plan, result) == _names(plan, other):
            continue
        sure *= leaves
        if all(_names(plan, other) != _names(one, found) for one, found in rivals):
            rivals.append((plan, other))
        text = phrase(plan, vocabulary.table, other)
        notes.append(f"another reading ({plan_text(plan, vocabulary.table)}) gives: {text}")
    if not notes:
        return understood, ()
    why = "; ".join(filter(None, (understood.why, *notes)))
    settled = replace(understood, sure=round(sure, 3), why=why, ambiguities=(*understood.ambiguities, *notes))
    return settled, rivals


def _names(plan: TablePlan | None, result: PlanResult) -> object:
    """What two readings must agree on: which thing comes first, else all figures."""
    if plan and plan.limit == 1 and plan.groups:
        return [row[0] for row in result.rows]
    if plan and plan.sides:
        figures = [(str(row[1]), str(row[0])) for row in result.rows]
        return [name for _, name in sorted(figures)]
    return result.rows
