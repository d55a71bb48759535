"""Kedge as a model for chat clients: the part of OpenAI's chat completions that a question and its answer need.

The model `kedge` asks the server's default collection, `kedge/NAME` the collection NAME. The last user message is the
question, understood from the user messages before it. The short answer stands first, in bold. Sources stand below the
answer, because most clients show nothing but its text; they are also in `citations`.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any, Literal

from fastapi import APIRouter
from fastapi import Request as HttpRequest
from fastapi.responses import JSONResponse, StreamingResponse
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from kedge.answer.conversation.asking import resolve_among
from kedge.core.errors import KedgeError, NotFoundError, UsageError
from kedge.core.ids import new_id
from kedge.core.outside import to_json
from kedge.core.values import Citation, Metadata, Query, Scope, StreamEvent
from kedge.engine.engine import Engine
from kedge.surfaces.lead import EXTRACTIVE, led, led_events
from kedge.surfaces.server import sse
from kedge.surfaces.server.bodies import Request
from kedge.surfaces.server.deps import EngineDep, SettingsDep, TenantDep
from kedge.surfaces.server.within import UserDep

router = APIRouter(prefix="/v1", tags=["chat"])
MODEL = "kedge"


class TextPart(BaseModel):
    """A piece of a message."""

    model_config = ConfigDict(extra="ignore")
    type: Literal["text"]
    text: str


class Message(BaseModel):
    """One message of the conversation."""

    model_config = ConfigDict(extra="ignore")
    role: Literal["system", "developer", "user", "assistant", "tool"]
    content: str | list[TextPart] | None = None

    def text(self) -> str:
        """What it says."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content)
        return self.content or ""


class StreamOptions(BaseModel):
    """Accepted; tokens are not counted, because no model is paid for."""

    model_config = ConfigDict(extra="ignore")
    include_usage: bool = False


class ChatRequest(Request):
    """A chat completion as OpenAI's clients ask for it. How a model samples (`temperature` …) has no meaning here."""

    model_config = ConfigDict(extra="ignore")
    model: str = Field(MODEL, description="`kedge`, or `kedge/NAME` for a collection.")
    messages: list[Message] = Field(min_length=1, description="The last user message is the question.")
    stream: bool = Field(False, description="Send the answer in chunks.")
    stream_options: StreamOptions | None = None
    n: int = Field(1, description="Only 1 is possible.")
    tools: list[dict[str, Any]] | None = Field(None, description="None can be used.")


@router.get("/models", summary="List collections as models")
async def models(engine: EngineDep, tenant: TenantDep) -> dict[str, Any]:
    """`kedge`, and one model for each collection."""
    found = await engine.collections(tenant)
    made = [
        (f"{MODEL}/{one.scope.collection}", int(one.created_at.timestamp()) if one.created_at else 0) for one in found
    ]
    listed = [(MODEL, min((created for _, created in made), default=0)), *made]
    return {
        "object": "list",
        "data": [{"id": name, "object": "model", "created": at, "owned_by": "kedge"} for name, at in listed],
    }


@router.post("/chat/completions", summary="Ask as a chat client does", response_class=JSONResponse)
async def complete(
    *,
    body: ChatRequest,
    request: HttpRequest,
    engine: EngineDep,
    settings: SettingsDep,
    tenant: TenantDep,
    user: UserDep,
) -> Response:
    """The answer as a chat completion, whole or in chunks."""
    query = _query(body, Scope(tenant, settings.collection), user)
    if body.model != MODEL and not await _is_there(engine, query.scope):
        raise NotFoundError(f"There is no model {body.model!r}.", hint="GET /v1/models lists all.")
    head = {"id": f"chatcmpl-{new_id()}", "created": int(time.time()), "model": body.model}
    if body.stream:
        sse.begin(request)
        events = engine.stream(query)
        if settings.llm == EXTRACTIVE:
            events = led_events(events)
        first = await anext(events, None)
        return StreamingResponse(
            _chunks(head, first, events, _understood(body, query)), media_type=sse.MEDIA_TYPE, headers=sse.HEADERS
        )
    answer = await engine.ask(query)
    understood = _understood(body, query)
    message = {"role": "assistant", "content": led(answer) + _sources(answer.citations) + _said(understood)}
    return JSONResponse(
        {
            **head,
            "object": "chat.completion",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}],
            "citations": [to_json(citation) for citation in answer.citations],
            "confidence": answer.confidence,
            "evidence_probability": answer.evidence_probability,
            "refusal": answer.metadata.get("refusal"),
            "resolved_question": understood,
        }
    )


async def _is_there(engine: Engine, scope: Scope) -> bool:
    return any(one.scope == scope for one in await engine.collections(scope.tenant))


def _query(body: ChatRequest, usual: Scope, user: str) -> Query:
    base, _, collection = body.model.partition("/")
    if base != MODEL:
        raise NotFoundError(f"There is no model {body.model!r}.", hint="GET /v1/models lists all.")
    if body.n != 1:
        raise UsageError("n must be 1.", hint="A question has one answer here.")
    if body.tools:
        raise UsageError("Tools cannot be used.", hint="Ask without tools; `kedge mcp` serves Kedge itself as tools.")
    *earlier, asked = _asked(body) or [None]
    if asked is None:
        raise UsageError("There is no message of the user.", hint="The last user message is the question.")
    text = resolve_among(asked, [one for one in earlier if one])
    return Query(text, Scope(usual.tenant, collection or usual.collection), user=user)


def _asked(body: ChatRequest) -> list[str | None]:
    return [message.text() for message in body.messages if message.role == "user"]


def _understood(body: ChatRequest, query: Query) -> str | None:
    """How a follow-up was understood; None where it was asked in full."""
    return query.text if query.text != _asked(body)[-1] else None


def _said(understood: str | None) -> str:
    return f"\n\nUnderstood as: {understood}" if understood else ""


async def _chunks(
    head: dict[str, Any], first: StreamEvent | None, events: AsyncIterator[StreamEvent], understood: str | None
) -> AsyncIterator[str]:
    cited: list[Citation] = []
    told: Metadata = {}
    async with sse.closing(events):
        yield _chunk(head, {"role": "assistant", "content": ""})
        try:
            if first is not None:
                yield _chunk(head, {"content": first.content or ""})
            async for event in events:
                if event.type == "token":
                    yield _chunk(head, {"content": event.content})
                elif event.citation is not None:
                    cited.append(event.citation)
                told = event.metadata or told
        except KedgeError as error:
            yield _line(error.as_json())
            return
    if cited:
        yield _chunk(head, {"content": _sources(cited)}, citations=[to_json(citation) for citation in cited])
    if understood:
        yield _chunk(head, {"content": _said(understood)})
    names = ("confidence", "evidence_probability", "refusal")
    yield _chunk(head, {}, finish="stop", **{name: told.get(name) for name in names}, resolved_question=understood)
    yield "data: [DONE]\n\n"


def _chunk(head: dict[str, Any], delta: dict[str, Any], finish: str | None = None, **more: Any) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
    return _line({**head, "object": "chat.completion.chunk", "choices": [choice], **more})


def _line(value: Any) -> str:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n"


def _sources(citations: Sequence[Citation]) -> str:
    """The sources as text below the answer, each once."""
    lines = {item.id: f"{item.id} {' › '.join((item.identity, *item.section_path))} — {item.url}" for item in citations}
    return "\n\nSources:\n" + "\n".join(lines.values()) if lines else ""
