"""What clients send, in snake_case or camelCase. What they get are values (`kedge.core.values`).

Limits that the engine checks (length of a query, range of top_k) are not repeated here, so that there is one message.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import (
    AliasChoices,
    AliasGenerator,
    AnyUrl,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)
from pydantic.alias_generators import to_camel

from kedge.core.untrusted import check_json
from kedge.core.values import DEFAULT_KIND, IngestMode
from kedge.ingest.parse.formats import list_formats

JsonObject = dict[str, Any]


def _whole(value: Any) -> Any:
    if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
        raise ValueError(f"top_k must be positive integer, got {value!r}")
    return value


TopK = Annotated[int | None, BeforeValidator(_whole, json_schema_input_type=int | None)]
"""What the engine checks further, so that there is one message for each fault."""


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
    top_k: TopK = Field(
        None, description="How many passages; not given: 5 for an answer, the setting `top_k` for a search."
    )
    include_graph: bool = Field(True, description="Search through the graph too.")
    topic_filter: str | None = Field(None, description="Only passages with this topic tag.")
    filter: JsonObject | list[str] = Field(
        default_factory=dict,
        description='Conditions on passages, all of which hold: `{"language": ["en", "de"], "page": {"gte": 3}}`, or '
        'as the command line has them: `["language=en,de", "page>=3", "topic_tag!=draft"]`.',
    )
    as_of: str | None = Field(
        None,
        max_length=40,
        description="Ask what was live then: a date (its end) or a time in ISO form, UTC unless it says a zone.",
        examples=["2026-03-01"],
    )
    reading: int | None = Field(
        None, ge=1, description="Tables: which of the readings that an answer showed is meant, from 1."
    )
    stream: bool = Field(False, description="Answer as server-sent events, as `/api/query/stream` does.")


class IngestBody(Request):
    """What to take in: `document_url` for one source, `sources` for several."""

    document_url: str | None = Field(None, description="URL, or a path where the server allows paths.")
    sources: list[str] = Field(default_factory=list, description="Several URLs, or paths where allowed.")
    title: str | None = Field(None, description="Title, instead of the detected one; for a single source.")
    format: str | None = Field(None, description="Format, instead of the detected one.", json_schema_extra=list_formats)
    metadata: JsonObject = Field(default_factory=dict, description="Kept with every document; filters see it.")
    collection: str | None = Field(None, description="Collection to put it into; the server's default if not given.")
    topic: str | None = Field(None, description="Topic tag of every passage.")
    kind: str = Field(DEFAULT_KIND, description="Kind of knowledge.")
    options: JsonObject = Field(
        default_factory=dict, description="For the kind; tables: `delimiter`, `encoding`, `header` (true or false)."
    )
    readers: list[str] | None = Field(
        None, description="Who may read it, whatever the sources say: `user:NAME`, `group:NAME`, `public`."
    )
    mode: IngestMode = Field(
        IngestMode.INCREMENTAL, description="incremental skips the unchanged; full takes all; recreate empties first."
    )


class ReadersBody(Request):
    """Who may read something."""

    readers: list[str] | None = Field(
        description="`user:NAME`, `group:NAME` or `public`; an empty list: the owner of the home alone; null: nobody "
        "is named, and everybody of the tenant may."
    )


class RuleBody(ReadersBody):
    """Who may read a collection, or a part of it."""

    label: str = Field("", max_length=500, description="Type of nodes of a graph; empty: the whole collection.")


class HoldBody(Request):
    """Why a document is held."""

    reason: str = Field(min_length=1, max_length=500, description="For whoever meets the hold.")


class FeedbackRequest(Request):
    """A rating of an answer."""

    query_id: str = Field(description="`query_id` of the answer.")
    rating: Annotated[int, Field(ge=0, le=5)] = Field(description="1 (bad) to 5 (good); with `binary` 0 or 1.")
    binary: bool = Field(False, description="The rating says no (0) or yes (1). A rating of 0 is always meant so.")
    comment: str | None = Field(None, max_length=4000, description="What was good or bad.")


def is_url(source: str) -> bool:
    """Does a source name a web address rather than a file?"""
    try:
        return AnyUrl(source).scheme in ("http", "https")
    except ValueError:
        return False
