"""What a kind of knowledge is: one object that says all that the kind adds, and nothing outside its folder knows it.

A `Kind` is light: it names things and opens others when they are needed, so that `kedge --help` and the client can ask
for its surfaces without loading a store or a model. `Kind.open` is called once by each engine and gives the `OpenKind`
that works: the way in, the way out, and what only this kind has.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Generic, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from pathlib import Path

    from kedge.answer.judge.verdict import Judging
    from kedge.answer.pipeline import Answerer
    from kedge.answer.record import Recorder
    from kedge.answer.write.writer import Writer
    from kedge.core.locks import Locks
    from kedge.core.settings import Settings
    from kedge.core.values import (
        Answer,
        Collection,
        IngestPlan,
        IngestRequest,
        Job,
        Query,
        Scope,
        SearchResult,
        StreamEvent,
    )
    from kedge.ingest.batch import OnStep, Target
    from kedge.ingest.check import Problem
    from kedge.ingest.ports import IndexedKind, Relates
    from kedge.ingest.tracker import JobTracker
    from kedge.models.ports import Embedder, LanguageModel
    from kedge.retrieve.pipeline import Retriever
    from kedge.stores.bundle import Stores
    from kedge.stores.catalog.ports import Catalog


# ---------------------------------------------------------------- what a kind says of itself


ROUTER, TYPER = "APIRouter", "Typer"
"""Names of the classes that routes and commands are objects of: known without loading them."""


@dataclass(frozen=True, slots=True)
class Units:
    """What a kind's sources and their parts are called in reports: `3 files fed (1,204 rows)`."""

    sources: str = "documents taken in"
    parts: str = "passages"


@dataclass(frozen=True, slots=True)
class CommandGroup:
    """A noun of the command line."""

    name: str
    """As typed: `kedge NAME …`."""
    help: str
    """One line, shown by `kedge --help` without loading the group."""
    target: str
    """`module:attribute` of a `typer.Typer`."""


@dataclass(frozen=True, slots=True)
class RouteGroup:
    """A part of the HTTP API."""

    tag: str
    """Under which it is listed in the API's documentation."""
    help: str
    """What the tag stands for."""
    targets: tuple[str, ...]
    """`module:attribute` of FastAPI routers."""


@dataclass(frozen=True, slots=True)
class OnPage:
    """What the page at `/rag` has to know of a kind. One that says nothing is shown as documents are, by its name."""

    label: str = ""
    """What its sources are called where they are added; empty: they cannot be added on the page."""
    help: str = ""
    """One line below: which files they are, and what answers make of them."""
    suffixes: tuple[str, ...] = ()
    """Of the files that the browser offers; empty: all."""
    formats: bool = False
    """Its files are those of all installed formats: their suffixes are offered too."""
    files: str = "Several at once"
    """How many files may be chosen, in words."""
    source: tuple[str, str] = ("document", "documents")
    """What was added, one and many."""
    part: tuple[str, str] = ("passage", "passages")
    """What was made of it, one and many."""
    counts_parts: bool = False
    """Whether a collection is measured by its parts; else by its sources."""
    replaces: bool = False
    """Whether what is added takes the place of what the collection holds."""
    opens: bool = True
    """Whether what is cited can be read where it stands; else a citation says all there is."""


@dataclass(frozen=True, slots=True)
class Surfaces:
    """What a kind adds to the surfaces. Each target is loaded when its surface is opened, and not before."""

    routes: tuple[RouteGroup, ...] = ()
    """Mounted by the server."""
    commands: tuple[CommandGroup, ...] = ()
    """Mounted by the command line."""
    client: str = ""
    """Module whose functions marked with `calls` become methods of both clients."""
    blocking: str = ""
    """`module:class`, made with (`Kedge`); its public methods become methods of `Kedge`, and it is there itself under
    the name of `blocking_name`."""
    blocking_name: str = ""
    page: OnPage = OnPage()
    """What the page says of it."""

    def targets(self) -> list[tuple[str, str]]:
        """Everything that is named here, with the class it has to be an object of: for a look at all of them."""
        return [
            *((target, ROUTER) for group in self.routes for target in group.targets),
            *((group.target, TYPER) for group in self.commands),
            *((target, "") for target in (self.client, self.blocking) if target),
        ]


O_co = TypeVar("O_co", covariant=True, bound="OpenKind")


class Kind(ABC, Generic[O_co]):
    """A kind of knowledge. Third parties derive from it, and name an instance under the entry point `kedge.kinds`."""

    name: ClassVar[str]
    """As in `--kind`, and as collections keep it."""
    index_prefix: ClassVar[str] = "passages"
    """Start of the physical index's name: letters, digits and underscores."""
    embedder: ClassVar[str] = ""
    """Embedder of its new collections where none is set; empty: that of the settings' default. For what is no prose."""
    fields: ClassVar[Mapping[str, str]] = {}
    """Payload fields that filters use often, with their types: keyword, integer, bool or tenant."""
    concepts: ClassVar[bool] = True
    """Whether its passages belong into the concept graph."""
    keeps_past: ClassVar[bool] = False
    """Whether superseded versions can be kept and asked: what its passages say never changes under their ids, and its
    way out understands `Query.as_of`."""
    each_has_readers: ClassVar[bool] = True
    """Whether what is taken in has readers of its own, document by document; else a collection has them as a whole."""
    units: ClassVar[Units] = Units()
    surfaces: ClassVar[Surfaces] = Surfaces()
    files: ClassVar[str] = ""
    """`module:attribute` of a `KindFiles`, for a kind that keeps files of its own in the home."""

    def starts(self, settings: Settings) -> bool:  # noqa: ARG002
        """Whether it has something to do when an engine is opened (`OpenKind.start`). One that has not says so, and is
        opened when it is first asked for."""
        return True

    def counted(self, collection: Collection, settings: Settings) -> Collection:  # noqa: ARG002
        """The collection with the kind's own counts, where the catalog's are not what users mean."""
        return collection

    @abstractmethod
    def open(self, parts: Parts) -> O_co:
        """The kind at work over the parts of one engine."""


