"""The stores of one engine, opened."""

from __future__ import annotations

from dataclasses import dataclass

from kedge.stores.catalog.ports import Catalog
from kedge.stores.graph.nodes import NodeStore
from kedge.stores.ports import GraphStore, VectorStore


@dataclass(frozen=True, slots=True)
class Stores:
    """The three stores of what Kedge makes, and the one of graphs that users make."""

    catalog: Catalog
    vectors: VectorStore
    graph: GraphStore
    nodes: NodeStore
