"""What has been taken in: list, look, delete."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query

from kedge.server.deps import EngineDep, SettingsDep, TenantDep, WriterDep
from kedge.server.models import DocumentOut, DocumentsOut, DocumentWithPassagesOut
from kedge.shapes import document_json
from kedge.types import DocumentStatus, Scope

router = APIRouter(prefix="/api/documents", tags=["documents"])


@router.get("", summary="List documents", response_model=DocumentsOut)
async def list_documents(
    *,
    engine: EngineDep,
    settings: SettingsDep,
    tenant: TenantDep,
    collection: Annotated[str | None, Query(description="Collection; the server's default if not given.")] = None,
    status: Annotated[DocumentStatus | None, Query(description="Only documents in this state.")] = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="How many.")] = 100,
    offset: Annotated[int, Query(ge=0, description="How many to leave out first.")] = 0,
) -> dict[str, Any]:
    """Documents of a collection by url. Archived ones only when asked for by status."""
    scope = Scope(tenant, collection or settings.collection)
    found = await engine.documents(scope, status=status, limit=limit, offset=offset)
    return {"documents": [document_json(document) for document in found], "limit": limit, "offset": offset}


@router.get("/{document_id}", summary="Show a document", response_model=DocumentWithPassagesOut)
async def show_document(document_id: str, engine: EngineDep, tenant: TenantDep) -> dict[str, Any]:
    """A document with its passages, in order."""
    document, passages = await engine.document(tenant, document_id)
    return document_json(document, passages)


@router.delete("/{document_id}", summary="Delete a document", response_model=DocumentOut)
async def delete_document(document_id: str, engine: EngineDep, tenant: WriterDep) -> dict[str, Any]:
    """Nothing of the document is found any more; the catalog keeps it as archived."""
    return document_json(await engine.delete_document(tenant, document_id))
