"""What has been taken in: list, look, delete."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from kedge.core.values import MAX_OFFSET, Document, DocumentPage, DocumentStatus, DocumentWithPassages, Scope
from kedge.surfaces.server.deps import EngineDep, SettingsDep, TenantDep, WriterDep

router = APIRouter(prefix="/api/documents", tags=["documents"])


@router.get("", summary="List documents")
async def list_documents(
    *,
    engine: EngineDep,
    settings: SettingsDep,
    tenant: TenantDep,
    collection: Annotated[str | None, Query(description="Collection; the server's default if not given.")] = None,
    status: Annotated[DocumentStatus | None, Query(description="Only documents in this state.")] = None,
    search: Annotated[str, Query(max_length=200, description="Only those that these words name.")] = "",
    limit: Annotated[int, Query(ge=1, le=1000, description="How many.")] = 100,
    offset: Annotated[int, Query(ge=0, le=MAX_OFFSET, description="How many to leave out first.")] = 0,
) -> DocumentPage:
    """Documents of a collection by url. Archived ones only when asked for by status."""
    scope = Scope(tenant, collection or settings.collection)
    found = await engine.documents(scope, status=status, search=search, limit=limit, offset=offset)
    return DocumentPage(tuple(found), limit, offset)


@router.get("/{document_id}", summary="Show a document")
async def show_document(document_id: str, engine: EngineDep, tenant: TenantDep) -> DocumentWithPassages:
    """A document with its passages, in order."""
    document, passages = await engine.document(tenant, document_id)
    return DocumentWithPassages(document, tuple(passages))


@router.delete("/{document_id}", summary="Delete a document")
async def delete_document(document_id: str, engine: EngineDep, tenant: WriterDep) -> Document:
    """Nothing of the document is found any more; the catalog keeps it as archived."""
    return await engine.delete_document(tenant, document_id)
