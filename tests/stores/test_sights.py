"""What the SQL catalog remembers of an actor's rights holds exactly as long as it is so, for other writers too."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.core.acting import acting_as
from kedge.core.settings import Settings
from kedge.core.values import PUBLIC, Actor, Document, Readers
from kedge.stores.catalog.memory.catalog import MemoryCatalog
from kedge.stores.catalog.ports import Catalog
from kedge.stores.catalog.sql.catalog import open_catalog
from kedge.testing.catalog.sample import HERE, collection, document, passages, publish

DOCUMENTS = tuple(document(name) for name in ("one", "two", "three"))
READERS = (None, (PUBLIC,), ("user:ann",), ("group:board",), ("group:board", "user:ann"), ())
ACTORS = (Actor(), Actor("ann"), Actor("bob", frozenset({"board"})), Actor("cy", frozenset({"board", "crew"})))
Step: TypeAlias = tuple[str, Document, Readers | None]
STEPS = st.tuples(
    st.sampled_from(("publish", "publish", "give", "give", "rule", "settle", "retire", "anew")),
    st.sampled_from(DOCUMENTS),
    st.sampled_from(READERS),
)


async def take(catalog: Catalog, step: Step, number: int) -> None:
    """One step; `number` is what is published with it."""
    kind, one, readers = step
    match kind:
        case "publish":
            await publish(catalog, replace(one, readers=readers), str(number), ["a", "b"])
        case "give":
            await catalog.rights.give(HERE.tenant, [one.id], readers)
        case "rule":
            await catalog.rights.rule(HERE, "", readers)
        case "settle":
            await catalog.rights.settled([one.id])
        case "retire":
            await catalog.documents.retire(HERE, [one.id])
        case _:
            await catalog.collections.delete(HERE)
            await catalog.collections.put(collection())


async def seen(catalog: Catalog) -> list[object]:
    """What each actor is told of the collection as a whole, and of each passage."""
    ids = [passage.id for one in DOCUMENTS for passage in passages(one, "any", ["a", "b"])]
    told: list[object] = []
    for who in ACTORS:
        with acting_as(who):
            found = await catalog.collections.get(HERE)
            narrowed = await catalog.rights.narrowed(HERE)
            visible = await catalog.passages.visible(HERE, ids)
            assert set(await catalog.passages.live(HERE, ids)) == visible
            told.append((found and (found.documents, found.passages), narrowed, sorted(visible)))
    return told


@pytest.mark.req("D-09")
@settings(max_examples=25, deadline=None)
@given(st.lists(STEPS, min_size=1, max_size=8))
def test_a_change_by_another_holds_from_the_next_look_on(steps: list[Step]) -> None:
    async def body(folder: Path) -> None:
        url = f"sqlite:///{folder / 'catalog.db'}"
        writer, reader, plain = open_catalog(url, Settings()), open_catalog(url, Settings()), MemoryCatalog()
        try:
            for catalog in (writer, plain):
                await catalog.collections.put(collection())
            for number, step in enumerate(steps):
                assert await seen(reader) == await seen(plain)
                for catalog in (writer, plain):
                    await take(catalog, step, number)
            assert await seen(reader) == await seen(plain)
            assert await seen(reader) == await seen(writer)
        finally:
            for catalog in (writer, reader):
                await catalog.close()

    with TemporaryDirectory() as folder:
        asyncio.run(body(Path(folder)))
