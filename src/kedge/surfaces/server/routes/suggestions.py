"""Other ways to ask, after a refusal."""

from __future__ import annotations

from fastapi import APIRouter

from kedge.core.values import SuggestionList
from kedge.surfaces.server.bodies import QueryRequest
from kedge.surfaces.server.deps import EngineDep, SettingsDep, TenantDep
from kedge.surfaces.server.routes.query import to_query
from kedge.surfaces.server.within import UserDep

router = APIRouter(prefix="/api/query/suggestions", tags=["query"])


@router.post("", summary="Suggest other questions")
async def suggest(
    body: QueryRequest, engine: EngineDep, settings: SettingsDep, tenant: TenantDep, user: UserDep
) -> SuggestionList:
    """Questions near one that was refused, made of what stands nearest to it, which the collection answers.

    Each is judged before it is offered, so this takes longer than an answer. The audit log keeps that it was asked;
    nothing else is recorded.
    """
    return SuggestionList(tuple(await engine.suggestions(to_query(body, settings, tenant, user))))
