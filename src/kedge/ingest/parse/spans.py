"""Rows of cells of which some reach over several rows or columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class SpannedCell:
    """A cell with how many further rows and columns it reaches over."""

    text: str
    down: int = 0
    right: int = 0


MOST_COLUMNS = 1000


def laid_out(rows: Iterable[Sequence[SpannedCell]]) -> list[list[str]]:
    """Cells under their columns; one that reaches over rows or columns stands in each of them."""
    kept: dict[int, tuple[str, int]] = {}
    grid: list[list[str]] = []
    for row in rows:
        line: list[str] = []
        cells = iter(row)
        while len(line) < MOST_COLUMNS:
            column = len(line)
            text, more = kept.get(column, ("", 0))
            if more:
                kept[column] = (text, more - 1)
                line.append(text)
                continue
            cell = next(cells, None)
            if cell is None:
                break
            for offset in range(min(cell.right + 1, MOST_COLUMNS)):
                kept[column + offset] = (cell.text, cell.down)
                line.append(cell.text)
        grid.append(line)
    return grid
