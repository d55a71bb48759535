"""Calls about what a server keeps: conversations of the caller, and the files that documents were made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from kedge.core.outside import from_json
from kedge.core.values import (
    Accepted,
    ConversationList,
    ConversationWithTurns,
    Job,
    JobList,
    Json,
    KeptConversation,
    PageView,
    StreamEvent,
    Suggestion,
    SuggestionList,
)
from kedge.surfaces.client.endpoints import calls, nothing, reads
from kedge.surfaces.client.wire import ClientCall, at

CONVERSATION = "/api/conversations/{id}"


@calls("GET /api/conversations")
def conversations(*, limit: int = 100, offset: int = 0) -> ClientCall[list[KeptConversation]]:
    """The caller's conversations, the one used last first."""
    query = {"limit": limit, "offset": offset}
    return ClientCall(
        "GET", "/api/conversations", lambda found: list(from_json(ConversationList, found).conversations), query
    )


@calls("POST /api/conversations")
def begin_conversation(name: str = "") -> ClientCall[KeptConversation]:
    """A new conversation; without a name its first question becomes it."""
    return ClientCall("POST", "/api/conversations", reads(KeptConversation), body={"name": name})


@calls("GET /api/conversations/{conversation_id}")
def conversation(conversation_id: str) -> ClientCall[ConversationWithTurns]:
    """One with its questions and answers, oldest first."""
    return ClientCall("GET", at(CONVERSATION, id=conversation_id), reads(ConversationWithTurns))


@calls("PATCH /api/conversations/{conversation_id}")
def rename_conversation(conversation_id: str, name: str) -> ClientCall[KeptConversation]:
    """Give it another name."""
    return ClientCall("PATCH", at(CONVERSATION, id=conversation_id), reads(KeptConversation), body={"name": name})


@calls("DELETE /api/conversations/{conversation_id}")
def delete_conversation(conversation_id: str) -> ClientCall[None]:
    """Forget it with everything that was said in it."""
    return ClientCall("DELETE", at(CONVERSATION, id=conversation_id), nothing)


@calls("POST /api/conversations/{conversation_id}/turns")
def ask_in_conversation(
    conversation_id: str,
    query: str,
    *,
    collection: str | None = None,
    where: Mapping[str, Json] | Sequence[str] | None = None,
    replaces: str | None = None,
) -> ClientCall[StreamEvent]:
    """The answer in events; question and answer are kept. `replaces` names a turn that this is another try of."""
    said = dict(where) if isinstance(where, Mapping) else list(where or ())
    body = {"query": query, "collection": collection, "filter": said, "replaces": replaces}
    path = at(CONVERSATION + "/turns", id=conversation_id)
    return ClientCall("POST", path, reads(StreamEvent), body=body, streams=True)


@calls("DELETE /api/conversations/{conversation_id}/turns/{turn_id}")
def delete_turn(conversation_id: str, turn_id: str) -> ClientCall[None]:
    """Forget one question and its answer."""
    return ClientCall("DELETE", at(CONVERSATION + "/turns/{turn}", id=conversation_id, turn=turn_id), nothing)


@calls("POST /api/query/suggestions")
def suggestions(query: str, *, collection: str | None = None) -> ClientCall[list[Suggestion]]:
    """Questions near one that was refused, which have answers; at most three."""
    body = {"query": query, "collection": collection}
    return ClientCall(
        "POST", "/api/query/suggestions", lambda found: list(from_json(SuggestionList, found).suggestions), body=body
    )


@calls("GET /api/ingest")
def jobs(limit: int = 50) -> ClientCall[list[Job]]:
    """Ingestions, newest first."""
    return ClientCall("GET", "/api/ingest", lambda found: list(from_json(JobList, found).jobs), {"limit": limit})


@calls("GET /api/documents/{document_id}/pages/{page}")
def document_page(
    document_id: str, page: int, *, start: int | None = None, end: int | None = None
) -> ClientCall[PageView]:
    """A page of a PDF, and where the characters from `start` to `end` of the document's text stand on it."""
    path = at("/api/documents/{id}/pages/{page}", id=document_id, page=str(page))
    return ClientCall("GET", path, reads(PageView), {"start": start, "end": end})


@calls("GET /api/documents/{document_id}/pages/{page}/image")
def document_page_image(document_id: str, page: int, *, width: int = 1200) -> ClientCall[bytes]:
    """A page of a PDF as PNG, so many pixels wide."""
    path = at("/api/documents/{id}/pages/{page}/image", id=document_id, page=str(page))
    return ClientCall("GET", path, bytes, {"width": width}, raw=True)


@calls("GET /api/documents/{document_id}/original")
def original(document_id: str) -> ClientCall[bytes]:
    """The very bytes that the document was made of. NotFoundError where they are not here any more."""
    return ClientCall("GET", at("/api/documents/{id}/original", id=document_id), bytes, raw=True)


@calls("POST /api/documents/{document_id}/ingest")
def ingest_again(document_id: str) -> ClientCall[Accepted]:
    """Read its source anew; `wait` for the job."""
    return ClientCall("POST", at("/api/documents/{id}/ingest", id=document_id), reads(Accepted))
