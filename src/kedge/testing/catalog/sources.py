"""The catalog's contract: connected sources, where it keeps any (`CanKeepSources`)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from kedge.core.errors import ConflictError
from kedge.core.values import ConnectedSource, Scope, SourceError, SourceHold, SourceItem, SourceRun
from kedge.stores.catalog.ports import CanKeepSources, Catalog, Sources
from kedge.testing.catalog.opened import OpensCatalog, on_catalog
from kedge.testing.catalog.sample import HERE, THEN, THERE

MINE = ConnectedSource("s1", HERE, "handbook", "s3://bucket/docs", THEN, 900.0, {"region": "x"}, {"key": "env:KEY"})
BESIDE = replace(MINE, id="s2", name="blog")
STRANGE = replace(MINE, id="s3", scope=THERE)
FAULT = SourceError("s3://bucket/docs/a.pdf", "encrypted", "It wants a password.", "Open it.")
RUN = SourceRun("j1", "held", THEN, THEN + timedelta(seconds=9), new=3, failed=1, errors=(FAULT,), message="Held.")
A = SourceItem("a", "s3://bucket/docs/a.md", "etag", "digest", False, "markdown", 7, {"seen": True})
B = SourceItem("b", "s3://bucket/docs/b.zip", several=True)


def kept(catalog: Catalog) -> Sources:
    if not isinstance(catalog, CanKeepSources):
        pytest.skip("this catalog keeps no sources")
    return catalog.sources


class SourcesContract(OpensCatalog):
    """Sources come back as they were put, to their tenant; what is remembered of them goes with them."""

    @on_catalog
    async def test_a_source_comes_back_to_its_tenant(self, catalog: Catalog) -> None:
        found = kept(catalog)
        for one in (MINE, BESIDE, STRANGE):
            await found.put(one)
        assert await found.everywhere() == sorted([MINE, BESIDE, STRANGE], key=lambda one: (one.scope.tenant, one.name))
        assert await found.get(HERE.tenant, "handbook") == MINE
        assert await found.get(THERE.tenant, "blog") is None
        ran = replace(MINE, last_run=RUN, held=SourceHold(3, 4), documents=4, cursor="x", begun_at=THEN)
        await found.put(ran)
        assert await found.get(HERE.tenant, "handbook") == ran
        await found.put(replace(ran, held=None, last_run=None))
        assert await found.get(HERE.tenant, "handbook") == replace(ran, held=None, last_run=None)

    @on_catalog
    async def test_a_name_is_one_source_within_a_tenant(self, catalog: Catalog) -> None:
        found = kept(catalog)
        await found.put(MINE)
        with pytest.raises(ConflictError):
            await found.put(replace(MINE, id="other"))
        assert await found.everywhere() == [MINE]

    @on_catalog
    async def test_of_several_who_begin_one_gets_it(self, catalog: Catalog) -> None:
        found = kept(catalog)
        await found.put(MINE)
        later = THEN + timedelta(minutes=15)
        assert await found.begin("s1", THEN, None)
        assert not await found.begin("s1", later, None)
        assert await found.begin("s1", later, THEN)
        assert not await found.begin("s1", later, THEN)
        assert not await found.begin("nothing", later, None)
        assert await found.get(HERE.tenant, "handbook") == replace(MINE, begun_at=later)

    @on_catalog
    async def test_entries_are_remembered_replaced_and_forgotten(self, catalog: Catalog) -> None:
        found = kept(catalog)
        await found.put(MINE)
        changed = replace(A, fingerprint="other", note={})
        await found.remember("s1", [B, A])
        await found.remember("s1", [A, changed])
        assert list((await found.items("s1")).items()) == [("a", changed), ("b", B)]
        await found.forget("s1", ["a", "unknown"])
        assert await found.items("s1") == {"b": B}
        await found.remember("nothing", [A])
        assert await found.items("nothing") == {}

    @on_catalog
    async def test_entries_go_with_their_source(self, catalog: Catalog) -> None:
        found = kept(catalog)
        await found.put(MINE)
        await found.remember("s1", [A, B])
        await found.delete("s1")
        await found.delete("s1")
        assert await found.everywhere() == []
        await found.put(MINE)
        assert await found.items("s1") == {}

    @on_catalog
    async def test_what_another_source_of_the_collection_has_too_is_known(self, catalog: Catalog) -> None:
        found = kept(catalog)
        elsewhere = replace(MINE, id="s4", name="far", scope=Scope(HERE.tenant, "another collection"))
        for one in (MINE, BESIDE, STRANGE, elsewhere):
            await found.put(one)
        await found.remember("s1", [A, B])
        await found.remember("s2", [A])
        for other in ("s3", "s4"):
            await found.remember(other, [B])
        urls = [A.url, B.url, "s3://bucket/docs/c.md"]
        assert await found.elsewhere(MINE, urls) == {A.url}
        assert await found.elsewhere(BESIDE, urls) == {A.url, B.url}
