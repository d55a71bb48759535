"""`/api/faq`."""

from __future__ import annotations

from fastapi import APIRouter

from kedge.core.values import Scope
from kedge.surfaces.server.deps import EngineDep, TenantDep
from kind_faq.entry import EntryList
from kind_faq.kind import KIND

router = APIRouter(prefix="/api/faq", tags=["faq"])


@router.get("/{collection}", summary="List questions with their answers")
async def list_entries(collection: str, engine: EngineDep, tenant: TenantDep) -> EntryList:
    """All entries, by file and in its order."""
    return EntryList(tuple(await engine.kinds.opened(KIND).entries(Scope(tenant, collection))))
