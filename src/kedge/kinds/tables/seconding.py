"""A plan and readings of a large table beside each other: which is the answer, or which are shown.

Plans are rules, readings are learned; they fail in different places. Where both say the same, that is sure. Where they
do not, a plan is sure only if every word has its place, the question says the operation, and no reading is likely.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from kedge.kinds.tables.asking.answer import Computed
from kedge.kinds.tables.asking.understand import SURE
from kedge.kinds.tables.choosing import (
    AGREED,
    APART,
    HALF,
    SECONDED,
    SHOWN,
    UNIQUE,
    Offer,
    Offers,
    beyond,
    gives_all,
    of_sides,
    rivals_of,
)
from kedge.kinds.tables.plans.plan import Func, Op, TablePlan, Task
from kedge.kinds.tables.schema import Table

CERTAIN = 0.95
"""From here on a plan needs no second: only a reading that is likely and leaves no word unused puts it in doubt."""
LIKELY = 0.85
ALONE = 0.92
"""Least chance of a reading to be sure where there is no plan: readings were learned from other tables."""
AHEAD = 0.2
"""By so much a plan that is less certain has to be surer than the likeliest reading that says otherwise."""
NAMING = 0.5
"""Share of different values from which on a column names single things, of which sums mean little."""
_SUMMED = re.compile(
    r"\b(total|sum|how many|how much|combined|altogether|together|overall|all|amount|number|more|less|sold|share)\b"
)
_ROWS = re.compile(r"\b(rows?|entr(?:y|ies)|records?|lines?|times|often|results?|appearances?)\b")
_PERSON = re.compile(r"^\s*who(se|m)?\b", re.IGNORECASE)
_COUNTED = re.compile(r"\b(?:most|fewest|least|more|highest number of|largest number of) (?:\w+ )?(\w+)", re.IGNORECASE)


def choose_large(
    computed: Computed, readings: Sequence[Offer], sure: bool, left: Sequence[str], table: Table
) -> Offers:
    """Weigh the plan, if there is one, beside the readings, likeliest first; `sure` and `left` are of the readings."""
    understood = computed.understood
    if computed.result is None or not computed.result.row_count:
        certain = sure and bool(readings) and readings[0].chance >= ALONE and not left
        certain = certain and gives_all(understood.question, _plan(readings[0]), table)
        return Offers(readings[:SHOWN], certain, left or understood.unmatched)
    own = Offer(understood.sure, computed)
    alike = [own.values, *map(frozenset, of_sides(computed))]
    same = next((one for one in readings if one.values in alike), None)
    if readings and _names_it(own, readings[0]) and sure and not left:
        first = replace(readings[0], chance=max(AGREED, readings[0].chance))
        return Offers([first, *readings[1:]][:SHOWN], True, ())
    others = [one for one in readings if one is not same]
    agreed = same is not None and same is readings[0]
    seconded = same is not None and same.chance >= SECONDED and not understood.unmatched
    if agreed and (understood.sure >= SURE or seconded):
        chance = max(AGREED, same.chance if same else 0.0)
        certain = says_what_is_computed(understood.question, understood.plan, table)
        return Offers([Offer(chance if certain else APART, computed), *others][:SHOWN], certain, understood.unmatched)
    certain = (
        understood.sure >= SURE
        and (beyond(understood.plan, table) or _ahead(own, others, left))
        and says_what_is_computed(understood.question, understood.plan, table)
    )
    if certain:
        return Offers([own, *others][:SHOWN], True, understood.unmatched)
    doubt = understood.sure if computed.others else understood.sure * HALF
    chance = max(same.chance if same else 0.0, APART if understood.sure >= SURE else doubt)
    rivals = [one for one in rivals_of(computed) if all(one.values != other.values for other in others)]
    offers = sorted([Offer(chance, computed), *rivals, *others], key=lambda one: -one.chance)
    return Offers(offers[:SHOWN], False, understood.unmatched or left)


def unsaid(offers: Offers, computed: Computed, table: Table) -> Offers:
    """The offers, but not sure of a plan that cannot be what the question asks for."""
    plan = computed.understood.plan
    said = says_what_is_computed(computed.understood.question, plan, table)
    return offers if said or not offers.sure else replace(offers, sure=False)


def _ahead(own: Offer, others: Sequence[Offer], left: Sequence[str]) -> bool:
    """Whether a plan is sure enough beside the readings that say otherwise; `left` is what the likeliest leaves."""
    rivals = [
        one
        for one in others
        if not (_counts_rows_instead(own, one) or _shows_one_row(own, one) or (left and _says_less(own, one)))
    ]
    if not rivals:
        return True
    if own.chance >= CERTAIN:
        return bool(left) or rivals[0].chance < LIKELY
    return own.chance >= rivals[0].chance + AHEAD


def _counts_rows_instead(own: Offer, other: Offer) -> bool:
    """Whether a reading counts rows where the plan counts the things that a noun of the question names.

    Which things rows are made of is nothing that readings were taught.
    """
    mine, theirs = _measured(own), _measured(other)
    return mine is Func.DISTINCT and theirs is Func.COUNT


def _shows_one_row(own: Offer, other: Offer) -> bool:
    """Whether a reading shows the name in one row where the plan compares what all rows of each name come to.

    In the small tables that readings were learned from a name has one row; in large ones it seldom has.
    """
    mine, theirs = _plan(own), _plan(other)
    together = mine is not None and (mine.task is Task.COMPARE or bool(mine.groups))
    return together and theirs is not None and theirs.task is Task.LIST and theirs.limit == 1


def _says_less(own: Offer, other: Offer) -> bool:
    """Whether a reading is the plan with some of its conditions left out, where words of the question are left out."""
    mine, theirs = _plan(own), _plan(other)
    if mine is None or theirs is None or not set(theirs.filters) < set(mine.filters):
        return False
    return replace(mine, filters=()) == replace(theirs, filters=())


def _names_it(own: Offer, other: Offer) -> bool:
    """Whether a reading shows the row with the highest or lowest figure, of which the plan gives the figure alone."""
    mine, theirs = _plan(own), _plan(other)
    if mine is None or theirs is None or mine.groups or len(mine.measures) != 1:
        return False
    if theirs.task is not Task.LIST or theirs.order is None:
        return False
    high = {Func.MAX: True, Func.MIN: False}.get(mine.measures[0].func)
    same = mine.measures[0].column == theirs.order.column and set(mine.filters) == set(theirs.filters)
    return same and theirs.limit == 1 and high is theirs.order.descending


def _plan(offer: Offer) -> TablePlan | None:
    return offer.plan.understood.plan if offer.plan is not None else None


def _parts_of_things(table: Table) -> bool:
    """Whether a column called `id` comes up again and again: then rows are no things, and counting them counts none."""
    ids = [column for column in table.columns if column.name.strip().lower() == "id"]
    return any(column.distinct < UNIQUE * (table.rows - column.empty) for column in ids)


def _measured(offer: Offer) -> Func | None:
    plan = _plan(offer)
    return plan.measures[0].func if plan is not None and plan.measures else None


def says_what_is_computed(question: str, plan: TablePlan | None, table: Table) -> bool:
    """Whether what the plan gives can be what the question asks for.

    Figures of things with one name are not added up unless a word says so; a column of figures is not listed value by
    value; "who" is not answered by what is counted ("who was in the most meets" asks for no meet); a total is not the
    figure of one row, and the top five are not one.
    """
    if plan is None or not gives_all(question, plan, table):
        return False
    lower = question.lower()
    named = any(table.column(one.column).distinct > NAMING * table.rows for one in plan.filters if one.op is Op.IS)
    if plan.task is Task.LIST and plan.distinct and not named:
        return not any(table.column(field).type.measured for field in plan.columns)
    measure = plan.measures[0] if plan.measures else None
    if plan.task is Task.AGGREGATE and measure is not None and measure.func is Func.SUM and not plan.groups:
        single = any(table.column(one.column).distinct > NAMING * table.rows for one in plan.filters)
        if single and not _SUMMED.search(lower):
            return False
    if measure is not None and measure.func is Func.COUNT and _parts_of_things(table) and not _ROWS.search(lower):
        return False
    counted = _COUNTED.search(lower)
    if plan.groups and _PERSON.search(question) and counted:
        name = table.column(plan.groups[0].column).name.lower()
        return counted[1].rstrip("s") not in name
    return True
