"""Rate answers."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from kedge import telemetry
from kedge.server.deps import EngineDep, MetricsDep, TenantDep
from kedge.server.models import FeedbackOut, FeedbackRequest

router = APIRouter(prefix="/api/feedback", tags=["query"])


@router.post("", status_code=201, summary="Rate an answer", response_model=FeedbackOut)
async def give_feedback(
    body: FeedbackRequest, engine: EngineDep, tenant: TenantDep, metrics: MetricsDep
) -> dict[str, Any]:
    """Keep a rating from 1 to 5, with a comment if there is one."""
    kept = await engine.feedback(tenant, body.query_id, body.rating, body.comment)
    metrics.add(telemetry.FEEDBACK, str(body.rating))
    return {"feedback_id": kept}
