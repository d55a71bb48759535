"""Is the server alive, can it work, and what has it done?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Response
from fastapi import Request as HttpRequest
from fastapi.responses import PlainTextResponse

from kedge._version import __version__
from kedge.core import telemetry
from kedge.core.telemetry import Metrics
from kedge.core.values import Health, Json, ServerReadiness
from kedge.engine.engine import Engine
from kedge.surfaces.server.deps import AdminDep, EngineDep, MetricsDep
from kedge.surfaces.server.pulse import Pulse
from kedge.surfaces.server.traffic import Traffic

router = APIRouter(tags=["operations"])

PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
JOBS_COUNTED = 1000
TEXT_DOC: dict[int | str, dict[str, Any]] = {
    200: {"description": "Exposition format 0.0.4.", "content": {"text/plain": {"schema": {"type": "string"}}}}
}


@router.get("/health", summary="Is the process alive?")
async def health() -> Health:
    """Answers as long as the process does; looks at nothing else."""
    return Health("ok", __version__)


@router.get("/ready", summary="Can the server work?", responses={503: {"model": ServerReadiness}})
async def ready(engine: EngineDep, request: HttpRequest, metrics: MetricsDep, response: Response) -> ServerReadiness:
    """Asks every part within `ready_timeout`; 503 when one does not work, or when it refuses requests or stops."""
    traffic: Traffic = request.app.state.traffic
    stops: dict[str, Json] = {"ok": False, "message": "The server stops."} if traffic.draining else {"ok": True}
    parts: dict[str, Json] = {"server": stops, "requests": _room(traffic)}
    if not traffic.draining:
        parts |= await engine.health()
        metrics.replace(telemetry.PART_UP, {(name,): float(all_ok({name: part})) for name, part in parts.items()})
    works = all_ok(parts)
    response.status_code = 200 if works else 503
    return ServerReadiness("ready" if works else "not_ready", __version__, parts)


@router.get("/metrics", summary="Metrics for Prometheus", response_class=Response, responses=TEXT_DOC)
async def metrics_text(
    engine: EngineDep, request: HttpRequest, metrics: MetricsDep, tenant: AdminDep
) -> PlainTextResponse:
    """Counters since the start, and what the catalog holds now."""
    await _look(engine, metrics, tenant)
    traffic: Traffic = request.app.state.traffic
    pulse: Pulse = request.app.state.pulse
    now = {telemetry.IN_FLIGHT: traffic.requests, telemetry.STREAMS: traffic.streams}
    now[telemetry.DRAINING] = int(traffic.draining)
    for metric, value in {**now, **pulse.read()}.items():
        metrics.replace(metric, {(): float(value)})
    return PlainTextResponse(metrics.render(), media_type=PROMETHEUS)


def _room(traffic: Traffic) -> dict[str, Json]:
    if not traffic.refuses:
        return {"ok": True}
    most = traffic.settings.max_requests
    return {"ok": False, "message": f"Requests are refused: {traffic.requests} of {most} are in work (max_requests)."}


def all_ok(parts: Mapping[str, Json]) -> bool:
    """Does every part of `Engine.health` say ok?"""
    return all(isinstance(part, dict) and part.get("ok") is True for part in parts.values())


async def _look(engine: Engine, metrics: Metrics, tenant: str) -> None:
    """Gauges of what the catalog and the queue hold: all set at once, so that no other caller's are shown."""
    collections = await engine.collections(tenant)
    jobs = Counter(job.status.value for job in await engine.jobs(tenant, JOBS_COUNTED))
    waiting, oldest = await engine.stores.catalog.jobs.waiting()
    workers = await engine.workers()
    metrics.replace(telemetry.DOCUMENTS, {(one.scope.collection,): float(one.documents) for one in collections})
    metrics.replace(telemetry.PASSAGES, {(one.scope.collection,): float(one.passages) for one in collections})
    metrics.replace(telemetry.JOBS, {(status,): float(count) for status, count in jobs.items()})
    age = (datetime.now(UTC) - oldest).total_seconds() if oldest else 0.0
    metrics.replace(telemetry.QUEUED, {(): float(waiting)})
    metrics.replace(telemetry.OLDEST, {(): age})
    metrics.replace(telemetry.WORKERS, {(): float(workers)})
