"""The catalog's contract: what was live before, as of an instant."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from kedge.core.acting import acting_as
from kedge.core.values import Actor
from kedge.stores.catalog.ports import CanKeepPast, Catalog, Past
from kedge.testing.catalog.opened import ONE, TWO, OpensCatalog, on_catalog, texts
from kedge.testing.catalog.sample import HERE, THERE, document, publish, version


def past_of(catalog: Catalog) -> Past:
    """The optional power, or the test is skipped."""
    if not isinstance(catalog, CanKeepPast):
        pytest.skip("this catalog keeps no superseded versions")
    return catalog.past


def now() -> datetime:
    """An instant after all that was done before, and before all that follows."""
    at = datetime.now(UTC)
    while datetime.now(UTC) <= at:
        pass  # a clock may not have moved yet
    return at


class PastContract(OpensCatalog):
    """Every instant shows the version that was live then, as long as it is there."""

    @on_catalog
    async def test_each_instant_shows_what_was_live_then(self, catalog: Catalog) -> None:
        past = past_of(catalog)
        seen: dict[datetime, list[str]] = {}
        seen[now()] = []
        for content in "121":
            made = await publish(catalog, ONE, content, [content, "both"])
            seen[now()] = [one.text for one in made]
        for at, expected in seen.items():
            found = await past.of_document(HERE.tenant, ONE.id, at)
            assert [one.text for one in found] == expected
            ids = [one.id for one in found]
            assert sorted(await past.live(HERE, ids, at)) == sorted(ids)
            assert await past.live(THERE, ids, at) == {}
            assert await past.of_document(THERE.tenant, ONE.id, at) == []
        assert [one.text for one in await past.of_document(HERE.tenant, ONE.id, at, first=1, last=1)] == ["both"]
        assert await texts(catalog) == ["1", "both"]

    @on_catalog
    async def test_a_kept_version_is_not_swept_until_it_is_released(self, catalog: Catalog) -> None:
        past = past_of(catalog)
        old = await publish(catalog, ONE, "1", ["a"])
        at = now()
        await publish(catalog, ONE, "2", ["b"])
        between = now()
        (dead,) = await catalog.passages.dead(10)
        assert dead.was_live is not None
        assert dead.was_live[0] <= at < dead.was_live[1] <= between
        await past.keep([dead.version_id])
        assert await catalog.passages.dead(10) == []
        await catalog.passages.forget([dead.version_id])
        assert await past.live(HERE, [old[0].id], at) == {old[0].id: old[0]}
        assert await past.live(HERE, [old[0].id], between) == {}
        assert await past.held([old[0].id, "unknown"]) == {old[0].id}
        assert [one.passage for batch in [b async for b in past.scan(HERE)] for one in batch] == old
        assert await past.release(HERE, at) == 0
        assert await past.release(THERE, between) == 0
        assert await past.release(HERE, between) == 1
        (again,) = await catalog.passages.dead(10)
        assert (again.version_id, again.was_live) == (dead.version_id, None)
        assert await past.live(HERE, [old[0].id], at) == {}
        await catalog.passages.forget([again.version_id])
        assert await catalog.passages.dead(10) == []

    @on_catalog
    async def test_a_document_that_is_erased_was_never_there(self, catalog: Catalog) -> None:
        past = past_of(catalog)
        await publish(catalog, ONE, "1", ["a"])
        at = now()
        await publish(catalog, ONE, "2", ["b"])
        await past.keep([version(ONE, "1")])
        await catalog.documents.retire(HERE, [ONE.id])
        assert await past.of_document(HERE.tenant, ONE.id, at) == []
        assert await past.held([one for part in await catalog.passages.dead(10) for one in part.passage_ids]) == set()
        assert len(await catalog.passages.dead(10)) == 2
        assert [part.was_live for part in await catalog.passages.dead(10)] == [None, None]

    @on_catalog
    async def test_the_past_is_read_with_the_rights_of_now(self, catalog: Catalog) -> None:
        past = past_of(catalog)
        (old, *_) = await publish(catalog, ONE, "1", ["a"])
        at = now()
        await publish(catalog, replace(ONE, readers=("user:ann",)), "2", ["b"])
        for who, allowed in ((None, True), (Actor("ann"), True), (Actor("bob"), False), (Actor(), False)):
            with acting_as(who):
                assert bool(await past.live(HERE, [old.id], at)) is allowed
                assert bool(await past.of_document(HERE.tenant, ONE.id, at)) is allowed

    @on_catalog
    async def test_what_named_its_readers_stays_theirs_when_it_is_superseded(self, catalog: Catalog) -> None:
        """A draft for a few is not opened to all by what was made of it; who says so by hand opens it."""
        past = past_of(catalog)
        (draft,) = await publish(catalog, replace(ONE, readers=("user:ann",)), "1", ["a"])
        at = now()
        (said,) = await publish(catalog, replace(ONE, readers=("public",)), "2", ["b"])
        for who, allowed in ((None, True), (Actor("ann"), True), (Actor("bob"), False)):
            with acting_as(who):
                assert bool(await past.live(HERE, [draft.id], at)) is allowed
                assert bool(await past.of_document(HERE.tenant, ONE.id, at)) is allowed
                assert await past.live(HERE, [said.id], now()) == {said.id: said}
        await catalog.rights.give(HERE.tenant, [ONE.id], ("public",))
        with acting_as(Actor("bob")):
            assert await past.live(HERE, [draft.id], at) == {draft.id: draft}

    @on_catalog
    async def test_a_document_whose_source_is_gone_stays_in_its_time(self, catalog: Catalog) -> None:
        past = past_of(catalog)
        await publish(catalog, TWO, "1", ["a"])
        at = now()
        await catalog.documents.retire(HERE, [TWO.id], erase=False)
        await past.keep([version(TWO, "1")])
        await catalog.documents.archive(HERE, [TWO.id])
        assert [one.text for one in await past.of_document(HERE.tenant, TWO.id, at)] == ["a"]
        assert await past.of_document(HERE.tenant, TWO.id, now()) == []
        await catalog.documents.retire(HERE, [TWO.id])
        assert await past.of_document(HERE.tenant, TWO.id, at) == []

    @on_catalog
    async def test_the_span_of_a_passage_covers_all_versions_that_held_it(self, catalog: Catalog) -> None:
        past = past_of(catalog)
        (both,) = await publish(catalog, ONE, "1", ["a"])
        first = now()
        await publish(catalog, ONE, "2", ["b"])
        await publish(catalog, ONE, "3", ["a"])
        last = now()
        await publish(catalog, ONE, "4", ["c"])
        found = await past.of_versions([version(ONE, "1"), version(ONE, "3"), version(ONE, "4"), "unknown"])
        assert set(found) == {version(ONE, "1"), version(ONE, "3")}
        for parts in found.values():
            assert [one.passage.id for one in parts] == [both.id]
            assert parts[0].since <= first < last < parts[0].until

    @on_catalog
    async def test_what_was_never_live_is_not_kept(self, catalog: Catalog) -> None:
        past = past_of(catalog)
        await catalog.documents.begin([(ONE, version(ONE, "1"))])
        await catalog.documents.fail(version(ONE, "1"), "no")
        await past.keep([version(ONE, "1"), "unknown"])
        assert [part.version_id for part in await catalog.passages.dead(10)] == [version(ONE, "1")]
        assert await past.of_document(HERE.tenant, document("one").id, now() + timedelta(days=1)) == []
