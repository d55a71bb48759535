"""Values between commas, semicolons, tabs or bars, a row a line, to document tables."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator
from itertools import islice

from kedge.core.errors import EmptySourceError, UnreadableError
from kedge.core.values import ParsedDocument
from kedge.ingest.parse.rows import counted, write_rows
from kedge.ingest.parse.writer import TextWriter, one_line

SEPARATORS = ",;\t|"
LONGEST_CELL = 1 << 20
"""Characters; a longer one is a quote that nobody closed."""
_TRIED = 50
"""Rows that are looked at for the separator."""


def parse_delimited(text: str, name: str) -> ParsedDocument:
    """The rows as the tables of a document without sections. Raises SourceFault."""
    csv.field_size_limit(LONGEST_CELL)
    try:
        separator = _separator(text)
        rows = [[one_line(cell) for cell in row] for row in _read(text, separator)]
    except csv.Error as error:
        raise UnreadableError(
            f"{name} is no table of separated values: {error}.", hint="Close its quotes, or save it as a workbook."
        ) from error
    if not counted(rows, name):
        raise EmptySourceError(f"{name} holds no cells.", hint="Remove it, or fill it and ingest again.")
    writer = TextWriter()
    write_rows(writer, rows)
    return writer.document()


def _separator(text: str) -> str:
    """The one that cuts most of the first rows into equally many cells, of which there are several."""

    def even(separator: str) -> tuple[int, int]:
        widths = Counter(len(row) for row in islice(_read(text, separator), _TRIED) if row)
        return max(((count, width) for width, count in widths.items() if width > 1), default=(0, 0))

    return max(SEPARATORS, key=even)


def _read(text: str, separator: str) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=separator, skipinitialspace=True)
