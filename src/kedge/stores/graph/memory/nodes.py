"""Nodes and edges in the process's memory: for tests, and the oracle of the other stores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from kedge.core.settings import Settings
from kedge.core.values import Scope
from kedge.stores.graph.nodes import Counts, Edge, Node, Relation, Removed
from kedge.stores.graph.rules import check, missing_ends, name_keys


@dataclass(slots=True)
class _NodeGraph:
    nodes: dict[str, Node] = field(default_factory=dict)
    edges: dict[str, Edge] = field(default_factory=dict)


class MemoryNodes:
    """The `NodeStore` port over dictionaries."""

    def __init__(self) -> None:
        self._graphs: dict[Scope, _NodeGraph] = {}

    async def put(self, scope: Scope, nodes: Sequence[Node], edges: Sequence[Edge] = ()) -> None:
        check(nodes, edges)
        graph = self._graphs.setdefault(scope, _NodeGraph())
        known = graph.nodes.keys() | {node.id for node in nodes}
        kept = {edge.id: edge for edge in edges}
        missing = {end for edge in kept.values() for end in (edge.source, edge.target)} - known
        if missing:
            raise missing_ends(missing)
        now = datetime.now(UTC)
        for node in nodes:
            before = graph.nodes.get(node.id)
            graph.nodes[node.id] = replace(node, created_at=before.created_at if before else now, updated_at=now)
        for edge in kept.values():
            old = graph.edges.get(edge.id)
            graph.edges[edge.id] = replace(edge, created_at=old.created_at if old else now, updated_at=now)

    async def remove(self, scope: Scope, node_ids: Sequence[str], edge_ids: Sequence[str] = ()) -> Removed:
        graph = self._of(scope)
        gone = [key for key in sorted(set(node_ids)) if graph.nodes.pop(key, None)]
        ends = set(gone)
        cut = [edge.id for edge in graph.edges.values() if edge.source in ends or edge.target in ends]
        edges = sorted({*cut, *(key for key in edge_ids if key in graph.edges)})
        for key in edges:
            del graph.edges[key]
        return Removed(gone, edges)

    async def nodes(self, scope: Scope, ids: Sequence[str]) -> dict[str, Node]:
        held = self._of(scope).nodes
        return {key: held[key] for key in ids if key in held}

    async def edges(self, scope: Scope, ids: Sequence[str]) -> dict[str, Edge]:
        held = self._of(scope).edges
        return {key: held[key] for key in ids if key in held}

    async def page(self, scope: Scope, *, type: str | None = None, after: str = "", limit: int = 100) -> list[Node]:
        held = self._of(scope).nodes.values()
        wanted = [node for node in held if node.id > after and (type is None or node.type == type)]
        return sorted(wanted, key=lambda node: node.id)[:limit]

    async def edge_page(
        self, scope: Scope, *, type: str | None = None, node: str | None = None, after: str = "", limit: int = 100
    ) -> list[Edge]:
        wanted = [
            edge
            for edge in self._of(scope).edges.values()
            if edge.id > after
            and (type is None or edge.type == type)
            and (node is None or node in (edge.source, edge.target))
        ]
        return sorted(wanted, key=lambda edge: edge.id)[:limit]

    async def named(self, scope: Scope, keys: Sequence[str], limit: int) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        wanted = set(keys)
        for key, node in sorted(self._of(scope).nodes.items()):
            for name in name_keys(node):
                if name in wanted:
                    found.setdefault(name, []).append(key)
        return {name: ids[:limit] for name, ids in found.items()}

    async def relations(self, scope: Scope, node_ids: Sequence[str]) -> list[Relation]:
        wanted = set(node_ids)
        counts: Counter[tuple[str, str, bool]] = Counter()
        for edge in self._of(scope).edges.values():
            if edge.source in wanted:
                counts[edge.source, edge.type, True] += 1
            if edge.target in wanted:
                counts[edge.target, edge.type, False] += 1
        return [Relation(*key, count) for key, count in counts.items()]

    async def follow(
        self, scope: Scope, node_ids: Sequence[str], type: str, *, outgoing: bool, limit: int
    ) -> list[tuple[str, str, str]]:
        wanted = set(node_ids)
        found = []
        for edge in self._of(scope).edges.values():
            near, far = (edge.source, edge.target) if outgoing else (edge.target, edge.source)
            if edge.type == type and near in wanted:
                found.append((near, edge.id, far))
        return sorted(found, key=lambda one: one[1])[:limit]

    async def count(self, scope: Scope) -> Counts:
        graph = self._of(scope)
        return Counts(len(graph.nodes), len(graph.edges))

    async def drop(self, scope: Scope) -> None:
        self._graphs.pop(scope, None)

    async def close(self) -> None:
        """Nothing to release."""

    def _of(self, scope: Scope) -> _NodeGraph:
        return self._graphs.get(scope, _NodeGraph())


def open_nodes(_url: str, _settings: Settings) -> MemoryNodes:
    """An empty graph."""
    return MemoryNodes()
