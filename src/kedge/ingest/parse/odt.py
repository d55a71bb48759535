"""OpenDocument texts and presentations to clean text and blocks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from kedge.core.errors import EmptySourceError, EncryptedError, UnreadableError
from kedge.core.values import Json, ParsedDocument
from kedge.ingest.parse.archive import Package, attribute, child, local, opened
from kedge.ingest.parse.spans import MOST_COLUMNS, SpannedCell, laid_out
from kedge.ingest.parse.writer import TextWriter

if TYPE_CHECKING:
    from kedge.ingest.sources.source import Source

_CODE = re.compile(r"preformatted|code|source|listing", re.IGNORECASE)
_THROUGH = frozenset(
    "section index-body text-box frame custom-shape g list-header table-header-rows illustration-index "
    "presentation text body".split()
)
_UNSEEN = frozenset(
    "tracked-changes sequence-decls forms annotation annotation-end table-of-content alphabetical-index note-citation "
    "bibliography soft-page-break variable-decls user-field-decls".split()
)


def parse_odt(source: Source) -> ParsedDocument:
    """Blocks in the order of the document. Raises SourceFault."""
    with opened(source, "OpenDocument file") as package:
        if b"encryption-data" in package.read("META-INF/manifest.xml"):
            raise EncryptedError(f"{source.name} wants a password.", hint="Save a copy without one and ingest that.")
        tree = package.xml("content.xml")
        body = child(tree, "body")
        if tree is None or body is None:
            raise UnreadableError(f"{source.name} holds no OpenDocument text.", hint="Save it again.")
        writer = _OdtWriter(tree)
        writer.blocks(body)
        known = _about(package)
    if writer.out.blank:
        raise EmptySourceError(f"{source.name} holds no text.", hint="Pictures of text are not read.")
    metadata: dict[str, Json] = {key: known[key] for key in ("subject", "keyword", "date") if key in known}
    return writer.out.document(known.get("title"), known.get("initial-creator") or known.get("creator"), metadata)


def _about(package: Package) -> dict[str, str]:
    meta = child(package.xml("meta.xml"), "meta")
    return {
        local(node): (node.text or "").strip()
        for node in (meta if meta is not None else ())
        if (node.text or "").strip()
    }


class _OdtWriter:
    def __init__(self, tree: Element) -> None:
        self.out = TextWriter()
        self._code_styles, self._numbered = _styles(tree)
        self._code: list[str] = []
        self._notes: list[Element] = []

    def blocks(self, parent: Element) -> None:
        """All blocks below an element, in order."""
        for node in parent:
            name = local(node)
            style = attribute(node, "style-name")
            if name == "p" and (style in self._code_styles or _CODE.search(style)):
                self._code.append("".join(self._text(node)))
                continue
            self._end_code()
            if name == "h":
                level = attribute(node, "outline-level")
                self.out.heading(int(level) if level.isdigit() else 1, "".join(self._text(node)))
            elif name == "p":
                self.out.paragraph("".join(self._text(node)))
                self._frames(node)
            elif name == "list":
                self._list(node, attribute(node, "style-name"))
                self.out.end_list()
            elif name == "table":
                self._table(node)
            elif name == "page":
                self._slide(node)
            elif name in _THROUGH:
                self.blocks(node)
        self._end_code()
        notes, self._notes = self._notes, []
        for note in notes:
            self.blocks(note)

    def _slide(self, node: Element) -> None:
        self.out.page = (self.out.page or 0) + 1
        frames = [frame for frame in node if local(frame) == "frame"]
        title = next((one for one in frames if attribute(one, "class") == "title"), None)
        named = " ".join("".join(self._text(p)) for p in title.iter() if local(p) == "p") if title is not None else ""
        self.out.heading(1, named or f"Slide {self.out.page}")
        for part in node:
            if part is not title and local(part) != "notes":
                self.blocks([part]) if local(part) in _THROUGH else None  # type: ignore[arg-type]
        notes = next((part for part in node if local(part) == "notes"), None)
        texts = ["".join(self._text(p)) for p in notes.iter() if local(p) == "p"] if notes is not None else []
        if any(text.strip() for text in texts):
            self.out.heading(2, "Notes")
            for text in texts:
                self.out.paragraph(text)

    def _frames(self, node: Element) -> None:
        for box in node.iter():
            if local(box) == "text-box":
                self.blocks(box)

    def _list(self, node: Element, style: str) -> None:
        numbered = style in self._numbered
        for number, item in enumerate((one for one in node if local(one) in ("list-item", "list-header")), 1):
            with self.out.item(f"{number}." if numbered else "-"):
                for part in item:
                    if local(part) == "list":
                        self._list(part, attribute(part, "style-name") or style)
                    elif local(part) in ("p", "h"):
                        self.out.paragraph("".join(self._text(part)))
                    elif local(part) == "table":
                        self._table(part)

    def _end_code(self) -> None:
        if self._code:
            self.out.code("\n".join(self._code))
            self._code = []

    def _text(self, node: Element) -> Iterator[str]:
        yield node.text or ""
        for part in node:
            name = local(part)
            if name == "s":
                count = attribute(part, "c")
                yield " " * min(int(count) if count.isdigit() else 1, 100)
            elif name == "tab":
                yield "\t"
            elif name == "line-break":
                yield "\n"
            elif name == "note":
                self._notes.extend(one for one in part if local(one) == "note-body")
            elif name == "a":
                text = "".join(self._text(part))
                self.out.link(text, attribute(part, "href"))
                yield text
            elif name not in _UNSEEN and name not in ("frame", "custom-shape"):
                yield from self._text(part)
            yield part.tail or ""

    def _table(self, node: Element) -> None:
        rows: list[list[SpannedCell]] = []
        heads = 0
        for row, is_head in _rows(node, False):
            heads += is_head
            cells: list[SpannedCell] = []
            for cell in row:
                if local(cell) not in ("table-cell", "covered-table-cell"):
                    continue
                text = " ".join("".join(self._text(p)) for p in cell.iter() if local(p) in ("p", "h"))
                again = attribute(cell, "number-columns-repeated")
                cells += [SpannedCell(text)] * min(int(again) if again.isdigit() else 1, MOST_COLUMNS)
            rows.append(_trimmed(cells))
        self.out.table(laid_out(rows), heads or 1)


def _trimmed(cells: list[SpannedCell]) -> list[SpannedCell]:
    while cells and not cells[-1].text.strip():
        cells.pop()
    return cells


def _rows(table: Element, head: bool) -> Iterator[tuple[Element, bool]]:
    for node in table:
        if local(node) == "table-row":
            yield node, head
        elif local(node) in ("table-header-rows", "table-rows", "table-row-group"):
            yield from _rows(node, head or local(node) == "table-header-rows")


def _styles(tree: Element) -> tuple[set[str], set[str]]:
    """Styles of paragraphs that are code, and of lists that are numbered."""
    code: set[str] = set()
    numbered: set[str] = set()
    automatic = child(tree, "automatic-styles")
    for style in automatic if automatic is not None else ():
        if local(style) == "style" and _CODE.search(attribute(style, "parent-style-name")):
            code.add(attribute(style, "name"))
        elif local(style) == "list-style" and any(
            local(level) == "list-level-style-number" and attribute(level, "level") == "1" for level in style
        ):
            numbered.add(attribute(style, "name"))
    return code, numbered
