"""Plans of the whole table and readings of a small one beside each other: which is the answer, or which are shown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kedge.answer.sheets.asked import is_sentence
from kedge.answer.sheets.cells import canonical, written
from kedge.answer.sheets.read import SheetAnswer, SheetReading
from kedge.kinds.tables.asking.answer import Computed
from kedge.kinds.tables.asking.understand import SURE
from kedge.kinds.tables.finding.rowtext import as_json
from kedge.kinds.tables.plans.plan import Func, TablePlan, Task
from kedge.kinds.tables.schema import Table

HALF = 0.5
"""What counts of the chance of a plan that is not sure by itself."""
SURE_PLAN = 0.6
"""From this chance on a plan that no reading could say is the answer."""
UNIQUE = 0.8
"""Share of different values from which on a column names rows, so that a group of it is one row."""
LIKELY, SECONDED, CONTRADICTED = 0.45, 0.6, 0.8
"""Least chance of the likeliest reading to be sure: beside a sure plan that says the same, beside an unsure one that
does, against a sure one."""
RECURRING = 0.25
"""Share of different values up to which things of a column recur, so that they are fewer than rows."""
MANY, NAMED = 150, 0.7
"""Rows from which on a table of events is hardly one that was laid out on a page, and the share of different texts from
which on they name its rows."""
UNLIKE = 0.85
"""Least chance of a reading to be sure over a table that is unlike those it was learned from."""
WORTH = 0.3
"""Least chance of the likeliest reading where none is sure; below it the nearest rows say more."""
_MACHINE = re.compile(r"^\S*(?:[a-z0-9][A-Z]|[a-zA-Z0-9]_[a-zA-Z0-9])\S*$")
SHOWN = 3
"""Readings that are shown when none is sure."""
AGREED = 0.89
"""Chance of a value that a plan and the likeliest reading give alike."""
LEFT_OUT = 0.6
"""What remains of a plan's chance for each word that it does not use."""
APART = 0.5
"""Chance of a plan where a reading that could say the same says something else."""
_TOTALLED = re.compile(r"\b(total|sum|combined|altogether|in all)\b")
_SOME = re.compile(
    r"\b(?:top|first|bottom) (\d+)\b|\b(\d+) (?:most|least|highest|lowest|largest|smallest|best|worst)\b"
)


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


def choose(computed: Computed, read: SheetAnswer | None, table: Table, *, proposed: bool = False) -> Offers:
    """Weigh the plan, if there is one, beside the readings, if the table is small enough for them.

    On 980 questions over tables that were held out, a sure plan was right in 89 of 100 cases where the likeliest
    reading said the same, and in 10 where it said something else and could have said the plan's. A plan that a
    language model `proposed` is the answer where no reading is sure.
    """
    left = computed.understood.unmatched
    understood = computed.understood
    sure = understood.sure >= SURE and (proposed or gives_all(understood.question, understood.plan, table))
    if read is None:
        planned = [Offer(computed.understood.sure, computed)] if computed.result is not None else []
        return Offers([*planned, *rivals_of(computed)], bool(planned) and sure, left)
    readings = [Offer(one.chance, reading=one) for one in read.readings]
    records = is_records(table)
    certain = read.sure and (not records or (readings[0].chance >= UNLIKE and not read.left))
    if computed.result is None or not computed.result.row_count:
        return Offers(readings, certain, read.left)
    if sure and (records or not is_sentence(computed.understood.question)):
        return Offers([Offer(computed.understood.sure, computed), *readings][:SHOWN], True, left)
    if not sure and computed.others and not certain:
        first = Offer(computed.understood.sure, computed)
        given = {first.values, *(one.values for one in rivals_of(computed))}
        apart = [one for one in readings if one.values not in given]
        return Offers(_ordered([first, *rivals_of(computed), *apart]), False, left or read.left)
    if not sure:
        own = Offer(computed.understood.sure * HALF, computed)
        known = any(one.values == own.values for one in readings)
        alike = known and readings[0].values == own.values and readings[0].chance >= SECONDED
        return Offers(readings if known else _ordered([*readings, own]), certain or alike, read.left)
    alone = beyond(computed.understood.plan, table) or (proposed and not read.sure)
    return _beside(computed, readings, read, alone)


def rivals_of(computed: Computed) -> list[Offer]:
    """Other readings of the words of a plan, as offers."""
    return [Offer(one.understood.sure, one) for one in computed.others]


