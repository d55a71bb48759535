"""Take documents in, by address or by upload, and follow the job."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query
from fastapi import Request as HttpRequest
from pydantic import ValidationError
from starlette.datastructures import FormData

from kedge.core import telemetry
from kedge.core.errors import UsageError
from kedge.core.settings import Settings
from kedge.core.telemetry import Metrics
from kedge.core.values import Accepted, IngestPlan, IngestRequest, Job, JobList, Scope, checked_readers
from kedge.engine.engine import Engine
from kedge.surfaces.server.bodies import IngestBody, is_url
from kedge.surfaces.server.deps import (
    Caller,
    CallerDep,
    EngineDep,
    MetricsDep,
    SettingsDep,
    TenantDep,
    local_paths_allowed,
    writer,
)
from kedge.surfaces.server.errors import from_faults
from kedge.surfaces.server.uploads import read_form, spool_files, text_fields

router = APIRouter(prefix="/api/ingest", tags=["ingest"])


def _inlined(node: Any, definitions: dict[str, Any]) -> Any:
    """A JSON schema without references, as OpenAPI wants it inside an operation."""
    if isinstance(node, list):
        return [_inlined(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    target = definitions[node["$ref"].rsplit("/", 1)[1]] if "$ref" in node else {}
    return {
        key: _inlined(value, definitions) for key, value in {**target, **node}.items() if key not in ("$ref", "$defs")
    }


_SCHEMA = IngestBody.model_json_schema()
_FIELDS = _inlined(_SCHEMA, _SCHEMA["$defs"])
_JSON_ALONE = ("document_url", "sources", "metadata", "options", "readers")
_FORM_FIELDS = {name: field for name, field in _FIELDS["properties"].items() if name not in _JSON_ALONE}
BODY_DOC: dict[str, Any] = {
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
                            "description": "One or several files.",
                        },
                        "metadata": {"type": "string", "description": "A JSON object, kept with every document."},
                        "readers": {"type": "string", "description": "Who may read it, joined by commas."},
                        **_FORM_FIELDS,
                    },
                }
            },
        },
    }
}


@router.post(
    "",
    status_code=202,
    summary="Take documents in",
    openapi_extra=BODY_DOC,
    dependencies=[Depends(writer)],
)
async def ingest(
    *,
    request: HttpRequest,
    engine: EngineDep,
    settings: SettingsDep,
    caller: CallerDep,
    metrics: MetricsDep,
) -> Accepted:
    """Queue documents: addresses as JSON, or files as multipart/form-data. The job shows how it goes."""
    return await take_in(request, engine, settings, caller, metrics)


async def take_in(
    request: HttpRequest, engine: Engine, settings: Settings, caller: Caller, metrics: Metrics, **fixed: str
) -> Accepted:
    """Queue what the request names; `fixed` fields are those that the address decides."""
    if request.headers.get("content-type", "").startswith("multipart/form-data"):
        async with read_form(request) as form:
            body = _form_body(form).model_copy(update=fixed)
            wanted = _request(body, settings, caller.tenant, sources=(), uploads=await spool_files(form, engine))
    else:
        body = _read_body(await _json(request)).model_copy(update=fixed)
        paths_allowed = local_paths_allowed(request, settings, caller)
        wanted = _request(body, settings, caller.tenant, sources=_sources(body, paths_allowed), uploads=())
    estimated = await engine.estimate(wanted)
    job = await engine.submit(wanted)
    metrics.add(telemetry.SUBMITTED)
    return Accepted.of(job, estimated)


@router.post("/plan", summary="What an ingestion would do", dependencies=[Depends(writer)])
async def plan(
    body: IngestBody, request: HttpRequest, engine: EngineDep, settings: SettingsDep, caller: CallerDep
) -> IngestPlan:
    """Which sources are new, modified or gone, by their SHA-256; nothing is taken in."""
    sources = _sources(body, local_paths_allowed(request, settings, caller))
    return await engine.plan(_request(body, settings, caller.tenant, sources=sources, uploads=()))


@router.get("", summary="List jobs")
async def list_jobs(
    engine: EngineDep,
    tenant: TenantDep,
    limit: Annotated[int, Query(ge=1, le=1000, description="How many.")] = 50,
) -> JobList:
    """Ingestions, newest first."""
    return JobList(tuple(await engine.jobs(tenant, limit)))


@router.get("/{job_id}", summary="Show a job")
async def show_job(job_id: str, engine: EngineDep, tenant: TenantDep) -> Job:
    """How far an ingestion is, and what could not be taken in."""
    return await engine.job(tenant, job_id)


def _request(
    body: IngestBody,
    settings: Settings,
    tenant: str,
    *,
    sources: tuple[str, ...],
    uploads: tuple[tuple[str, str], ...],
) -> IngestRequest:
    return IngestRequest(
        scope=Scope(tenant, body.collection or settings.collection),
        sources=sources,
        uploads=uploads,
        kind=body.kind,
        mode=body.mode,
        topic=body.topic,
        title=body.title,
        format=body.format,
        metadata=body.metadata,
        options=body.options,
        readers=None if body.readers is None else checked_readers(body.readers),
    )


def _sources(body: IngestBody, paths_allowed: bool) -> tuple[str, ...]:
    named = [body.document_url] if body.document_url else []
    sources = tuple(source for source in (*named, *body.sources) if source.strip())
    if not sources:
        raise UsageError("Nothing to take in.", hint="Give document_url or sources, or upload files.")
    check_sources(sources, paths_allowed=paths_allowed)
    return sources


def check_sources(sources: Sequence[str], *, paths_allowed: bool) -> None:
    """UsageError for files of the server's machine, where this caller may not name any."""
    if not paths_allowed and not all(map(is_url, sources)):
        raise UsageError(
            "This server does not read files of its own machine for others.", hint="Upload the file, or give a URL."
        )


async def _json(request: HttpRequest) -> Any:
    try:
        return json.loads(await request.body())
    except (ValueError, RecursionError) as error:
        raise UsageError(
            "The body is not valid JSON.", hint="Send application/json, or files as multipart/form-data."
        ) from error


def _form_body(form: FormData) -> IngestBody:
    fields: dict[str, Any] = dict(text_fields(form))
    if "metadata" in fields:
        try:
            fields["metadata"] = json.loads(fields["metadata"])
        except (ValueError, RecursionError) as error:
            raise UsageError("The field metadata is not valid JSON.", hint="Send a JSON object.") from error
    if "readers" in fields:
        fields["readers"] = [one for one in str(fields["readers"]).split(",") if one.strip()]
    return _read_body(fields)


def _read_body(fields: Any) -> IngestBody:
    try:
        return IngestBody.model_validate(fields)
    except ValidationError as error:
        raise from_faults(error.errors()) from error
