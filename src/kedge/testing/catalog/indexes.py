"""The catalog's contract: indexes beside the one in use (D-19), and uploads where a catalog keeps them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kedge.core.errors import ConflictError
from kedge.stores.catalog.ports import CanKeepUploads, Catalog, IndexState, SpareIndex
from kedge.testing.catalog.opened import ONE, TWO, OpensCatalog, on_catalog
from kedge.testing.catalog.sample import HERE, INDEX, THERE, collection, publish, version

NEXT = SpareIndex(HERE, "notes-2", 2, "other", 8, IndexState.BUILDING)


class IndexesContract(OpensCatalog):
    """What a re-index relies on."""

    @pytest.mark.req("D-19")
    @on_catalog
    async def test_spare_indexes_come_back_by_generation(self, catalog: Catalog) -> None:
        third = replace(NEXT, index_name="notes-3", generation=3, state=IndexState.KEPT)
        for spare in (third, NEXT, NEXT):
            await catalog.indexes.put(spare)
        assert await catalog.indexes.spare(HERE) == [NEXT, third]
        assert await catalog.indexes.spare(THERE) == []
        await catalog.indexes.forget(HERE, "notes-3")
        assert await catalog.indexes.spare(HERE) == [NEXT]

    @pytest.mark.req("D-19")
    @on_catalog
    async def test_missing_are_live_passages_without_a_mark_there(self, catalog: Catalog) -> None:
        one, two = await publish(catalog, ONE, "1", ["a", "b", "c"]), await publish(catalog, TWO, "1", ["x"])
        await catalog.indexes.put(NEXT)
        everything = [passage async for batch in catalog.passages.scan(HERE) for passage in batch]
        assert await missing(catalog, NEXT.index_name) == [passage.id for passage in everything]
        assert await missing(catalog, INDEX) == []
        assert await catalog.passages.mark_indexed([one[1].id, "unknown", one[1].id], NEXT.index_name) == [one[1].id]
        assert set(await missing(catalog, NEXT.index_name)) == {one[0].id, one[2].id, two[0].id}
        await catalog.documents.retire(HERE, [TWO.id])
        assert set(await missing(catalog, NEXT.index_name)) == {one[0].id, one[2].id}
        await catalog.indexes.unmark(NEXT.index_name)
        assert len(await missing(catalog, NEXT.index_name)) == 3
        assert await missing(catalog, INDEX) == [], "marks of another index were lost"

    @pytest.mark.req("D-19")
    @on_catalog
    async def test_the_switch_exchanges_the_index_in_use(self, catalog: Catalog) -> None:
        await publish(catalog, ONE, "1", ["a", "b"])
        await catalog.indexes.put(NEXT)
        await catalog.indexes.switch(NEXT, keep=True)
        used = collection(generation=2, index_name="notes-2", embedder="other", dimension=8)
        assert await catalog.collections.get(HERE) == replace(used, documents=1, passages=2)
        former = SpareIndex(HERE, INDEX, 1, "minilm", 384, IndexState.KEPT)
        assert await catalog.indexes.spare(HERE) == [former]
        assert await missing(catalog, INDEX) == [], "the kept index still holds them"
        await catalog.indexes.switch(former, keep=True)
        assert await catalog.collections.get(HERE) == collection(documents=1, passages=2)
        assert await catalog.indexes.spare(HERE) == [replace(NEXT, state=IndexState.KEPT)]

    @pytest.mark.req("D-19")
    @on_catalog
    async def test_what_is_not_kept_holds_nothing_any_more(self, catalog: Catalog) -> None:
        await publish(catalog, ONE, "1", ["a", "b"])
        third = replace(NEXT, index_name="notes-3", generation=3)
        await catalog.indexes.put(NEXT)
        await catalog.indexes.switch(NEXT, keep=True)
        await catalog.indexes.put(third)
        await catalog.indexes.switch(third, keep=False)
        assert [(one.index_name, one.state) for one in await catalog.indexes.spare(HERE)] == [
            (INDEX, IndexState.DROPPING),
            ("notes-2", IndexState.DROPPING),
        ]
        assert len(await missing(catalog, INDEX)) == 2
        for index in (INDEX, "notes-2"):
            await catalog.indexes.forget(HERE, index)
        assert await catalog.indexes.spare(HERE) == []

    @on_catalog
    async def test_only_an_index_that_is_there_can_be_switched_to(self, catalog: Catalog) -> None:
        for spare in (None, replace(NEXT, state=IndexState.DROPPING)):
            if spare is not None:
                await catalog.indexes.put(spare)
            with pytest.raises(ConflictError):
                await catalog.indexes.switch(NEXT, keep=True)
        assert await catalog.collections.get(HERE) == collection()

    @on_catalog
    async def test_forgetting_the_index_in_use_leaves_its_marks(self, catalog: Catalog) -> None:
        await publish(catalog, ONE, "1", ["a"])
        await catalog.indexes.forget(HERE, INDEX)
        assert await missing(catalog, INDEX) == []

    @on_catalog
    async def test_a_deleted_collection_has_no_spare_indexes(self, catalog: Catalog) -> None:
        await catalog.indexes.put(NEXT)
        await catalog.collections.delete(HERE)
        assert await catalog.indexes.spare(HERE) == []

    @on_catalog
    async def test_the_dead_can_be_listed_by_scope_and_document(self, catalog: Catalog) -> None:
        for document in (ONE, TWO):
            await publish(catalog, document, "1", ["a"])
            await publish(catalog, document, "2", ["b"])
        assert len(await catalog.passages.dead(10, HERE)) == 2
        assert await catalog.passages.dead(10, THERE) == []
        assert [d.version_id for d in await catalog.passages.dead(10, HERE, TWO.id)] == [version(TWO, "1")]

    @on_catalog
    async def test_uploads_come_back_in_order_and_go(self, catalog: Catalog) -> None:
        if not isinstance(catalog, CanKeepUploads):
            pytest.skip("this catalog keeps no uploads")
        pieces = [bytes([number]) * 1000 for number in range(3)]
        for number, piece in enumerate([*pieces[:2], pieces[2]]):
            await catalog.uploads.append("u", number, piece)
        await catalog.uploads.append("u", 1, pieces[1])
        assert [piece async for piece in catalog.uploads.read("u")] == pieces
        await catalog.uploads.delete(["u", "unknown"])
        assert [piece async for piece in catalog.uploads.read("u")] == []


async def missing(catalog: Catalog, index: str) -> list[str]:
    """Ids that the index lacks, read two at a time."""
    return [passage.id async for batch in catalog.indexes.missing(HERE, index, 2) for passage in batch]
