"""All that graphs are to an engine: their two ways, their nodes and edges, and how the index follows them."""

from __future__ import annotations

from collections.abc import Sequence

from kedge.core.values import Collection, IngestMode, IngestRequest, Scope
from kedge.ingest.check import Problem
from kedge.kinds.graphs.importing import EVERY_NODE
from kedge.kinds.graphs.keeping import NodeKeeper
from kedge.kinds.graphs.way_in import GraphsWayIn
from kedge.kinds.graphs.way_out import GraphsWayOut
from kedge.kinds.ports import Kind, OpenKind, Parts


class Graphs(OpenKind):
    """The kind at work."""

    def __init__(self, kind: Kind[Graphs], parts: Parts) -> None:
        super().__init__(kind, GraphsWayIn(), GraphsWayOut(parts))
        self.nodes = NodeKeeper(parts, self)
        """Nodes and edges: created, changed, read and deleted."""

    async def problems(self, collection: Collection, *, repair: bool) -> Sequence[Problem]:
        return await self.nodes.problems(collection, repair=repair)

    def index_request(self, scope: Scope, *, full: bool = False) -> IngestRequest:
        """What `Engine.ingest` and `Engine.submit` take to index all nodes; with `full` also current ones."""
        mode = IngestMode.FULL if full else IngestMode.INCREMENTAL
        return IngestRequest(scope, (EVERY_NODE,), kind=self.kind.name, mode=mode)
