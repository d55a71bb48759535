"""The catalog's contract: collections, jobs, queries and feedback."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from kedge.core.errors import NotFoundError, UsageError
from kedge.core.ids import sha256
from kedge.core.values import ApiKey, IngestMode, Job, JobStatus, Right, SourceError
from kedge.stores.catalog.ports import Catalog, QueryRecord
from kedge.testing.catalog.opened import ONE, TWO, OpensCatalog, on_catalog
from kedge.testing.catalog.sample import HERE, INDEX, THEN, THERE, collection, document, publish, version


class RecordsContract(OpensCatalog):
    """What is kept is given back, to its own tenant."""

    @on_catalog
    async def test_a_collection_comes_back_as_it_was_put(self, catalog: Catalog) -> None:
        assert await catalog.collections.get(HERE) == collection()
        assert await catalog.collections.get(replace(HERE, collection="none")) is None
        assert await catalog.collections.all(HERE.tenant) == [collection()]
        assert await catalog.collections.everywhere() == [collection(THERE), collection(HERE)]

    @on_catalog
    async def test_putting_again_is_the_alias_switch(self, catalog: Catalog) -> None:
        await publish(catalog, ONE, "1", ["a", "b"])
        moved = collection(generation=2, index_name="notes-2", embedder="other", dimension=8)
        await catalog.collections.put(replace(moved, kind="course", created_at=THEN + timedelta(days=1)))
        assert await catalog.collections.get(HERE) == replace(moved, documents=1, passages=2)

    @on_catalog
    async def test_counts_follow_what_is_visible(self, catalog: Catalog) -> None:
        await publish(catalog, ONE, "1", ["a", "b", "c"])
        await publish(catalog, TWO, "1", ["x"])
        await publish(catalog, ONE, "2", ["a"])
        assert await catalog.collections.get(HERE) == collection(documents=2, passages=2)
        await catalog.documents.retire(HERE, [ONE.id])
        assert await catalog.collections.get(HERE) == collection(documents=1, passages=1)

    @on_catalog
    async def test_keys_come_back_and_are_replaced(self, catalog: Catalog) -> None:
        assert not await catalog.keys.exist()
        first = ApiKey("k1", HERE.tenant, "one", Right.READ, "d1", THEN)
        second = ApiKey(
            "k2", THERE.tenant, "two", Right.ADMIN, "d2", THEN + timedelta(days=1), THEN + timedelta(days=9)
        )
        for key in (second, first):
            await catalog.keys.put(key)
        assert await catalog.keys.exist()
        assert await catalog.keys.all() == [first, second]
        revoked = replace(second, revoked_at=THEN + timedelta(days=2))
        await catalog.keys.put(revoked)
        assert (await catalog.keys.get("k2"), await catalog.keys.get("k3")) == (revoked, None)

    @on_catalog
    async def test_a_deleted_collection_is_forgotten_but_not_its_jobs(self, catalog: Catalog) -> None:
        made = await publish(catalog, ONE, "1", ["a"])
        theirs = document("one", THERE)
        await publish(catalog, theirs, "1", ["a"])
        await catalog.jobs.put(job("1"))
        await catalog.collections.delete(HERE)
        assert await catalog.collections.all(HERE.tenant) == []
        assert await catalog.documents.get(HERE.tenant, ONE.id) is None
        assert await catalog.passages.live(HERE, [made[0].id]) == {}
        assert await catalog.passages.dead(10) == []
        assert await catalog.jobs.get(HERE.tenant, "1") is not None
        assert len(await catalog.passages.of_document(THERE.tenant, theirs.id)) == 1
        await catalog.collections.put(collection())
        await catalog.documents.begin([(ONE, version(ONE, "1"))])
        assert await catalog.passages.stage(made, INDEX) == [made[0].id], "a mark outlived the collection"

    @pytest.mark.req("D-10")
    @on_catalog
    async def test_jobs_are_remembered(self, catalog: Catalog) -> None:
        full = replace(
            job("2", minutes=2),
            status=JobStatus.EMBEDDING,
            current_step="embedding 3 of 9",
            progress=33,
            total_passages=9,
            processed_passages=3,
            errors=(SourceError("u", "empty_source", "m", "h"),),
            warnings=("w",),
            started_at=THEN,
        )
        for one in (job("1", minutes=1), full, replace(job("3"), scope=THERE)):
            await catalog.jobs.put(one)
        assert await catalog.jobs.get(HERE.tenant, "2") == full
        assert await catalog.jobs.get(THERE.tenant, "2") is None
        assert [j.id for j in await catalog.jobs.recent(HERE.tenant)] == ["2", "1"]
        assert [j.id for j in await catalog.jobs.recent(HERE.tenant, limit=1)] == ["2"]
        assert [j.id for j in await catalog.jobs.unfinished()] == ["3", "1", "2"]
        await catalog.jobs.put(replace(full, status=JobStatus.COMPLETE, progress=100, completed_at=THEN))
        assert [j.id for j in await catalog.jobs.unfinished()] == ["3", "1"]
        with pytest.raises(UsageError):
            await catalog.jobs.put(replace(full, progress=101))

    @pytest.mark.req("D-16", "D-17")
    @on_catalog
    async def test_queries_and_feedback_are_summed_up(self, catalog: Catalog) -> None:
        metrics = {"vector_search_ms": 2.0, "rerank_ms": None, "confidence_threshold_met": True, "embed_ms": 1.5}
        await catalog.analytics.record(query("1", metrics=metrics))
        await catalog.analytics.record(query("1", metrics=metrics))
        refused = {"vector_search_ms": 4.0, "confidence_threshold_met": False}
        await catalog.analytics.record(query("2", strategy_used="vector_only", execution_time_ms=30.0, metrics=refused))
        await catalog.analytics.record(query("3", tenant=THERE.tenant))
        assert await catalog.analytics.feedback(HERE.tenant, "1", 5, "good") != ""
        await catalog.analytics.feedback(HERE.tenant, "1", 2, None)
        assert await catalog.analytics.summary(HERE.tenant) == {
            "queries": 2,
            "sessions": 1,
            "refusals": 1,
            "strategies": {"hybrid": 1, "vector_only": 1},
            "mean_execution_time_ms": 20.0,
            "mean_vector_search_ms": 3.0,
            "mean_graph_traversal_ms": None,
            "mean_fusion_ms": None,
            "mean_rerank_ms": None,
            "feedback": 2,
            "mean_rating": 3.5,
            "yes_share": None,
            "queries_per_minute": 0.0,
            "top_queries": [],
        }
        assert (await catalog.analytics.summary("nobody"))["queries"] == 0

    @pytest.mark.req("D-17")
    @on_catalog
    async def test_queries_are_forgotten_when_they_are_old(self, catalog: Catalog) -> None:
        for number in range(3):
            await catalog.analytics.record(
                query(str(number), session_id=f"s{number}", created_at=THEN + timedelta(days=number))
            )
            await catalog.analytics.feedback(HERE.tenant, str(number), 3, "so so")
        await catalog.analytics.record(query("there", tenant=THERE.tenant))
        assert await catalog.analytics.sweep(THEN) == 0
        assert await catalog.analytics.sweep(THEN + timedelta(days=1)) == 2
        assert await catalog.analytics.sweep(THEN + timedelta(days=1)) == 0
        left = await catalog.analytics.summary(HERE.tenant)
        assert (left["queries"], left["sessions"], left["feedback"]) == (2, 2, 2)
        assert (await catalog.analytics.summary(THERE.tenant))["sessions"] == 0
        with pytest.raises(NotFoundError):
            await catalog.analytics.feedback(HERE.tenant, "0", 3, None)
        assert await catalog.integrity() == []

    @pytest.mark.req("D-17")
    @on_catalog
    async def test_a_user_is_erased_and_nobody_else(self, catalog: Catalog) -> None:
        other = sha256("other")
        await catalog.analytics.record(query("1", session_id="own"))
        await catalog.analytics.record(query("2", session_id="shared"))
        await catalog.analytics.record(query("3", session_id="shared", user_hash=other))
        await catalog.analytics.record(query("4", session_id="theirs", user_hash=other))
        await catalog.analytics.record(query("5", session_id=None))
        await catalog.analytics.record(query("6", tenant=THERE.tenant))
        for name in ("1", "3"):
            await catalog.analytics.feedback(HERE.tenant, name, 1, "said by somebody")
        assert await catalog.analytics.erase(HERE.tenant, sha256("user")) == (3, ["own", "shared"])
        assert await catalog.analytics.erase(HERE.tenant, sha256("user")) == (0, [])
        left = await catalog.analytics.summary(HERE.tenant)
        assert (left["queries"], left["sessions"], left["feedback"]) == (2, 2, 1)
        assert (await catalog.analytics.summary(THERE.tenant))["queries"] == 1
        assert await catalog.integrity() == []
        assert await catalog.analytics.erase(HERE.tenant, other) == (2, ["shared", "theirs"])

    @on_catalog
    async def test_waiting_jobs_are_counted(self, catalog: Catalog) -> None:
        assert await catalog.jobs.waiting() == (0, None)
        await catalog.jobs.put(job("late", 2))
        await catalog.jobs.put(job("early", 1))
        await catalog.jobs.put(replace(job("done", 0), status=JobStatus.COMPLETE))
        assert await catalog.jobs.waiting() == (2, THEN + timedelta(minutes=1))

    @pytest.mark.req("D-17")
    @on_catalog
    async def test_feedback_wants_a_known_query_and_a_rating_in_range(self, catalog: Catalog) -> None:
        await catalog.analytics.record(query("1"))
        for tenant, query_id in ((THERE.tenant, "1"), (HERE.tenant, "2")):
            with pytest.raises(NotFoundError):
                await catalog.analytics.feedback(tenant, query_id, 3, None)
        for rating, binary in ((-1, False), (6, False), (2, True), (-1, True)):
            with pytest.raises(UsageError):
                await catalog.analytics.feedback(HERE.tenant, "1", rating, None, binary=binary)
        assert (await catalog.analytics.summary(HERE.tenant))["feedback"] == 0

    @pytest.mark.req("D-40")
    @on_catalog
    async def test_binary_ratings_stand_beside_the_others(self, catalog: Catalog) -> None:
        await catalog.analytics.record(query("1"))
        for rating, binary in ((4, False), (1, False), (0, False), (1, True), (1, True)):
            await catalog.analytics.feedback(HERE.tenant, "1", rating, None, binary=binary)
        found = await catalog.analytics.summary(HERE.tenant)
        assert (found["feedback"], found["mean_rating"]) == (5, 2.5)
        assert found["yes_share"] == pytest.approx(2 / 3)

    @pytest.mark.req("G-26", "G-13")
    @on_catalog
    async def test_the_most_frequent_questions_of_a_period(self, catalog: Catalog) -> None:
        now = datetime.now(UTC)
        refused, answered = {"confidence_threshold_met": False}, {"confidence_threshold_met": True}
        for name, words, metrics in (("1", "a", refused), ("2", "a", answered), ("3", "b", answered)):
            kept = "Why a?" if words == "a" else None
            made = query(name, query_hash=words, metrics=metrics, created_at=now, words=kept)
            await catalog.analytics.record(made)
        await catalog.analytics.record(query("4", query_hash="c", created_at=now - timedelta(days=9)))
        await catalog.analytics.record(query("5", query_hash="d", created_at=now, tenant=THERE.tenant))
        found = await catalog.analytics.summary(HERE.tenant, now - timedelta(minutes=6))
        assert found["top_queries"] == [
            {
                "query_hash": "a",
                "count": 2,
                "refusal_share": 0.5,
                "mean_execution_time_ms": 10.0,
                "words": "Why a?",
            },
            {"query_hash": "b", "count": 1, "refusal_share": 0.0, "mean_execution_time_ms": 10.0, "words": None},
        ]
        assert found["queries_per_minute"] == pytest.approx(0.5, rel=0.1)
        assert len((await catalog.analytics.summary(HERE.tenant, now - timedelta(days=30), 1))["top_queries"]) == 1  # type: ignore[arg-type]
        await catalog.analytics.sweep(now + timedelta(minutes=1))
        await catalog.analytics.record(query("6", query_hash="a", created_at=now))
        after: Any = (await catalog.analytics.summary(HERE.tenant))["top_queries"]
        assert [one["words"] for one in after] == [None]  # forgotten with the queries


def job(name: str, minutes: int = 0) -> Job:
    """A job in the queue."""
    created = THEN + timedelta(minutes=minutes)
    return Job(name, HERE, "documents", IngestMode.INCREMENTAL, {"sources": ["x"], "n": 1}, created_at=created)


def query(name: str, **changes: Any) -> QueryRecord:
    """One query's record."""
    made = QueryRecord(name, HERE.tenant, "session", sha256("user"), sha256("words"), "hybrid", 10.0, 5, 3, {}, THEN)
    return replace(made, **changes)
