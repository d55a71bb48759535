"""Presentations to clean text: a section a slide, its number as the page, bullets, tables and speaker notes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING
from xml.etree.ElementTree import Element

from kedge.core.errors import EmptySourceError
from kedge.core.values import Json, ParsedDocument
from kedge.ingest.parse.archive import Package, attribute, child, local, opened, properties
from kedge.ingest.parse.spans import SpannedCell, laid_out
from kedge.ingest.parse.writer import TextWriter, one_line

if TYPE_CHECKING:
    from kedge.ingest.sources.source import Source

_NO_TITLE = re.compile(
    r"(?:(?:microsoft )?(?:powerpoint|office)[ -]*)?(?:presentation|präsentation|présentation).{0,4}", re.I
)
_UNSEEN = frozenset(("sldNum", "dt", "ftr", "hdr", "sldImg"))
"""Placeholders of page numbers, dates, footers and of the picture above notes."""


def parse_pptx(source: Source) -> ParsedDocument:
    """Slides in their order; `page` is the number of the slide. Raises SourceFault."""
    with opened(source, "presentation") as package:
        main = next(
            (target for kind, target in package.related("").values() if kind == "officeDocument"),
            "ppt/presentation.xml",
        )
        writer = _PptxWriter(package)
        for number, slide in enumerate(_slides(package, main), 1):
            writer.slide(number, slide)
        known = properties(package)
    if writer.out.blank:
        raise EmptySourceError(f"{source.name} holds no text.", hint="Pictures of text are not read.")
    metadata: dict[str, Json] = {"slides": writer.out.page or 0}
    title = known.get("title", "")
    named = title if title and not _NO_TITLE.fullmatch(title) else writer.title
    return writer.out.document(named, known.get("creator"), metadata)


def _slides(package: Package, main: str) -> list[str]:
    related = package.related(main)
    order = child(package.xml(main), "sldIdLst")
    ids = [
        value
        for node in (order if order is not None else ())
        for key, value in node.attrib.items()
        if key.endswith("}id")
    ]
    return [related[one][1] for one in ids if one in related]


class _PptxWriter:
    def __init__(self, package: Package) -> None:
        self.out = TextWriter()
        self.title: str | None = None
        self._package = package

    def slide(self, number: int, member: str) -> None:
        """One slide with its notes; one without a title is called by its number."""
        self.out.page = number
        tree = child(self._package.xml(member), "cSld", "spTree")
        if tree is None:
            return
        shapes = [shape for shape in _shapes(tree) if _placeholder(shape) not in _UNSEEN]
        title = next((shape for shape in shapes if _placeholder(shape) in ("title", "ctrTitle")), None)
        named = one_line(" ".join(text for _, text, _ in _paragraphs(title))) if title is not None else ""
        bodies = [shape for shape in shapes if shape is not title]
        notes = self._notes(member)
        if not named and not notes and not any(_has_text(shape) for shape in bodies):
            return
        self.title = self.title or named or None
        self.out.heading(1, named or f"Slide {number}")
        for shape in bodies:
            self._shape(shape)
        if notes:
            self.out.heading(2, "Notes")
            for text in notes:
                self.out.paragraph(text)

    def _shape(self, shape: Element) -> None:
        table = next((node for node in shape.iter() if local(node) == "tbl"), None)
        if table is not None:
            self._table(table)
            return
        found = list(_paragraphs(shape))
        bullets = _placeholder(shape) in ("body", "", "obj") and len(found) > 1
        for level, text, plain in found:
            if not text.strip():
                continue
            if bullets and not plain:
                with self.out.item(f"{'  ' * level}-"):
                    self.out.paragraph(text)
            else:
                self.out.paragraph(text)
        self.out.end_list()

    def _table(self, table: Element) -> None:
        rows = []
        for row in (node for node in table if local(node) == "tr"):
            cells = []
            for cell in (node for node in row if local(node) == "tc"):
                if attribute(cell, "hMerge") == "1" or attribute(cell, "vMerge") == "1":
                    if attribute(cell, "vMerge") == "1":
                        cells.append(SpannedCell(""))
                    continue
                wide = attribute(cell, "gridSpan")
                text = " ".join(text for _, text, _ in _paragraphs(cell) if text.strip())
                cells.append(SpannedCell(text, 0, int(wide) - 1 if wide.isdigit() else 0))
            rows.append(cells)
        self.out.table(laid_out(rows))

    def _notes(self, member: str) -> list[str]:
        target = next((path for kind, path in self._package.related(member).values() if kind == "notesSlide"), "")
        tree = child(self._package.xml(target), "cSld", "spTree") if target else None
        if tree is None:
            return []
        shapes = [shape for shape in _shapes(tree) if _placeholder(shape) not in _UNSEEN]
        return [text for shape in shapes for _, text, _ in _paragraphs(shape) if text.strip()]


def _shapes(tree: Element) -> Iterator[Element]:
    """Shapes, tables and what is grouped, in their order."""
    for node in tree:
        if local(node) in ("sp", "graphicFrame"):
            yield node
        elif local(node) in ("grpSp", "AlternateContent", "Choice"):
            yield from _shapes(node)


def _placeholder(shape: Element) -> str:
    for about in shape:
        if local(about).startswith("nv"):
            place = child(about, "nvPr", "ph")
            return (attribute(place, "type") or "obj") if place is not None else "free"
    return "free"


def _has_text(shape: Element) -> bool:
    return any(local(node) == "t" and (node.text or "").strip() for node in shape.iter())


def _paragraphs(shape: Element) -> Iterator[tuple[int, str, bool]]:
    """Level, text, and whether it has no bullet."""
    for node in shape.iter():
        if local(node) == "p":
            about = child(node, "pPr")
            level = attribute(about, "lvl")
            text = "".join(
                "\n" if local(part) == "br" else (part.text or "") for part in node.iter() if local(part) in ("t", "br")
            )
            yield int(level) if level.isdigit() else 0, text, child(about, "buNone") is not None
