"""What the way out needs to know about collections."""

from __future__ import annotations

from typing import Protocol

from kedge.core.values import Collection, Scope
from kedge.models.ports import Embedder


class CollectionSource(Protocol):
    """Finds collections and the embedders they pin."""

    async def get(self, scope: Scope) -> Collection:
        """The collection. NotFoundError."""

    async def embedder_of(self, collection: Collection) -> Embedder:
        """The embedder it was built with, checked against its dimension."""
