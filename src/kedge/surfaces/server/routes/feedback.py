"""Rate answers."""

from __future__ import annotations

from fastapi import APIRouter

from kedge.core import telemetry
from kedge.core.values import KeptFeedback
from kedge.surfaces.server.bodies import FeedbackRequest
from kedge.surfaces.server.deps import EngineDep, MetricsDep, TenantDep

router = APIRouter(prefix="/api/feedback", tags=["query"])


@router.post("", status_code=201, summary="Rate an answer")
async def give_feedback(
    body: FeedbackRequest, engine: EngineDep, tenant: TenantDep, metrics: MetricsDep
) -> KeptFeedback:
    """Keep a rating from 1 to 5, or no and yes as 0 and 1, with a comment if there is one."""
    kept = await engine.feedback(tenant, body.query_id, body.rating, body.comment, binary=body.binary)
    said = ("no", "yes")[body.rating] if body.binary or not body.rating else str(body.rating)
    metrics.add(telemetry.FEEDBACK, said)
    return KeptFeedback(kept)
