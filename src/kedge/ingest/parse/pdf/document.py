"""Lines of pages, of a PDF or of pictures, to a document: blocks, sections, title and properties."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from kedge.core.values import Block, BlockKind, Json, ParsedDocument
from kedge.ingest.parse.pdf.code import with_code
from kedge.ingest.parse.pdf.columns import Gutter, fitted, shared_gutter
from kedge.ingest.parse.pdf.grid import with_grids
from kedge.ingest.parse.pdf.headers import NO_RULES, PageRules
from kedge.ingest.parse.pdf.layout import LayoutPart, body_size, join_broken, page_parts
from kedge.ingest.parse.pdf.page import Line, in_lines
from kedge.ingest.parse.pdf.plots import with_plots
from kedge.ingest.parse.pdf.repeated import drop_running_lines
from kedge.ingest.parse.pdf.runs import Run
from kedge.ingest.parse.pdf.tables import with_ruled_tables
from kedge.ingest.parse.sections import Sections

_PROPERTIES = {"Author": "author", "Subject": "subject", "Keywords": "keywords", "CreationDate": "created"}
_NO_TITLE = re.compile(r"untitled|microsoft (?:word|powerpoint)|\.(?:docx?|pdf|tex|dvi|indd|pptx?)\b", re.IGNORECASE)
_DEPTHS = tuple(
    re.compile(rf"(?:{words})\s+(?:[IVXLC]{{1,6}}|\d{{1,3}}[A-Z]?|[A-Z])(?=[\s.:–—-]|$)", re.IGNORECASE)
    for words in (
        "part|book|volume",
        "chapter|item|title|appendix|annex|exhibit|schedule",
        "note|section|article|lesson",
    )
)
"""Words that say how deep a heading is, the uppermost first; a number, a Roman one or a letter follows them."""
_NUMBERED = re.compile(r"(\d{1,2})(?:\.\d{1,2})*\.?\s+\S")
_LETTERED = re.compile(r"([A-Z])\.?\s+[A-Z]\w")
_LEAP = 9
"""By how much the number of a section may be over the one before; pages of an extract lack some."""
_WORDED = 3
"""Headings that have to say their depth in words before it counts."""
_COVER = 5
"""Headings of a cover."""
_GUESSED = 0.3
"""Share of the letters of a document from which on a font that seems bold is its usual one."""
_FULL_PAGE = 800
"""Letters of text on a page whose own usual font size counts, as appendices often have another."""


@dataclass(frozen=True, slots=True)
class ReadPage:
    """What was read of a page: its lines in reading order, or the runs that these are made of, and what is drawn."""

    height: float
    lines: list[Line] = field(default_factory=list)
    rules: PageRules = NO_RULES
    width: float = 0.0
    runs: list[Run] = field(default_factory=list)
    gutter: Gutter | None = None
    """That the runs have by themselves."""


def document_of_pages(
    read: Sequence[ReadPage], properties: dict[str, str], warnings: Sequence[str], *, tables: bool = True
) -> ParsedDocument:
    """The document without running heads and page numbers; `properties` are those of a PDF.

    `tables=False` leaves out ruled tables.
    """
    kept = drop_running_lines(_in_lines(read), [page.height for page in read])
    plain = [with_plots(lines, page.rules) for lines, page in zip(kept, read, strict=True)]
    marked = with_code([lines for lines, _ in plain])
    pages = [_with_tables(lines, rules, tables) for lines, (_, rules) in zip(marked, plain, strict=True)]
    body = body_size(pages)
    parts: list[LayoutPart] = []
    for number, lines in enumerate(pages, 1):
        parts.extend(page_parts(lines, number, body_size([lines]) if _is_set_otherwise(lines, body) else body))
    text, blocks = _assemble(_in_sequence(join_broken(parts)))
    metadata: dict[str, Json] = {key: properties[name] for name, key in _PROPERTIES.items() if properties.get(name)}
    metadata["pages"] = len(pages)
    return ParsedDocument(
        text=text,
        blocks=tuple(blocks),
        title=_property_title(properties) or _largest_text(pages[0], body),
        author=properties.get("Author", "").strip() or None,
        metadata=metadata,
        warnings=tuple(warnings),
    )


def _in_lines(pages: Sequence[ReadPage]) -> list[list[Line]]:
    """The lines of all pages; a page whose columns do not show has those of the others."""
    _unmark_guessed([run for page in pages for run in page.runs])
    width = max((page.width for page in pages), default=0.0)
    shared = shared_gutter([page.gutter for page in pages if page.runs], width)
    made: list[list[Line]] = []
    for page in pages:
        gutter = page.gutter
        if gutter is None and shared is not None and page.runs and abs(page.width - width) < 1:
            gutter = fitted(page.runs, shared, page.width)
        made.append([*page.lines, *in_lines(page.runs, gutter)])
    return made


def _unmark_guessed(runs: Sequence[Run]) -> None:
    """What is bold by a guess alone is not where that is most of the document: its usual font has strong stems."""
    guessed = sum(len(word.text) for run in runs if run.guessed for word in run.words)
    if guessed > _GUESSED * sum(len(word.text) for run in runs for word in run.words):
        for run in runs:
            run.bold = run.bold and not run.guessed


def _with_tables(read: list[Line], rules: PageRules, ruled: bool) -> list[Line]:
    lines = with_grids(read, rules)
    return with_ruled_tables(lines, rules, read) if ruled and lines else lines


def _is_set_otherwise(lines: Sequence[Line], body: float) -> bool:
    """Whether a page is full of text and little of it is of the document's usual size."""
    total = sum(len(line.text) for line in lines if not line.table)
    usual = sum(len(line.text) for line in lines if not line.table and abs(line.size - body) < 0.4)
    return total >= _FULL_PAGE and 4 * usual < total


