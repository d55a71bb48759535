"""Named sets of documents: list, look, delete."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Response

from kedge.server.deps import EngineDep, TenantDep, WriterDep
from kedge.server.models import CollectionOut, CollectionsOut
from kedge.shapes import collection_json
from kedge.types import Scope

router = APIRouter(prefix="/api/collections", tags=["collections"])


@router.get("", summary="List collections", response_model=CollectionsOut)
async def list_collections(engine: EngineDep, tenant: TenantDep) -> dict[str, Any]:
    """All collections, by name."""
    return {"collections": [collection_json(collection) for collection in await engine.collections(tenant)]}


@router.get("/{name}", summary="Show a collection", response_model=CollectionOut)
async def show_collection(name: str, engine: EngineDep, tenant: TenantDep) -> dict[str, Any]:
    """One collection with its counts."""
    return collection_json(await engine.collection(Scope(tenant, name)))


@router.delete("/{name}", status_code=204, summary="Delete a collection", response_class=Response)
async def delete_collection(name: str, engine: EngineDep, tenant: WriterDep) -> None:
    """Delete the collection with everything in it."""
    await engine.delete_collection(Scope(tenant, name))
