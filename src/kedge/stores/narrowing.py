"""What the indexes are asked for on behalf of an actor who sees a part of a collection.

A point names the readers of its document in its payload, so that every store leaves out what may not be read before it
ranks. Points of before there were readers, and of documents that everybody may read, name none. Where a document's
readers changed and its points are not rewritten yet, the condition lets it through and the catalog alone decides: a
change holds from the next request, whichever way it goes.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from kedge.core.acting import actor
from kedge.core.values import PUBLIC, Actor, Json, Narrowed, Readers, Scope
from kedge.core.values.filters import Eq, Filter, In, Or
from kedge.stores.catalog.ports import Catalog
from kedge.stores.ports import GraphEdge

READERS = "kedge_readers"
"""Payload field with the principals that may read a point; not there: everybody may."""
MOST_UNSETTLED = 500
"""Documents that the condition names one by one; beyond, the index is asked for all and the catalog alone decides."""


@dataclass(frozen=True, slots=True)
class ReadEdges:
    """What one read of a graph gave of some concepts: the edges that may be seen, in its order."""

    concepts: frozenset[str]
    edges: Sequence[GraphEdge]

    def of(self, concept_ids: Collection[str]) -> list[GraphEdge]:
        """Those of some of the concepts, as a read of these alone would give them."""
        wanted = set(concept_ids)
        return [edge for edge in self.edges if edge.concept_id in wanted]


@dataclass(slots=True)
class AskedOfCollection:
    """What one search has asked so far of one collection, for one actor."""

    narrowed: Narrowed | None
    """What the actor sees of the collection; None where that is all."""
    visible: dict[str, bool] = field(default_factory=dict)
    """Whether a passage may be seen, by its id."""
    titles: list[ReadEdges] = field(default_factory=list)
    """Edges to passages of documents that are called like a concept."""
    mentions: list[ReadEdges] = field(default_factory=list)
    """Edges to passages that mention a concept: all of them."""


_ASKED: ContextVar[dict[tuple[Actor | None, Scope], AskedOfCollection] | None] = ContextVar("kedge_asked", default=None)


@contextmanager
def asked_once() -> Iterator[None]:
    """Within the block, one search, it is asked once what an actor sees of a collection, and of each passage of it.

    What changes meanwhile holds for the last look at the catalog, through which every hit goes. A block within a block
    is the same search.
    """
    token = _ASKED.set({}) if _ASKED.get() is None else None
    try:
        yield
    finally:
        if token is not None:
            _ASKED.reset(token)


def told(scope: Scope, narrowed: Narrowed | None) -> None:
    """Within a search: what the actor in force sees of the collection was learnt when that was read."""
    known = _ASKED.get()
    if known is not None:
        known.setdefault((actor(), scope), AskedOfCollection(narrowed))


async def asked_of(catalog: Catalog, scope: Scope) -> AskedOfCollection:
    """What is known of the collection for the actor in force: kept for one search, fresh outside of one."""
    known, asked = _ASKED.get(), (actor(), scope)
    if known is None:
        return AskedOfCollection(await catalog.rights.narrowed(scope))
    if asked not in known:
        known[asked] = AskedOfCollection(await catalog.rights.narrowed(scope))
    return known[asked]


async def came_through(catalog: Catalog, scope: Scope, passage_ids: Iterable[str]) -> None:
    """Within a search: an index gave these that was asked for what the actor in force may read.

    Where it may not know some readers yet, it is not believed. Whatever is shown is asked of the catalog once more.
    """
    asked = await asked_of(catalog, scope)
    if asked.narrowed is not None and not asked.narrowed.unsettled:
        asked.visible.update((one, True) for one in passage_ids if one not in asked.visible)


async def narrowed_to(catalog: Catalog, scope: Scope) -> Narrowed | None:
    """What the actor in force sees of a collection; None where that is all."""
    return (await asked_of(catalog, scope)).narrowed


async def narrowing(catalog: Catalog, scope: Scope) -> Filter | None:
    """The condition for the actor in force; None where all of the collection may be read."""
    narrowed = await narrowed_to(catalog, scope)
    return None if narrowed is None else condition(narrowed)


def condition(narrowed: Narrowed) -> Filter | None:
    """What a point must pass that the actor may read, or whose readers are not known to the index."""
    if len(narrowed.unsettled) > MOST_UNSETTLED:
        return None
    parts: tuple[Filter, ...] = (In(READERS, narrowed.principals), Eq(READERS, None))  # the quicker one first
    return Or((*parts, In("document_id", narrowed.unsettled)) if narrowed.unsettled else parts)


def with_readers(payload: Mapping[str, Json], readers: Readers | None) -> dict[str, Json]:
    """The payload as a point holds it. What somebody's own metadata says under the name is not believed."""
    kept = {name: value for name, value in payload.items() if name != READERS}
    return kept if readers is None or PUBLIC in readers else {**kept, READERS: [*(readers or ("nobody",))]}
