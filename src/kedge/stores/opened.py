"""The stores of one engine, opened."""

from __future__ import annotations

from dataclasses import dataclass

from kedge.stores.base import GraphStore, VectorStore
from kedge.stores.catalog.base import Catalog
from kedge.stores.nodes.base import NodeStore


@dataclass(frozen=True, slots=True)
class Stores:
    """The three stores of what Kedge makes, and the one of graphs that users make."""

    catalog: Catalog
    vectors: VectorStore
    graph: GraphStore
    nodes: NodeStore
