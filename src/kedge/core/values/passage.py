"""What is embedded, found and cited."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from kedge.core.outside import outside
from kedge.core.values.base import Json, Metadata
from kedge.core.values.document import Document
from kedge.core.values.identity import identity_line, identity_words

PAGE_BREAKS = "page_breaks"
"""Key in a passage's metadata: where further pages begin, as `offset:page` joined by commas."""
SECTION_BREAKS = "section_breaks"
"""Key in a passage's metadata, where it holds several sections: where further ones begin, as JSON `[[offset, [heading,
…]], …]`."""
TABLE_HEAD = "table_head"
"""Key in a passage's metadata, where it begins inside a table: the caption and headers of that table, as lines."""


_PAGES = {
    **dict.fromkeys(("pptx", "pptm", "ppsx", "odp"), "slide"),
    **dict.fromkeys(("xlsx", "xlsm", "xlsb", "ods"), "sheet"),
}
_ELSEWHERE = (
    *("document_id", "version_id", "content_hash", "title", "url", "external_id"),
    "metadata",
)
"""What a passage shares with its document, beside which it is shown, and what only stores need."""


@outside({"passage_id": "id"}, hidden=_ELSEWHERE, optional=("embedded_at", "embedding_model"))
@dataclass(frozen=True, slots=True)
class Passage:
    """A passage and its place in the document: what is embedded, found and cited. `text` is a slice of its text."""

    id: str
    document_id: str
    version_id: str
    index: int
    text: str
    start: int
    end: int
    content_hash: str
    """SHA-256 over what is embedded; equal hash in the same document means equal id."""
    token_count: int
    title: str
    url: str
    external_id: str
    section_path: tuple[str, ...] = ()
    page: int | None = None
    has_code: bool = False
    has_formula: bool = False
    has_table: bool = False
    language: str = "und"
    """ISO 639-1 code, `und` when unsure."""
    topic_tag: str | None = None
    ingested_at: datetime | None = None
    """When it was taken in; one that an edit of its document left as it was keeps its time."""
    document_updated_at: datetime | None = None
    """When its document had last changed then, as far as known."""
    metadata: Metadata = field(default_factory=dict)
    """The document's free metadata and what the kind adds; filters see it."""
    embedded_at: datetime | None = field(default=None, compare=False)
    """When its vector was made, where its whole document is shown; no part of what the passage is."""
    embedding_model: str | None = field(default=None, compare=False)
    """The model that made it."""

    def page_at(self, offset: int) -> int | None:
        """The page on which this character of the text stands; `page` is the one it begins on."""
        page = self.page
        for start, number in parse_page_breaks(self.metadata.get(PAGE_BREAKS)):
            page = number if start <= offset else page
        return page

    def section_at(self, offset: int) -> tuple[str, ...]:
        """The headings above this character of the text; `section_path` are those that it begins under."""
        path = self.section_path
        for start, headings in parse_section_breaks(self.metadata.get(SECTION_BREAKS)):
            path = headings if start <= offset else path
        return path

    @property
    def identity(self) -> str:
        """What its document calls itself, in one line."""
        return identity_line(self.title, self.metadata)

    @property
    def embed_text(self) -> str:
        """What is embedded: title and section path give the chunk its context."""
        return embed_text(self.title, self.section_path, self.text)

    @property
    def keyword_text(self) -> str:
        """What keyword search sees: the same, and what its document is called beside its title."""
        words = identity_words(self.title, self.metadata)
        return f"{self.embed_text}\n{words}" if words else self.embed_text

    def payload(self) -> dict[str, Json]:
        """The fields that filters can name, as stored beside the vector; times are seconds since 1970."""
        return {
            **self.facts(),
            "section_path": list(self.section_path),
            "token_count": self.token_count,
            "ingested_at": _seconds(self.ingested_at),
            "document_updated_at": _seconds(self.document_updated_at),
        }

    def facts(self) -> dict[str, Json]:
        """The part of the payload that says what the passage is: the same whenever the same source is taken in."""
        return {
            **self.metadata,
            "document_id": self.document_id,
            "external_id": self.external_id,
            "title": self.title,
            "url": self.url,
            "page": self.page,
            "chunk_index": self.index,
            "has_code": self.has_code,
            "has_formula": self.has_formula,
            "has_table": self.has_table,
            "language": self.language,
            "topic_tag": self.topic_tag,
        }


def _seconds(at: datetime | None) -> float | None:
    return None if at is None else at.timestamp()


def page_named(url: str, page: int) -> str:
    """What the page of a document with this address is called: that of slides and sheets is their number.

    >>> page_named("report.pdf", 3), page_named("talk.pptx", 3), page_named("archive.zip#sales.xlsx", 3)
    ('page 3', 'slide 3', 'sheet 3')
    """
    return f"{_PAGES.get(url.rpartition('.')[2].lower(), 'page')} {page}"


def parse_page_breaks(written: Json) -> list[tuple[int, int]]:
    """What `PAGE_BREAKS` says, in order."""
    pairs = [part.split(":") for part in written.split(",")] if isinstance(written, str) and written else []
    return [(int(offset), int(page)) for offset, page in pairs]


def parse_section_breaks(written: Json) -> list[tuple[int, tuple[str, ...]]]:
    """What `SECTION_BREAKS` says, in order."""
    found = json.loads(written) if isinstance(written, str) and written else []
    return [(int(offset), tuple(map(str, headings))) for offset, headings in found]


def embed_text(title: str, section_path: tuple[str, ...], text: str) -> str:
    """Join title, section path and text the one way that all of Kedge embeds them."""
    if not section_path and title.replace("_", " ") == text:
        return text  # all there is is a name: said once
    crumbs = [part for part in (title, *section_path) if part]
    unique = list(dict.fromkeys(crumbs))
    return f"{' › '.join(unique)}\n{text}" if unique else text


@outside(spread="document")
@dataclass(frozen=True, slots=True)
class DocumentWithPassages:
    """A document with its passages in order."""

    document: Document
    passages: tuple[Passage, ...]

    @staticmethod
    def from_outside(found: Mapping[str, Any]) -> Mapping[str, Any]:
        """Passages know what their document is called."""
        return {**found, "passages": _of(found, found["passages"])}


@outside()
@dataclass(frozen=True, slots=True)
class PassageInDocument:
    """A passage, those around it in order, and their document."""

    passage_id: str
    document: Document
    passages: tuple[Passage, ...]
    has_before: bool
    """The document has passages before the first of these."""
    has_after: bool
    """The document has passages after the last of these."""

    @staticmethod
    def from_outside(found: Mapping[str, Any]) -> Mapping[str, Any]:
        """Passages know what their document is called."""
        return {**found, "passages": _of(found["document"], found["passages"])}


def _of(document: Mapping[str, Any], passages: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    shared = ("document_id", "title", "url", "external_id", "metadata")
    return [{**{name: document[name] for name in shared}, **passage} for passage in passages]
