"""Requests and responses. Requests take snake_case and camelCase; responses are snake_case.

Limits that the engine checks (length of a query, range of top_k) are not repeated here, so that there is one message.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, AliasGenerator, AnyUrl, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from kedge.types import DocumentStatus, Format, IngestMode, JobStatus

JsonObject = dict[str, Any]


class Request(BaseModel):
    """Base of all requests: unknown fields are errors."""

    model_config = ConfigDict(
        alias_generator=AliasGenerator(validation_alias=lambda name: AliasChoices(name, to_camel(name))),
        extra="forbid",
    )


class QueryRequest(Request):
    """A question."""

    query: str = Field(description="The question, 1–2,000 characters.", examples=["What is a kedge used for?"])
    collection: str | None = Field(None, description="Collection to ask; the server's default if not given.")
    session_id: str | None = Field(None, description="Session the question belongs to, for analytics.")
    top_k: int = Field(5, description="How many passages are used, 1–20.")
    include_graph: bool = Field(True, description="Search through the graph too.")
    topic_filter: str | None = Field(None, description="Only passages with this topic tag.")
    filter: JsonObject = Field(
        default_factory=dict,
        description='Conditions on passages, all of which hold: `{"language": ["en", "de"], "page": {"gte": 3}}`.',
    )
    stream: bool | None = Field(None, description="Accepted without effect: the address decides.")


class IngestBody(Request):
    """What to take in: `document_url` for one source, `sources` for several."""

    document_url: str | None = Field(None, description="URL, or a path where the server allows paths.")
    sources: list[str] = Field(default_factory=list, description="Several URLs, or paths where allowed.")
    title: str | None = Field(None, description="Title, instead of the detected one; for a single source.")
    format: Format | None = Field(None, description="Format, instead of the detected one.")
    metadata: JsonObject = Field(default_factory=dict, description="Kept with every document; filters see it.")
    collection: str | None = Field(None, description="Collection to put it into; the server's default if not given.")
    topic: str | None = Field(None, description="Topic tag of every passage.")
    kind: str = Field("documents", description="Kind of knowledge.")
    mode: IngestMode = Field(
        IngestMode.INCREMENTAL, description="incremental skips the unchanged; full takes all; recreate empties first."
    )


class FeedbackRequest(Request):
    """A rating of an answer."""

    query_id: str = Field(description="`query_id` of the answer.")
    rating: Annotated[int, Field(ge=1, le=5)] = Field(description="1 (bad) to 5 (good).")
    comment: str | None = Field(None, max_length=4000, description="What was good or bad.")


class ErrorInfo(BaseModel):
    """What went wrong."""

    code: str = Field(description="Stable name of the error; docs/reference/errors.md lists all.")
    message: str = Field(description="What happened.")
    hint: str = Field(description="What to do about it.")
    details: JsonObject = Field(description="The facts.")


class ErrorBody(BaseModel):
    """The one shape of every error."""

    error: ErrorInfo


class CitationOut(BaseModel):
    """A verified span of a document that supports the answer."""

    id: str = Field(description="`[1]`, `[2]`, … as in the answer.")
    passage_id: str
    title: str
    url: str
    snippet: str = Field(description="The cited words, verbatim.")
    start: int = Field(description="Offset of the snippet in the document's text.")
    end: int
    relevance_score: float


class AnswerOut(BaseModel):
    """An answer with its citations, or an honest refusal (confidence `insufficient`)."""

    query_id: str
    answer: str
    citations: list[CitationOut]
    confidence: Literal["high", "medium", "low", "insufficient"]
    evidence_probability: float = Field(description="Calibrated probability that the evidence answers the question.")
    metadata: JsonObject = Field(
        description="Times and counts; `sources` says where each citation stands; `nearest` is there on a refusal."
    )


class AcceptedOut(BaseModel):
    """An ingestion that was queued."""

    job_id: str
    document_id: str | None = Field(description="Where the job is about one document and its id is known.")
    status: JobStatus
    estimated_chunks: int | None = None


class SourceErrorOut(BaseModel):
    """A source that could not be taken in."""

    url: str
    code: str
    message: str
    hint: str


class JobOut(BaseModel):
    """A job and how far it is."""

    job_id: str
    document_id: str | None
    collection: str
    kind: str
    mode: IngestMode
    status: JobStatus
    current_step: str | None
    progress: int = Field(description="0–100.")
    total_passages: int | None
    processed_passages: int
    files_discovered: int
    files_processed: int
    files_skipped: int
    files_failed: int
    files_deleted: int
    passages_created: int
    passages_deleted: int
    errors: list[SourceErrorOut]
    warnings: list[str]
    error_message: str | None
    created_at: str | None
    started_at: str | None
    completed_at: str | None


class FeedbackOut(BaseModel):
    """The feedback was kept."""

    feedback_id: str


class CollectionOut(BaseModel):
    """A collection and its counts."""

    name: str
    kind: str
    embedder: str
    dimension: int
    generation: int
    documents: int
    passages: int
    topics: list[str]
    created_at: str | None


class CollectionsOut(BaseModel):
    """All collections."""

    collections: list[CollectionOut]


class DocumentOut(BaseModel):
    """A document."""

    document_id: str
    collection: str
    url: str
    external_id: str
    title: str
    format: str
    status: DocumentStatus
    author: str | None
    topic_tag: str | None
    file_hash: str | None
    file_size: int | None
    chunk_count: int
    error_message: str | None
    metadata: JsonObject
    created_at: str | None
    updated_at: str | None
    ingested_at: str | None


class DocumentsOut(BaseModel):
    """One page of documents, by url."""

    documents: list[DocumentOut]
    limit: int
    offset: int


class PassageOut(BaseModel):
    """A passage and its place in the document."""

    passage_id: str
    index: int
    text: str
    start: int
    end: int
    section_path: list[str]
    page: int | None
    token_count: int
    has_code: bool
    has_formula: bool
    has_table: bool
    language: str


class DocumentWithPassagesOut(DocumentOut):
    """A document with its passages."""

    passages: list[PassageOut]


class PassageInDocumentOut(BaseModel):
    """A passage, those around it in order, and their document."""

    passage_id: str
    document: DocumentOut
    passages: list[PassageOut]
    has_before: bool = Field(description="The document has passages before the first of these.")
    has_after: bool = Field(description="The document has passages after the last of these.")


class HealthOut(BaseModel):
    """The process is alive."""

    status: Literal["ok"]
    version: str


class ReadyOut(BaseModel):
    """Can the server do its work? Each part says so for itself."""

    status: Literal["ready", "not_ready"]
    version: str
    parts: JsonObject


def is_url(source: str) -> bool:
    """Does a source name a web address rather than a file?"""
    try:
        return AnyUrl(source).scheme in ("http", "https")
    except ValueError:
        return False
