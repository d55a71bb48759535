"""A few neighbours of a node: what stands beside it in the context of an answer (G-04)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from kedge.core.values import Json, Scope
from kedge.kinds.graphs.naming import readable
from kedge.stores.graph.nodes import Node, NodeStore

KINDS = 8
"""Kinds of edges of a node that are looked at, the rarest first: they tell more about it."""


class Neighbours:
    """Reads neighbours, at most so many of a node."""

    def __init__(self, store: NodeStore, scope: Scope, most: int) -> None:
        self._store = store
        self._scope = scope
        self._most = most

    async def described(self, cited: Sequence[tuple[str, Node]]) -> list[Json]:
        """The nodes with their marks, types, titles and neighbours."""
        beside = await self._of([node.id for _, node in cited])
        described: list[Json] = []
        for mark, node in cited:
            described.append(
                {
                    "id": mark,
                    "node_id": node.id,
                    "title": node.title or node.id,
                    "type": node.type,
                    "neighbours": list(beside.get(node.id, [])),
                }
            )
        return described

    async def _of(self, ids: Sequence[str]) -> dict[str, list[Json]]:
        if not self._most or not ids:
            return {}
        kinds: dict[tuple[str, bool], set[str]] = defaultdict(set)
        wanted: dict[str, int] = defaultdict(int)
        for relation in sorted(await self._store.relations(self._scope, ids), key=lambda one: (one.edges, one)):
            if wanted[relation.node] < min(KINDS, self._most):
                wanted[relation.node] += 1
                kinds[relation.type, relation.outgoing].add(relation.node)
        found: dict[str, list[tuple[str, str, bool]]] = defaultdict(list)
        for (type, outgoing), nodes in kinds.items():
            limit = self._most * len(nodes)
            for near, _, far in await self._store.follow(
                self._scope, sorted(nodes), type, outgoing=outgoing, limit=limit
            ):
                if len(found[near]) < self._most:
                    found[near].append((far, type, outgoing))
        others = await self._store.nodes(self._scope, list({far for held in found.values() for far, _, _ in held}))
        return {
            near: [
                {
                    "node_id": far,
                    "title": readable(others[far].title or far),
                    "relation": type,
                    "outgoing": outgoing,
                }
                for far, type, outgoing in held
                if far in others
            ]
            for near, held in found.items()
        }