# ---------------------------------------------------------------- what a kind works with


class CollectionAccess(Protocol):
    """Finds and makes collections, with the embedders they pin."""

    async def get(self, scope: Scope) -> Collection:
        """The collection. NotFoundError."""

    async def ensure(self, scope: Scope, kind: IndexedKind, *, make: bool = True) -> tuple[Collection, Embedder]:
        """The collection for writing, with its embedder; made if need be. NotFoundError, UsageError."""

    async def embedder_of(self, collection: Collection) -> Embedder:
        """The embedder that it pins, checked against its dimension."""


@dataclass(frozen=True, slots=True)
class Parts:
    """What an engine gives each kind to work with."""

    settings: Settings
    stores: Stores
    collections: CollectionAccess
    locks: Locks
    retriever: Retriever
    """Finds passages in any collection."""
    answerer: Answerer
    """Answers from passages of any collection."""
    judging: Judging
    """Measures and judges evidence."""
    recorder: Recorder
    """Keeps what analytics may know of a query."""
    writer: Writer | None
    """Puts answers into a language model's words; None where answers are extractive."""
    model: LanguageModel | None
    """The language model itself."""
    on_step: OnStep
    """Told of every step boundary."""
    shared: bool
    """Whether other processes use the same stores."""


# ---------------------------------------------------------------- what a kind does


class IngestRun(Protocol):
    """One run of one ingestion request."""

    async def take_in(self) -> None:
        """Make everything visible. On failure nothing half-done is, and the job says why."""

    async def finish(self, document_id: str | None = None) -> Job:
        """What is left to do for the collection, or for that document; returns the ended job."""


class WayIn(Protocol):
    """How sources of the kind become visible."""

    @property
    def empties_itself(self) -> bool:
        """Whether `recreate` is the kind's own work; else the collection is deleted before the run."""

    def sole_document(self, request: IngestRequest) -> str | None:
        """Id of the document when the request is plainly about one, else None."""

    def run(self, target: Target, request: IngestRequest, tracker: JobTracker) -> IngestRun:
        """A run of the request. The caller holds the locks."""


class WayOut(Protocol):
    """Answers questions to collections of the kind. The query has been validated."""

    async def search(self, query: Query) -> SearchResult:
        """What was found, best first."""

    async def ask(self, query: Query) -> Answer:
        """A cited answer, or a refusal that says so."""

    def stream(self, query: Query) -> AsyncGenerator[StreamEvent, None]:
        """The answer in events: tokens, citations, metadata, done."""


@runtime_checkable
class Plans(Protocol):
    """A way in that can tell beforehand what an ingestion would do."""

    async def plan(
        self, catalog: Catalog, request: IngestRequest, embedder: Embedder, settings: Settings
    ) -> IngestPlan:
        """Which sources are new, modified or gone. Nothing is written."""


@runtime_checkable
class Estimates(Protocol):
    """A way in that knows better than by tokens how many passages a source gives."""

    def estimate(self, request: IngestRequest) -> int | None:
        """By the size of the sources, without reading them; None where that is not known."""


@runtime_checkable
class TakesMore(Protocol):
    """A way out that gives more than the usual number of results."""

    @property
    def most(self) -> int:
        """Largest top_k."""


class OpenKind:
    """A kind at work: its two ways, and hooks that do nothing unless the kind needs them."""

    def __init__(self, kind: Kind[OpenKind], way_in: WayIn, way_out: WayOut, *, relates: Relates | None = None) -> None:
        self.kind = kind
        self.way_in = way_in
        self.way_out = way_out
        self.relates = relates
        """States relations of documents beside those in their text, so that a check can write them again."""

    @property
    def concepts(self) -> bool:
        """Whether its passages belong into the concept graph."""
        return self.kind.concepts

    @property
    def keeps_past(self) -> bool:
        """Whether its superseded versions can be kept and asked."""
        return self.kind.keeps_past

    async def start(self) -> None:
        """The engine has been opened, and `Kind.starts` said that there is something to do."""

    async def close(self) -> None:
        """The engine is being closed."""

    async def delete(self, scope: Scope) -> None:
        """Clear what only this kind keeps of a collection that is about to be deleted."""

    async def reindexed(self, collection: Collection) -> None:
        """The collection has another embedder now: build anew what only this kind keeps of the index."""

    async def problems(self, collection: Collection, *, repair: bool) -> Sequence[Problem]:  # noqa: ARG002
        """How what only this kind keeps differs from the index; with `repair`, after putting it right."""
        return ()


class KindFiles(Protocol):
    """Files that a kind keeps in the home, for backups."""

    @property
    def names(self) -> str:
        """Pattern of the paths in the home that may be its files: a backup that holds others is refused."""

    @property
    def unit(self) -> str:
        """What `count` counts, in the plural."""

    def copy(self, home: Path, folder: Path, scope: Scope) -> None:
        """Put those of the collection into the folder, as of one moment; links will do. StoreError."""

    def held(self, home: Path, scope: Scope) -> bool:
        """Whether the home holds what belongs to this collection."""

    def count(self, home: Path) -> int:
        """How many collections the home holds files of."""
