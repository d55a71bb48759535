"""Table sessions: make, feed, ask, change, delete."""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator
from typing import Annotated, Any

from fastapi import APIRouter, Response
from fastapi import Query as Parameter
from fastapi import Request as HttpRequest
from fastapi.responses import StreamingResponse
from pydantic import ValidationError

from kedge.core import telemetry
from kedge.core.errors import UsageError
from kedge.core.untrusted import file_name
from kedge.core.values import MAX_OFFSET, Accepted, Answer, IngestMode, IngestRequest, Json, Query, Scope
from kedge.core.values.filters import from_mapping
from kedge.kinds.tables.kind import KIND
from kedge.kinds.tables.surfaces.bodies import (
    FeedBody,
    RowsBody,
    SessionBody,
    SessionQuery,
)
from kedge.kinds.tables.surfaces.opened import sessions_of
from kedge.kinds.tables.values import RefusedRowPage, RowsChanged, TableSession, TableSessionList
from kedge.surfaces.server import sse
from kedge.surfaces.server.bodies import is_url
from kedge.surfaces.server.deps import (
    CallerDep,
    EngineDep,
    MetricsDep,
    SettingsDep,
    TenantDep,
    WriterDep,
    local_paths_allowed,
)
from kedge.surfaces.server.errors import from_faults
from kedge.surfaces.server.routes.query import STREAM_DOC, count, counted
from kedge.surfaces.server.uploads import read_form, spool_files, text_fields
from kedge.surfaces.server.within import UserDep

router = APIRouter(prefix="/api/sessions", tags=["sessions"])
_FIELDS = FeedBody.model_json_schema()
_FORM = {name: field for name, field in _FIELDS["properties"].items() if name not in ("sources", "rows", "name")}
FEED_DOC: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/json": {"schema": _FIELDS},
            "multipart/form-data": {
                "schema": {
                    "type": "object",
                    "required": ["file"],
                    "properties": {
                        "file": {
                            "type": "array",
                            "items": {"type": "string", "format": "binary"},
                            "description": "CSV, JSONL or Parquet files.",
                        },
                        **_FORM,
                    },
                }
            },
        },
    }
}


@router.get("", summary="List sessions")
async def list_sessions(engine: EngineDep, tenant: TenantDep) -> TableSessionList:
    """All table sessions, by name."""
    return TableSessionList(tuple(await sessions_of(engine).all(tenant)))


@router.post("", status_code=201, summary="Make a session")
async def make_session(body: SessionBody, engine: EngineDep, tenant: WriterDep) -> TableSession:
    """A session for one table. It is empty until it is fed."""
    return await sessions_of(engine).make(
        tenant, body.session_id, use_rag=body.use_rag, persist=body.persist, expires_after=body.expires_after
    )


@router.get("/{session_id}", summary="Show a session")
async def show_session(session_id: str, engine: EngineDep, tenant: TenantDep) -> TableSession:
    """Status (`empty`, `building`, `ready`, `failed`, `expired`), rows, columns and what was odd."""
    return await sessions_of(engine).get(Scope(tenant, session_id))


@router.delete("/{session_id}", status_code=204, summary="Delete a session", response_class=Response)
async def delete_session(session_id: str, engine: EngineDep, tenant: WriterDep) -> None:
    """Delete the session with all its rows."""
    await sessions_of(engine).get(Scope(tenant, session_id))
    await engine.delete_collection(Scope(tenant, session_id))


@router.post(
    "/{session_id}/feed-data",
    status_code=202,
    summary="Feed a session",
    openapi_extra=FEED_DOC,
)
async def feed(
    *,
    session_id: str,
    request: HttpRequest,
    engine: EngineDep,
    settings: SettingsDep,
    tenant: WriterDep,
    caller: CallerDep,
    metrics: MetricsDep,
) -> Accepted:
    """Queue files or rows. Until the feed has ended, questions see the table of the last one."""
    if request.headers.get("content-type", "").startswith("multipart/form-data"):
        async with read_form(request) as form:
            body = _body(text_fields(form))
            uploads = await spool_files(form, engine)
    else:
        body = _body(await _json(request))
        _check_sources(body, local_paths_allowed(request, settings, caller))
        uploads = (await engine.spool(f"{file_name(body.name)}.jsonl", _lines(body.rows)),) if body.rows else ()
    job = await engine.submit(_request(body, Scope(tenant, session_id), uploads))
    metrics.add(telemetry.SUBMITTED)
    return Accepted.of(job)


