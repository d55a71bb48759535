"""Who may read what, what is held, and what is kept of who read it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response

from kedge.core.values import (
    AccessChecked,
    AccessReport,
    AuditPage,
    CollectionReaders,
    Document,
    DocumentTraces,
    Hold,
    Scope,
)
from kedge.surfaces.server.bodies import HoldBody, ReadersBody, RuleBody
from kedge.surfaces.server.deps import AdminDep, EngineDep, TenantDep, WriterDep

router = APIRouter(prefix="/api", tags=["access"])
Named = Annotated[str, Query(min_length=1, max_length=2000, description="`ann`, or `user:ann,group:board`.")]
DocumentId = Annotated[str, Query(min_length=1, max_length=200, description="Id of a document.")]


@router.get("/access/check", summary="Explain access")
async def check_access(user: Named, document_id: DocumentId, engine: EngineDep, tenant: WriterDep) -> AccessChecked:
    """Whether somebody may read a document, and why. Without groups: in those that valid keys of the user name."""
    who = await engine.access.somebody(tenant, user)
    return await engine.access.check(tenant, who, document_id)


@router.get("/access/report", summary="What is kept and held")
async def report_access(
    engine: EngineDep, tenant: AdminDep, document_id: Annotated[str | None, Query(max_length=200)] = None
) -> AccessReport:
    """For how long what is kept, and what is held; of one document also what is kept of its use."""
    return await engine.access.report(tenant, document_id)


@router.get("/access/log", summary="Who asked")
async def access_log(
    engine: EngineDep,
    tenant: AdminDep,
    who: Annotated[str | None, Query(max_length=300, description="`user:NAME`, or a key's id.")] = None,
    document_id: Annotated[str | None, Query(max_length=200)] = None,
    limit: Annotated[int, Query(ge=1, le=1000, description="How many.")] = 100,
) -> AuditPage:
    """Entries of the audit log, newest first."""
    return AuditPage(tuple(await engine.access.log(tenant, who=who, document_id=document_id, limit=limit)), limit)


@router.put("/documents/{document_id}/readers", summary="Say who may read a document")
async def put_readers(document_id: str, body: ReadersBody, engine: EngineDep, tenant: WriterDep) -> Document:
    """From the next request on. What is said here holds whatever sources say; null: they say it again."""
    return await engine.access.give(tenant, document_id, body.readers)


@router.put("/documents/{document_id}/hold", summary="Hold a document")
async def put_hold(document_id: str, body: HoldBody, engine: EngineDep, tenant: AdminDep) -> Hold:
    """Neither deleted nor replaced until it is released."""
    return await engine.access.hold(tenant, document_id, body.reason)


@router.delete("/documents/{document_id}/hold", status_code=204, summary="Release a document", response_class=Response)
async def release_hold(document_id: str, engine: EngineDep, tenant: AdminDep) -> None:
    """End the hold."""
    await engine.access.release(tenant, document_id)


@router.delete("/documents/{document_id}/traces", summary="Forget the use of a document")
async def erase_traces(document_id: str, engine: EngineDep, tenant: AdminDep) -> DocumentTraces:
    """Audit log, analytics and conversations hold nothing of it any more; the document itself stays."""
    return await engine.access.erase(tenant, document_id)


@router.get("/collections/{name}/readers", summary="Who may read a collection")
async def collection_readers(name: str, engine: EngineDep, tenant: TenantDep) -> CollectionReaders:
    """Of the whole collection or session, and of types of nodes of a graph."""
    return CollectionReaders.of(name, await engine.access.rules(Scope(tenant, name)))


@router.put("/collections/{name}/readers", summary="Say who may read a collection")
async def put_collection_readers(name: str, body: RuleBody, engine: EngineDep, tenant: WriterDep) -> CollectionReaders:
    """Of the whole collection or session; with a label, of the nodes of that type of a graph."""
    found = await engine.access.give_collection(Scope(tenant, name), body.readers, body.label)
    return CollectionReaders.of(name, found)
