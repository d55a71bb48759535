"""Is the server alive, can it work, and what has it done?"""

from __future__ import annotations

from collections import Counter
from typing import Any

from fastapi import APIRouter, Response
from fastapi.responses import PlainTextResponse

from kedge import __version__, telemetry
from kedge.server.deps import AdminDep, EngineDep, MetricsDep
from kedge.server.models import HealthOut, ReadyOut
from kedge.shapes import all_ok, health_json

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
async def ready(engine: EngineDep, response: Response) -> dict[str, Any]:
    """Asks every part; 503 when one does not work."""
    parts = await engine.health()
    works = all_ok(parts)
    response.status_code = 200 if works else 503
    return health_json(parts, __version__, works)


@router.get("/metrics", summary="Metrics for Prometheus", response_class=Response, responses=TEXT_DOC)
async def metrics_text(engine: EngineDep, metrics: MetricsDep, tenant: AdminDep) -> PlainTextResponse:
    """Counters since the start, and what the catalog holds now."""
    collections = await engine.collections(tenant)
    jobs = Counter(job.status.value for job in await engine.jobs(tenant, JOBS_COUNTED))
    metrics.replace(telemetry.DOCUMENTS, {(one.scope.collection,): float(one.documents) for one in collections})
    metrics.replace(telemetry.PASSAGES, {(one.scope.collection,): float(one.passages) for one in collections})
    metrics.replace(telemetry.JOBS, {(status,): float(count) for status, count in jobs.items()})
    return PlainTextResponse(metrics.render(), media_type=PROMETHEUS)
