"""The values that flow through Kedge, in the order in which data meets them.

Everything here is frozen: a stage takes values and returns new ones. Ids are strings of UUIDs made by the
application (see `kedge.ids`), so that the same passage has the same id in every store.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from kedge.stores.filters import Filter

Json: TypeAlias = "str | int | float | bool | list[Json] | dict[str, Json] | None"
Metadata: TypeAlias = Mapping[str, Json]

DEFAULT_TENANT = "default"


@dataclass(frozen=True, slots=True)
class Scope:
    """Whose data, and which collection of it: carried by every store call."""

    tenant: str
    """Bound to the caller's credentials, never taken from a request field."""
    collection: str
    """Name of the collection within the tenant."""


# ---------------------------------------------------------------- way in: sources and parsed documents


class Format(StrEnum):
    """The file formats that have a parser."""

    MARKDOWN = "markdown"
    PDF = "pdf"
    TEXT = "text"
    HTML = "html"


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
    """Page it starts on, from 1 (PDF only)."""
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
    """(offset in the text, page) where a further page begins (PDF only)."""


# ---------------------------------------------------------------- catalog: collections, documents, passages, jobs


@dataclass(frozen=True, slots=True)
class Collection:
    """A named set of documents that pins its kind, embedder and dimension."""

    scope: Scope
    kind: str
    embedder: str
    """Name by which the embedder was opened."""
    dimension: int
    generation: int
    """Counts re-indexings; the vectors live in `index_name`."""
    index_name: str
    """Physical name in the vector store; switching it is the alias switch."""
    created_at: datetime
    topics: tuple[str, ...] = ()
    documents: int = 0
    passages: int = 0


class DocumentStatus(StrEnum):
    """pending → chunking → embedding → extracting → active, or failed; archived on delete."""

    PENDING = "pending"
    CHUNKING = "chunking"
    EMBEDDING = "embedding"
    EXTRACTING = "extracting"
    ACTIVE = "active"
    FAILED = "failed"
    ARCHIVED = "archived"


@dataclass(frozen=True, slots=True)
class Document:
    """A source known to the catalog."""

    id: str
    scope: Scope
    url: str
    """Path or address; unique in its collection."""
    external_id: str
    """The id the source gave: a JSONL row's `_id`, else the url."""
    title: str
    format: str
    status: DocumentStatus
    author: str | None = None
    topic_tag: str | None = None
    file_hash: str | None = None
    """SHA-256 of the source's bytes and of what else decides its passages; equal means unchanged."""
    file_size: int | None = None
    chunk_count: int = 0
    error_message: str | None = None
    metadata: Metadata = field(default_factory=dict)
    live_version: str | None = None
    """The version readers see; None when nothing of it is visible."""
    created_at: datetime | None = None
    updated_at: datetime | None = None
    """When the source itself last changed, as far as known."""
    ingested_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Passage:
    """The unit that is embedded, found and cited. `text` is an exact slice of the document's text."""

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
    document_updated_at: datetime | None = None
    metadata: Metadata = field(default_factory=dict)
    """The document's free metadata and what the kind adds; filters see it."""

    def page_at(self, offset: int) -> int | None:
        """The page on which this character of the text stands; `page` is the one it begins on."""
        page = self.page
        for start, number in parse_page_breaks(self.metadata.get(PAGE_BREAKS)):
            page = number if start <= offset else page
        return page

    @property
    def embed_text(self) -> str:
        """What is embedded and indexed: title and section path give the chunk its context."""
        return embed_text(self.title, self.section_path, self.text)

    def payload(self) -> dict[str, Json]:
        """The fields that filters can name, as stored beside the vector."""
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


PAGE_BREAKS = "page_breaks"
"""Key in a passage's metadata: where further pages begin, as `offset:page` joined by commas."""


def parse_page_breaks(written: Json) -> list[tuple[int, int]]:
    """What `PAGE_BREAKS` says, in order."""
    pairs = [part.split(":") for part in written.split(",")] if isinstance(written, str) and written else []
    return [(int(offset), int(page)) for offset, page in pairs]


