"""Workbooks to document tables by calamine: a section a sheet, a table for each stretch of filled rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

import python_calamine

from kedge.core.errors import EmptySourceError, EncryptedError, SourceTooLargeError, UnreadableError
from kedge.core.values import Json, ParsedDocument
from kedge.ingest.parse.writer import TextWriter, one_line

if TYPE_CHECKING:
    from kedge.ingest.sources.source import Source

_NOTES = 4
"""Rows in which the header has to stand, and that have to follow it."""
MAX_CELLS = 200_000
"""Filled cells of a workbook; a larger one is data, which questions should compute over."""


def parse_sheets(source: Source) -> ParsedDocument:
    """Sheets in their order; `page` is the number of the sheet. Raises SourceFault."""
    writer = TextWriter()
    cells = 0
    warnings: list[str] = []
    failed: python_calamine.CalamineError | None = None
    try:
        with source.open() as stream, python_calamine.load_workbook(stream) as book:
            names = book.sheet_names
            for number, name in enumerate(names, 1):
                try:
                    rows = book.get_sheet_by_name(name).to_python(skip_empty_area=True)
                except python_calamine.CalamineError as error:
                    failed = error
                    warnings.append(f"The sheet {name!r} could not be read ({error}).")
                    continue
                texts = [[shown(cell) for cell in row] for row in rows]
                cells += sum(bool(text) for row in texts for text in row)
                if cells > MAX_CELLS:
                    raise SourceTooLargeError(
                        f"{source.name} holds over {MAX_CELLS:,} cells.",
                        hint="It is data: take it in with `--kind table`, then questions are computed over its rows.",
                    )
                writer.page = number
                _sheet(writer, name, texts)
        if failed is not None and writer.blank:
            raise failed
    except python_calamine.PasswordError as error:
        raise EncryptedError(f"{source.name} wants a password.", hint="Save a copy without one.") from error
    except (python_calamine.CalamineError, OSError) as error:
        raise UnreadableError(
            f"{source.name} is damaged, or no workbook at all.",
            hint="Open it in the program that made it and save it again.",
        ) from error
    if writer.blank:
        raise EmptySourceError(f"{source.name} holds no cells.", hint="Remove it, or fill it and ingest again.")
    metadata: dict[str, Json] = {"sheets": list(names)}
    return replace(writer.document(metadata=metadata, warnings=warnings), title=_only_title(names))


def _only_title(names: Sequence[str]) -> str | None:
    """The name of the only sheet where somebody gave it one; the file's name says more than `Sheet1`."""
    named = [name for name in names if not name.lower().startswith(("sheet", "tabelle", "feuil", "hoja", "foglio"))]
    return named[0] if len(names) == 1 and named else None


def _sheet(writer: TextWriter, name: str, rows: Sequence[Sequence[str]]) -> None:
    if not any(any(row) for row in rows):
        return
    writer.heading(1, name)
    for stretch in _stretches(rows):
        lone = [row for row in stretch if sum(map(bool, row)) == 1]
        captions = 0
        while captions < len(stretch) and stretch[captions] in lone and captions < len(stretch) - 1:
            writer.paragraph(next(text for text in stretch[captions] if text))
            captions += 1
        captions += _above_head(stretch[captions:], writer)
        columns = [
            at for at in range(max(map(len, stretch))) if any(at < len(row) and row[at] for row in stretch[captions:])
        ]
        table = [[row[at] if at < len(row) else "" for at in columns] for row in stretch[captions:]]
        writer.table(table, heads=int(_is_head(table)))


def _above_head(rows: Sequence[Sequence[str]], writer: TextWriter) -> int:
    """How many rows stand above the first full one, whose names all later rows fill as well: notes, written as such."""
    width = max(map(len, rows))
    counts = [sum(map(bool, row)) for row in rows]
    head = next((at for at, count in enumerate(counts[:_NOTES]) if count == max(counts) and count > 1), 0)
    usual = sorted(counts[head:])[len(counts[head:]) // 2]
    named = not any(_is_figure(cell) for cell in rows[head] if cell)
    if not head or not named or len(rows) - head < _NOTES or usual < 0.7 * width:
        return 0
    for row in rows[:head]:
        writer.paragraph(" ".join(cell for cell in row if cell))
    return head


def _is_head(table: Sequence[Sequence[str]]) -> bool:
    """Whether the first row names the columns: words, where rows below have figures or as many words."""
    return len(table) > 1 and not any(_is_figure(cell) for cell in table[0] if cell)


def _is_figure(cell: str) -> bool:
    bare = cell.replace(",", "").replace("%", "").strip()
    try:
        float(bare)
    except ValueError:
        return False
    return not (bare.isdigit() and len(bare) == 4)  # a year names a column too


def _stretches(rows: Sequence[Sequence[str]]) -> Iterator[list[Sequence[str]]]:
    stretch: list[Sequence[str]] = []
    for row in rows:
        if any(row):
            stretch.append(row)
        elif stretch:
            yield stretch
            stretch = []
    if stretch:
        yield stretch


def shown(cell: object) -> str:
    """A cell as people read it: whole numbers without `.0`, dates without an empty time."""
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() and abs(cell) < 1e15 else f"{cell:.12g}"
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time() == time() else cell.isoformat(" ", "minutes")
    if isinstance(cell, (date, time, timedelta, int)):
        return str(cell)
    return one_line(cell) if isinstance(cell, str) else ""
