"""Word documents to clean text and blocks: headings, lists, tables, notes; without what was deleted or drawn."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from kedge.core.errors import EmptySourceError, UnreadableError
from kedge.core.values import Json, ParsedDocument
from kedge.ingest.parse.archive import Package, attribute, child, local, opened, properties
from kedge.ingest.parse.spans import SpannedCell, laid_out
from kedge.ingest.parse.writer import TextWriter

if TYPE_CHECKING:
    from kedge.ingest.sources.source import Source

_HEADING = re.compile(r"(?:heading|überschrift|titre|título|titolo|kop|rubrik)\s*(\d)", re.IGNORECASE)
_CODE = re.compile(r"code|source|preformatted|listing|macro text|html vorformatiert", re.IGNORECASE)
_UNSEEN = frozenset(("del", "moveFrom", "instrText", "delText", "Fallback", "fldData", "binData"))
_PROPERTIES = {"subject": "subject", "keywords": "keywords", "created": "created", "modified": "modified"}


def parse_docx(source: Source) -> ParsedDocument:
    """Blocks in the order of the document, its footnotes behind them. Raises SourceFault."""
    with opened(source, "Word document") as package:
        main = next((target for kind, target in package.related("").values() if kind == "officeDocument"), "")
        tree = package.xml(main or "word/document.xml")
        body = child(tree, "body")
        if body is None:
            raise UnreadableError(f"{source.name} holds no Word document.", hint="Save it as .docx again.")
        writer = _DocxWriter(package, main or "word/document.xml")
        writer.blocks(body)
        writer.notes()
        known = properties(package)
    if writer.out.blank:
        raise EmptySourceError(f"{source.name} holds no text.", hint="Pictures of text are not read.")
    metadata: dict[str, Json] = {name: known[key] for key, name in _PROPERTIES.items() if key in known}
    return writer.out.document(known.get("title") or writer.title, known.get("creator"), metadata)


class _DocxWriter:
    def __init__(self, package: Package, main: str) -> None:
        self.out = TextWriter()
        self.title: str | None = None
        related = package.related(main)
        self._links = {key: target for key, (kind, target) in related.items() if kind == "hyperlink"}
        parts = dict(related.values())
        self._styles = _styles(package.xml(parts.get("styles", "")))
        self._numbered = _numbering(package.xml(parts.get("numbering", "")))
        self._notes = [package.xml(parts.get(kind, "")) for kind in ("footnotes", "endnotes")]
        self._counts: dict[tuple[str, int], int] = {}
        self._code: list[str] = []
        self._in_list = False

    def blocks(self, parent: Element) -> None:
        """All paragraphs and tables below an element, in order."""
        for node in parent:
            name = local(node)
            if name == "p":
                self._paragraph(node)
            elif name == "tbl":
                self._end()
                self._table(node)
            elif name in (
                "sdt",
                "sdtContent",
                "ins",
                "moveTo",
                "smartTag",
                "customXml",
                "txbxContent",
                "AlternateContent",
                "Choice",
            ):
                self.blocks(node)
        self._end()

    def notes(self) -> None:
        """Footnotes and endnotes, without those that only draw a line."""
        for tree in self._notes:
            for note in tree if tree is not None else ():
                if attribute(note, "type") not in ("separator", "continuationSeparator", "continuationNotice"):
                    self.blocks(note)

    def _paragraph(self, node: Element) -> None:
        about = child(node, "pPr")
        style = attribute(child(about, "pStyle"), "val")
        name, level, number = self._styles.get(style, ("", 0, ""))
        text = "".join(self._runs(node))
        outline = attribute(child(about, "outlineLvl"), "val")
        if outline.isdigit() and int(outline) < 9:
            level = int(outline) + 1
        if _CODE.search(name) and not level:
            self._end_list()
            self._code.append(text)
            return
        self._end_code()
        if not text.strip():
            return
        if name.lower() == "title" and self.title is None:
            self.title = " ".join(text.split())
            self._end_list()
            self.out.heading(1, text)
        elif level:
            self._end_list()
            self.out.heading(level, text)
        else:
            self._body(node, about, text, number)

    def _body(self, node: Element, about: Element | None, text: str, by_style: str) -> None:
        listed = child(about, "numPr")
        number = attribute(child(listed, "numId"), "val") if listed is not None else by_style
        if number and number != "0":
            depth = attribute(child(listed, "ilvl"), "val")
            self._item(text, number, int(depth) if depth.isdigit() else 0)
        else:
            self._end_list()
            self.out.paragraph(text)
        for box in node.iter():
            if local(box) == "txbxContent" and not _inside_fallback(node, box):
                self.blocks(box)

    def _item(self, text: str, number: str, depth: int) -> None:
        mark = "-"
        if self._numbered.get((number, depth), "bullet") != "bullet":
            count = self._counts.get((number, depth), 0) + 1
            self._counts[(number, depth)] = count
            for deeper in [key for key in self._counts if key[0] == number and key[1] > depth]:
                del self._counts[deeper]
            mark = f"{count}."
        with self.out.item(f"{'  ' * min(depth, 5)}{mark}"):
            self.out.paragraph(text)
        self._in_list = True

    def _end(self) -> None:
        self._end_code()
        self._end_list()

    def _end_list(self) -> None:
        if self._in_list:
            self.out.end_list()
            self._in_list = False

    def _end_code(self) -> None:
        if self._code:
            self.out.code("\n".join(self._code))
            self._code = []

    def _runs(self, node: Element) -> Iterator[str]:
        for part in node:
            name = local(part)
            if name == "t":
                yield part.text or ""
            elif name in ("tab", "ptab"):
                yield "\t"
            elif name in ("br", "cr"):
                yield "\n"
            elif name == "noBreakHyphen":
                yield "-"
            elif name == "hyperlink":
                text = "".join(self._runs(part))
                self.out.link(text, self._links.get(attribute(part, "id"), ""))
                yield text
            elif name not in _UNSEEN and name not in ("pPr", "rPr", "drawing", "pict", "txbxContent", "object"):
                yield from self._runs(part)

    def _table(self, node: Element) -> None:
        above: dict[int, str] = {}
        rows: list[list[SpannedCell]] = []
        for row in _rows(node):
            cells: list[SpannedCell] = []
            column = 0
            for cell in _cells(row):
                about = child(cell, "tcPr")
                wide = attribute(child(about, "gridSpan"), "val")
                width = int(wide) if wide.isdigit() else 1
                merge = child(about, "vMerge")
                goes_on = merge is not None and attribute(merge, "val") != "restart"
                text = above.get(column, "") if goes_on else self._cell(cell)
                above[column] = text
                cells.append(SpannedCell(text, 0, width - 1))
                column += width
            rows.append(cells)
        self.out.table(laid_out(rows))

    def _cell(self, cell: Element) -> str:
        texts = ("".join(self._runs(node)).strip() for node in cell.iter() if local(node) == "p")
        return " ".join(text for text in texts if text)


def _inside_fallback(node: Element, box: Element) -> bool:
    """Whether a text box is the second writing of one, for old programs."""
    return any(local(one) == "Fallback" and any(inner is box for inner in one.iter()) for one in node.iter())


def _rows(table: Element) -> Iterator[Element]:
    for node in table:
        if local(node) == "tr":
            yield node
        elif local(node) in ("sdt", "sdtContent", "ins", "customXml"):
            yield from _rows(node)


def _cells(row: Element) -> Iterator[Element]:
    for node in row:
        if local(node) == "tc":
            yield node
        elif local(node) in ("sdt", "sdtContent", "customXml"):
            yield from _cells(node)


def _styles(tree: Element | None) -> dict[str, tuple[str, int, str]]:
    """Of each paragraph style by its id: name, level of heading (0: none), and the list that it belongs to."""
    raw: dict[str, tuple[str, int, str, str]] = {}
    for style in tree if tree is not None else ():
        if local(style) != "style":
            continue
        name, about = attribute(child(style, "name"), "val"), child(style, "pPr")
        outline = attribute(child(about, "outlineLvl"), "val")
        named = _HEADING.match(name)
        level = int(named[1]) if named else int(outline) + 1 if outline.isdigit() and int(outline) < 9 else 0
        number = attribute(child(about, "numPr", "numId"), "val")
        raw[attribute(style, "styleId")] = (name, level, number, attribute(child(style, "basedOn"), "val"))
    return {key: _inherited(key, raw) for key in raw}


def _inherited(key: str, raw: dict[str, tuple[str, int, str, str]]) -> tuple[str, int, str]:
    name, level, number, base = raw[key]
    seen = {key}
    while base in raw and base not in seen and not (level and number):
        seen.add(base)
        _, upper, listed, following = raw[base]
        level, number, base = level or upper, number or listed, following
    return name, level, number if not level else ""


def _numbering(tree: Element | None) -> dict[tuple[str, int], str]:
    """The kind of number of each list and level."""
    kinds: dict[str, dict[int, str]] = {}
    found: dict[tuple[str, int], str] = {}
    for node in tree if tree is not None else ():
        if local(node) == "abstractNum":
            levels = {
                int(attribute(one, "ilvl") or 0): attribute(child(one, "numFmt"), "val")
                for one in node
                if local(one) == "lvl"
            }
            kinds[attribute(node, "abstractNumId")] = levels
        elif local(node) == "num":
            for level, kind in kinds.get(attribute(child(node, "abstractNumId"), "val"), {}).items():
                found[(attribute(node, "numId"), level)] = kind
    return found
