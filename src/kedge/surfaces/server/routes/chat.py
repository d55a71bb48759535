"""Kedge as a model for chat clients: the part of OpenAI's chat completions that a question and its answer need.

The model `kedge` asks the server's default collection, `kedge/NAME` the collection NAME. The last user message is the
question, understood from the user messages before it. The short answer stands first, in bold. Sources stand below the
answer, because most clients show nothing but its text; they are also in `citations`.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
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
from kedge.core.values import Citation, Collection, Json, Metadata, Query, Scope, StreamEvent
from kedge.engine.engine import Engine
from kedge.surfaces.lead import EXTRACTIVE, led, led_events
from kedge.surfaces.server import sse
from kedge.surfaces.server.bodies import Request, is_url
from kedge.surfaces.server.chores import done_chore
from kedge.surfaces.server.deps import EngineDep, SettingsDep, TenantDep
from kedge.surfaces.server.within import UserDep

router = APIRouter(prefix="/v1", tags=["chat"])
MODEL = "kedge"
_TOKEN = re.compile(r"\w+|[^\w\s]")


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
    """What a stream tells beside the answer."""

    model_config = ConfigDict(extra="ignore")
    include_usage: bool = False


class ResponseFormat(BaseModel):
    """Only text can be had."""

    model_config = ConfigDict(extra="ignore")
    type: str = "text"


class ChatRequest(Request):
    """A chat completion as OpenAI's clients ask for it. How a model samples (`temperature` …) has no meaning here."""

    model_config = ConfigDict(extra="ignore")
    model: str = Field(MODEL, description="`kedge`, or `kedge/NAME` for a collection.")
    messages: list[Message] = Field(min_length=1, description="The last user message is the question.")
    stream: bool = Field(False, description="Send the answer in chunks.")
    stream_options: StreamOptions | None = None
    n: int = Field(1, description="Only 1 is possible.")
    tools: list[dict[str, Any]] | None = Field(None, description="None can be used; with `tool_choice` none, accepted.")
    tool_choice: Any = None
    response_format: ResponseFormat | None = Field(None, description="`text` alone.")


@router.get("/models", summary="List collections as models")
async def models(engine: EngineDep, settings: SettingsDep, tenant: TenantDep) -> dict[str, Any]:
    """`kedge` where the default collection has something to ask for, and one model for each that has."""
    return {"object": "list", "data": list((await _models(engine, Scope(tenant, settings.collection))).values())}


@router.get("/models/{model:path}", summary="Show a model")
async def model(model: str, engine: EngineDep, settings: SettingsDep, tenant: TenantDep) -> dict[str, Any]:
    """One of the list."""
    found = (await _models(engine, Scope(tenant, settings.collection))).get(model)
    if found is None:
        raise _no_model(model)
    return found


async def _models(engine: Engine, usual: Scope) -> dict[str, dict[str, Any]]:
    """By id, as clients read them."""
    listed: dict[str, Collection] = {}
    for one in await engine.collections(usual.tenant):
        if one.documents or one.passages:
            if one.scope == usual:
                listed[MODEL] = one
            listed[f"{MODEL}/{one.scope.collection}"] = one
    return {
        name: {
            "id": name,
            "object": "model",
            "created": int(one.created_at.timestamp()) if one.created_at else 0,
            "owned_by": "kedge",
        }
        for name, one in sorted(listed.items())
    }


def _no_model(name: str) -> NotFoundError:
    return NotFoundError(f"There is no model {name!r}.", hint="GET /v1/models lists all.")


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
        raise _no_model(body.model)
    head = {"id": f"chatcmpl-{new_id()}", "created": int(time.time()), "model": body.model}
    *earlier, asked = _asked(body)
    chore = done_chore(asked or "", [one for one in earlier if one])
    if chore is not None:
        return _did(head, body, chore)
    if body.stream:
        sse.begin(request)
        events = engine.stream(query)
        if settings.llm == EXTRACTIVE:
            events = led_events(events)
        first = await anext(events, None)
        return StreamingResponse(
            _chunks(head, body, first, events, _understood(body, query)),
            media_type=sse.MEDIA_TYPE,
            headers=sse.HEADERS,
        )
    answer = await engine.ask(query)
    understood = _understood(body, query)
    text = led(answer) + _sources(answer.citations) + _said(understood)
    return JSONResponse(
        {
            **_completion(head, body, text),
            "citations": [_cited(citation) for citation in answer.citations],
            "confidence": answer.confidence,
            "evidence_probability": answer.evidence_probability,
            "refusal": answer.metadata.get("refusal"),
            "resolved_question": understood,
        }
    )


