"""Workbooks in a feed: every sheet is a file of its own, written as CSV by the process that parses."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from kedge.core.errors import EmptySourceError
from kedge.ingest.apart.limits import ParseLimits
from kedge.ingest.apart.pool import workbook_apart
from kedge.ingest.apart.workbook import workbook_to_csv

WORKBOOKS = (".xlsx", ".xlsm", ".xlsb", ".ods", ".xls")
Sheet = tuple[str, Path, object]
"""Name, its rows as CSV, and what keeps that file there."""


def sheets_of(path: Path, name: str, size: int, limits: ParseLimits | None) -> Iterator[Sheet]:
    """The sheets with rows, in their order. Raises SourceFault, EmptySourceError where there is none."""
    folder = tempfile.TemporaryDirectory(prefix="kedge-sheets-")
    if limits is None:
        found = workbook_to_csv(str(path), folder.name, name)
    else:
        found = workbook_apart(path, Path(folder.name), name, size, limits)
    if not found:
        raise EmptySourceError(f"{name} holds no rows.", hint="Feed a sheet with a header and at least one row.")
    for sheet, file, _ in found:
        yield sheet, Path(file), folder
