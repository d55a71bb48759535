"""What is kept of queries: figures for whoever runs the server, and forgetting a user."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, Query

from kedge.core.values import PERIOD_DAYS, AnalyticsSummary, Erased
from kedge.engine.figures import query_figures
from kedge.surfaces.server.deps import AdminDep, EngineDep, TenantDep, writer

DaysParam = Annotated[float, Query(gt=0, le=3650, description="Days that the most frequent questions are told of.")]
TopParam = Annotated[int, Query(ge=0, le=100, description="How many of them.")]
router = APIRouter(prefix="/api/analytics", tags=["operations"])


@router.get("", summary="Figures of all queries")
async def show_analytics(
    engine: EngineDep, tenant: TenantDep, days: DaysParam = PERIOD_DAYS, top: TopParam = 10
) -> AnalyticsSummary:
    """Counts and mean times of the queries that are still kept, and the most frequent of the last `days`.

    Users are kept as hashes only; so are questions, unless the setting `keep_questions` says
    otherwise; their words are shown while every document is for everybody.
    """
    since = datetime.now(UTC) - timedelta(days=days)
    return await query_figures(engine.stores.catalog, tenant, since, top)


@router.delete("/users/{user}", summary="Forget a user", dependencies=[Depends(writer)])
async def erase_user(user: str, engine: EngineDep, tenant: AdminDep) -> Erased:
    """Erase what is kept of a user: queries, their metrics and feedback, sessions, conversations, what was said."""
    return await engine.retention.erase(tenant, engine.hashed(user))
