"""Documents as parsers read them and as they are cut, before the catalog knows them."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from kedge.core.values.base import Metadata


class BlockKind(StrEnum):
    """What a stretch of a document is. Code, tables and formulas are never cut in half."""

    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST = "list"
    QUOTE = "quote"
    CODE = "code"
    TABLE = "table"
    FORMULA = "formula"


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of the document's text that belongs together."""

    kind: BlockKind
    """What it is."""
    start: int
    """Offset of its first character in the document's text."""
    end: int
    """Offset behind its last character."""
    section: tuple[str, ...] = ()
    """Headings above it, outermost first; a heading's own path ends with itself."""
    page: int | None = None
    """Page it starts on, from 1: of a PDF, or the number of a slide or sheet."""
    level: int = 0
    """1–6 for headings, else 0."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link written by the author, for instance `[suffix tree](suffix-tree.md)`."""

    text: str
    """Anchor text."""
    target: str
    """Address as written."""
    start: int
    """Offset of the link in the document's text."""


@dataclass(frozen=True, slots=True)
class ParsedDocument:
    """A document as a parser hands it on. `text` is what every offset points into.

    For text and markdown it is the decoded file itself, so a span is a place in the original; for PDF and HTML
    it is the extracted text, and `Block.page` leads back to the page.
    """

    text: str
    blocks: tuple[Block, ...]
    """In order, not overlapping; what lies between blocks is white space or syntax."""
    title: str | None = None
    """Detected from front matter, first heading or file properties."""
    author: str | None = None
    links: tuple[Link, ...] = ()
    metadata: Metadata = field(default_factory=dict)
    """Front matter and file properties."""
    warnings: tuple[str, ...] = ()
    """What was odd but could be read."""


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage before it has an id: `text == document.text[start:end]`, exactly."""

    text: str
    start: int
    end: int
    index: int
    """Position in the document, from 0."""
    section_path: tuple[str, ...]
    page: int | None
    has_code: bool
    has_formula: bool
    has_table: bool
    token_count: int
    """By the embedder's own tokenizer, without special tokens."""
    page_breaks: tuple[tuple[int, int], ...] = ()
    """(offset in the text, page) where a further page begins."""
    section_breaks: tuple[tuple[int, tuple[str, ...]], ...] = ()
    """(offset in the text, headings above) where what follows stands under other headings than `section_path`."""
    table_head: str = ""
    """Where it begins inside a table: lines from the table's beginning without which its rows cannot be read."""
