"""What is said of users' graphs beside their nodes and edges (`kedge.stores.graph.nodes`)."""

from __future__ import annotations

from dataclasses import dataclass

from kedge.core.outside import outside
from kedge.stores.graph.nodes import Edge, Node


@outside()
@dataclass(frozen=True, slots=True)
class NodePage:
    """One page of nodes, by id."""

    nodes: tuple[Node, ...]
    next: str | None
    """`after` of the next page; null on the last one."""


@outside()
@dataclass(frozen=True, slots=True)
class EdgePage:
    """One page of edges, by id."""

    edges: tuple[Edge, ...]
    next: str | None
    """`after` of the next page; null on the last one."""


@outside()
@dataclass(frozen=True, slots=True)
class DeletedNode:
    """A node that is gone."""

    id: str
    edges: tuple[str, ...]
    """Its edges, gone with it."""


@outside()
@dataclass(frozen=True, slots=True)
class DeletedEdge:
    """An edge that is gone."""

    id: str


@outside(spread="node")
@dataclass(frozen=True, slots=True)
class NodeWithEdges:
    """A node and the edges that begin or end there."""

    node: Node
    edges: tuple[Edge, ...]


@outside({"ok": "ok"})
@dataclass(frozen=True, slots=True)
class Reconciled:
    """How a graph and its index differ, by ids of nodes, and whether that was put right."""

    nodes: int
    missing: tuple[str, ...]
    """Nodes that cannot be found."""
    orphaned: tuple[str, ...]
    """What is indexed and no node of the graph."""
    stale: tuple[str, ...]
    """Nodes that changed after they were indexed."""
    repaired: bool

    @property
    def ok(self) -> bool:
        return self.repaired or not (self.missing or self.orphaned or self.stale)
