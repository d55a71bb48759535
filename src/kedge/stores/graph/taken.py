"""Which ids of a write belong to nodes of types that somebody may not read, or to edges of such nodes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence

from kedge.core.errors import ConflictError
from kedge.core.values import Scope
from kedge.stores.graph.nodes import Edge, Node

ReadNodes = Callable[[Scope, Sequence[str]], Awaitable[dict[str, Node]]]
ReadEdges = Callable[[Scope, Sequence[str]], Awaitable[dict[str, Edge]]]


async def taken_ids(
    read: tuple[ReadNodes, ReadEdges],
    scope: Scope,
    hidden: Collection[str],
    nodes: Sequence[Node],
    edges: Sequence[Edge],
) -> set[str]:
    """Ids among these and among the ends of the edges; writing them would change what is hidden, or show it.

    `read` are the calls of a store that shows everything.
    """
    if not hidden:
        return set()
    read_nodes, read_edges = read
    there = list((await read_edges(scope, [edge.id for edge in edges])).values())
    own = {node.id for node in nodes} | _ends(edges)
    found = await read_nodes(scope, sorted(own | _ends(there)))
    shut = {key for key, node in found.items() if node.type in hidden}
    return (shut & own) | {edge.id for edge in there if not shut.isdisjoint((edge.source, edge.target))}


def id_taken(key: str) -> ConflictError:
    """What is said of one: no more than that."""
    return ConflictError(f"The id {key!r} cannot be used.", hint="Choose another id.")


def _ends(edges: Iterable[Edge]) -> set[str]:
    return {end for edge in edges for end in (edge.source, edge.target)}
