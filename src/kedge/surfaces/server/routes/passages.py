"""A passage in its place: what stands before and after it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from kedge.core.values import PassageInDocument, Scope
from kedge.surfaces.server.deps import EngineDep, SettingsDep, TenantDep

router = APIRouter(prefix="/api/passages", tags=["documents"])


@router.get("/{passage_id}", summary="Show a passage in its document")
async def show_passage(
    *,
    passage_id: str,
    engine: EngineDep,
    settings: SettingsDep,
    tenant: TenantDep,
    collection: Annotated[str | None, Query(description="Collection; the server's default if not given.")] = None,
    beside: Annotated[int, Query(ge=0, le=20, description="How many passages before and after it.")] = 1,
) -> PassageInDocument:
    """The passage that a citation names, with its neighbours and its document."""
    document, around = await engine.passage(Scope(tenant, collection or settings.collection), passage_id, beside)
    return PassageInDocument(
        passage_id=passage_id,
        document=document,
        passages=tuple(around),
        has_before=around[0].index > 0,
        has_after=around[-1].index + 1 < document.chunk_count,
    )
