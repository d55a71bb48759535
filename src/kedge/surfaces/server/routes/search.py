"""Find passages without an answer: for programs that write their own."""

from __future__ import annotations

from fastapi import APIRouter

from kedge.core.values import SearchResult
from kedge.surfaces.server.bodies import QueryRequest
from kedge.surfaces.server.deps import EngineDep, SettingsDep, TenantDep
from kedge.surfaces.server.routes.query import to_query
from kedge.surfaces.server.within import UserDep

router = APIRouter(prefix="/api/search", tags=["query"])


@router.post("", summary="Find passages")
async def search(
    body: QueryRequest, engine: EngineDep, settings: SettingsDep, tenant: TenantDep, user: UserDep
) -> SearchResult:
    """Passages by meaning, by words and through the graph, best first."""
    return await engine.search(to_query(body, settings, tenant, user, settings.top_k))
