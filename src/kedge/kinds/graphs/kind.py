"""Graphs: nodes and edges that users make; each node is one passage (requirements G)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, ClassVar

from kedge.kinds.ports import CommandGroup, Kind, OnPage, Parts, RouteGroup, Surfaces, Units

if TYPE_CHECKING:
    from kedge.core.settings import Settings
    from kedge.kinds.graphs.graphs import Graphs


class GraphKind(Kind["Graphs"]):
    """Typed nodes with properties, and typed edges between them."""

    name = "graph"
    index_prefix = "graph_nodes"
    embedder = "minilm:int8"  # names of nodes and relations are as short: docs/decisions/026
    fields: ClassVar[Mapping[str, str]] = {
        "document_id": "keyword",
        "node_id": "keyword",
        "node_type": "keyword",
        "created_at": "float",
        "updated_at": "float",
    }
    concepts = False
    each_has_readers = False
    units = Units("files taken in", "nodes")
    surfaces = Surfaces(
        routes=(
            RouteGroup(
                "graph",
                "Nodes and edges of your own graphs, and questions to them.",
                ("kedge.kinds.graphs.surfaces.routes:router", "kedge.kinds.graphs.surfaces.asking:router"),
            ),
        ),
        commands=(
            CommandGroup("graph", "Nodes and edges of your own graphs.", "kedge.kinds.graphs.surfaces.commands:app"),
        ),
        client="kedge.kinds.graphs.surfaces.client",
        blocking="kedge.kinds.graphs.surfaces.blocking:GraphsFacade",
        blocking_name="graphs",
        page=OnPage(source=("file", "files"), part=("node", "nodes"), counts_parts=True),
    )

    def starts(self, settings: Settings) -> bool:  # noqa: ARG002
        return False

    def open(self, parts: Parts) -> Graphs:
        from kedge.kinds.graphs.graphs import Graphs

        return Graphs(self, parts)


KIND = GraphKind()
