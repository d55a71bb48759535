"""Writes a document's text while its parser walks it: clean markdown with its blocks, so that all formats read alike.

Headings stand behind `#`, items behind `-` or a number, rows of tables between `|`, code between fences: statements,
places and passages then work as they do for markdown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from kedge.core.values import Block, BlockKind, Json, Link, ParsedDocument
from kedge.ingest.parse.listing import fenced

_SPACE = re.compile(r"\s+")
_BAR = "∣"
"""What stands for a `|` inside a cell, where it would part two."""
_DEEPEST = 6


class TextWriter:
    """Blocks in order, each a line apart from the one before it; `document` is what was written."""

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._blocks: list[Block] = []
        self._links: list[Link] = []
        self._open: list[tuple[int, str]] = []
        self._length = 0
        self._indent = ""
        self._mark = ""
        self._tight = False
        self.page: int | None = None
        """Page, slide or sheet that is being written."""

    @property
    def path(self) -> tuple[str, ...]:
        """Titles of the open sections, outermost first."""
        return tuple(title for _, title in self._open if title)

    @property
    def level(self) -> int:
        """Of the innermost open section; 0 above all."""
        return self._open[-1][0] if self._open else 0

    @property
    def blank(self) -> bool:
        """Whether nothing was written yet."""
        return not self._parts

    def heading(self, level: int, title: str) -> None:
        """Enter a section; it closes all of the same or a deeper level."""
        title = one_line(title)
        self.leave(level)
        if title:
            level = min(max(level, 1), _DEEPEST)
            self._open.append((level, title.replace("`", "")))
            self._write(BlockKind.HEADING, f"{'#' * level} {title}", level)

    def leave(self, level: int) -> None:
        """Close all sections of this or a deeper level without a new heading."""
        while self._open and self._open[-1][0] >= level:
            self._open.pop()

    def paragraph(self, text: str, kind: BlockKind = BlockKind.PARAGRAPH) -> None:
        """Prose; inside of an item it belongs to the list."""
        lines = [_SPACE.sub(" ", line).strip() for line in text.split("\n")]
        self._write(BlockKind.LIST if self._indent or self._mark else kind, "\n".join(line for line in lines if line))

    def code(self, text: str, language: str = "") -> None:
        """A block between fences, its lines as they are."""
        body = text.expandtabs(4).strip("\n").rstrip()
        if not body.strip():
            return
        if self._mark:  # a fence does not stand behind the mark of an item
            self._write(BlockKind.LIST, "")
        self._write(BlockKind.CODE, fenced(body, language))

    def formula(self, text: str) -> None:
        """A formula on lines of its own."""
        if text.strip():
            self._write(BlockKind.FORMULA, f"$$\n{text.strip()}\n$$")

    def table(self, rows: Sequence[Sequence[str]], heads: int = 1, caption: str = "") -> None:
        """Rows of cells, the first `heads` of which name the columns; 0: nothing does. Empty rows are left out."""
        cells = [[one_line(cell).replace("|", _BAR) for cell in row] for row in rows]
        width = max((len(row) for row in cells), default=0)
        full = [[*row, *[""] * (width - len(row))] for row in cells]
        head, body = _one_row(full[:heads], width), [row for row in full[heads:] if any(row)]
        if width == 1 or not body:
            for row in [head, *body]:
                self.paragraph(" ".join(cell for cell in row if cell))
            return
        lines = [one_line(caption)] if caption else []
        lines += [_bars(head), f"|{' --- |' * width}", *map(_bars, body)]
        self._write(BlockKind.TABLE, "\n".join(lines))

    @contextmanager
    def item(self, mark: str) -> Iterator[None]:
        """What is written inside belongs to one item of a list, the first behind its mark (`-`, `1.`)."""
        indent, pending = self._indent, self._mark
        if pending:
            self._write(BlockKind.LIST, "")
        self._mark, self._tight = f"{self._indent}{mark} ", True
        self._indent += "  "
        try:
            yield
        finally:
            self._indent, self._mark, self._tight = indent, "", True

    def end_list(self) -> None:
        """The next block stands apart from the items before it."""
        self._tight = False

    def link(self, text: str, target: str) -> None:
        """A link in what is written next."""
        if one_line(text) and target and not target.startswith(("#", "javascript:")):
            self._links.append(Link(one_line(text), target, self._length))

    def document(
        self,
        title: str | None = None,
        author: str | None = None,
        metadata: dict[str, Json] | None = None,
        warnings: Sequence[str] = (),
    ) -> ParsedDocument:
        """What was written; the title is by default that of the first heading."""
        first = next((block.section[-1] for block in self._blocks if block.kind is BlockKind.HEADING), None)
        text = "".join(self._parts)
        links = tuple(Link(link.text, link.target, min(link.start, len(text))) for link in self._links)
        return ParsedDocument(
            text, tuple(self._blocks), title or first, author, links, dict(metadata or {}), tuple(warnings)
        )

    def _write(self, kind: BlockKind, text: str, level: int = 0) -> None:
        if not text.strip() and not self._mark:
            return
        lines = text.split("\n")
        indent = "" if kind is BlockKind.HEADING else self._indent
        first = self._mark or indent
        written = "\n".join(f"{first if at == 0 else indent}{line}".rstrip() for at, line in enumerate(lines))
        in_list = kind is BlockKind.LIST and bool(self._blocks) and self._blocks[-1].kind is BlockKind.LIST
        together = in_list and self._tight and bool(self._mark)
        if self._parts:
            self._put("\n" if together else "\n\n")
        start = self._length + (0 if kind in (BlockKind.CODE, BlockKind.LIST) else len(written) - len(written.lstrip()))
        self._put(written)
        last = self._blocks[-1] if self._blocks else None
        if together and last is not None and last.section == self.path and last.page == self.page:
            self._blocks[-1] = Block(last.kind, last.start, self._length, last.section, last.page)
        else:
            self._blocks.append(Block(kind, start, self._length, self.path, self.page, level))
        self._mark = ""

    def _put(self, text: str) -> None:
        self._parts.append(text)
        self._length += len(text)


def one_line(text: str) -> str:
    """The text with every stretch of white space as one blank."""
    return _SPACE.sub(" ", text).strip()


def _one_row(heads: Sequence[Sequence[str]], width: int) -> list[str]:
    """Several header rows as one: what stands above each other, each word once."""
    return [" ".join(dict.fromkeys(row[column] for row in heads if row[column])) for column in range(width)]


def _bars(row: Sequence[str]) -> str:
    return f"| {' | '.join(row)} |"