def _completion(head: dict[str, Any], body: ChatRequest, text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text, "refusal": None}
    choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
    return {**head, "object": "chat.completion", "choices": [choice], "usage": _usage(body, text)}


def _did(head: dict[str, Any], body: ChatRequest, text: str) -> Response:
    """What a chore came to, as a completion."""
    if not body.stream:
        return JSONResponse(_completion(head, body, text))
    chunks = [_chunk(head, {"role": "assistant", "content": text}), _chunk(head, {}, finish="stop")]
    return StreamingResponse(iter([*chunks, *_end(head, body, text)]), media_type=sse.MEDIA_TYPE, headers=sse.HEADERS)


async def _is_there(engine: Engine, scope: Scope) -> bool:
    return any(one.scope == scope for one in await engine.collections(scope.tenant))


def _query(body: ChatRequest, usual: Scope, user: str) -> Query:
    base, _, collection = body.model.partition("/")
    if base != MODEL:
        raise _no_model(body.model)
    if body.n != 1:
        raise UsageError("n must be 1.", hint="A question has one answer here.")
    if body.response_format is not None and body.response_format.type != "text":
        raise UsageError(
            f"response_format {body.response_format.type!r} is not possible.",
            hint="Answers are text; POST /api/query gives them as JSON.",
        )
    if body.tools and body.tool_choice != "none":
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
    head: dict[str, Any],
    body: ChatRequest,
    first: StreamEvent | None,
    events: AsyncIterator[StreamEvent],
    understood: str | None,
) -> AsyncIterator[str]:
    cited: list[Citation] = []
    words: list[str] = []
    told: Metadata = {}
    async with sse.closing(events):
        yield _chunk(head, {"role": "assistant", "content": ""})
        try:
            if first is not None:
                words.append(first.content or "")
                yield _chunk(head, {"content": words[-1]})
            async for event in events:
                if event.type == "token":
                    words.append(event.content or "")
                    yield _chunk(head, {"content": event.content})
                elif event.citation is not None:
                    cited.append(event.citation)
                told = event.metadata or told
        except KedgeError as error:
            yield _line(error.as_json())
            return
    if cited:
        yield _chunk(head, {"content": _sources(cited)}, citations=[_cited(citation) for citation in cited])
    if understood:
        yield _chunk(head, {"content": _said(understood)})
    names = ("confidence", "evidence_probability", "refusal")
    yield _chunk(head, {}, finish="stop", **{name: told.get(name) for name in names}, resolved_question=understood)
    for line in _end(head, body, "".join(words)):
        yield line


def _end(head: dict[str, Any], body: ChatRequest, text: str) -> list[str]:
    """The last lines of a stream: what it cost, if that was asked for, and its end."""
    wanted = body.stream_options is not None and body.stream_options.include_usage
    usage = {**head, "object": "chat.completion.chunk", "choices": [], "usage": _usage(body, text)}
    return [*([_line(usage)] if wanted else []), "data: [DONE]\n\n"]


def _usage(body: ChatRequest, text: str) -> dict[str, int]:
    """Words and signs; no model is paid for them."""
    prompt = sum(len(_TOKEN.findall(message.text())) for message in body.messages)
    said = len(_TOKEN.findall(text))
    return {"prompt_tokens": prompt, "completion_tokens": said, "total_tokens": prompt + said}


def _chunk(head: dict[str, Any], delta: dict[str, Any], finish: str | None = None, **more: Any) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
    return _line({**head, "object": "chat.completion.chunk", "choices": [choice], **more})


def _line(value: Any) -> str:
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n"


def _sources(citations: Sequence[Citation]) -> str:
    """The sources as text below the answer, each once: titles, and links where there are any."""
    lines = {item.id: f"{item.id} {_named(item)}" for item in citations}
    return "\n\nSources:\n" + "\n".join(lines.values()) if lines else ""


def _named(item: Citation) -> str:
    title = " › ".join((item.identity, *item.section_path))
    return f"[{title}]({item.url})" if is_url(item.url) else title


def _cited(item: Citation) -> Json:
    """The citation for a client elsewhere: a file by its name, never by its path on the server."""
    return to_json(item if is_url(item.url) else replace(item, url=item.url.rpartition("/")[2]))
