"""Ask questions: whole answers and streamed ones."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from typing import Any

from fastapi import APIRouter
from fastapi import Request as HttpRequest
from fastapi.responses import StreamingResponse

from kedge.core import telemetry
from kedge.core.instants import instant
from kedge.core.settings import Settings
from kedge.core.telemetry import Metrics
from kedge.core.values import ANSWER_TOP_K, Answer, Metadata, Query, Scope, StreamEvent
from kedge.core.values.filters import from_outside
from kedge.surfaces.server import sse
from kedge.surfaces.server.bodies import QueryRequest
from kedge.surfaces.server.deps import EngineDep, MetricsDep, SettingsDep, TenantDep
from kedge.surfaces.server.within import UserDep

router = APIRouter(prefix="/api/query", tags=["query"])

STREAM_DOC: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "`stage` (what is done: `searching`, `reading`, `writing`) while the words are not there yet, "
        "`token` and `citation` (after its mark), then `metadata`, then `done`; or `error`. Skip what you do not know. "
        "The data of each is JSON: `type` and the field of its type (`stage`, `content`, `citation`, `metadata`, "
        "`error`).",
        "content": {
            sse.MEDIA_TYPE: {
                "schema": {"type": "string"},
                "example": 'event: token\ndata: {"type": "token", "content": "A kedge"}\n\n'
                'event: done\ndata: {"type": "done"}\n\n',
            }
        },
    }
}


@router.post("", summary="Ask a question", response_model=Answer, responses=STREAM_DOC)
async def ask(
    *,
    body: QueryRequest,
    request: HttpRequest,
    engine: EngineDep,
    settings: SettingsDep,
    tenant: TenantDep,
    user: UserDep,
    metrics: MetricsDep,
) -> Answer | StreamingResponse:
    """Answer with citations, or refuse with confidence `insufficient` when the evidence is not enough.

    With `stream` the answer comes as server-sent events.
    """
    if body.stream:
        return await sse.respond(counted(engine.stream(to_query(body, settings, tenant, user)), metrics), request)
    started = time.perf_counter()
    answer = await engine.ask(to_query(body, settings, tenant, user))
    count(metrics, answer.confidence, time.perf_counter() - started)
    _count_sentences(metrics, answer.metadata)
    return answer


@router.post("/stream", summary="Ask a question, streamed", response_class=StreamingResponse, responses=STREAM_DOC)
async def ask_stream(
    *,
    body: QueryRequest,
    request: HttpRequest,
    engine: EngineDep,
    settings: SettingsDep,
    tenant: TenantDep,
    user: UserDep,
    metrics: MetricsDep,
) -> StreamingResponse:
    """Answer as server-sent events. Closing the connection stops the work."""
    events = engine.stream(to_query(body, settings, tenant, user))
    return await sse.respond(counted(events, metrics), request)


def to_query(body: QueryRequest, settings: Settings, tenant: str, user: str, usual: int = ANSWER_TOP_K) -> Query:
    """The query of a request, within its tenant; `usual` passages where it says nothing of their number."""
    return Query(
        text=body.query,
        scope=Scope(tenant, body.collection or settings.collection),
        top_k=usual if body.top_k is None else body.top_k,
        top_k_given=body.top_k is not None,
        reading=body.reading,
        include_graph=body.include_graph,
        topic_filter=body.topic_filter,
        where=from_outside(body.filter),
        session_id=body.session_id,
        as_of=None if body.as_of is None else instant(body.as_of),
        user=user,
    )


async def counted(events: AsyncIterator[StreamEvent], metrics: Metrics) -> AsyncIterator[StreamEvent]:
    """The events of an answer, counted when its metadata comes."""
    started = time.perf_counter()
    async with sse.closing(events):
        async for event in events:
            if event.metadata is not None:
                count(metrics, str(event.metadata.get("confidence")), time.perf_counter() - started)
                _count_sentences(metrics, event.metadata)
            yield event


def _count_sentences(metrics: Metrics, metadata: Metadata) -> None:
    generation = metadata.get("generation")
    if isinstance(generation, dict):
        for supported, key in (("yes", "supported"), ("no", "unsupported")):
            count = generation.get(key)
            if isinstance(count, int):
                metrics.add(telemetry.LLM_SENTENCES, supported, by=count)


def count(metrics: Metrics, confidence: str, seconds: float) -> None:
    """Count an answer."""
    metrics.add(telemetry.QUERIES, confidence)
    metrics.observe(telemetry.QUERY_SECONDS, seconds)
    if confidence == "insufficient":
        metrics.add(telemetry.REFUSALS)
