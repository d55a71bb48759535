"""Sources that collections stay in step with: connect, look, sync, remove."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Response
from fastapi import Request as HttpRequest
from pydantic import Field

from kedge.core import telemetry
from kedge.core.errors import ForbiddenError, UsageError
from kedge.core.values import Accepted, ConnectedSource, Right, Scope, SourceList
from kedge.engine.connected import Wanted, seconds_of
from kedge.ingest.connectors.ports import SourceAddress
from kedge.ingest.connectors.registry import address, is_local, signs_in_as_machine
from kedge.surfaces.server.bodies import JsonObject, Request
from kedge.surfaces.server.deps import (
    CallerDep,
    EngineDep,
    MetricsDep,
    SettingsDep,
    TenantDep,
    WriterDep,
    allowed,
    local_paths_allowed,
    writer,
)

router = APIRouter(prefix="/api/sources", tags=["sources"])


class SourceBody(Request):
    """A source to connect."""

    url: str = Field(
        description="Address: `https://`, `s3://`, `git+https://`, `imaps://` …", examples=["s3://team/docs"]
    )
    collection: str | None = Field(None, description="Collection to keep in step; the server's default if not given.")
    name: str = Field("", description="What to call it; made from the address if not given.")
    every: str = Field("0", description="How often it is looked at: `15m`, `6h`, `1d`; `0`: by command alone.")
    options: JsonObject = Field(default_factory=dict, description='For what reads it, like `{"pages": 200}`.')
    secrets: dict[str, str] = Field(
        default_factory=dict,
        description='What it signs in with, as references: `{"password": "env:NAME"}`; never secrets themselves.',
    )


@router.get("", summary="List sources")
async def list_sources(engine: EngineDep, tenant: TenantDep) -> SourceList:
    """All sources by name, with their last runs."""
    return SourceList(tuple(await engine.sources.all(tenant)))


@router.post("", status_code=201, summary="Connect a source", dependencies=[Depends(writer)])
async def add_source(
    body: SourceBody, request: HttpRequest, engine: EngineDep, settings: SettingsDep, caller: CallerDep
) -> ConnectedSource:
    """Keep a source. It is read when it is synced, or at once if it says how often."""
    here = local_paths_allowed(request, settings, caller)
    if not here and is_local(address(body.url)):
        raise UsageError(
            "This server does not read files of its own machine for others.", hint="Give an address on the network."
        )
    if body.secrets and not here:
        allowed(caller, Right.ADMIN)
        stray = sorted(set(body.secrets.values()) - set(settings.source_secrets))
        if stray:
            raise ForbiddenError(
                "This server lets sources use none of its secrets but those that its settings list.",
                hint="List the reference in the setting source_secrets (KEDGE_SOURCE_SECRETS).",
            )
    if not here and signs_in_as_machine(SourceAddress(address(body.url), body.options, body.secrets)):
        raise ForbiddenError(
            "This server does not sign in as itself for others.",
            hint="Give secrets as references, or anonymous=yes; or connect it on the server's own machine.",
        )
    scope = Scope(caller.tenant, body.collection or settings.collection)
    every = seconds_of(body.every)
    return await engine.sources.add(Wanted(scope, body.url, body.name, every, body.options, body.secrets))


@router.get("/{name}", summary="Show a source")
async def show_source(name: str, engine: EngineDep, tenant: TenantDep) -> ConnectedSource:
    """One source with its last run, and the errors it met."""
    return await engine.source(tenant, name)


@router.post("/{name}/sync", status_code=202, summary="Sync a source")
async def sync_source(
    *,
    name: str,
    engine: EngineDep,
    tenant: WriterDep,
    metrics: MetricsDep,
    confirm: Annotated[
        bool, Query(description="What is gone is meant to be gone: take it out, however much it is.")
    ] = False,
) -> Accepted:
    """Queue a run; the job shows how it goes. One that waits or runs already is returned instead."""
    job = await engine.sources.sync(tenant, name, confirm=confirm)
    metrics.add(telemetry.SUBMITTED)
    return Accepted.of(job)


@router.delete("/{name}", status_code=204, summary="Remove a source", response_class=Response)
async def remove_source(
    *,
    name: str,
    engine: EngineDep,
    tenant: WriterDep,
    documents: Annotated[bool, Query(description="Take out the documents that came from it alone, too.")] = False,
) -> None:
    """Forget the source. Its documents stay, unless `documents` is given."""
    await engine.remove_source(tenant, name, documents=documents)