def embed_text(title: str, section_path: tuple[str, ...], text: str) -> str:
    """Join title, section path and text the one way that all of Kedge embeds and indexes them."""
    if not section_path and title.replace("_", " ") == text:
        return text  # all there is is a name: said once
    crumbs = [part for part in (title, *section_path) if part]
    unique = list(dict.fromkeys(crumbs))
    return f"{' › '.join(unique)}\n{text}" if unique else text


class JobStatus(StrEnum):
    """queued → chunking → embedding → extracting → complete, or failed."""

    QUEUED = "queued"
    CHUNKING = "chunking"
    EMBEDDING = "embedding"
    EXTRACTING = "extracting"
    COMPLETE = "complete"
    FAILED = "failed"

    @property
    def ended(self) -> bool:
        return self in (JobStatus.COMPLETE, JobStatus.FAILED)


class IngestMode(StrEnum):
    """incremental skips what is unchanged; full takes everything again; recreate empties the collection first."""

    INCREMENTAL = "incremental"
    FULL = "full"
    RECREATE = "recreate"


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """What to take in, where to, and how."""

    scope: Scope
    sources: tuple[str, ...]
    """Files, folders, globs, URLs, JSONL corpora."""
    kind: str = "documents"
    mode: IngestMode = IngestMode.INCREMENTAL
    topic: str | None = None
    """topic_tag of every passage."""
    title: str | None = None
    """Overrides the detected title; for a single source."""
    format: Format | None = None
    """Overrides the detected format."""
    metadata: Metadata = field(default_factory=dict)
    """Kept with every document; filters see it."""
    uploads: tuple[tuple[str, str], ...] = ()
    """(file name, path of the spooled bytes) of uploads; set by the engine."""
    options: Metadata = field(default_factory=dict)
    """What only this kind knows; a table's `delimiter`, `encoding`, `header`."""


@dataclass(frozen=True, slots=True)
class SourceError:
    """One source that could not be taken in, and why; the others go on."""

    url: str
    code: str
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Job:
    """One ingestion, as the catalog remembers it across restarts."""

    id: str
    scope: Scope
    kind: str
    mode: IngestMode
    request: Metadata
    """What was asked for (sources and options), enough to run it again."""
    status: JobStatus = JobStatus.QUEUED
    current_step: str | None = None
    progress: int = 0
    """0–100."""
    total_passages: int | None = None
    processed_passages: int = 0
    files_discovered: int = 0
    files_processed: int = 0
    files_skipped: int = 0
    files_failed: int = 0
    files_deleted: int = 0
    passages_created: int = 0
    passages_deleted: int = 0
    errors: tuple[SourceError, ...] = ()
    warnings: tuple[str, ...] = ()
    error_message: str | None = None
    document_id: str | None = None
    """Set when the job is about one document."""
    created_at: datetime | None = None
    started_at: datetime | None = None
    completed_at: datetime | None = None


# ---------------------------------------------------------------- who may do what


class Right(StrEnum):
    """What a key allows; each holds those before it."""

    READ = "read"
    """Ask, search, look, rate answers."""
    WRITE = "write"
    """Take in, change and delete knowledge."""
    ADMIN = "admin"
    """Name files of the server's machine, and see the figures of the whole server: for who runs it. For the tenant
    `default`, also fetch backups of everything."""

    def allows(self, wanted: Right) -> bool:
        """Whether this right is enough."""
        rights = list(Right)
        return rights.index(self) >= rights.index(wanted)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """A credential as the catalog knows it: never the secret itself."""

    id: str
    tenant: str
    """Whose data it opens."""
    name: str
    """For people: who or what uses it."""
    right: Right
    digest: str
    """SHA-256 of the secret, which is random and long."""
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None

    def valid(self, now: datetime) -> bool:
        """Whether it still opens anything."""
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)


# ---------------------------------------------------------------- graph


