"""Find passages without an answer: for programs that write their own."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from kedge.server.deps import EngineDep, SettingsDep, TenantDep
from kedge.server.models import QueryRequest, SearchOut
from kedge.server.routes.query import to_query
from kedge.server.within import UserDep
from kedge.shapes import search_json

router = APIRouter(prefix="/api/search", tags=["query"])


@router.post("", summary="Find passages", response_model=SearchOut)
async def search(
    body: QueryRequest, engine: EngineDep, settings: SettingsDep, tenant: TenantDep, user: UserDep
) -> dict[str, Any]:
    """Passages by meaning, by words and through the graph, best first."""
    return search_json(await engine.search(to_query(body, settings, tenant, user)))
