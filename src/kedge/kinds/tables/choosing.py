"""Plans of the whole table and readings of a small one beside each other: which is the answer, or which are shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from kedge.kinds.tables.asking.answer import Computed
from kedge.kinds.tables.asking.understand import SURE
from kedge.kinds.tables.finding.rowtext import as_json
from kedge.kinds.tables.plans.plan import Func, TablePlan, Task
from kedge.kinds.tables.readings.cells import canonical, written
from kedge.kinds.tables.readings.read import SheetAnswer, SheetReading
from kedge.kinds.tables.schema import Table

HALF = 0.5
"""What counts of the chance of a plan that is not sure by itself."""
SURE_PLAN = 0.6
"""From this chance on a plan that no reading could say is the answer."""
UNIQUE = 0.8
"""Share of different values from which on a column names rows, so that a group of it is one row."""
WORTH = 0.3
"""Least chance of the likeliest reading where none is sure; below it the nearest rows say more."""
SHOWN = 3
"""Readings that are shown when none is sure."""
AGREED = 0.95
"""Chance of a value that a plan and the likeliest reading give alike."""
LEFT_OUT = 0.6
"""What remains of a plan's chance for each word that it does not use."""
APART = 0.5
"""Chance of a plan where a reading that could say the same says something else."""


@dataclass(frozen=True, slots=True)
class Offer:
    """Something that the question may have meant, computed."""

    chance: float
    plan: Computed | None = None
    reading: SheetReading | None = None

    @property
    def values(self) -> frozenset[str]:
        """What two offers must share to be one."""
        if self.reading is not None:
            return frozenset(canonical(value) for value in self.reading.values)
        assert self.plan is not None
        return frozenset(_answers(self.plan))


@dataclass(frozen=True, slots=True)
class Offers:
    """All of them, likeliest first."""

    all: Sequence[Offer]
    sure: bool
    """Whether the first is the answer."""
    left: Sequence[str] = ()
    """Words that were not understood."""

    @property
    def worth_showing(self) -> bool:
        """Whether people would find what they meant among them, rather than in the nearest rows."""
        return bool(self.all) and (self.sure or self.all[0].chance >= WORTH)


def choose(computed: Computed, read: SheetAnswer | None, table: Table) -> Offers:
    """Weigh the plan, if there is one, beside the readings, if the table is small enough for them."""
    left = computed.understood.unmatched
    sure = computed.understood.sure >= SURE
    if read is None:
        planned = [Offer(computed.understood.sure, computed)] if computed.result is not None else []
        return Offers(planned, bool(planned) and sure, left)
    readings = [Offer(one.chance, reading=one) for one in read.readings]
    if computed.result is None or not computed.result.row_count:
        return Offers(readings, read.sure, read.left)
    if not sure:
        own = Offer(computed.understood.sure * HALF, computed)
        known = any(one.values == own.values for one in readings)
        return Offers(readings if known else _ordered([*readings, own]), read.sure, read.left)
    return _beside(computed, readings, read, beyond(computed.understood.plan, table))


def _beside(computed: Computed, readings: Sequence[Offer], read: SheetAnswer, alone: bool) -> Offers:
    """A plan and readings: alike, they are surer than each; else the plan counts where no reading could say it."""
    left = computed.understood.unmatched
    own = Offer(computed.understood.sure, computed)
    same = next((one for one in readings if one.values == own.values), None)
    others = [one for one in readings if one is not same]
    if same is not None and same is readings[0]:
        return Offers((Offer(max(AGREED, same.chance), computed), *others)[:SHOWN], True, left)
    if alone:
        chance = own.chance * LEFT_OUT ** len(left)
        sure = chance >= SURE_PLAN
        offers = [Offer(chance, computed), *others]
        return Offers(offers[:SHOWN] if sure else _ordered(offers), sure, left or read.left)
    chance = max(APART, same.chance) if same else APART
    if read.sure:
        return Offers([*others[:1], Offer(chance, computed), *others[1:]][:SHOWN], True, read.left)
    return Offers(_ordered([Offer(chance, computed), *others]), False, read.left)


def _ordered(offers: Sequence[Offer]) -> list[Offer]:
    return sorted(offers, key=lambda one: -one.chance)[:SHOWN]


def beyond(plan: TablePlan | None, table: Table) -> bool:  # noqa: PLR0911 (one line per case)
    """Whether no reading says what the plan does: groups, shares, sides, periods, arithmetic between columns."""
    if plan is None:
        return False
    if plan.task in (Task.SHARE, Task.COMPARE, Task.DESCRIBE) or plan.having or plan.tally:
        return True
    measure = plan.measures[0] if plan.measures else None
    if any(one.part for one in plan.filters) or len(plan.measures) > 1:
        return True
    if measure is not None and (measure.arithmetic or measure.per):
        return True
    if plan.task is Task.LIST:
        return plan.limit != 1 and (plan.limit is not None or len(plan.columns) != 1)
    if not plan.groups:
        return False
    column = table.column(plan.groups[0].column)
    counted = measure is not None and measure.func is Func.COUNT
    return plan.limit != 1 or (not counted and column.distinct < UNIQUE * table.rows)


def _answers(computed: Computed) -> set[str]:
    """The values of a plan's result in the form in which readings give theirs."""
    result, plan = computed.result, computed.understood.plan
    if result is None or plan is None:
        return set()
    named = bool(plan.groups or plan.task is Task.LIST)
    cells = [row[0] if named else row[-1] for row in result.rows if row]
    out = set()
    for cell in cells:
        value = as_json(cell)
        out.add(written(value) if isinstance(value, int | float) else canonical(str(value)))
    return out
