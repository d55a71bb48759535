"""What the indexes are asked for on behalf of an actor who sees a part of a collection.

A point names the readers of its document in its payload, so that every store leaves out what may not be read before it
ranks. Points of before there were readers, and of documents that everybody may read, name none. Where a document's
readers changed and its points are not rewritten yet, the condition lets it through and the catalog alone decides: a
change holds from the next request, whichever way it goes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar

from kedge.core.acting import actor
from kedge.core.values import PUBLIC, Actor, Json, Narrowed, Readers, Scope
from kedge.core.values.filters import Eq, Filter, In, Or
from kedge.stores.catalog.ports import Catalog

READERS = "kedge_readers"
"""Payload field with the principals that may read a point; not there: everybody may."""
MOST_UNSETTLED = 500
"""Documents that the condition names one by one; beyond, the index is asked for all and the catalog alone decides."""


_ASKED: ContextVar[dict[tuple[Actor | None, Scope], Narrowed | None] | None] = ContextVar("kedge_asked", default=None)


@contextmanager
def asked_once() -> Iterator[None]:
    """Within the block, one search, it is asked once what an actor sees of a collection.

    What changes meanwhile holds for the last look at the catalog, through which every hit goes.
    """
    token = _ASKED.set({})
    try:
        yield
    finally:
        _ASKED.reset(token)


async def narrowed_to(catalog: Catalog, scope: Scope) -> Narrowed | None:
    """What the actor in force sees of a collection; None where that is all."""
    known, asked = _ASKED.get(), (actor(), scope)
    if known is None:
        return await catalog.rights.narrowed(scope)
    if asked not in known:
        known[asked] = await catalog.rights.narrowed(scope)
    return known[asked]


async def narrowing(catalog: Catalog, scope: Scope) -> Filter | None:
    """The condition for the actor in force; None where all of the collection may be read."""
    narrowed = await narrowed_to(catalog, scope)
    return None if narrowed is None else condition(narrowed)


def condition(narrowed: Narrowed) -> Filter | None:
    """What a point must pass that the actor may read, or whose readers are not known to the index."""
    if len(narrowed.unsettled) > MOST_UNSETTLED:
        return None
    parts: tuple[Filter, ...] = (Eq(READERS, None), In(READERS, narrowed.principals))
    return Or((*parts, In("document_id", narrowed.unsettled)) if narrowed.unsettled else parts)


def with_readers(payload: Mapping[str, Json], readers: Readers | None) -> dict[str, Json]:
    """The payload as a point holds it. What somebody's own metadata says under the name is not believed."""
    kept = {name: value for name, value in payload.items() if name != READERS}
    return kept if readers is None or PUBLIC in readers else {**kept, READERS: [*(readers or ("nobody",))]}
