"""Rows of cells to document tables: a table for each stretch of filled rows, with what stands above its columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from kedge.core.errors import SourceTooLargeError
from kedge.ingest.parse.writer import TextWriter

_NOTES = 4
"""Rows in which the header has to stand, and that have to follow it."""
MAX_CELLS = 200_000
"""Filled cells of a document; a larger one is data, which questions should compute over."""
AS_TABLE = "It is data: take it in as kind `table`; questions are then computed over its rows."


def counted(rows: Sequence[Sequence[str]], name: str, before: int = 0) -> int:
    """The filled cells of these rows and of those before. SourceTooLargeError where they are data."""
    cells = before + sum(bool(text) for row in rows for text in row)
    if cells > MAX_CELLS:
        raise SourceTooLargeError(f"{name} holds over {MAX_CELLS:,} cells.", hint=AS_TABLE)
    return cells


def write_rows(writer: TextWriter, rows: Sequence[Sequence[str]]) -> None:
    """Write them as tables; rows of one cell above a table, and notes above its header, are paragraphs."""
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
