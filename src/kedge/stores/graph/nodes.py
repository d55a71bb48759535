"""The port of a user's own graph: typed nodes with properties, and typed edges between them.

Unlike the concept graph (`GraphStore`), this one is no index: what users wrote is kept here and nowhere else. The
passages and vectors of its nodes are made from it, and can be made again (`kedge graph reconcile --repair`).
`kedge.testing.nodes` checks the rules below on every store.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple, Protocol, runtime_checkable

from kedge.core.outside import outside
from kedge.core.values import Metadata, Scope

MAX_ID_CHARS = 500
"""Longest id of a node or an edge, and longest type: Neo4j takes 8 kB for an indexed entry."""


@outside()
@dataclass(frozen=True, slots=True)
class Node:
    """A node: a thing of the user's graph. Its id is unique in its collection."""

    id: str
    type: str = ""
    """Such as `Person`; may be empty."""
    title: str = ""
    """Its name; the id where none is given."""
    description: str = ""
    aliases: tuple[str, ...] = ()
    """Other names that questions may use."""
    properties: Metadata = field(default_factory=dict)
    created_at: datetime | None = None
    """Set by the store."""
    updated_at: datetime | None = None
    """Set by the store."""


@outside()
@dataclass(frozen=True, slots=True)
class Edge:
    """An edge: a typed relationship from one node to another. Its id is unique in its collection."""

    id: str
    source: str
    """Id of a node."""
    target: str
    """Id of a node."""
    type: str
    """Name of the relation, such as `place_of_birth`."""
    properties: Metadata = field(default_factory=dict)
    created_at: datetime | None = None
    updated_at: datetime | None = None


class Relation(NamedTuple):
    """Edges of one type on one side of a node."""

    node: str
    type: str
    outgoing: bool
    """The node is their source."""
    edges: int


class Removed(NamedTuple):
    """What a removal took out."""

    nodes: list[str]
    edges: list[str]


class Counts(NamedTuple):
    """How much there is."""

    nodes: int
    edges: int


@runtime_checkable
class NodeStore(Protocol):
    """Nodes and edges of every collection of the kind `graph`.

    Every call is one transaction, durable when it returns. Nothing of another scope is ever returned or changed.
    Ids come back in the order of their characters. An id or type that is empty, too long or not text raises
    `UsageError`; an unreachable or failing server raises `StoreError`.
    """

    async def put(self, scope: Scope, nodes: Sequence[Node], edges: Sequence[Edge] = ()) -> None:
        """Write nodes, then edges; what exists is replaced whole, its `created_at` stays.

        Among equal ids in one call the last wins. An edge whose ends are not there raises NotFoundError and nothing
        of the call is written.
        """

    async def remove(self, scope: Scope, node_ids: Sequence[str], edge_ids: Sequence[str] = ()) -> Removed:
        """Take out nodes with all their edges, and single edges. Unknown ids are ignored."""

    async def nodes(self, scope: Scope, ids: Sequence[str]) -> dict[str, Node]:
        """Those of the ids that are there."""

    async def edges(self, scope: Scope, ids: Sequence[str]) -> dict[str, Edge]:
        """Those of the ids that are there."""

    async def page(self, scope: Scope, *, type: str | None = None, after: str = "", limit: int = 100) -> list[Node]:
        """Nodes with ids behind `after`, by id."""

    async def edge_page(
        self, scope: Scope, *, type: str | None = None, node: str | None = None, after: str = "", limit: int = 100
    ) -> list[Edge]:
        """Edges with ids behind `after`, by id; of one node on either side, if named."""

    async def named(self, scope: Scope, keys: Sequence[str], limit: int) -> dict[str, list[str]]:
        """For each key (`name_key`) the ids of at most `limit` nodes with that title, alias or id; others left out."""

    async def relations(self, scope: Scope, node_ids: Sequence[str]) -> list[Relation]:
        """Which edges lead from and to these nodes, counted by node, type and side; in no promised order."""

    async def follow(
        self, scope: Scope, node_ids: Sequence[str], type: str, *, outgoing: bool, limit: int
    ) -> list[tuple[str, str, str]]:
        """(node, edge id, node at the other end) of at most `limit` edges of this type and side, by edge id."""

    async def count(self, scope: Scope) -> Counts:
        """Exact, and sees all earlier writes."""

    async def drop(self, scope: Scope) -> None:
        """Remove everything of this scope."""

    async def close(self) -> None:
        """Release connections. Closing twice is fine."""
