"""What clients can call for tables: see `kedge.surfaces.client.calls`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from kedge.core.outside import from_json
from kedge.core.values import Accepted, Answer, Json, StreamEvent
from kedge.kinds.tables.values import RefusedRow, RefusedRowPage, RowsChanged, TableSession, TableSessionList
from kedge.surfaces.client.endpoints import calls, nothing, reads, taken_in
from kedge.surfaces.client.wire import ClientCall, Upload, at


@calls("GET /api/sessions")
def sessions() -> ClientCall[list[TableSession]]:
    """All table sessions, by name."""
    return ClientCall("GET", "/api/sessions", lambda found: list(from_json(TableSessionList, found).sessions))


@calls("POST /api/sessions")
def make_session(
    session_id: str | None = None, *, use_rag: bool = True, persist: bool = True, expires_after: float | None = None
) -> ClientCall[TableSession]:
    """A session for one table."""
    body = {"session_id": session_id, "use_rag": use_rag, "persist": persist, "expires_after": expires_after}
    return ClientCall("POST", "/api/sessions", reads(TableSession), body=body)


@calls("GET /api/sessions/{session_id}")
def session(session_id: str) -> ClientCall[TableSession]:
    """One session: status, rows, columns, files."""
    return ClientCall("GET", at("/api/sessions/{id}", id=session_id), reads(TableSession))


@calls("DELETE /api/sessions/{session_id}")
def delete_session(session_id: str) -> ClientCall[None]:
    """Delete a session with all its rows."""
    return ClientCall("DELETE", at("/api/sessions/{id}", id=session_id), nothing)


@calls("POST /api/sessions/{session_id}/feed-data")
def feed(
    session_id: str,
    *sources: str,
    files: Sequence[Upload] = (),
    rows: Sequence[Mapping[str, Json]] = (),
    name: str | None = None,
    mode: Literal["replace", "add"] = "replace",
    delimiter: str | None = None,
    encoding: str | None = None,
    header: bool | None = None,
) -> ClientCall[Accepted]:
    """Queue files, addresses or rows for a session; `wait` for the job."""
    path = at("/api/sessions/{id}/feed-data", id=session_id)
    fields: dict[str, Any] = {"mode": mode, "delimiter": delimiter, "encoding": encoding, "header": header}
    if not files:
        fields |= {"rows": [dict(row) for row in rows], "name": name}
    return taken_in(path, sources, files, fields)


@calls("POST /api/sessions/{session_id}/query")
def ask_session(
    session_id: str,
    query: str = "",
    *,
    k: int | None = None,
    threshold: float | None = None,
    where: Mapping[str, Json] | None = None,
    reading: int | None = None,
    query_embedding: bool = False,
    plan: Mapping[str, Json] | None = None,
) -> ClientCall[Answer]:
    """Ask a table, or run a plan over it."""
    asked = {"query": query, "k": k, "threshold": threshold, "filter": dict(where or {}), "reading": reading}
    asked |= {"query_embedding": True} if query_embedding else {}
    body = asked if plan is None else {**asked, "plan": dict(plan)}
    return ClientCall("POST", at("/api/sessions/{id}/query", id=session_id), reads(Answer), body=body)


@calls("POST /api/sessions/{session_id}/query/stream")
def stream_session(
    session_id: str,
    query: str,
    *,
    k: int | None = None,
    threshold: float | None = None,
    where: Mapping[str, Json] | None = None,
    reading: int | None = None,
) -> ClientCall[StreamEvent]:
    """Ask a table, event by event."""
    body = {"query": query, "k": k, "threshold": threshold, "filter": dict(where or {}), "reading": reading}
    return ClientCall(
        "POST", at("/api/sessions/{id}/query/stream", id=session_id), reads(StreamEvent), body=body, streams=True
    )


@calls("GET /api/sessions/{session_id}/bad-rows")
def bad_rows(session_id: str, *, limit: int = 100, offset: int = 0) -> ClientCall[list[RefusedRow]]:
    """Records that could not be used: file, line, reason, text."""
    path = at("/api/sessions/{id}/bad-rows", id=session_id)
    return ClientCall(
        "GET", path, lambda found: list(from_json(RefusedRowPage, found).bad_rows), {"limit": limit, "offset": offset}
    )


@calls("PATCH /api/sessions/{session_id}/rows")
def update_rows(
    session_id: str, key: str, *, upsert: Sequence[Mapping[str, Json]] = (), delete: Sequence[Json] = ()
) -> ClientCall[RowsChanged]:
    """Change, add or delete single rows by the value of their key column; returns how many of each."""
    body = {"key": key, "upsert": [dict(row) for row in upsert], "delete": list(delete)}
    return ClientCall("PATCH", at("/api/sessions/{id}/rows", id=session_id), reads(RowsChanged), body=body)