class Predicate(StrEnum):
    """The seven relations between concepts."""

    PREREQUISITE = "PREREQUISITE"
    RELATED_TO = "RELATED_TO"
    COMPARED_TO = "COMPARED_TO"
    PART_OF = "PART_OF"
    USES = "USES"
    IMPLEMENTS = "IMPLEMENTS"
    EXAMPLE_OF = "EXAMPLE_OF"


@dataclass(frozen=True, slots=True)
class Concept:
    """A thing that documents talk about. Its key is unique in its collection."""

    key: str
    """Normalised name (`kedge.text.concepts.concept_key`)."""
    name: str
    """As first written."""
    aliases: tuple[str, ...] = ()
    description: str = ""
    category: str = ""
    difficulty: str = ""
    tags: tuple[str, ...] = ()


class MentionKind(StrEnum):
    """How a passage is tied to a concept; the last two are D-06's CODE_EXAMPLE_FOR and FORMULA_FOR."""

    DISCUSSES = "DISCUSSES"
    CODE_EXAMPLE_FOR = "CODE_EXAMPLE_FOR"
    FORMULA_FOR = "FORMULA_FOR"


class Role(StrEnum):
    """How a passage speaks of a concept, strongest first. Stored on the edge from passage to concept."""

    TITLE = "title"
    """The passage's document is called so."""
    LEAD = "lead"
    """The passage opens with it as its subject, as definitions and encyclopedia articles do."""
    SUBJECT = "subject"
    """A later sentence opens with it."""
    MENTION = "mention"
    """It is named somewhere in a sentence."""
    GENERIC = "generic"
    """A known title occurs in lower case, so it may be a common phrase."""

    @property
    def place(self) -> int:
        """0 for the strongest."""
        return _ROLES.index(self)


_ROLES = list(Role)


@dataclass(frozen=True, slots=True)
class PassageConcept:
    """Edge from a passage to a concept it mentions."""

    passage_id: str
    concept_key: str
    kind: MentionKind = MentionKind.DISCUSSES
    frequency: int = 1
    role: Role = Role.MENTION


@dataclass(frozen=True, slots=True)
class Triple:
    """A typed relation between two concepts, found in one passage."""

    subject: str
    """Key of a concept."""
    predicate: Predicate
    object: str
    """Key of a concept."""
    confidence: float
    """At least 0.5, else it is not kept."""
    passage_id: str
    """The passage that says so."""
    comparison: str = ""
    """COMPARED_TO only: the sentence that compares."""
    use_case: str = ""
    """COMPARED_TO only: when to take which."""


@dataclass(frozen=True, slots=True)
class GraphChunk:
    """A passage as the graph knows it (D-05)."""

    passage_id: str
    document_id: str
    hash: str
    preview: str
    """First 200 characters."""
    index: int
    token_count: int
    has_code: bool
    has_formula: bool
    has_table: bool
    next_passage_id: str | None = None


@dataclass(frozen=True, slots=True)
class GraphDocument:
    """A document as the graph knows it (D-05), with the concepts its title names and those it mentions."""

    document_id: str
    url: str
    title: str
    format: str
    title_keys: tuple[str, ...]
    """Keys of the concepts this document is about: its title and the title's aliases."""
    author: str | None = None
    chunk_count: int = 0
    mentions: tuple[tuple[str, int, float], ...] = ()
    """(concept key, frequency, relevance 0–1) of the MENTIONS edges."""


@dataclass(frozen=True, slots=True)
class GraphBatch:
    """All that one or more document versions add to the graph. Writing it twice changes nothing."""

    documents: tuple[GraphDocument, ...] = ()
    chunks: tuple[GraphChunk, ...] = ()
    concepts: tuple[Concept, ...] = ()
    mentions: tuple[PassageConcept, ...] = ()
    triples: tuple[Triple, ...] = ()


# ---------------------------------------------------------------- way out: hits, evidence, answers

MAX_QUERY_CHARS = 2000
MAX_TOP_K = 20