def _beside(computed: Computed, readings: Sequence[Offer], read: SheetAnswer, alone: bool) -> Offers:
    """A plan and readings: alike, they are surer than each; else the plan counts where no reading could say it."""
    left = computed.understood.unmatched
    own = Offer(computed.understood.sure, computed)
    alike = [own.values, *map(frozenset, of_sides(computed))]
    same = next((one for one in readings if one.values in alike), None)
    others = [one for one in readings if one is not same]
    if same is not None and same is readings[0] and same.chance >= LIKELY:
        chance = max(AGREED, same.chance)
        plain = same.values == own.values and not (computed.understood.plan and computed.understood.plan.groups)
        first = Offer(chance, computed) if plain else Offer(chance, reading=same.reading)
        return Offers((first, *others)[:SHOWN], True, left)
    if alone:
        chance = own.chance * LEFT_OUT ** len(left)
        sure = chance >= SURE_PLAN
        offers = [Offer(chance, computed), *others]
        return Offers(offers[:SHOWN] if sure else _ordered(offers), sure, left or read.left)
    chance = max(APART, same.chance) if same else APART
    if read.sure and others[:1] and others[0].chance >= CONTRADICTED:
        return Offers([*others[:1], Offer(chance, computed), *others[1:]][:SHOWN], True, read.left)
    return Offers(_ordered([Offer(chance, computed), *others]), False, read.left)


def _ordered(offers: Sequence[Offer]) -> list[Offer]:
    return sorted(offers, key=lambda one: -one.chance)[:SHOWN]


def is_records(table: Table) -> bool:
    """Whether a table is that of a program, not of a page, by its headings (unit_price, productID) or its rows.

    Plans were made for such tables, readings learned from the others; each is believed at home.
    """
    return _of_events(table) or any(_MACHINE.search(column.name.strip()) for column in table.columns)


def _of_events(table: Table) -> bool:
    """Whether a long table has a date in each row and no name of its own for each: payments, not places."""
    dated = any(column.type.dated and not column.yearly for column in table.columns)
    named = any(column.type.worded and column.distinct >= NAMED * table.rows for column in table.columns)
    return table.rows >= MANY and dated and not named


def beyond(plan: TablePlan | None, table: Table) -> bool:
    """Whether no reading says what the plan does: figures by group, the first few, shares, arithmetic of columns."""
    if plan is None:
        return False
    measure = plan.measures[0] if plan.measures else None
    if plan.task in (Task.SHARE, Task.DESCRIBE) or (measure is not None and (measure.arithmetic or measure.per)):
        return True
    if plan.limit is not None and plan.limit > 1:
        return True
    return _counts_recurring(plan, table) or _by_group(plan, table)


def _counts_recurring(plan: TablePlan, table: Table) -> bool:
    """Whether it counts things that come up again and again: not by rows, as things of a page's table are."""
    measure = plan.measures[0] if plan.measures else None
    if measure is None or measure.func is not Func.DISTINCT or measure.column is None or plan.groups:
        return False
    return table.column(measure.column).distinct <= RECURRING * table.rows


def _by_group(plan: TablePlan, table: Table) -> bool:
    """Whether it gives a figure for each of several rows' groups, or the group with the most in all."""
    measure = plan.measures[0] if plan.measures else None
    if plan.task is not Task.AGGREGATE or not plan.groups or plan.having or plan.tally:
        return False
    if plan.limit is None:
        return True
    added = measure is not None and measure.func in (Func.SUM, Func.AVERAGE, Func.MEDIAN)
    return added and table.column(plan.groups[0].column).distinct < UNIQUE * table.rows


def _answers(computed: Computed) -> set[str]:
    """The values of a plan's result in the form in which readings give theirs."""
    result, plan = computed.result, computed.understood.plan
    if result is None or plan is None:
        return set()
    named = bool(plan.groups or plan.task is Task.LIST)
    return {_form(row[0] if named else row[-1]) for row in result.rows if row}


def of_sides(computed: Computed) -> list[set[str]]:
    """What a comparison of two sides can answer: how far apart they are, which is higher, which is lower."""
    result, plan = computed.result, computed.understood.plan
    if result is None or plan is None or plan.task is not Task.COMPARE or len(result.rows) != 2:
        return []
    first, last = result.rows
    difference = last[-2]
    if not isinstance(difference, float) or difference == 0:
        return []
    names = (first[0], last[0]) if difference < 0 else (last[0], first[0])
    return [{_form(abs(difference))}, *({canonical(str(name))} for name in names)]


def _form(cell: object) -> str:
    value = as_json(cell)
    return written(value) if isinstance(value, int | float) else canonical(str(value))


def gives_all(question: str, plan: TablePlan | None, table: Table) -> bool:
    """Whether a plan adds up where a total is asked for, and shows as many as are asked for."""
    if plan is None:
        return True
    lower = question.lower()
    few = _SOME.search(lower)
    if few and int(few[1] or few[2]) > 1 and plan.limit != int(few[1] or few[2]):
        return False
    named = any(_TOTALLED.search(column.name.lower().replace("_", " ")) for column in table.columns)
    one = plan.task is Task.LIST and plan.limit == 1
    extreme = any(measure.func in (Func.MAX, Func.MIN) for measure in plan.measures)
    return named or not _TOTALLED.search(lower) or not (one or extreme)