def _in_sequence(parts: Sequence[LayoutPart]) -> list[LayoutPart]:
    """The parts; a heading whose number leaps is a label in a drawing, and A, B, C are as deep as numbered sections."""
    made: list[LayoutPart] = []
    number, letter, depth = 0, "A", 0
    for part in parts:
        found = part
        numbered = _NUMBERED.match(part.text) if part.kind is BlockKind.HEADING else None
        lettered = _LETTERED.match(part.text) if part.kind is BlockKind.HEADING and depth else None
        if numbered and int(numbered[1]) > number + _LEAP:
            found = replace(part, kind=BlockKind.PARAGRAPH, level=0)
        elif numbered:
            number, depth = int(numbered[1]), depth or part.level
        elif lettered and lettered[1] == letter:
            letter = chr(ord(letter) + 1)
            found = replace(part, level=depth)
        made.append(found)
    return made


def _assemble(parts: Sequence[LayoutPart]) -> tuple[str, list[Block]]:
    sections = Sections()
    depths = _depths(parts)
    cover = _has_cover(parts)
    texts: list[str] = []
    blocks: list[Block] = []
    at = 0
    for number, part in enumerate(parts):
        if cover and part.page > parts[0].page:
            sections, cover = Sections(), False
        if part.kind is BlockKind.HEADING:
            sections.enter(depths.get(number, part.level), part.text)
        texts.append(part.text)
        blocks.append(Block(part.kind, at, at + len(part.text), sections.path, part.page, part.level))
        at += len(part.text) + 2
    return "\n\n".join(texts), blocks


def _depths(parts: Sequence[LayoutPart]) -> dict[int, int]:
    """How deep headings are where several say it in words (`PART II`, `Item 2.`, `Note 3`), whatever their type.

    All other headings are below the last of these. Empty where the words say nothing.
    """
    headings = [(number, part) for number, part in enumerate(parts) if part.kind is BlockKind.HEADING]
    worded = {number: found for number, part in headings if (found := _depth_said(part.text))}
    if len(worded) < _WORDED:
        return {}
    return {number: worded.get(number, len(_DEPTHS) + part.level) for number, part in headings}


def _depth_said(text: str) -> int:
    """1 for a part, more for what is below it; 0 for a heading that does not say."""
    return next((depth for depth, words in enumerate(_DEPTHS, 1) if words.match(text)), 0)


def _has_cover(parts: Sequence[LayoutPart]) -> bool:
    """Whether the first page is a cover: many headings, none with a number or a word that says its depth."""
    first = [part for part in parts if part.page == parts[0].page and part.kind is BlockKind.HEADING]
    return len(first) >= _COVER and not any(_NUMBERED.match(part.text) or _depth_said(part.text) for part in first)


def _property_title(properties: dict[str, str]) -> str | None:
    """The title in the file's properties, unless it is a file name, a number or a word processor's stopgap."""
    title = " ".join(properties.get("Title", "").split())
    words = re.findall(r"[^\W\d_]{2,}", title)
    return title if len(words) >= 2 and not _NO_TITLE.search(title) and "_" not in title else None


def _largest_text(lines: Sequence[Line], body: float) -> str | None:
    """The lines of the largest font on the first page, as far as they stand together."""
    worded = [line for line in lines if sum(letter.isalpha() for letter in line.text) >= 4]
    if not worded:
        return None
    largest = max(line.size for line in worded)
    if largest < 1.15 * body:
        return None
    first = next(number for number, line in enumerate(worded) if line.size > 0.95 * largest)
    title: list[str] = []
    for line in worded[first:]:
        if line.size <= 0.95 * largest or len(title) == 4:
            break
        title.append(line.text)
    return " ".join(title)[:200]
