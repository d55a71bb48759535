"""All that graphs are to an engine: their two ways, their nodes and edges, and how the index follows them."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence

from kedge.core.errors import NotFoundError
from kedge.core.values import (
    Answer,
    Collection,
    IngestMode,
    IngestRequest,
    Query,
    Scope,
    SearchResult,
    StreamEvent,
)
from kedge.ingest.check import Problem
from kedge.kinds.graphs.importing import EVERY_NODE
from kedge.kinds.graphs.keeping import NodeKeeper
from kedge.kinds.graphs.way_in import GraphsWayIn
from kedge.kinds.graphs.way_out import GraphsWayOut
from kedge.kinds.ports import Kind, OpenKind, Parts


class SwitchedOff:
    """The way out with `ENABLE_RAG_SEARCH=false`: what is kept can be searched, questions are not answered (G-11)."""

    def __init__(self, way_out: GraphsWayOut) -> None:
        self._way_out = way_out

    async def search(self, query: Query) -> SearchResult:
        return await self._way_out.search(query)

    async def ask(self, query: Query) -> Answer:  # noqa: ARG002
        raise switched_off()

    async def stream(self, query: Query) -> AsyncGenerator[StreamEvent, None]:  # noqa: ARG002
        raise switched_off()
        yield StreamEvent("done")


def switched_off() -> NotFoundError:
    """The error for a question to a graph while `ENABLE_RAG_SEARCH` is off."""
    return NotFoundError("Questions to graphs are switched off.", hint="Set ENABLE_RAG_SEARCH=true.")


class Graphs(OpenKind):
    """The kind at work."""

    def __init__(self, kind: Kind[Graphs], parts: Parts) -> None:
        way_out = GraphsWayOut(parts)
        super().__init__(kind, GraphsWayIn(), way_out if parts.settings.enable_rag_search else SwitchedOff(way_out))
        self.nodes = NodeKeeper(parts, self)
        """Nodes and edges: created, changed, read and deleted."""

    async def problems(self, collection: Collection, *, repair: bool) -> Sequence[Problem]:
        return await self.nodes.problems(collection, repair=repair)

    def index_request(self, scope: Scope, *, full: bool = False) -> IngestRequest:
        """What `Engine.ingest` and `Engine.submit` take to index all nodes; with `full` also current ones."""
        mode = IngestMode.FULL if full else IngestMode.INCREMENTAL
        return IngestRequest(scope, (EVERY_NODE,), kind=self.kind.name, mode=mode)
