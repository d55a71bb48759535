"""Named sets of documents."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from kedge.core.outside import outside
from kedge.core.values.base import Scope


@outside({"name": "scope.collection"}, hidden=("index_name",))
@dataclass(frozen=True, slots=True)
class Collection:
    """A collection and its counts: a named set of documents that pins its kind, embedder and dimension."""

    scope: Scope
    kind: str
    embedder: str
    """Name by which the embedder was opened."""
    dimension: int
    generation: int
    """Counts re-indexings."""
    index_name: str
    """Physical name in the vector store; switching it is the alias switch."""
    created_at: datetime | None
    topics: tuple[str, ...] = ()
    documents: int = 0
    passages: int = 0


@outside()
@dataclass(frozen=True, slots=True)
class CollectionList:
    """All collections."""

    collections: tuple[Collection, ...]


@outside()
@dataclass(frozen=True, slots=True)
class OtherIndex:
    """An index of a collection beside the one in use."""

    embedder: str
    dimension: int
    state: str
    """`building`, `kept` for a rollback, or `dropping`."""
    passages: int
    """That it holds."""


@outside(spread="collection")
@dataclass(frozen=True, slots=True)
class CollectionShown:
    """A collection with all its indexes."""

    collection: Collection
    other_indexes: tuple[OtherIndex, ...]


@outside()
@dataclass(frozen=True, slots=True)
class Deleted:
    """A collection, a table session or a connected source that is gone."""

    deleted: str
    """Its name."""
