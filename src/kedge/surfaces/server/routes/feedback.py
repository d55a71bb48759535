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
    """Keep a rating from 1 to 5, with a comment if there is one."""
    kept = await engine.feedback(tenant, body.query_id, body.rating, body.comment)
    metrics.add(telemetry.FEEDBACK, str(body.rating))
    return KeptFeedback(kept)
