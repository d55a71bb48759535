"""The stores of one engine, opened."""

from __future__ import annotations

from dataclasses import dataclass

from kedge.stores.base import GraphStore, VectorStore
from kedge.stores.catalog.base import Catalog


@dataclass(frozen=True, slots=True)
class Stores:
    """The three stores."""

    catalog: Catalog
    vectors: VectorStore
    graph: GraphStore
