"""`/api/faq`."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel

from kedge.core.values import Scope
from kedge.surfaces.server.deps import EngineDep, TenantDep
from kind_faq.entry import Entry
from kind_faq.kind import KIND

router = APIRouter(prefix="/api/faq", tags=["faq"])


class EntriesOut(BaseModel):
    """The entries of a collection."""

    entries: list[Entry]


@router.get("/{collection}", summary="List questions with their answers", response_model=EntriesOut)
async def list_entries(collection: str, engine: EngineDep, tenant: TenantDep) -> dict[str, Any]:
    """All entries, by file and in its order."""
    return {"entries": await engine.kinds.opened(KIND).entries(Scope(tenant, collection))}
