"""`Kedge.graphs`: graphs for code that does not use asyncio. Nothing here but the waiting."""

from __future__ import annotations

from typing import Any

from kedge.engine.blocking import Kedge
from kedge.kinds.graphs.kind import KIND
from kedge.kinds.graphs.values import Reconciled
from kedge.stores.graph.nodes import Edge, Node


class GraphsFacade:
    """Nodes and edges of collections of the kind `graph`."""

    def __init__(self, kedge: Kedge) -> None:
        self._kedge = kedge
        self._nodes = kedge.engine.kinds.opened(KIND).nodes

    def create_node(self, node: Node, *, collection: str | None = None) -> Node:
        """Add a node to a graph, which is made if need be; an empty id is made up."""
        return self._kedge.run(self._nodes.create(self._kedge.scope(collection), node))

    def update_node(self, node_id: str, *, collection: str | None = None, **changes: Any) -> Node:
        """Change type, title, description, aliases or properties (as a whole) of a node."""
        return self._kedge.run(self._nodes.update(self._kedge.scope(collection), node_id, changes))

    def delete_node(self, node_id: str, *, collection: str | None = None) -> list[str]:
        """Take a node out with its edges; returns their ids."""
        return self._kedge.run(self._nodes.delete(self._kedge.scope(collection), node_id))

    def node(self, node_id: str, *, collection: str | None = None) -> Node:
        """One node."""
        return self._kedge.run(self._nodes.node(self._kedge.scope(collection), node_id))

    def nodes(
        self, collection: str | None = None, *, type: str | None = None, after: str = "", limit: int = 100
    ) -> list[Node]:
        """Nodes by id."""
        return self._kedge.run(self._nodes.nodes(self._kedge.scope(collection), type=type, after=after, limit=limit))

    def create_edge(self, edge: Edge, *, collection: str | None = None) -> Edge:
        """Add an edge between two nodes; an empty id is made of its ends and type."""
        return self._kedge.run(self._nodes.create_edge(self._kedge.scope(collection), edge))

    def update_edge(self, edge_id: str, *, collection: str | None = None, **changes: Any) -> Edge:
        """Change source, target, type or properties (as a whole) of an edge."""
        return self._kedge.run(self._nodes.update_edge(self._kedge.scope(collection), edge_id, changes))

    def delete_edge(self, edge_id: str, *, collection: str | None = None) -> None:
        """Take an edge out."""
        self._kedge.run(self._nodes.delete_edge(self._kedge.scope(collection), edge_id))

    def edges(self, collection: str | None = None, *, node: str | None = None, limit: int = 100) -> list[Edge]:
        """Edges by id; those of one node, if named."""
        return self._kedge.run(self._nodes.edges(self._kedge.scope(collection), node=node, limit=limit))

    def reconcile(self, collection: str | None = None, *, repair: bool = False) -> Reconciled:
        """Compare a graph with its index, and with `repair` make the index like the graph."""
        return self._kedge.run(self._nodes.reconcile(self._kedge.scope(collection), repair=repair))
