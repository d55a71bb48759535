"""Is the server alive, can it work, and what has it done?"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Response
from fastapi import Request as HttpRequest
from fastapi.responses import PlainTextResponse

from kedge import __version__, telemetry
from kedge.engine import Engine
from kedge.server.deps import AdminDep, EngineDep, MetricsDep
from kedge.server.models import HealthOut, ReadyOut
from kedge.server.pulse import Pulse
from kedge.server.traffic import Traffic
from kedge.shapes import all_ok, health_json
from kedge.telemetry import Metrics
from kedge.types import Json

router = APIRouter(tags=["operations"])

PROMETHEUS = "text/plain; version=0.0.4; charset=utf-8"
JOBS_COUNTED = 1000
TEXT_DOC: dict[int | str, dict[str, Any]] = {
    200: {"description": "Exposition format 0.0.4.", "content": {"text/plain": {"schema": {"type": "string"}}}}
}


@router.get("/health", summary="Is the process alive?", response_model=HealthOut)
async def health() -> dict[str, Any]:
    """Answers as long as the process does; looks at nothing else."""
    return {"status": "ok", "version": __version__}


@router.get("/ready", summary="Can the server work?", response_model=ReadyOut, responses={503: {"model": ReadyOut}})
async def ready(engine: EngineDep, request: HttpRequest, metrics: MetricsDep, response: Response) -> dict[str, Any]:
    """Asks every part within `ready_timeout`; 503 when one does not work, or when the server stops."""
    traffic: Traffic = request.app.state.traffic
    stops: dict[str, Json] = {"ok": False, "message": "The server stops."} if traffic.draining else {"ok": True}
    parts: dict[str, Json] = {"server": stops}
    if not traffic.draining:
        parts |= await engine.health()
        metrics.replace(telemetry.PART_UP, {(name,): float(all_ok({name: part})) for name, part in parts.items()})
    works = all_ok(parts)
    response.status_code = 200 if works else 503
    return health_json(parts, __version__, works)


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


async def _look(engine: Engine, metrics: Metrics, tenant: str) -> None:
    """Gauges of what the catalog and the queue hold."""
    collections = await engine.collections(tenant)
    jobs = Counter(job.status.value for job in await engine.jobs(tenant, JOBS_COUNTED))
    metrics.replace(telemetry.DOCUMENTS, {(one.scope.collection,): float(one.documents) for one in collections})
    metrics.replace(telemetry.PASSAGES, {(one.scope.collection,): float(one.passages) for one in collections})
    metrics.replace(telemetry.JOBS, {(status,): float(count) for status, count in jobs.items()})
    waiting, oldest = await engine.stores.catalog.jobs.waiting()
    age = (datetime.now(UTC) - oldest).total_seconds() if oldest else 0.0
    metrics.replace(telemetry.QUEUED, {(): float(waiting)})
    metrics.replace(telemetry.OLDEST, {(): age})
    metrics.replace(telemetry.WORKERS, {(): float(await engine.workers())})
