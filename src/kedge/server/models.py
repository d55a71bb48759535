"""Requests and responses. Requests take snake_case and camelCase; responses are snake_case.

Limits that the engine checks (length of a query, range of top_k) are not repeated here, so that there is one message.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AliasChoices, AliasGenerator, AnyUrl, BaseModel, ConfigDict, Field, model_validator
from pydantic.alias_generators import to_camel

from kedge.tables.state import MOST_SECONDS
from kedge.text.untrusted import check_json
from kedge.types import DocumentStatus, Format, IngestMode, JobStatus

JsonObject = dict[str, Any]


class Request(BaseModel):
    """Base of all requests: unknown fields are errors."""

    model_config = ConfigDict(
        alias_generator=AliasGenerator(validation_alias=lambda name: AliasChoices(name, to_camel(name))),
        extra="forbid",
    )

    @model_validator(mode="before")
    @classmethod
    def _bounded(cls, value: Any) -> Any:
        check_json(value)
        return value


class QueryRequest(Request):
    """A question."""

    query: str = Field(description="The question, 1–2,000 characters.", examples=["What is a kedge used for?"])
    collection: str | None = Field(None, description="Collection to ask; the server's default if not given.")
    session_id: str | None = Field(
        None, description="Session the question belongs to: follow-up questions are understood from the ones before."
    )
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


class SessionBody(Request):
    """A table session to be made, or the other options of one that is there."""

    session_id: str | None = Field(None, description="Its name, which is its collection's; an id is made if not given.")
    use_rag: bool = Field(True, description="Embed texts, so that rows are found by meaning.")
    persist: bool = Field(True, description="Keep it when the server ends.")
    expires_after: float | None = Field(
        None, ge=0, le=MOST_SECONDS, description="Seconds after the last feed; 0: never."
    )


class FeedBody(Request):
    """What to feed: addresses, or rows themselves."""

    sources: list[str] = Field(default_factory=list, description="URLs, or paths where the server allows paths.")
    rows: list[JsonObject] = Field(default_factory=list, description="Rows as objects, instead of files.")
    name: str = Field("rows", max_length=200, description="Name of the table, for rows.")
    mode: Literal["replace", "add"] = Field(
        "replace", description="replace: the table is what is fed now; add: files of other names stay."
    )
    delimiter: str | None = Field(None, description="Delimiter, instead of the detected one.")
    encoding: str | None = Field(None, description="Encoding, instead of the detected one.")
    header: bool | None = Field(None, description="Whether the first row names the columns.")


class SessionQuery(Request):
    """A question to a table, or a plan to run."""

    query: str = Field("", description="The question, 1–2,000 characters; not needed with a plan.")
    k: int | None = Field(
        None,
        ge=1,
        le=500,
        description="Most rows that are retrieved when nothing can be computed; by the question if not given.",
    )
    threshold: float | None = Field(None, ge=0, le=1, description="Least score of a row; the setting's if not given.")
    filter: JsonObject = Field(default_factory=dict, description="Conditions on columns, all of which hold.")
    plan: JsonObject | None = Field(None, description="A plan as JSON, checked against the table, run as it is.")


class RowsBody(Request):
    """Single rows to change."""

    key: str = Field(description="Column that tells which row is which.")
    upsert: list[JsonObject] = Field(default_factory=list, description="Rows to change or to put in.")
    delete: list[Any] = Field(default_factory=list, description="Keys of rows to delete.")


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
        description="Times and counts; `sources` says where each citation stands; a refusal has `nearest` and "
        "`refusal` (what was looked for, and the nearest sentences, which are no answer)."
    )


class HitOut(BaseModel):
    """A passage that was found."""

    rank: int
    passage_id: str
    document_id: str
    external_id: str
    title: str
    text: str
    score: float
    vector_rank: int | None
    keyword_rank: int | None
    graph_rank: int | None
    metadata: JsonObject = Field(description="Place, flags and free metadata; `start` and `end` are offsets.")


class SearchOut(BaseModel):
    """Passages, best first."""

    query: str
    results: list[HitOut]
    timings_ms: dict[str, float]


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
    state: Literal["queued", "running", "completed", "failed"] = Field(description="The status without its steps.")
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
    duration_seconds: float | None


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


class SessionColumnOut(BaseModel):
    """A column of a table."""

    name: str
    type: str = Field(description="text, category, integer, real, boolean, date, time or id.")
    distinct: int
    empty: int


class SessionFileOut(BaseModel):
    """A file that was fed."""

    name: str
    url: str
    format: str
    rows: int
    bad_rows: int
    role: str = Field(description="`rows`, or `lookup` when its columns are joined to the rows.")


class SessionOut(BaseModel):
    """A table session."""

    session_id: str
    status: Literal["empty", "building", "ready", "failed", "expired"]
    table: str
    rows: int
    bad_rows: int
    columns: list[SessionColumnOut]
    files: list[SessionFileOut]
    use_rag: bool
    persist: bool
    index: JsonObject | None
    error: str | None
    notes: list[str]
    job_id: str | None = Field(description="The feed that has not ended yet.")
    progress: int | None
    created_at: str | None
    fed_at: str | None
    expires_at: str | None


class SessionsOut(BaseModel):
    """All sessions."""

    sessions: list[SessionOut]


class BadRowOut(BaseModel):
    """A record that could not be used."""

    file: str
    line: int
    reason: str
    text: str


class BadRowsOut(BaseModel):
    """One page of the rows put aside."""

    bad_rows: list[BadRowOut]
    limit: int
    offset: int


class ChangedOut(BaseModel):
    """What an update of rows did."""

    updated: int
    inserted: int
    deleted: int


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


class AnalyticsOut(BaseModel):
    """Counts and means over the queries that are kept."""

    queries: int
    sessions: int
    refusals: int
    strategies: dict[str, int]
    mean_execution_time_ms: float | None
    mean_vector_search_ms: float | None
    mean_graph_traversal_ms: float | None
    mean_fusion_ms: float | None
    mean_rerank_ms: float | None
    feedback: int
    mean_rating: float | None


class ErasedOut(BaseModel):
    """What was forgotten of a user."""

    queries: int
    sessions: int


class NodeBody(Request):
    """A new node."""

    id: str = Field("", description="Unique in the graph; made up if empty.")
    type: str = Field("", description="Such as `Person`.", examples=["Person"])
    title: str = Field("", description="Its name; the id if empty.", examples=["Ada Lovelace"])
    description: str = Field("", description="What is to be found by meaning.")
    aliases: list[str] = Field(default_factory=list, description="Other names that questions may use.")
    properties: JsonObject = Field(default_factory=dict, description="Anything else.")


class NodeChanges(Request):
    """Fields of a node to change; those not given stay."""

    type: str | None = None
    title: str | None = None
    description: str | None = None
    aliases: list[str] | None = None
    properties: JsonObject | None = Field(None, description="Replaces all properties.")


class NodeOut(BaseModel):
    """A node."""

    id: str
    type: str
    title: str
    description: str
    aliases: list[str]
    properties: JsonObject
    created_at: str | None
    updated_at: str | None


class NodesOut(BaseModel):
    """One page of nodes, by id."""

    nodes: list[NodeOut]
    next: str | None = Field(description="`after` of the next page; null on the last one.")


class EdgeBody(Request):
    """A new edge."""

    id: str = Field("", description="Unique in the graph; made of ends and type if empty.")
    source: str = Field(description="Id of the node it leaves.")
    target: str = Field(description="Id of the node it leads to.")
    type: str = Field(description="Name of the relation.", examples=["place_of_birth"])
    properties: JsonObject = Field(default_factory=dict, description="Anything else.")


class EdgeChanges(Request):
    """Fields of an edge to change; those not given stay."""

    source: str | None = None
    target: str | None = None
    type: str | None = None
    properties: JsonObject | None = Field(None, description="Replaces all properties.")


class EdgeOut(BaseModel):
    """An edge."""

    id: str
    source: str
    target: str
    type: str
    properties: JsonObject
    created_at: str | None
    updated_at: str | None


class EdgesOut(BaseModel):
    """One page of edges, by id."""

    edges: list[EdgeOut]
    next: str | None = Field(description="`after` of the next page; null on the last one.")


class DeletedNodeOut(BaseModel):
    """A node that is gone."""

    id: str
    edges: list[str] = Field(description="Its edges, gone with it.")


class GraphIndexBody(Request):
    """Which graph to index."""

    collection: str | None = Field(None, description="The graph; the server's default collection if not given.")
    full: bool = Field(False, description="Index all nodes anew, not only those that are not current.")


class ReconcileBody(Request):
    """Which graph to compare with its index."""

    collection: str | None = Field(None, description="The graph; the server's default collection if not given.")
    repair: bool = Field(False, description="Make the index like the graph.")


class ReconciledOut(BaseModel):
    """How a graph and its index differ, by ids."""

    ok: bool
    nodes: int
    missing: list[str] = Field(description="Nodes that cannot be found.")
    orphaned: list[str] = Field(description="What is indexed and no node of the graph.")
    stale: list[str] = Field(description="Nodes that changed after they were indexed.")
    repaired: bool


class RagRequest(Request):
    """A question to a graph."""

    question: str = Field(description="The question, 1–2,000 characters.", examples=["Where was Ada's father born?"])
    collection: str | None = Field(None, description="The graph; the server's default collection if not given.")
    session_id: str | None = Field(None, description="Session the question belongs to, for analytics.")
    top_k: int = Field(5, description="How many nodes are used where no path answers, 1–20.")


def is_url(source: str) -> bool:
    """Does a source name a web address rather than a file?"""
    try:
        return AnyUrl(source).scheme in ("http", "https")
    except ValueError:
        return False
