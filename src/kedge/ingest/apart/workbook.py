"""Workbooks to CSV, a file for each sheet, by calamine: rows are written as they are read."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from pathlib import Path

import python_calamine

from kedge.core.errors import EncryptedError, SourceTooLargeError, UnreadableError
from kedge.ingest.parse.sheets import shown

MOST_SHEETS = 200
_ABOVE = 20
"""Rows in which the header has to begin; what stands alone above it is a title."""


def workbook_to_csv(path: str, folder: str, name: str) -> list[tuple[str, str, int]]:
    """Write every sheet with at least a header and a row; (sheet, file, rows) in their order. Raises SourceFault."""
    written: list[tuple[str, str, int]] = []
    try:
        with python_calamine.load_workbook(path) as book:
            if len(book.sheet_names) > MOST_SHEETS:
                raise SourceTooLargeError(f"{name} has over {MOST_SHEETS} sheets.", hint="Split it.")
            for number, sheet in enumerate(book.sheet_names):
                rows = _below_titles([shown(cell) for cell in row] for row in book.get_sheet_by_name(sheet).iter_rows())
                target = Path(folder) / f"{number}.csv"
                count = _write(rows, target)
                if count > 1:
                    written.append((sheet, str(target), count - 1))
    except python_calamine.PasswordError as error:
        raise EncryptedError(f"{name} wants a password.", hint="Save a copy without one.") from error
    except OSError as error:
        if error.errno == 27:  # EFBIG: the cap on what is written
            raise SourceTooLargeError(f"{name} unpacks to more than is allowed.", hint="Split it.") from error
        raise _damaged(name) from error
    except python_calamine.CalamineError as error:
        raise _damaged(name) from error
    return written


def _damaged(name: str) -> UnreadableError:
    return UnreadableError(
        f"{name} is damaged, or no workbook at all.", hint="Open it in the program that made it and save it again."
    )


def _below_titles(rows: Iterator[Sequence[str]]) -> Iterator[Sequence[str]]:
    """The rows from the first full one on; what stands above it holds fewer cells: titles and notes."""
    first = list(islice(rows, _ABOVE))
    counts = [sum(map(bool, row)) for row in first]
    usual = sorted(counts)[len(counts) // 2] if counts else 0
    begin = next((at for at, count in enumerate(counts) if count >= max(usual, 2)), 0)
    return chain(first[begin:], rows)


def _write(rows: Iterator[Sequence[str]], target: Path) -> int:
    """How many rows hold something; empty columns at the left and right edge are left out."""
    count, left, width = 0, 0, 0
    with target.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream)
        for row in rows:
            if not any(row):
                continue
            if not count:
                filled = [at for at, cell in enumerate(row) if cell]
                left, width = filled[0], filled[-1] - filled[0] + 1
            writer.writerow([*row[left : left + width], *[""] * (width - len(row[left : left + width]))])
            count += 1
    return count
