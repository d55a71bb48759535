"""The catalog's contract: documents, from begin to archive."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kedge.core.errors import ConflictError, NotFoundError, UsageError
from kedge.core.values import DocumentStatus
from kedge.stores.catalog.ports import Catalog
from kedge.testing.catalog.opened import ONE, TWO, OpensCatalog, on_catalog, state, texts
from kedge.testing.catalog.sample import HERE, INDEX, THERE, document, life, observe, passages, publish, version


class DocumentsContract(OpensCatalog):
    """Versions are built unseen, switched to at once, and deleted in order."""

    @pytest.mark.req("D-10")
    @on_catalog
    async def test_a_document_goes_through_its_states(self, catalog: Catalog) -> None:
        await catalog.documents.begin([(ONE, version(ONE, "1"))])
        seen = [await state(catalog)]
        for status in (DocumentStatus.CHUNKING, DocumentStatus.EMBEDDING, DocumentStatus.EXTRACTING):
            await catalog.documents.set_status([version(ONE, "1")], status)
            seen.append(await state(catalog))
        await catalog.documents.switch([version(ONE, "1")])
        seen.append(await state(catalog))
        await catalog.documents.retire(HERE, [ONE.id])
        await catalog.documents.archive(HERE, [ONE.id])
        seen.append(await state(catalog))
        assert seen == ["pending", "chunking", "embedding", "extracting", "active", "archived"]

    @pytest.mark.req("D-10")
    @pytest.mark.parametrize("status", [DocumentStatus.ACTIVE, DocumentStatus.FAILED, DocumentStatus.ARCHIVED])
    def test_the_ends_are_not_reached_by_set_status(self, tmp_path: Path, status: DocumentStatus) -> None:
        async def body(_: OpensCatalog, catalog: Catalog) -> None:
            await catalog.documents.begin([(ONE, version(ONE, "1"))])
            with pytest.raises(UsageError):
                await catalog.documents.set_status([version(ONE, "1")], status)
            assert await state(catalog) == DocumentStatus.PENDING

        on_catalog(body)(self, tmp_path)

    @on_catalog
    async def test_a_document_needs_its_collection(self, catalog: Catalog) -> None:
        with pytest.raises(NotFoundError):
            await catalog.documents.begin([(document("one", replace(HERE, collection="none")), "v")])

    @pytest.mark.req("D-18")
    @on_catalog
    async def test_nothing_is_visible_before_the_switch(self, catalog: Catalog) -> None:
        made = passages(ONE, "1", ["a", "b"])
        await catalog.documents.begin([(ONE, version(ONE, "1"))])
        await catalog.passages.stage(made, INDEX)
        assert await texts(catalog) == []
        assert await catalog.passages.live(HERE, [p.id for p in made]) == {}
        assert await catalog.passages.staged(HERE) == [p.id for p in made]
        assert await catalog.jobs.building(HERE) == [(ONE.id, version(ONE, "1"))]
        await catalog.documents.switch([version(ONE, "1")])
        assert await catalog.passages.live(HERE, [p.id for p in made]) == {p.id: p for p in made}
        assert await catalog.passages.staged(HERE) == []
        assert await catalog.jobs.building(HERE) == []

    @on_catalog
    async def test_what_describes_a_document_changes_at_the_switch(self, catalog: Catalog) -> None:
        await publish(catalog, ONE, "1", ["a"])
        renamed = replace(ONE, title="New", metadata={"n": 1}, file_hash="new", author="Ada", topic_tag="t")
        await catalog.documents.begin([(renamed, version(ONE, "2"))])
        await catalog.passages.stage(passages(renamed, "2", ["b"]), INDEX)
        before = await catalog.documents.find(HERE, [ONE.url, "unknown"])
        assert list(before) == [ONE.url]
        assert (before[ONE.url].title, before[ONE.url].file_hash) == (ONE.title, ONE.file_hash)
        assert before[ONE.url].status == DocumentStatus.ACTIVE
        await catalog.documents.switch([version(ONE, "2")])
        after = (await catalog.documents.find(HERE, [ONE.url]))[ONE.url]
        assert replace(after, ingested_at=None) == replace(
            renamed, status=DocumentStatus.ACTIVE, live_version=version(ONE, "2"), chunk_count=1
        )
        assert after.ingested_at is not None
        assert after.ingested_at.tzinfo is not None

    @on_catalog
    async def test_an_unseen_document_is_described_by_its_latest_version(self, catalog: Catalog) -> None:
        await catalog.documents.begin([(ONE, version(ONE, "1"))])
        await catalog.documents.fail(version(ONE, "1"), "no")
        await catalog.documents.begin([(replace(ONE, title="New", file_hash="new"), version(ONE, "2"))])
        found = await catalog.documents.get(HERE.tenant, ONE.id)
        assert found is not None
        assert (found.title, found.file_hash, found.error_message) == ("New", "new", None)

    @pytest.mark.req("D-18")
    @on_catalog
    async def test_versions_are_switched_together_or_not_at_all(self, catalog: Catalog) -> None:
        await publish(catalog, ONE, "1", ["a"])
        for of, content in ((ONE, "2"), (TWO, "1")):
            await catalog.documents.begin([(of, version(of, content))])
            await catalog.passages.stage(passages(of, content, ["new"]), INDEX)
        with pytest.raises(ConflictError):
            await catalog.documents.switch([version(ONE, "2"), version(TWO, "1"), "unknown"])
        assert (await texts(catalog), await texts(catalog, "two")) == (["a"], [])
        await catalog.documents.switch([version(ONE, "2"), version(TWO, "1")])
        assert (await texts(catalog), await texts(catalog, "two")) == (["new"], ["new"])

    @on_catalog
    async def test_a_version_with_a_gap_is_not_switched_to(self, catalog: Catalog) -> None:
        await catalog.documents.begin([(ONE, version(ONE, "1"))])
        await catalog.passages.stage(passages(ONE, "1", ["b"], first=1), INDEX)
        with pytest.raises(ConflictError):
            await catalog.documents.switch([version(ONE, "1")])
        await catalog.passages.stage(passages(ONE, "1", ["a"]), INDEX)
        await catalog.documents.switch([version(ONE, "1")])
        assert await texts(catalog) == ["a", "b"]

    @pytest.mark.req("D-10", "D-18")
    @on_catalog
    async def test_a_failed_version_says_why_and_is_not_seen(self, catalog: Catalog) -> None:
        await catalog.documents.begin([(ONE, version(ONE, "1"))])
        await catalog.passages.stage(passages(ONE, "1", ["a"]), INDEX)
        await catalog.documents.fail(version(ONE, "1"), "No text layer.")
        found = await catalog.documents.get(HERE.tenant, ONE.id)
        assert found is not None
        assert (found.status, found.error_message) == (DocumentStatus.FAILED, "No text layer.")
        assert await texts(catalog) == []
        with pytest.raises(ConflictError):
            await catalog.documents.switch([version(ONE, "1")])

    @on_catalog
    async def test_a_failed_update_leaves_what_was_live(self, catalog: Catalog) -> None:
        await publish(catalog, ONE, "1", ["a"])
        await catalog.documents.begin([(replace(ONE, title="New"), version(ONE, "2"))])
        await catalog.passages.stage(passages(ONE, "2", ["b"]), INDEX)
        await catalog.documents.fail(version(ONE, "2"), "no")
        found = await catalog.documents.get(HERE.tenant, ONE.id)
        assert found is not None
        assert (found.status, found.title, found.error_message) == (DocumentStatus.ACTIVE, ONE.title, "no")
        assert await texts(catalog) == ["a"]

    @on_catalog
    async def test_begin_takes_up_what_was_staged_or_had_failed(self, catalog: Catalog) -> None:
        await catalog.documents.begin([(ONE, version(ONE, "1"))])
        await catalog.passages.stage(passages(ONE, "1", ["a"]), INDEX)
        await catalog.documents.begin([(ONE, version(ONE, "1"))])
        await catalog.passages.stage(passages(ONE, "1", ["b"], first=1), INDEX)
        await catalog.documents.fail(version(ONE, "1"), "no")
        await catalog.documents.begin([(ONE, version(ONE, "1"))])
        assert await catalog.passages.dead(10) == []
        await catalog.documents.switch([version(ONE, "1")])
        assert await texts(catalog) == ["a", "b"]

    @on_catalog
    async def test_beginning_a_newer_version_kills_the_older_one(self, catalog: Catalog) -> None:
        await catalog.documents.begin([(ONE, version(ONE, "1"))])
        await catalog.documents.begin([(ONE, version(ONE, "2"))])
        assert await catalog.jobs.building(HERE) == [(ONE.id, version(ONE, "2"))]
        assert [d.version_id for d in await catalog.passages.dead(10)] == [version(ONE, "1")]
        with pytest.raises(ConflictError):
            await catalog.passages.stage(passages(ONE, "1", ["a"]), INDEX)

    @on_catalog
    async def test_ingesting_the_live_version_again_changes_nothing(self, catalog: Catalog) -> None:
        made = await publish(catalog, ONE, "1", ["a", "b"])
        before = await observe(catalog)
        await catalog.documents.begin([(ONE, version(ONE, "1"))])
        await catalog.passages.stage([replace(made[0], text="torn")], INDEX)
        assert await texts(catalog) == ["a", "b"], "seen before the switch"
        await catalog.documents.switch([version(ONE, "1")])
        assert await observe(catalog) == before

    @on_catalog
    async def test_every_step_may_run_twice(self, catalog: Catalog) -> None:
        """As after a kill between a commit and its acknowledgement."""
        for number, step in enumerate(life()):
            await step(catalog)
            once = await observe(catalog)
            await step(catalog)
            assert await observe(catalog) == once, number

    @pytest.mark.req("D-18")
    @on_catalog
    async def test_a_delete_hides_first_and_archives_last(self, catalog: Catalog) -> None:
        made = await publish(catalog, ONE, "1", ["a"])
        await catalog.documents.begin([(TWO, version(TWO, "1"))])
        assert await catalog.documents.retire(THERE, [ONE.id]) == []
        assert await catalog.documents.retire(HERE, [TWO.id, ONE.id, "unknown"]) == [ONE.id]
        assert await catalog.documents.retire(HERE, [ONE.id]) == []
        assert await texts(catalog) == []
        assert await catalog.documents.retired(HERE) == sorted([ONE.id, TWO.id])
        assert await catalog.documents.retired(THERE) == []
        (gone,) = [d for d in await catalog.passages.dead(10) if d.document_id == ONE.id]
        assert (gone.passage_ids, gone.document_gone) == ((made[0].id,), True)
        await catalog.documents.archive(HERE, [ONE.id, TWO.id])
        assert await catalog.documents.retired(HERE) == []
        assert await catalog.documents.page(HERE) == []
        archived = await catalog.documents.page(HERE, status=DocumentStatus.ARCHIVED)
        assert [d.url for d in archived] == [ONE.url, TWO.url]

    @on_catalog
    async def test_a_deleted_document_can_be_taken_in_again(self, catalog: Catalog) -> None:
        made = await publish(catalog, ONE, "1", ["a"])
        await catalog.documents.retire(HERE, [ONE.id])
        await catalog.documents.archive(HERE, [ONE.id])
        await catalog.documents.begin([(ONE, version(ONE, "1"))])
        assert await catalog.passages.stage(made, INDEX) == [made[0].id]
        await catalog.documents.switch([version(ONE, "1")])
        assert await texts(catalog) == ["a"]
        assert await state(catalog) == DocumentStatus.ACTIVE

    @on_catalog
    async def test_a_new_ingest_overtakes_an_unfinished_delete(self, catalog: Catalog) -> None:
        await publish(catalog, ONE, "1", ["a"])
        await catalog.documents.retire(HERE, [ONE.id])
        await publish(catalog, ONE, "2", ["b"])
        await catalog.documents.archive(HERE, [ONE.id])
        assert await texts(catalog) == ["b"]
        assert await state(catalog) == DocumentStatus.ACTIVE

    @on_catalog
    async def test_a_delete_stops_what_is_being_built(self, catalog: Catalog) -> None:
        await catalog.documents.begin([(ONE, version(ONE, "1"))])
        await catalog.documents.retire(HERE, [ONE.id])
        with pytest.raises(ConflictError):
            await catalog.documents.switch([version(ONE, "1")])
        assert await catalog.jobs.building(HERE) == []

    @on_catalog
    async def test_pages_are_by_url(self, catalog: Catalog) -> None:
        for name in "cab":
            await catalog.documents.begin([(document(name), version(document(name), "1"))])
        assert [d.title for d in await catalog.documents.page(HERE, limit=2)] == ["A", "B"]
        assert [d.title for d in await catalog.documents.page(HERE, limit=2, offset=2)] == ["C"]
        assert await catalog.documents.page(HERE, status=DocumentStatus.ACTIVE) == []
        assert await catalog.documents.page(THERE) == []
        assert await catalog.documents.get(THERE.tenant, document("a").id) is None
