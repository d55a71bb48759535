"""Named sets of documents: list, look, delete."""

from __future__ import annotations

from fastapi import APIRouter, Response

from kedge.core.values import Collection, CollectionList, Scope
from kedge.surfaces.server.deps import EngineDep, TenantDep, WriterDep

router = APIRouter(prefix="/api/collections", tags=["collections"])


@router.get("", summary="List collections")
async def list_collections(engine: EngineDep, tenant: TenantDep) -> CollectionList:
    """All collections, by name."""
    return CollectionList(tuple(await engine.collections(tenant)))


@router.get("/{name}", summary="Show a collection")
async def show_collection(name: str, engine: EngineDep, tenant: TenantDep) -> Collection:
    """One collection with its counts."""
    return await engine.collection(Scope(tenant, name))


@router.delete("/{name}", status_code=204, summary="Delete a collection", response_class=Response)
async def delete_collection(name: str, engine: EngineDep, tenant: WriterDep) -> None:
    """Delete the collection with everything in it."""
    await engine.delete_collection(Scope(tenant, name))