@dataclass(frozen=True, slots=True)
class Query:
    """A question or a search, validated where it enters (`kedge.retrieve.pipeline.validate`)."""

    text: str
    scope: Scope
    top_k: int = 5
    include_graph: bool = True
    topic_filter: str | None = None
    where: Filter | None = None
    """Further conditions on passages."""
    session_id: str | None = None
    """Session the question belongs to: for analytics, and for the questions that follow it."""
    user: str = "local"
    """Who asks; stored as a hash only."""
    threshold: float | None = None
    """Least score of a row (tables); None: the setting."""
    rows: int | None = None
    """Most rows that an answer over a table is made from; None: by the question."""


class Channel(StrEnum):
    """The three ways a passage can be found."""

    VECTOR = "vector"
    KEYWORD = "keyword"
    GRAPH = "graph"


@dataclass(frozen=True, slots=True)
class Scored:
    """What a store's search returns: an id and a score, best first."""

    id: str
    score: float


@dataclass(frozen=True, slots=True)
class ChannelHit:
    """One passage found by one channel."""

    passage_id: str
    score: float
    rank: int
    """From 1."""
    path: tuple[str, ...] = ()
    """Graph only: the steps that led here, readable."""


@dataclass(frozen=True, slots=True)
class SearchHit:
    """One passage after fusion and reranking."""

    rank: int
    """From 1."""
    passage: Passage
    score: float
    """What the results are ordered by, in [0, 1]: the best hit's nearness to the question, and the others as a share of
    it. In an answer it is the judge's probability instead of the nearness."""
    vector_rank: int | None = None
    keyword_rank: int | None = None
    graph_rank: int | None = None
    vector_score: float | None = None
    """Cosine similarity, where the vector channel found it."""
    keyword_score: float | None = None
    path: tuple[str, ...] = ()
    path_ids: tuple[str, ...] = ()
    """The same steps, with passages by their id instead of their title."""
    above_threshold: bool = False
    """Relevance score at or above the threshold."""

    @property
    def in_both(self) -> bool:
        """Found by vectors and by the graph (D-12)."""
        return self.vector_rank is not None and self.graph_rank is not None


@dataclass(frozen=True, slots=True)
class SearchResult:
    """Hits with the times of each stage and the counts that metrics want."""

    query: str
    hits: tuple[SearchHit, ...]
    timings_ms: Mapping[str, float]
    counts: Mapping[str, int] = field(default_factory=dict)
    """vector, keyword, graph, overlap, concepts, dropped_not_live."""
    warnings: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        """For notebooks."""
        from kedge.notebook import result_html

        return result_html(self)


Confidence: TypeAlias = Literal["high", "medium", "low", "insufficient"]


@dataclass(frozen=True, slots=True)
class Citation:
    """A verified span in a passage that supports a sentence of the answer."""

    id: str
    """`[1]`, `[2]`, … as it stands in the answer."""
    passage_id: str
    document_id: str
    title: str
    url: str
    snippet: str
    """The cited words, verbatim."""
    start: int
    """Offset of the snippet in the document's text."""
    end: int
    relevance_score: float
    page: int | None = None
    section_path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with its sources, or an honest refusal."""

    query_id: str
    answer: str
    citations: tuple[Citation, ...]
    confidence: Confidence
    evidence_probability: float
    """Calibrated probability that the evidence answers the question."""
    short_answer: str | None = None
    """The name, date or number asked for, where one could be found; a slice of the first citation."""
    hits: tuple[SearchHit, ...] = ()
    metadata: Metadata = field(default_factory=dict)

    @property
    def refused(self) -> bool:
        return self.confidence == "insufficient"

    def __str__(self) -> str:
        """The answer with its sources, readable."""
        sources = [f"{item.id} {' › '.join((item.title, *item.section_path))} — {item.url}" for item in self.citations]
        return "\n".join([self.answer, *sources])

    def _repr_html_(self) -> str:
        """For notebooks."""
        from kedge.notebook import answer_html

        return answer_html(self)


EventType: TypeAlias = Literal["token", "citation", "metadata", "done", "error"]


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One server-sent event of a streamed answer."""

    type: EventType
    content: str | None = None
    citation: Citation | None = None
    metadata: Metadata | None = None
    error: Metadata | None = None
