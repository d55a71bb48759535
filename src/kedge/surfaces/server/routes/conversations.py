"""Conversations that the server keeps for whoever asks: list, name, ask in, read again, delete."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Response
from fastapi import Request as HttpRequest
from fastapi.responses import StreamingResponse
from pydantic import Field

from kedge.core.values import (
    MAX_CONVERSATION_NAME,
    MAX_OFFSET,
    ConversationList,
    ConversationWithTurns,
    KeptConversation,
    Metadata,
)
from kedge.surfaces.server import sse
from kedge.surfaces.server.bodies import QueryRequest, Request
from kedge.surfaces.server.deps import EngineDep, MetricsDep, SettingsDep, TenantDep
from kedge.surfaces.server.routes.query import STREAM_DOC, counted, to_query
from kedge.surfaces.server.within import UserDep

TURN_ID = "x-turn-id"
router = APIRouter(prefix="/api/conversations", tags=["conversations"])


class ConversationBody(Request):
    """What a new conversation is called."""

    name: str = Field(
        "", max_length=MAX_CONVERSATION_NAME, description="Its name; not given: its first question becomes it."
    )


class TurnRequest(QueryRequest):
    """A question in a conversation, which is also its session: `session_id` and `stream` are of no use here."""

    replaces: str | None = Field(None, description="`turn_id` of a turn that this is another try of.")


@router.get("", summary="List conversations")
async def list_conversations(
    *,
    engine: EngineDep,
    tenant: TenantDep,
    user: UserDep,
    limit: Annotated[int, Query(ge=1, le=1000, description="How many.")] = 100,
    offset: Annotated[int, Query(ge=0, le=MAX_OFFSET, description="How many to leave out first.")] = 0,
) -> ConversationList:
    """Those of the caller, the one used last first. Another user's are never seen."""
    found = await engine.conversations.page(tenant, user, limit=limit, offset=offset)
    return ConversationList(tuple(found), limit, offset)


@router.post("", status_code=201, summary="Begin a conversation")
async def make_conversation(
    body: ConversationBody, engine: EngineDep, tenant: TenantDep, user: UserDep
) -> KeptConversation:
    """A new one, without questions."""
    return await engine.conversations.make(tenant, user, body.name)


@router.get("/{conversation_id}", summary="Show a conversation")
async def show_conversation(
    conversation_id: str, engine: EngineDep, tenant: TenantDep, user: UserDep
) -> ConversationWithTurns:
    """With its questions and answers, oldest first. A turn without metadata was broken off."""
    found, turns = await engine.conversations.show(tenant, user, conversation_id)
    return ConversationWithTurns(found, tuple(turns))


@router.patch("/{conversation_id}", summary="Rename a conversation")
async def rename_conversation(
    conversation_id: str, body: ConversationBody, engine: EngineDep, tenant: TenantDep, user: UserDep
) -> KeptConversation:
    """Give it another name."""
    return await engine.conversations.rename(tenant, user, conversation_id, body.name)


@router.delete("/{conversation_id}", status_code=204, summary="Delete a conversation", response_class=Response)
async def delete_conversation(conversation_id: str, engine: EngineDep, tenant: TenantDep, user: UserDep) -> None:
    """Forget it with everything that was said in it."""
    await engine.conversations.delete(tenant, user, conversation_id)


@router.post(
    "/{conversation_id}/turns",
    summary="Ask in a conversation",
    response_class=StreamingResponse,
    responses=STREAM_DOC,
)
async def ask_in_conversation(
    *,
    conversation_id: str,
    body: TurnRequest,
    request: HttpRequest,
    engine: EngineDep,
    settings: SettingsDep,
    tenant: TenantDep,
    user: UserDep,
    metrics: MetricsDep,
) -> StreamingResponse:
    """Answer as server-sent events, like `/api/query/stream`, and keep question and answer.

    Follow-up questions are understood from the turns before. The header `x-turn-id` and `metadata` name the turn.
    """
    query = to_query(body, settings, tenant, user)
    limits = _limits(body)
    turn_id, events = await engine.conversations.ask(query, conversation_id, limits=limits, replaces=body.replaces)
    response = await sse.respond(counted(events, metrics), request)
    response.headers[TURN_ID] = turn_id
    return response


@router.delete("/{conversation_id}/turns/{turn_id}", status_code=204, summary="Delete a turn", response_class=Response)
async def delete_turn(conversation_id: str, turn_id: str, engine: EngineDep, tenant: TenantDep, user: UserDep) -> None:
    """Forget one question and its answer."""
    await engine.conversations.delete_turn(tenant, user, conversation_id, turn_id)


def _limits(body: TurnRequest) -> Metadata:
    """What was said of the sources, to be said again when the question is asked again."""
    return body.filter if isinstance(body.filter, dict) else {"terms": list(body.filter)} if body.filter else {}
