"""What is kept of queries: figures for whoever runs the server, and forgetting a user."""

from __future__ import annotations

from fastapi import APIRouter, Depends

from kedge.core.outside import from_json
from kedge.core.values import AnalyticsSummary, Erased
from kedge.surfaces.server.deps import AdminDep, EngineDep, TenantDep, writer

router = APIRouter(prefix="/api/analytics", tags=["operations"])


@router.get("", summary="Figures of all queries")
async def show_analytics(engine: EngineDep, tenant: TenantDep) -> AnalyticsSummary:
    """Counts and mean times of the queries that are still kept. Questions and users are kept as hashes only."""
    return from_json(AnalyticsSummary, await engine.stores.catalog.analytics.summary(tenant))


@router.delete("/users/{user}", summary="Forget a user", dependencies=[Depends(writer)])
async def erase_user(user: str, engine: EngineDep, tenant: AdminDep) -> Erased:
    """Erase what is kept of a user: queries, their metrics and feedback, sessions and what was said in them."""
    return await engine.retention.erase(tenant, engine.hashed(user))
