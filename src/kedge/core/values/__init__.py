"""The values that flow through Kedge, a file per noun.

In the order in which data meets them: `base` (JSON, scopes), `filters`, `parsed` documents, `collection`, `document`,
`identity`, `passage`, `job`, `access`, `concepts`, `query`, `hit`, `answer`, `stream`, `analytics`, `health`, and last
what is said of a whole home: `server`, `doctor`, `backup`, `demo`.

What a value looks like outside is said on it (`kedge.core.outside`), and nowhere else.

Everything here is frozen: a stage takes values and returns new ones. Ids are strings of UUIDs made by the application
(see `kedge.core.ids`), so that the same passage has the same id in every store.
"""

from kedge.core.values.access import ApiKey, NewKey, Right
from kedge.core.values.analytics import PERIOD_DAYS, AnalyticsSummary, Erased, Swept, TopQuery
from kedge.core.values.answer import NEAREST, Answer, Citation, CitedCell, Confidence, KeptFeedback
from kedge.core.values.backup import BackupRestored, BackupSummary, BackupVerified, BackupWritten
from kedge.core.values.base import DEFAULT_TENANT, Json, Metadata, Scope
from kedge.core.values.collection import Collection, CollectionList, CollectionShown, Deleted, OtherIndex
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
from kedge.core.values.demo import Demonstration
from kedge.core.values.doctor import DoctorReport, Finding, FindingStatus, InstalledPlugin
from kedge.core.values.document import Document, DocumentPage, DocumentStatus
from kedge.core.values.filters import Filter
from kedge.core.values.health import Health, ServerReadiness
from kedge.core.values.hit import Channel, ChannelHit, Scored, SearchHit, SearchResult
from kedge.core.values.job import (
    DEFAULT_KIND,
    Accepted,
    IngestMode,
    IngestPlan,
    IngestRequest,
    Job,
    JobsDone,
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
from kedge.core.values.query import ANSWER_TOP_K, MAX_QUERY_CHARS, MAX_TOP_K, Query
from kedge.core.values.server import Access, ServerAddress
from kedge.core.values.stream import EventType, StreamEvent

__all__ = [
    "ANSWER_TOP_K",
    "DEFAULT_KIND",
    "DEFAULT_TENANT",
    "MAX_QUERY_CHARS",
    "MAX_TOP_K",
    "NEAREST",
    "PAGE_BREAKS",
    "PERIOD_DAYS",
    "TABLE_HEAD",
    "Accepted",
    "Access",
    "AnalyticsSummary",
    "Answer",
    "ApiKey",
    "BackupRestored",
    "BackupSummary",
    "BackupVerified",
    "BackupWritten",
    "Block",
    "BlockKind",
    "Channel",
    "ChannelHit",
    "Chunk",
    "Citation",
    "CitedCell",
    "Collection",
    "CollectionList",
    "CollectionShown",
    "Concept",
    "Confidence",
    "Deleted",
    "Demonstration",
    "DoctorReport",
    "Document",
    "DocumentPage",
    "DocumentStatus",
    "DocumentWithPassages",
    "Erased",
    "EventType",
    "Filter",
    "Finding",
    "FindingStatus",
    "GraphBatch",
    "GraphChunk",
    "GraphDocument",
    "Health",
    "IngestMode",
    "IngestPlan",
    "IngestRequest",
    "InstalledPlugin",
    "Job",
    "JobState",
    "JobStatus",
    "JobsDone",
    "Json",
    "KeptFeedback",
    "Link",
    "MentionKind",
    "Metadata",
    "NewKey",
    "OtherIndex",
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
    "ServerAddress",
    "ServerReadiness",
    "SourceError",
    "StreamEvent",
    "Swept",
    "TopQuery",
    "Triple",
    "embed_text",
    "parse_page_breaks",
]
