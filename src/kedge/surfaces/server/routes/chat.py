"""Kedge as a model for chat clients: the part of OpenAI's chat completions that a question and its answer need.

The model `kedge` asks the server's default collection, `kedge/NAME` the collection NAME. The last user message is the
question, understood from the user messages before it. The short answer stands first, in bold. Sources stand below the
answer, because most clients show nothing but its text; they are also in `citations`.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from fastapi import APIRouter
from fastapi import Request as HttpRequest
from fastapi.responses import JSONResponse, StreamingResponse
from starlette.responses import Response

from kedge.answer.conversation.asking import resolve_among
from kedge.core.errors import KedgeError, NotFoundError, UsageError
from kedge.core.ids import new_id
from kedge.core.outside import to_json
from kedge.core.values import Citation, Collection, Json, Metadata, Query, Scope, StreamEvent
from kedge.core.values.filters import from_outside
from kedge.core.values.identity import heading
from kedge.engine.engine import Engine
from kedge.surfaces.lead import EXTRACTIVE, led, led_events
from kedge.surfaces.server import sse
from kedge.surfaces.server.bodies import is_url
from kedge.surfaces.server.chat_bodies import MODEL, ChatCompletion, ChatRequest, Model, ModelList
from kedge.surfaces.server.chores import done_chore
from kedge.surfaces.server.deps import EngineDep, SettingsDep, TenantDep
from kedge.surfaces.server.errors import chat_error
from kedge.surfaces.server.lively import LifeSign, comment, lively
from kedge.surfaces.server.structured import as_json
from kedge.surfaces.server.within import UserDep

router = APIRouter(prefix="/v1", tags=["chat"])
_TOKEN = re.compile(r"\w+|[^\w\s]")


@router.get("/models", summary="List collections as models")
async def models(engine: EngineDep, settings: SettingsDep, tenant: TenantDep) -> ModelList:
    """`kedge` where the default collection has something to ask for, and one model for each that has."""
    return ModelList(data=list((await _models(engine, Scope(tenant, settings.collection))).values()))


@router.get("/models/{model:path}", summary="Show a model")
async def model(model: str, engine: EngineDep, settings: SettingsDep, tenant: TenantDep) -> Model:
    """One of the list."""
    found = (await _models(engine, Scope(tenant, settings.collection))).get(model)
    if found is None:
        raise _no_model(model)
    return found


async def _models(engine: Engine, usual: Scope) -> dict[str, Model]:
    """By id, as clients read them."""
    listed: dict[str, Collection] = {}
    for one in await engine.collections(usual.tenant):
        if one.documents or one.passages:
            if one.scope == usual:
                listed[MODEL] = one
            listed[f"{MODEL}/{one.scope.collection}"] = one
    return {
        name: Model(id=name, created=int(one.created_at.timestamp()) if one.created_at else 0)
        for name, one in sorted(listed.items())
    }


def _no_model(name: str) -> NotFoundError:
    return NotFoundError(f"There is no model {name!r}.", hint="GET /v1/models lists all.", details={"param": "model"})


COMPLETION_DOC: dict[int | str, dict[str, Any]] = {
    200: {
        "model": ChatCompletion,
        "description": "The answer; with `stream`, chunks as server-sent events.",
        "content": {sse.MEDIA_TYPE: {"schema": {"type": "string"}}},
    }
}


@router.post(
    "/chat/completions", summary="Ask as a chat client does", response_class=JSONResponse, responses=COMPLETION_DOC
)
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
    members = body.response_format.members() if body.response_format else None
    if members is not None:
        return _did(head, body, as_json(await engine.ask(query), members))
    if body.stream:
        sse.begin(request)
        events = engine.stream(query)
        said = lively(led_events(events) if settings.llm == EXTRACTIVE else events)
        first = await anext(said, None)
        return StreamingResponse(
            _chunks(head, body, first, said, _understood(body, query)),
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
        raise UsageError("n must be 1.", hint="A question has one answer here.", details={"param": "n"})
    if body.response_format is not None:
        body.response_format.members()
    if body.tools and body.tool_choice != "none":
        raise UsageError(
            "Tools cannot be used.",
            hint="Ask without tools, or with tool_choice none; /mcp serves Kedge itself as tools.",
            details={"param": "tools"},
        )
    *earlier, asked = _asked(body) or [None]
    if asked is None:
        raise UsageError(
            "There is no message of the user.",
            hint="The last user message is the question.",
            details={"param": "messages"},
        )
    text = resolve_among(asked, [one for one in earlier if one])
    scope = Scope(usual.tenant, collection or usual.collection)
    return Query(text, scope, user=user, where=from_outside(body.filter))


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
    first: StreamEvent | LifeSign | None,
    said: AsyncGenerator[StreamEvent | LifeSign, None],
    understood: str | None,
) -> AsyncIterator[str]:
    """Stages are comments here: chat clients take every event for a part of the answer."""
    cited: list[Citation] = []
    words: list[str] = []
    told: Metadata = {}
    async with aclosing(said):
        yield _chunk(head, {"role": "assistant", "content": ""})
        try:
            async for one in _from(first, said):
                if isinstance(one, LifeSign):
                    yield comment(one)
                    continue
                if one.type == "token":
                    words.append(one.content or "")
                    yield _chunk(head, {"content": one.content})
                elif one.citation is not None:
                    cited.append(one.citation)
                told = one.metadata or told
        except KedgeError as error:
            yield _line(chat_error(error.as_json(), error.status))
            return
    if cited:
        yield _chunk(head, {"content": _sources(cited)}, citations=[_cited(citation) for citation in cited])
    if understood:
        yield _chunk(head, {"content": _said(understood)})
    names = ("confidence", "evidence_probability", "refusal")
    yield _chunk(head, {}, finish="stop", **{name: told.get(name) for name in names}, resolved_question=understood)
    for line in _end(head, body, "".join(words)):
        yield line


async def _from(
    first: StreamEvent | LifeSign | None, said: AsyncGenerator[StreamEvent | LifeSign, None]
) -> AsyncIterator[StreamEvent | LifeSign]:
    if first is not None:
        yield first
        async for one in said:
            yield one


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
    title = heading(item.identity, item.title, item.section_path)
    return f"[{title}]({item.url})" if is_url(item.url) else title


def _cited(item: Citation) -> Json:
    """The citation for a client elsewhere: a file by its name, never by its path on the server."""
    return to_json(item if is_url(item.url) else replace(item, url=item.url.rpartition("/")[2]))
