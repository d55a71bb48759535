"""The catalog's contract: who may read what, what is held, and the audit log."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from kedge.core.acting import acting_as
from kedge.core.errors import HeldError
from kedge.core.values import PUBLIC, Actor, AuditEntry, DocumentStatus, Hold
from kedge.stores.catalog.ports import Catalog
from kedge.testing.catalog.opened import ONE, TWO, OpensCatalog, on_catalog, texts
from kedge.testing.catalog.sample import HERE, INDEX, THEN, THERE, document, passages, publish, version

ANN, BOB, NOBODY = Actor("ann"), Actor("bob", frozenset({"board"})), Actor()


async def _shown(catalog: Catalog, who: Actor | None) -> dict[str, object]:
    """What each read tells somebody of the collection, under its name."""
    with acting_as(who):
        collection = await catalog.collections.get(HERE)
        every = [ONE, TWO]
        scanned = [passage.document_id async for batch in catalog.passages.scan(HERE) for passage in batch]
        ids = [passage.id for one in every for passage in passages(one, "1", ["a", "b"])]
        live = await catalog.passages.live(HERE, ids)
        found = {
            "get": [one.id for one in every if await catalog.documents.get(HERE.tenant, one.id) is not None],
            "find": sorted(one.id for one in (await catalog.documents.find(HERE, [one.url for one in every])).values()),
            "page": sorted(one.id for one in await catalog.documents.page(HERE)),
            "of_document": [one.id for one in every if await catalog.passages.of_document(HERE.tenant, one.id)],
            "scan": sorted(set(scanned)),
            "live": sorted({passage.document_id for passage in live.values()}),
        }
        assert await catalog.passages.visible(HERE, ids) == set(live)
        counts = None if collection is None else (collection.documents, collection.passages)
        assert [one.documents for one in await catalog.collections.all(HERE.tenant)] == [counts[0] if counts else 0][
            : 1 if counts else 0
        ]
        return {**{name: sorted(ids) for name, ids in found.items()}, "counts": counts}


def _only(*documents: object) -> dict[str, object]:
    ids = sorted(getattr(one, "id", "") for one in documents)
    names = ("get", "find", "page", "of_document", "scan", "live")
    return {**dict.fromkeys(names, ids), "counts": (len(ids), 2 * len(ids))}


class RightsContract(OpensCatalog):
    """Reads are narrowed to the actor in force; holds keep documents; the audit log tells who asked."""

    @on_catalog
    async def test_everybody_reads_what_names_nobody(self, catalog: Catalog) -> None:
        for one in (ONE, TWO):
            await publish(catalog, one, "1", ["a", "b"])
        for who in (None, NOBODY, ANN, BOB):
            assert await _shown(catalog, who) == _only(ONE, TWO)
        with acting_as(ANN):
            assert await catalog.rights.narrowed(HERE) is None
        assert not await catalog.rights.restricted()

    @on_catalog
    async def test_what_is_restricted_is_told_for_each_tenant(self, catalog: Catalog) -> None:
        await publish(catalog, replace(ONE, readers=("user:ann",)), "1", ["a"])
        assert await catalog.rights.restricted()
        assert await catalog.rights.restricted(HERE.tenant)
        assert not await catalog.rights.restricted(THERE.tenant)
        await catalog.rights.rule(THERE, "", ("user:ann",))
        assert await catalog.rights.restricted(THERE.tenant)

    @on_catalog
    async def test_what_a_source_says_holds_with_the_switch(self, catalog: Catalog) -> None:
        await publish(catalog, replace(ONE, readers=("group:board", "user:zoe")), "1", ["a", "b"])
        await publish(catalog, replace(TWO, readers=(PUBLIC,)), "1", ["a", "b"])
        assert await _shown(catalog, None) == _only(ONE, TWO)
        assert await _shown(catalog, BOB) == _only(ONE, TWO)
        for who in (NOBODY, ANN):
            assert await _shown(catalog, who) == _only(TWO)
            with acting_as(who):
                narrowed = await catalog.rights.narrowed(HERE)
            assert narrowed is not None
            assert (narrowed.principals, narrowed.unsettled) == (who.principals, ())
        assert await catalog.rights.readers([ONE.id, TWO.id]) == {ONE.id: ("group:board", "user:zoe")}
        assert await catalog.rights.restricted_documents(HERE.tenant) == 1

    @on_catalog
    async def test_a_name_is_not_seen_before_the_switch_either(self, catalog: Catalog) -> None:
        await catalog.documents.begin([(replace(ONE, readers=("user:ann",)), version(ONE, "1"))])
        with acting_as(BOB):
            assert await catalog.documents.page(HERE) == []
        await catalog.documents.fail(version(ONE, "1"), "It cannot be read.")
        with acting_as(BOB):
            assert await catalog.documents.get(HERE.tenant, ONE.id) is None
        with acting_as(ANN):
            assert [one.status for one in await catalog.documents.page(HERE)] == [DocumentStatus.FAILED]

    @on_catalog
    async def test_a_change_holds_at_once_and_is_unsettled(self, catalog: Catalog) -> None:
        await publish(catalog, ONE, "1", ["a", "b"])
        await publish(catalog, TWO, "1", ["a", "b"])
        assert await catalog.rights.give("acme", [ONE.id], ("user:ann",)) == []  # another tenant's
        assert await catalog.rights.give(HERE.tenant, [ONE.id, "unknown"], ("user:ann",)) == [ONE.id]
        assert await catalog.rights.give(HERE.tenant, [ONE.id], ("user:ann",)) == []
        assert await catalog.rights.unsettled(HERE) == [ONE.id]
        assert await catalog.rights.unsettled(THERE) == []
        assert await _shown(catalog, BOB) == _only(TWO)
        with acting_as(ANN):
            narrowed = await catalog.rights.narrowed(HERE)
        assert narrowed is not None
        assert narrowed.unsettled == (ONE.id,)
        await catalog.rights.settled([ONE.id])
        with acting_as(ANN):
            assert await catalog.rights.narrowed(HERE) is None
        await catalog.rights.give(HERE.tenant, [ONE.id], None)
        assert await _shown(catalog, BOB) == _only(ONE, TWO)

    @on_catalog
    async def test_what_was_given_by_hand_holds_over_sources(self, catalog: Catalog) -> None:
        await publish(catalog, replace(ONE, readers=("user:ann",)), "1", ["a", "b"])
        await publish(catalog, ONE, "2", ["a", "c"])  # says nothing: what was said stays
        assert await catalog.rights.readers([ONE.id]) == {ONE.id: ("user:ann",)}
        await catalog.rights.give(HERE.tenant, [ONE.id], ("user:bob",))
        wider = replace(ONE, readers=(PUBLIC,))
        await catalog.documents.begin([(wider, version(ONE, "3"))])
        assert await catalog.rights.expected([version(ONE, "3")]) == {ONE.id: ("user:bob",)}
        await publish(catalog, wider, "3", ["a", "d"])
        assert await catalog.rights.readers([ONE.id]) == {ONE.id: ("user:bob",)}
        await catalog.rights.give(HERE.tenant, [ONE.id], None)
        await publish(catalog, replace(ONE, readers=("user:cy",)), "4", ["a", "e"])
        assert await catalog.rights.readers([ONE.id]) == {ONE.id: ("user:cy",)}

    @on_catalog
    async def test_a_collection_may_be_shut(self, catalog: Catalog) -> None:
        await publish(catalog, ONE, "1", ["a", "b"])
        await catalog.rights.rule(HERE, "", ("group:board",))
        await catalog.rights.rule(HERE, "Person", ("user:ann",))
        assert await catalog.rights.rules(HERE) == {"": ("group:board",), "Person": ("user:ann",)}
        assert await _shown(catalog, BOB) == _only(ONE)
        assert await _shown(catalog, ANN) == {**_only(), "counts": None}
        assert [one.scope for one in await catalog.collections.everywhere()] == [THERE, HERE]
        await catalog.rights.rule(HERE, "", (PUBLIC,))
        assert await catalog.rights.rules(HERE) == {"Person": ("user:ann",)}
        await catalog.collections.delete(HERE)
        assert await catalog.rights.rules(HERE) == {}

    @on_catalog
    async def test_a_name_is_secret_where_nothing_is_shown_and_something_kept(self, catalog: Catalog) -> None:
        nothing = {**_only(), "counts": None}
        assert await _shown(catalog, BOB) == _only()  # empty: anybody may begin it
        narrow = replace(ONE, readers=("user:ann",))
        await catalog.documents.begin([(narrow, version(ONE, "1"))])
        assert (await _shown(catalog, BOB))["counts"] is None
        await publish(catalog, narrow, "1", ["a", "b"])
        assert await _shown(catalog, BOB) == nothing
        assert await _shown(catalog, NOBODY) == nothing
        assert await _shown(catalog, ANN) == _only(ONE)
        assert await _shown(catalog, None) == _only(ONE)
        await catalog.rights.rule(HERE, "", ("group:board",))
        assert (await _shown(catalog, BOB))["counts"] == (0, 0)  # named as a reader of the whole
        await catalog.rights.rule(HERE, "", None)
        await publish(catalog, TWO, "1", ["a", "b"])
        assert await _shown(catalog, BOB) == _only(TWO)
        await catalog.documents.retire(HERE, [ONE.id, TWO.id])
        assert (await _shown(catalog, BOB))["counts"] is None  # what went was kept from him
        assert (await _shown(catalog, ANN))["counts"] == (0, 0)

    @on_catalog
    async def test_counts_follow_documents_that_come_and_go(self, catalog: Catalog) -> None:
        narrow = replace(ONE, readers=("user:ann",))
        await publish(catalog, narrow, "1", ["a", "b"])
        await publish(catalog, TWO, "1", ["a", "b"])
        await publish(catalog, narrow, "2", ["a", "b", "c"])
        with acting_as(BOB):
            seen = await catalog.collections.get(HERE)
        assert seen is not None
        assert (seen.documents, seen.passages) == (1, 2)
        await catalog.documents.retire(HERE, [ONE.id])
        with acting_as(BOB):
            assert await catalog.rights.narrowed(HERE) is None or await texts(catalog) == []
            seen = await catalog.collections.get(HERE)
        assert seen is not None
        assert (seen.documents, seen.passages) == (1, 2)

    @on_catalog
    async def test_a_hold_keeps_the_document_as_it_is(self, catalog: Catalog) -> None:
        await publish(catalog, ONE, "1", ["a", "b"])
        hold = Hold(ONE.id, HERE, "case 7", "owner", THEN)
        await catalog.rights.hold(hold)
        assert await catalog.rights.holds(HERE.tenant) == [hold]
        assert await catalog.rights.holds("acme") == [] == await catalog.rights.holds(HERE.tenant, [TWO.id])
        with pytest.raises(HeldError, match="case 7"):
            await catalog.documents.retire(HERE, [ONE.id])
        with pytest.raises(HeldError):
            await publish(catalog, ONE, "2", ["other"])
        with pytest.raises(HeldError):
            await catalog.collections.delete(HERE)
        assert await texts(catalog) == ["a", "b"]
        assert not await catalog.rights.release("acme", ONE.id)
        assert await catalog.rights.release(HERE.tenant, ONE.id)
        assert not await catalog.rights.release(HERE.tenant, ONE.id)
        assert await catalog.documents.retire(HERE, [ONE.id]) == [ONE.id]

    @on_catalog
    async def test_the_audit_log_tells_who_asked_and_forgets(self, catalog: Catalog) -> None:
        entry = AuditEntry("e1", HERE.tenant, THEN, "user:ann", "ask", "notes", "q1", "h1", ("d1", "d2"), "Why?")
        other = replace(entry, id="e2", at=THEN + timedelta(days=1), who="user:bob", documents=("d1",), query_id=None)
        away = replace(entry, id="e3", tenant="acme")
        for one in (entry, other, away):
            await catalog.audit.record(one)
        assert await catalog.audit.recent(HERE.tenant) == [other, entry]
        assert await catalog.audit.recent(HERE.tenant, who="user:ann") == [entry]
        assert await catalog.audit.recent(HERE.tenant, document_id="d2", limit=1) == [entry]
        assert await catalog.audit.count(HERE.tenant) == 2
        assert await catalog.audit.traces(HERE.tenant, "d1") == (2, 0, 0)
        assert await catalog.audit.traces(HERE.tenant, "d1", erase=True) == (2, 0, 0)
        assert await catalog.audit.recent(HERE.tenant) == [replace(entry, documents=("d2",), words=None)]
        assert await catalog.audit.recent("acme") == [away]
        assert await catalog.audit.sweep(THEN + timedelta(hours=1)) == 2
        assert await catalog.audit.count(HERE.tenant) == 0

    @on_catalog
    async def test_other_writers_are_not_narrowed(self, catalog: Catalog) -> None:
        """Ingestion and upkeep look at all there is, whoever is in force."""
        narrow = replace(document("one"), readers=("user:ann",))
        await publish(catalog, narrow, "1", ["a"])
        await catalog.documents.begin([(narrow, version(ONE, "2"))])
        await catalog.passages.stage(passages(narrow, "2", ["b"]), INDEX)
        with acting_as(BOB):
            assert len(await catalog.passages.staged(HERE)) == 1
            assert await catalog.jobs.building(HERE) == [(ONE.id, version(ONE, "2"))]
            assert {one.scope: one.documents for one in await catalog.collections.everywhere()}[HERE] >= 0
