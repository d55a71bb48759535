"""What is quoted together with a statement: the list that it announces or is part of, the code that follows it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from kedge.answer.evidence import Stated
from kedge.text.form import ShapeKind
from kedge.text.statements.statement import Statement

LONGEST_LIST = 14
STEP = re.compile(r"(\d{1,3})[.)]\s*\Z")
"""What stands before an item of a numbered list."""


@dataclass(frozen=True, slots=True)
class Pick:
    """A statement that is to be quoted, with what belongs to it."""

    passage: int
    statement: Statement
    cell: int | None = None
    with_code: Statement | None = None
    """The code that it announces."""
    in_list: bool = False
    of_before: str = ""
    """The time of the older document that it is from, where a newer one says something else."""


def with_company(one: Stated, form: ShapeKind, made: Sequence[Statement], whole: bool) -> list[Pick]:
    """The statement with what belongs to it: the list that it announces or is part of, the code that it announces.

    `whole`: of a list, all of its items.
    """
    statement = one.statement
    place = next((at for at, other in enumerate(made) if other.start == statement.start), None)
    picks: list[Pick] = []
    if place is not None and statement.kind == "sentence":
        picks = _announced(one, form, made, place)
    elif place is not None and statement.kind == "item" and whole:
        picks = _whole_list(one, made, place)
    elif place and statement.kind in ("code", "formula") and made[place - 1].kind == "sentence":
        picks = [Pick(one.passage, made[place - 1], with_code=statement)]
    return picks or [pick_of(one)]


def _announced(one: Stated, form: ShapeKind, made: Sequence[Statement], place: int) -> list[Pick]:
    """A sentence with the code or the list behind it."""
    following = made[place + 1] if place + 1 < len(made) else None
    announces = one.statement.read.rstrip().endswith((":", "："))
    if following is None:
        return []
    if (following.kind == "code" and (announces or form == "how")) or (following.kind == "formula" and announces):
        return [Pick(one.passage, one.statement, with_code=following)]
    if following.kind == "item" and announces:
        return [pick_of(one), *items_from(one.passage, made, place + 1)]
    return []


def _whole_list(one: Stated, made: Sequence[Statement], place: int) -> list[Pick]:
    """An item with the others of its list, and what announces them."""

    def belongs(other: Statement) -> bool:
        return other.kind == "item" and other.lead == one.statement.lead

    first = place
    while first > 0 and (belongs(made[first - 1]) or (made[first - 1].kind == "code" and first > 1)):
        first -= 1
    while not belongs(made[first]):
        first += 1
    items = items_from(one.passage, made, first)
    if (
        len(items) < 2
        or all(item.statement != one.statement for item in items)
        or asks([item.statement for item in items])
    ):
        return []
    before = made[first - 1] if first else None
    lead = [Pick(one.passage, before)] if before is not None and before.read.rstrip().endswith(":") else []
    return [*lead, *items]


def asks(members: Sequence[Statement]) -> bool:
    """Whether a list is one of questions, as a table of contents may be: more than a third of it asks."""
    return 3 * sum(one.read.rstrip().endswith(("?", "？")) for one in members) > len(members)


def items_from(passage: int, made: Sequence[Statement], first: int) -> list[Pick]:
    """The items of one list from there on, each with the code that follows it."""
    found: list[Pick] = []
    for statement in made[first : first + LONGEST_LIST]:
        if statement.kind == "item" and statement.lead == made[first].lead:
            found.append(Pick(passage, statement, in_list=True))
        elif statement.kind == "code" and found and found[-1].with_code is None:
            found[-1] = replace(found[-1], with_code=statement)
        else:
            break
    return found


def is_step(text: str, statement: Statement) -> bool:
    """Whether an item is a step: one of a numbered list."""
    return statement.kind == "item" and STEP.search(text[max(0, statement.start - 6) : statement.start]) is not None


def taken(pick: Pick, picks: Sequence[Pick]) -> bool:
    def covers(other: Pick) -> bool:
        last = other.with_code or other.statement
        return other.passage == pick.passage and other.statement.start <= pick.statement.start < max(last.end, 1)

    return any(covers(other) for other in picks)


def pick_of(one: Stated) -> Pick:
    return Pick(one.passage, one.statement, one.cell)
