"""What the way in asks of a kind: where its sources are, and how they become passages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from kedge.core.values import Document, GraphBatch, IngestRequest, Passage, SourceError

if TYPE_CHECKING:
    from kedge.core.settings import Settings
    from kedge.ingest.sources.source import Source
    from kedge.models.ports import Embedder


@dataclass(frozen=True, slots=True)
class Opened:
    """A source that could be read: its document and its passages, piece by piece."""

    document: Document
    version_id: str
    pieces: Iterator[list[Passage]]
    """In order; a long document comes in several pieces, so that memory stays bounded. May raise SourceFault."""
    warnings: Sequence[str] = ()
    """What was odd; complete when the pieces have been read."""


class Discovered(Protocol):
    """The sources behind a request."""

    def __iter__(self) -> Iterator[Source | SourceError]:
        """All sources, and what is wrong with those that cannot be had."""

    def volume(self) -> int:
        """About how many bytes there are, told without reading them: for the progress shown."""

    def titles(self) -> Iterator[str]:
        """Titles that can be had without reading the documents, so that passages can be linked to them at once."""

    def gone(self, url: str) -> bool:
        """After iterating: a document known before was looked for and is not there any more."""

    def notes(self) -> list[str]:
        """After iterating: what was passed over."""


class IndexedKind(Protocol):
    """What stores and collections need to know of a kind."""

    @property
    def name(self) -> str:
        """As in `--kind`."""

    @property
    def index_prefix(self) -> str:
        """Start of the physical index's name."""

    @property
    def embedder(self) -> str:
        """Embedder of new collections where the settings name none; empty: the settings' default."""

    @property
    def fields(self) -> Mapping[str, str]:
        """Payload fields that filters use often, with their types."""


class CheckedKind(Protocol):
    """What a check needs to know of a kind."""

    @property
    def concepts(self) -> bool:
        """Whether its passages belong into the concept graph."""

    @property
    def keeps_past(self) -> bool:
        """Whether its superseded versions can be kept and asked."""

    @property
    def relates(self) -> Relates | None:
        """What states relations beside those in the text, if anything does."""


class PassageMaker(Protocol):
    """What a kind decides whose sources become passages. Everything else is shared by all of them."""

    def discover(self, request: IngestRequest, settings: Settings) -> Discovered:
        """The sources of the request."""

    def fingerprint(self, source: Source, request: IngestRequest, embedder: Embedder, settings: Settings) -> str:
        """Hash of all that decides the passages of this source: its bytes and the options. Raises SourceFault."""

    def open(
        self, source: Source, request: IngestRequest, file_hash: str, embedder: Embedder, settings: Settings
    ) -> Opened:
        """Read the source. Raises SourceFault."""


@runtime_checkable
class KnowsOrigins(Protocol):
    """Discovered sources whose url is no place: the document's metadata say under `origin` where it was read."""

    def gone_from(self, url: str, origin: str) -> bool:
        """As `Discovered.gone`, for a document that was last read from `origin`."""


@runtime_checkable
class KeepsIds(Protocol):
    """A maker whose passages keep their ids while fields beside their text change (C-02)."""

    def carried(self, new: Passage, old: Passage | None) -> Passage:
        """The passage with what it takes over from the live one of the same id, if there is one."""


@runtime_checkable
class Relates(Protocol):
    """A maker whose documents state relations of their own, beside those that their text is searched for."""

    def relations(self, documents: Mapping[str, Document], versions: Mapping[str, str]) -> GraphBatch:
        """Concepts and triples of these documents. A triple's `passage_id` is `ids.statement_id` of its version:
        it counts while that version is live, and is swept with it."""
