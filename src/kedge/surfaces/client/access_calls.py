"""Calls about who may read what, and what is kept of who read it."""

from __future__ import annotations

from collections.abc import Sequence

from kedge.core.outside import from_json
from kedge.core.values import (
    AccessChecked,
    AccessReport,
    AuditEntry,
    AuditPage,
    CollectionReaders,
    Document,
    DocumentTraces,
    Hold,
)
from kedge.surfaces.client.endpoints import calls, nothing, reads
from kedge.surfaces.client.wire import ClientCall, at

HOLD = "/api/documents/{id}/hold"
RULES = "/api/collections/{name}/readers"


@calls("GET /api/access/check")
def check_access(user: str, document_id: str) -> ClientCall[AccessChecked]:
    """Whether somebody (`ann`, `user:ann,group:board`) may read a document, and why. Needs the right to write."""
    query = {"user": user, "document_id": document_id}
    return ClientCall("GET", "/api/access/check", reads(AccessChecked), query)


@calls("GET /api/access/report")
def access_report(document_id: str | None = None) -> ClientCall[AccessReport]:
    """What is kept, for how long, and what is held; of one document also of its use. Needs an admin key."""
    query = {} if document_id is None else {"document_id": document_id}
    return ClientCall("GET", "/api/access/report", reads(AccessReport), query)


@calls("GET /api/access/log")
def access_log(
    *, who: str | None = None, document_id: str | None = None, limit: int = 100
) -> ClientCall[list[AuditEntry]]:
    """Who asked, newest first. Needs an admin key."""
    given = {"who": who, "document_id": document_id}
    query = {"limit": limit, **{name: value for name, value in given.items() if value is not None}}
    return ClientCall("GET", "/api/access/log", lambda found: list(from_json(AuditPage, found).entries), query)


@calls("PUT /api/documents/{document_id}/readers")
def set_readers(document_id: str, readers: Sequence[str] | None) -> ClientCall[Document]:
    """Say who may read a document; None: its sources say it again."""
    body = {"readers": None if readers is None else list(readers)}
    return ClientCall("PUT", at("/api/documents/{id}/readers", id=document_id), reads(Document), body=body)


@calls("PUT /api/documents/{document_id}/hold")
def hold_document(document_id: str, reason: str) -> ClientCall[Hold]:
    """Keep a document from being deleted or replaced. Needs an admin key."""
    return ClientCall("PUT", at(HOLD, id=document_id), reads(Hold), body={"reason": reason})


@calls("DELETE /api/documents/{document_id}/hold")
def release_document(document_id: str) -> ClientCall[None]:
    """End the hold of a document. Needs an admin key."""
    return ClientCall("DELETE", at(HOLD, id=document_id), nothing)


@calls("DELETE /api/documents/{document_id}/traces")
def erase_traces(document_id: str) -> ClientCall[DocumentTraces]:
    """Forget what audit log, analytics and conversations hold of a document. Needs an admin key."""
    return ClientCall("DELETE", at("/api/documents/{id}/traces", id=document_id), reads(DocumentTraces))


@calls("GET /api/collections/{name}/readers")
def collection_readers(name: str) -> ClientCall[CollectionReaders]:
    """Who may read a collection, and types of nodes in it."""
    return ClientCall("GET", at(RULES, name=name), reads(CollectionReaders))


@calls("PUT /api/collections/{name}/readers")
def set_collection_readers(
    name: str, readers: Sequence[str] | None, *, label: str = ""
) -> ClientCall[CollectionReaders]:
    """Say who may read a collection or session; with a label, the nodes of that type of a graph. None: everybody."""
    body = {"readers": None if readers is None else list(readers), "label": label}
    return ClientCall("PUT", at(RULES, name=name), reads(CollectionReaders), body=body)
