"""What clients send about tables."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from kedge.kinds.tables.state import MOST_SECONDS
from kedge.surfaces.server.bodies import JsonObject, Request


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
    reading: int | None = Field(
        None,
        ge=1,
        description="Which of the readings that the last answer showed is meant; the likeliest if not given.",
    )
    query_embedding: bool = Field(False, description="Tell the question's vector too, where rows are retrieved.")
    plan: JsonObject | None = Field(None, description="A plan as JSON, checked against the table, run as it is.")


class RowsBody(Request):
    """Single rows to change."""

    key: str = Field(description="Column that tells which row is which.")
    upsert: list[JsonObject] = Field(default_factory=list, description="Rows to change or to put in.")
    delete: list[Any] = Field(default_factory=list, description="Keys of rows to delete.")
