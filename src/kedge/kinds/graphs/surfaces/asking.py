"""Questions to a graph, streamed (G-04)."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi import Request as HttpRequest
from fastapi.responses import StreamingResponse

from kedge.core.values import Query, Scope
from kedge.kinds.graphs.graphs import switched_off
from kedge.kinds.graphs.surfaces.bodies import RagRequest
from kedge.surfaces.server import sse
from kedge.surfaces.server.deps import EngineDep, MetricsDep, SettingsDep, TenantDep
from kedge.surfaces.server.routes.query import STREAM_DOC, counted
from kedge.surfaces.server.within import UserDep

router = APIRouter(prefix="/api/rag", tags=["graph"])


@router.post("/query", summary="Ask a graph, streamed", response_class=StreamingResponse, responses=STREAM_DOC)
async def ask_graph(
    *,
    body: RagRequest,
    request: HttpRequest,
    engine: EngineDep,
    settings: SettingsDep,
    tenant: TenantDep,
    user: UserDep,
    metrics: MetricsDep,
) -> StreamingResponse:
    """Answer from paths or from the text of nodes, citing `[Node 1]`; or say that there is not enough information."""
    if not settings.enable_rag_search:
        raise switched_off()
    scope = Scope(tenant, body.collection or settings.collection)
    events = engine.stream(Query(body.question, scope, top_k=body.top_k, session_id=body.session_id, user=user))
    return await sse.respond(counted(events, metrics), request)
