"""The values that flow through Kedge, a file per noun.

In the order in which data meets them: `base` (JSON, scopes), `filters`, `parsed` documents, `collection`, `document`,
`identity`, `passage`, `job`, `access`, `concepts`, `query`, `hit`, `answer`, `stream`, `analytics`, `health`.

What a value looks like outside is said on it (`kedge.core.outside`), and nowhere else.

Everything here is frozen: a stage takes values and returns new ones. Ids are strings of UUIDs made by the application
(see `kedge.core.ids`), so that the same passage has the same id in every store.
"""

from kedge.core.values.access import ApiKey, Right
from kedge.core.values.analytics import AnalyticsSummary, Erased
from kedge.core.values.answer import NEAREST, Answer, Citation, CitedCell, Confidence, KeptFeedback
from kedge.core.values.base import DEFAULT_TENANT, Json, Metadata, Scope
from kedge.core.values.collection import Collection, CollectionList
from kedge.core.values.concepts import (
    Concept,
    GraphBatch,
    GraphChunk,
    GraphDocument,
    MentionKind,
    PassageConcept,
    Predicate,
    Role,
    Triple,
)
from kedge.core.values.document import Document, DocumentPage, DocumentStatus
from kedge.core.values.filters import Filter
from kedge.core.values.health import Health, ServerReadiness
from kedge.core.values.hit import Channel, ChannelHit, Scored, SearchHit, SearchResult
from kedge.core.values.job import (
    DEFAULT_KIND,
    Accepted,
    IngestMode,
    IngestRequest,
    Job,
    JobState,
    JobStatus,
    SourceError,
)
from kedge.core.values.parsed import Block, BlockKind, Chunk, Link, ParsedDocument
from kedge.core.values.passage import (
    PAGE_BREAKS,
    TABLE_HEAD,
    DocumentWithPassages,
    Passage,
    PassageInDocument,
    embed_text,
    parse_page_breaks,
)
from kedge.core.values.query import MAX_QUERY_CHARS, MAX_TOP_K, Query
from kedge.core.values.stream import EventType, StreamEvent

__all__ = [
    "DEFAULT_KIND",
    "DEFAULT_TENANT",
    "MAX_QUERY_CHARS",
    "MAX_TOP_K",
    "NEAREST",
    "PAGE_BREAKS",
    "TABLE_HEAD",
    "Accepted",
    "AnalyticsSummary",
    "Answer",
    "ApiKey",
    "Block",
    "BlockKind",
    "Channel",
    "ChannelHit",
    "Chunk",
    "Citation",
    "CitedCell",
    "Collection",
    "CollectionList",
    "Concept",
    "Confidence",
    "Document",
    "DocumentPage",
    "DocumentStatus",
    "DocumentWithPassages",
    "Erased",
    "EventType",
    "Filter",
    "GraphBatch",
    "GraphChunk",
    "GraphDocument",
    "Health",
    "IngestMode",
    "IngestRequest",
    "Job",
    "JobState",
    "JobStatus",
    "Json",
    "KeptFeedback",
    "Link",
    "MentionKind",
    "Metadata",
    "ParsedDocument",
    "Passage",
    "PassageConcept",
    "PassageInDocument",
    "Predicate",
    "Query",
    "Right",
    "Role",
    "Scope",
    "Scored",
    "SearchHit",
    "SearchResult",
    "ServerReadiness",
    "SourceError",
    "StreamEvent",
    "Triple",
    "embed_text",
    "parse_page_breaks",
]
