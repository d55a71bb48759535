"""Whether the rows of an answer hold the figures of SQL that a person wrote."""

from __future__ import annotations

import math
from datetime import date, datetime
from typing import Any


def flat(cell: Any) -> Any:
    """Cells in one form, so that 3 and 3.0, a day and its midnight are the same."""
    if isinstance(cell, datetime):
        return cell.date().isoformat()
    if isinstance(cell, date):
        return cell.isoformat()
    if isinstance(cell, bool) or cell is None:
        return str(cell)
    try:
        return float(cell)
    except (TypeError, ValueError):
        return str(cell)


def close(one: Any, two: Any) -> bool:
    if isinstance(one, float) and isinstance(two, float):
        return math.isclose(one, two, rel_tol=1e-6, abs_tol=1e-9)
    return bool(one == two)


def right(question: dict[str, Any], gold: list[tuple[Any, ...]], rows: list[tuple[Any, ...]]) -> bool:
    """Whether the answer's rows hold the figures of the hand-written SQL."""
    cells = question.get("cells", "all")
    wanted = [[flat(cell) for cell in row] for row in gold]
    if cells == "last":
        wanted = [row[-1:] for row in wanted]
    if cells == "first":
        wanted = [row[:1] for row in wanted]
    given = [[flat(cell) for cell in row] for row in rows]
    if cells == "any":
        every = [cell for row in given for cell in row]
        return all(
            isinstance(cell, float) and any(close(abs(cell), abs(other)) for other in every if isinstance(other, float))
            for row in wanted
            for cell in row
        )
    if len(wanted) != len(given):
        return False
    if not question.get("ordered"):
        pool = list(given)
        for row in wanted:
            match = next((other for other in pool if holds(other, row)), None)
            if match is None:
                return False
            pool.remove(match)
        return True
    return all(holds(other, row) for row, other in zip(wanted, given, strict=True))


def holds(given: list[Any], wanted: list[Any]) -> bool:
    return all(any(close(cell, other) or weekday(cell, other) for other in given) for cell in wanted)


def weekday(cell: Any, other: Any) -> bool:
    """A day of the week by name and by number."""
    names = "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split()
    return isinstance(cell, str) and cell in names and isinstance(other, float) and names.index(cell) + 1 == other