@router.post("/{session_id}/query", summary="Ask a session")
async def ask_session(
    *, session_id: str, body: SessionQuery, engine: EngineDep, tenant: TenantDep, user: UserDep, metrics: MetricsDep
) -> Answer:
    """Compute the answer over all rows where the question allows it, else answer from the nearest rows."""
    started = time.perf_counter()
    scope = Scope(tenant, session_id)
    await sessions_of(engine).get(scope)
    if body.plan is not None:
        answer = await sessions_of(engine).run_plan(scope, body.plan, user)
    else:
        answer = await engine.ask(_query(body, scope, user))
    count(metrics, answer.confidence, time.perf_counter() - started)
    return answer


@router.post(
    "/{session_id}/query/stream",
    summary="Ask a session, streamed",
    response_class=StreamingResponse,
    responses=STREAM_DOC,
)
async def ask_session_stream(
    *,
    session_id: str,
    body: SessionQuery,
    request: HttpRequest,
    engine: EngineDep,
    tenant: TenantDep,
    user: UserDep,
    metrics: MetricsDep,
) -> StreamingResponse:
    """The same as server-sent events."""
    scope = Scope(tenant, session_id)
    await sessions_of(engine).get(scope)
    return await sse.respond(counted(engine.stream(_query(body, scope, user)), metrics), request)


@router.get("/{session_id}/bad-rows", summary="Rows put aside")
async def bad_rows(
    session_id: str,
    engine: EngineDep,
    tenant: TenantDep,
    limit: Annotated[int, Parameter(ge=1, le=1000)] = 100,
    offset: Annotated[int, Parameter(ge=0, le=MAX_OFFSET)] = 0,
) -> RefusedRowPage:
    """Records of the files that could not be used, with file, line and reason."""
    found = await sessions_of(engine).bad_rows(Scope(tenant, session_id), limit, offset)
    return RefusedRowPage(tuple(found), limit, offset)


@router.patch("/{session_id}/rows", summary="Change rows")
async def change_rows(session_id: str, body: RowsBody, engine: EngineDep, tenant: WriterDep) -> RowsChanged:
    """Change, put in or delete single rows by the value of a key column."""
    scope = Scope(tenant, session_id)
    await sessions_of(engine).get(scope)
    return await sessions_of(engine).update(scope, body.key, body.upsert, body.delete)


def _query(body: SessionQuery, scope: Scope, user: str) -> Query:
    return Query(
        text=body.query,
        scope=scope,
        rows=body.k,
        where=from_mapping(body.filter),
        threshold=body.threshold,
        user=user,
        reading=body.reading,
        embedding=body.query_embedding,
    )


def _request(body: FeedBody, scope: Scope, uploads: tuple[tuple[str, str], ...]) -> IngestRequest:
    options: dict[str, Json] = {"delimiter": body.delimiter, "encoding": body.encoding, "header": body.header}
    return IngestRequest(
        scope=scope,
        sources=tuple(body.sources),
        uploads=uploads,
        kind=KIND.name,
        mode=IngestMode.RECREATE if body.mode == "replace" else IngestMode.INCREMENTAL,
        options={name: value for name, value in options.items() if value is not None},
    )


def _check_sources(body: FeedBody, paths_allowed: bool) -> None:
    if not body.sources and not body.rows:
        raise UsageError("Nothing to feed.", hint="Give sources or rows, or upload files.")
    if body.sources and body.rows:
        raise UsageError("Give sources or rows, not both.", hint="Feed them one after the other with mode add.")
    paths = [source for source in body.sources if not is_url(source)]
    if paths and not paths_allowed:
        raise UsageError(
            "This server does not read files of its own machine for others.", hint="Upload the file, or give a URL."
        )


async def _lines(rows: list[dict[str, Any]]) -> AsyncIterator[bytes]:
    for row in rows:
        yield json.dumps(row, ensure_ascii=False).encode() + b"\n"


async def _json(request: HttpRequest) -> Any:
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError) as error:
        raise UsageError(
            "The body is not valid JSON.", hint="Send application/json, or files as multipart/form-data."
        ) from error


def _body(fields: Any) -> FeedBody:
    try:
        return FeedBody.model_validate(fields)
    except ValidationError as error:
        raise from_faults(error.errors()) from error
