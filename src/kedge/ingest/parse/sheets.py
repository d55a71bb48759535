"""Workbooks to document tables by calamine: a section a sheet, a table for each stretch of filled rows."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime, time, timedelta
from typing import TYPE_CHECKING

import python_calamine

from kedge.core.errors import EmptySourceError, EncryptedError, UnreadableError
from kedge.core.values import Json, ParsedDocument
from kedge.ingest.parse.archive import opened
from kedge.ingest.parse.rows import counted, write_rows
from kedge.ingest.parse.writer import TextWriter, one_line

if TYPE_CHECKING:
    from kedge.ingest.sources.source import Source

_PADDED = re.compile(rb"(?<=<v>)\s{1,64}|\s{1,64}(?=</v>)")


def parse_sheets(source: Source) -> ParsedDocument:
    """Sheets in their order; `page` is the number of the sheet. Raises SourceFault."""
    writer = TextWriter()
    cells = 0
    warnings: list[str] = []
    failed: python_calamine.CalamineError | None = None
    mended: python_calamine.CalamineWorkbook | None = None
    try:
        with source.open() as stream, python_calamine.load_workbook(stream) as book:
            names = book.sheet_names
            for number, name in enumerate(names, 1):
                try:
                    try:
                        rows = book.get_sheet_by_name(name).to_python(skip_empty_area=True)
                    except python_calamine.CalamineError:
                        mended = mended or _without_padding(source)
                        rows = mended.get_sheet_by_name(name).to_python(skip_empty_area=True)
                except python_calamine.CalamineError as error:
                    failed = error
                    warnings.append(f"The sheet {name!r} could not be read ({error}).")
                    continue
                texts = [[shown(cell) for cell in row] for row in rows]
                cells = counted(texts, source.name, cells)
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


def _without_padding(source: Source) -> python_calamine.CalamineWorkbook:
    """The workbook with its numbers bare: some programs write them with spaces, which Excel reads and calamine not.

    Raises CalamineError where it is no workbook of XML.
    """
    out = io.BytesIO()
    try:
        with opened(source, "workbook") as package, zipfile.ZipFile(out, "w") as copy:
            for member in package.members:
                data = package.read(member)
                copy.writestr(member, _PADDED.sub(b"", data) if member.startswith("xl/worksheets/") else data)
    except UnreadableError as error:
        raise python_calamine.CalamineError(error.message) from error
    out.seek(0)
    return python_calamine.load_workbook(out)


def _only_title(names: Sequence[str]) -> str | None:
    """The name of the only sheet where somebody gave it one; the file's name says more than `Sheet1`."""
    named = [name for name in names if not name.lower().startswith(("sheet", "tabelle", "feuil", "hoja", "foglio"))]
    return named[0] if len(names) == 1 and named else None


def _sheet(writer: TextWriter, name: str, rows: Sequence[Sequence[str]]) -> None:
    if not any(any(row) for row in rows):
        return
    writer.heading(1, name)
    write_rows(writer, rows)


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
