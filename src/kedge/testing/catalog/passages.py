"""The catalog's contract: passages, what is indexed, what is dead."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from kedge.stores.catalog.ports import Catalog
from kedge.testing.catalog.opened import ONE, TWO, OpensCatalog, on_catalog, texts
from kedge.testing.catalog.sample import HERE, INDEX, THEN, THERE, document, passages, publish, version


class PassagesContract(OpensCatalog):
    """Readers see live versions alone; the sweep sees what nothing alive shares."""

    @pytest.mark.req("D-18")
    @on_catalog
    async def test_a_passage_comes_back_whole(self, catalog: Catalog) -> None:
        made = replace(
            passages(ONE, "1", ["Größe\n日本 \U0001f600 'quote' \"x\" %s ?"])[0],
            section_path=("A › B", ""),
            page=7,
            has_code=True,
            has_formula=True,
            has_table=True,
            language="de",
            topic_tag="t",
            ingested_at=THEN,
            document_updated_at=THEN - timedelta(days=1),
            metadata={"a": None, "b": [1, 2.5, "x", {"c": True}], "ü": "\x01"},
        )
        await catalog.documents.begin([(ONE, version(ONE, "1"))])
        await catalog.passages.stage([made], INDEX)
        await catalog.documents.switch([version(ONE, "1")])
        assert await catalog.passages.of_document(HERE.tenant, ONE.id) == [made]

    @on_catalog
    async def test_reading_is_by_scope_position_and_batch(self, catalog: Catalog) -> None:
        made = await publish(catalog, ONE, "1", list("abcde"))
        await publish(catalog, TWO, "1", list("xyz"))
        theirs = await publish(catalog, document("one", THERE), "1", ["a"])
        middle = await catalog.passages.of_document(HERE.tenant, ONE.id, first=1, last=3)
        assert [p.text for p in middle] == ["b", "c", "d"]
        assert await catalog.passages.of_document(THERE.tenant, ONE.id) == []
        assert await catalog.passages.live(HERE, [theirs[0].id, made[0].id, "unknown"]) == {made[0].id: made[0]}
        batches = [batch async for batch in catalog.passages.scan(HERE, 3)]
        assert [len(batch) for batch in batches] == [3, 3, 2]
        scanned = [(p.document_id, p.index) for batch in batches for p in batch]
        assert scanned == sorted(scanned)

    @on_catalog
    async def test_long_lists_of_ids_are_fine(self, catalog: Catalog) -> None:
        made = await publish(catalog, ONE, "1", [str(n) for n in range(1200)])
        wanted = [p.id for p in made] + [f"unknown {n}" for n in range(40_000)]
        assert len(await catalog.passages.live(HERE, wanted)) == 1200
        assert await catalog.documents.find(HERE, wanted) == {}

    @on_catalog
    async def test_what_is_indexed_stays_so_across_versions(self, catalog: Catalog) -> None:
        await publish(catalog, ONE, "1", ["a", "b"])
        await catalog.documents.begin([(ONE, version(ONE, "2"))])
        new = passages(ONE, "2", ["a", "B", "c"])
        assert await catalog.passages.stage(new, INDEX) == [new[1].id, new[2].id]
        assert await catalog.passages.stage(new, "another") == [p.id for p in new]
        await catalog.passages.mark_indexed([new[2].id, "unknown"], INDEX)
        assert await catalog.passages.stage(new[::-1], INDEX) == [new[1].id]

    @on_catalog
    async def test_a_dead_passage_is_not_known_as_indexed(self, catalog: Catalog) -> None:
        """Its vector may have been swept already, so whoever stages it again must write it again."""
        made = await publish(catalog, ONE, "1", ["a", "b"])
        await publish(catalog, ONE, "2", ["a"])
        await catalog.passages.mark_indexed([made[1].id], INDEX)
        await catalog.documents.begin([(ONE, version(ONE, "1"))])
        assert await catalog.passages.stage(made, INDEX) == [made[1].id]

    @on_catalog
    async def test_only_ids_that_nothing_alive_shares_are_dead(self, catalog: Catalog) -> None:
        old = await publish(catalog, ONE, "1", ["a", "b", "c"])
        await publish(catalog, ONE, "2", ["a"])
        await catalog.documents.begin([(ONE, version(ONE, "3"))])
        await catalog.passages.stage(passages(ONE, "3", ["A", "b"]), INDEX)
        (dead,) = await catalog.passages.dead(10)
        assert (dead.scope, dead.document_id, dead.version_id) == (HERE, ONE.id, version(ONE, "1"))
        assert dead.passage_ids == (old[2].id,)
        assert not dead.document_gone

    @on_catalog
    async def test_the_oldest_dead_come_first_until_forgotten(self, catalog: Catalog) -> None:
        for content in "1234":
            await publish(catalog, ONE, content, [content])
        dead = await catalog.passages.dead(2)
        assert [d.version_id for d in dead] == [version(ONE, "1"), version(ONE, "2")]
        await catalog.passages.forget([d.version_id for d in dead])
        assert [d.version_id for d in await catalog.passages.dead(2)] == [version(ONE, "3")]

    @on_catalog
    async def test_what_lives_is_never_forgotten(self, catalog: Catalog) -> None:
        await publish(catalog, ONE, "1", ["a"])
        await catalog.documents.begin([(TWO, version(TWO, "1"))])
        await catalog.passages.forget([version(ONE, "1"), version(TWO, "1")])
        assert await texts(catalog) == ["a"]
        assert await catalog.jobs.building(HERE) == [(TWO.id, version(TWO, "1"))]

    @pytest.mark.req("C-17")
    @on_catalog
    async def test_passages_know_when_they_were_embedded(self, catalog: Catalog) -> None:
        await publish(catalog, ONE, "1", ["a", "b", "c"])
        first, second, third = await catalog.passages.of_document(HERE.tenant, ONE.id)
        await catalog.passages.mark_indexed([first.id, second.id], INDEX)
        before = await catalog.passages.of_document(HERE.tenant, ONE.id)
        assert [one.embedded_at is not None for one in before[:2]] == [True, True]
        assert before[0].embedding_model
        while datetime.now(UTC) == before[0].embedded_at:
            pass  # a clock may not have moved yet
        await catalog.passages.mark_indexed([first.id, second.id, third.id], INDEX, kept={second.id})
        after = await catalog.passages.of_document(HERE.tenant, ONE.id)
        assert after[0].embedded_at != before[0].embedded_at
        assert after[1].embedded_at == before[1].embedded_at
        assert after[2].embedded_at is not None

    @on_catalog
    async def test_readers_see_all_of_the_old_or_all_of_the_new(self, catalog: Catalog) -> None:
        await publish(catalog, ONE, "0", ["0"] * 50)
        seen: list[set[str]] = []

        async def read() -> None:
            while len(seen) < 40:
                seen.append(set(await texts(catalog)))

        async def replace_it() -> None:
            for content in "12345":
                await publish(catalog, ONE, content, [content] * 50)

        await asyncio.gather(read(), read(), replace_it())
        assert all(len(found) == 1 for found in seen)

    def test_closing_twice_is_fine(self, tmp_path: Path) -> None:
        async def body() -> None:
            catalog = await self.open_store(tmp_path)
            await catalog.close()
            await catalog.close()

        asyncio.run(body())
