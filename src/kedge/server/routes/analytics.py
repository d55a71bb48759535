"""What is kept of queries: figures for whoever runs the server, and forgetting a user."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends

from kedge.server.deps import AdminDep, EngineDep, TenantDep, writer
from kedge.server.models import AnalyticsOut, ErasedOut

router = APIRouter(prefix="/api/analytics", tags=["operations"])


@router.get("", summary="Figures of all queries", response_model=AnalyticsOut)
async def show_analytics(engine: EngineDep, tenant: TenantDep) -> dict[str, Any]:
    """Counts and mean times of the queries that are still kept. Questions and users are kept as hashes only."""
    return dict(await engine.stores.catalog.analytics.summary(tenant))


@router.delete("/users/{user}", summary="Forget a user", response_model=ErasedOut, dependencies=[Depends(writer)])
async def erase_user(user: str, engine: EngineDep, tenant: AdminDep) -> dict[str, Any]:
    """Erase what is kept of a user: queries, their metrics and feedback, sessions and what was said in them."""
    erased = await engine.retention.erase(tenant, engine.hashed(user))
    return {"queries": erased.queries, "sessions": erased.sessions}
