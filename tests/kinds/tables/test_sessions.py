"""Life of a session: fed, fed again, changed, expired, deleted, killed half-way; what readers see meanwhile."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kedge.core.errors import ConflictError, ExpiredError, FilterError, NotFoundError, QueryError, UsageError
from kedge.core.values import IngestRequest, Json, Query, Scope
from kedge.core.values.filters import Eq, Range
from tests.kinds.tables import feed_victim
from tests.kinds.tables.conftest import PRODUCTS, SCOPE, Desk, Run, sales, write_sales
from tests.support.forked import run_victim

OTHER = Scope("other tenant", "s1")


@pytest.mark.req("T-01", "T-03", "T-10")
def test_a_fed_session_answers_after_a_restart(run: Run, csv: Path) -> None:
    async def feed(desk: Desk) -> Any:
        with pytest.raises(NotFoundError):
            await desk.session()
        job = await desk.feed(csv)
        return job, await desk.session()

    async def ask(desk: Desk) -> tuple[Any, Any]:
        return await desk.figure("total amount"), (await desk.session()).status

    job, session = run(feed)
    assert (job.status.value, job.progress, job.files_processed, job.passages_created) == ("complete", 100, 1, 500)
    assert (session.status, session.rows, session.use_rag) == ("ready", 500, True)
    total, status = run(ask)
    assert total == pytest.approx(sum(row[4] for row in sales()))
    assert status == "ready"


@pytest.mark.req("T-06", "T-10")
def test_figures_agree_with_python(run: Run, csv: Path) -> None:
    rows = sales()

    async def scenario(desk: Desk) -> None:
        await desk.feed(csv)
        assert await desk.figure("How many rows are there?") == 500
        deli = [row for row in rows if PRODUCTS[row[2]][0] == "DAIRY"]
        assert await desk.figure("total amount for DAIRY") == pytest.approx(sum(row[4] for row in deli))
        assert await desk.figure("average amount") == pytest.approx(sum(row[4] for row in rows) / 500)
        within = await desk.figure("total amount", where=Range("quantity", gte=5))
        assert within == pytest.approx(sum(row[4] for row in rows if row[3] >= 5))
        answer = await desk.ask("total amount by department")
        found = {row[0]: row[1] for row in answer.metadata["rows"]}  # type: ignore[index,union-attr]
        for department in {name for name, _, _ in PRODUCTS.values()}:
            wanted = sum(row[4] for row in rows if PRODUCTS[row[2]][0] == department)
            assert found[department] == pytest.approx(wanted)
        assert answer.metadata["chart"] == {"type": "bar", "x": "department", "y": "sum of amount"}
        assert answer.metadata["row_count"] == 500
        assert answer.citations[0].title == "sales row 1"
        assert "department: " in answer.citations[0].snippet

    run(scenario)


@pytest.mark.req("T-05", "T-06")
def test_rows_are_found_by_words_and_cited(run: Run, csv: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await desk.feed(csv)
        answer = await desk.ask("something with crispy party pretzels please")
        assert answer.metadata["plan"]["exact"] is False  # type: ignore[index,call-overload]
        assert "Party pretzels" in answer.citations[0].snippet
        assert answer.citations[0].end == len(answer.citations[0].snippet)
        assert "No computation was understood" in answer.answer
        nothing = await desk.ask("zebra crossing regulations")
        assert nothing.answer.startswith("No relevant data found\n\nLooked for: ")
        assert nothing.confidence == "insufficient"
        assert nothing.metadata["rows"] == []

    run(scenario)


@pytest.mark.req("T-05")
def test_results_are_bounded_ordered_and_above_the_threshold(run: Run, csv: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await desk.feed(csv)
        found = await desk.search("party pretzels", top_k=20)
        scores = [hit.score for hit in found.hits]
        assert len(found.hits) == 20
        assert scores == sorted(scores, reverse=True)
        assert all(score >= 0.6 for score in scores)
        assert [hit.rank for hit in found.hits] == list(range(1, 21))
        everything = await desk.search("party pretzels", top_k=500, threshold=0.0)
        assert len(everything.hits) == 500
        assert len({hit.passage.id for hit in everything.hits}) == 500
        filtered = await desk.search("party pretzels", top_k=500, threshold=0.0, where=Eq("department", "dairy"))
        assert {hit.passage.metadata["columns"]["department"] for hit in filtered.hits} == {"DAIRY"}  # type: ignore[index,call-overload]
        with pytest.raises(QueryError, match="between 1 and 500"):
            await desk.search("party", top_k=501)
        with pytest.raises(FilterError, match="no column 'colour'"):
            await desk.search("party", where=Eq("colour", "red"))

    run(scenario)


@pytest.mark.req("T-03")
def test_feeding_again_replaces_the_file_and_unchanged_files_are_skipped(run: Run, tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await desk.feed(write_sales(tmp_path / "sales.csv", 100))
        again = await desk.feed(tmp_path / "sales.csv")
        assert (again.files_skipped, again.files_processed) == (1, 0)
        await desk.feed(write_sales(tmp_path / "sales.csv", 60))
        assert await desk.figure("How many rows are there?") == 60
        await desk.feed(write_sales(tmp_path / "other.csv", 10), mode="recreate")
        assert await desk.figure("How many rows are there?") == 10
        folders = list((desk.engine.settings.home / "tables").glob("*/g*"))
        assert len(folders) == 1

    run(scenario)


@pytest.mark.req("T-07")
def test_a_failed_feed_keeps_the_old_table(run: Run, tmp_path: Path) -> None:
    bad = tmp_path / "bad.csv"
    bad.write_bytes(b"")

    async def scenario(desk: Desk) -> None:
        await desk.feed(write_sales(tmp_path / "sales.csv", 100))
        job = await desk.feed(bad, mode="recreate")
        assert job.errors[0].code == "empty_source"
        assert (await desk.session()).status == "ready"
        assert await desk.figure("How many rows are there?") == 100

    run(scenario)


@pytest.mark.req("T-03")
def test_readers_see_the_old_table_until_the_new_one_is_ready(run: Run, tmp_path: Path) -> None:
    write_sales(tmp_path / "sales.csv", 100)

    async def scenario(desk: Desk) -> None:
        await desk.feed(tmp_path / "sales.csv")
        seen: list[Any] = []
        engine = desk.engine
        loop = asyncio.get_running_loop()

        def look(step: str) -> None:
            if step in ("table built", "table written"):
                seen.append(asyncio.run_coroutine_threadsafe(desk.figure("How many rows are there?"), loop))

        engine._intake._on_step = look
        write_sales(tmp_path / "sales.csv", 40)
        async with engine.kinds.named("table").open_sessions.reading(SCOPE) as generation:
            await desk.feed(tmp_path / "sales.csv")
            held = generation.cursor().execute("SELECT count(*) FROM rows").fetchall()
        during = [await asyncio.wrap_future(future) for future in seen]
        assert held == [(100,)]
        assert during[0] == 100
        assert await desk.figure("How many rows are there?") == 40

    run(scenario)


def test_status_while_a_feed_waits(run: Run, csv: Path) -> None:
    async def scenario(desk: Desk) -> None:
        job = await desk.engine.submit(IngestRequest(SCOPE, (str(csv),), kind="table"))
        session = await desk.session()
        assert (session.status, session.job_id) == ("building", job.id)
        assert await desk.engine.drain() == 1
        assert (await desk.session()).status == "ready"

    run(scenario)


@pytest.mark.req("T-03")
def test_an_expired_session_says_so_and_can_be_fed_again(run: Run, csv: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await desk.feed(csv)
        tables = desk.engine.kinds.named("table").open_sessions
        old = datetime.now(UTC) - timedelta(hours=2)
        tables.folders.write(replace(tables.folders.get(SCOPE), expires_after=3600.0, fed_at=old))
        with pytest.raises(ExpiredError, match="expired"):
            await desk.ask("total amount")
        assert (await desk.session()).status == "expired"
        assert list(tables.folders.of(SCOPE).glob("g*")) == []
        await desk.feed(csv)
        assert (await desk.session()).status == "ready"

    run(scenario)


def test_expiry_is_swept_at_the_start(run: Run, csv: Path) -> None:
    async def feed(desk: Desk) -> None:
        await desk.feed(csv)
        tables = desk.engine.kinds.named("table").open_sessions
        old = datetime.now(UTC) - timedelta(hours=2)
        tables.folders.write(replace(tables.folders.get(SCOPE), expires_after=60.0, fed_at=old))

    async def look(desk: Desk) -> list[Path]:
        return list(desk.engine.kinds.named("table").open_sessions.folders.of(SCOPE).glob("g*"))

    run(feed)
    assert run(look) == []


def test_sessions_that_are_not_to_last(run: Run, csv: Path) -> None:
    async def feed(desk: Desk) -> Any:
        await desk.engine.kinds.named("table").sessions.make("default", "s1", persist=False)
        await desk.feed(csv)
        return await desk.figure("How many rows are there?")

    async def look(desk: Desk) -> None:
        with pytest.raises(NotFoundError):
            await desk.session()

    assert run(feed) == 500
    run(look)


@pytest.mark.req("T-08")
def test_without_rag_figures_and_words_still_work(run: Run, csv: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await desk.engine.kinds.named("table").sessions.make("default", "s1", use_rag=False)
        await desk.feed(csv)
        session = await desk.session()
        assert session.index is not None
        assert session.index["embedder"] is None
        assert await desk.figure("How many rows are there?") == 500
        answer = await desk.ask("pretzels party")
        assert "Party pretzels" in answer.citations[0].snippet
        assert answer.metadata["plan"]["steps"] == ["by words alone: the session has no vectors"]  # type: ignore[index,call-overload]

    run(scenario)


@pytest.mark.req("T-10")
def test_single_rows_are_changed_added_and_deleted(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "stock.csv"
    path.write_text("sku,name,n,since\nA1,apple,3,2024-01-01\nB2,pear,4,2024-02-01\nC3,plum,5,2024-03-01\n")

    async def scenario(desk: Desk) -> None:
        await desk.feed(path)
        new: dict[str, Json] = {"sku": "D4", "name": "quince", "n": 7, "since": "2024-04-01"}
        rows: list[dict[str, Json]] = [{"sku": "A1", "n": 30}, new]
        done = await desk.engine.kinds.named("table").sessions.update(SCOPE, "sku", rows, ["B2"])
        assert (done.updated, done.inserted, done.deleted) == (1, 1, 1)
        assert await desk.figure("sum of n") == 42
        found = await desk.search("quince")
        assert found.hits[0].passage.metadata["columns"]["since"] == "2024-04-01"  # type: ignore[index,call-overload]
        assert not (await desk.search("pear")).hits
        with pytest.raises(UsageError, match="does not fit the column 'n'"):
            await desk.engine.kinds.named("table").sessions.update(SCOPE, "sku", [{"sku": "A1", "n": "many"}])
        with pytest.raises(UsageError, match="no value for the key"):
            await desk.engine.kinds.named("table").sessions.update(SCOPE, "sku", [{"name": "fig"}])
        assert await desk.figure("sum of n") == 42
        await desk.feed(path)
        assert await desk.figure("sum of n") == 12

    run(scenario)


def test_deleting_and_listing(run: Run, csv: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await desk.feed(csv)
        assert [session.id for session in await desk.engine.kinds.named("table").sessions.all("default")] == ["s1"]
        (collection,) = await desk.engine.collections("default")
        assert (collection.kind, collection.documents, collection.passages) == ("table", 1, 500)
        folder = desk.engine.kinds.named("table").open_sessions.folders.of(SCOPE)
        await desk.engine.delete_collection(SCOPE)
        assert not folder.exists()
        with pytest.raises(NotFoundError):
            await desk.session()
        assert await desk.engine.kinds.named("table").sessions.all("default") == []

    run(scenario)


def test_tenants_do_not_see_each_other(run: Run, csv: Path, tmp_path: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await desk.feed(csv)
        await desk.feed(write_sales(tmp_path / "theirs.csv", 7), scope=OTHER)
        assert await desk.figure("How many rows are there?") == 500
        assert await desk.figure("How many rows are there?", scope=OTHER) == 7
        assert [one.rows for one in await desk.engine.kinds.named("table").sessions.all("other tenant")] == [7]
        await desk.engine.delete_collection(OTHER)
        assert await desk.figure("How many rows are there?") == 500

    run(scenario)


def test_an_empty_session_says_so(run: Run) -> None:
    async def scenario(desk: Desk) -> None:
        made = await desk.engine.kinds.named("table").sessions.make("default")
        assert made.status == "empty"
        with pytest.raises(ConflictError, match="holds no rows yet"):
            await desk.ask("total", scope=Scope("default", made.id))

    run(scenario)


def test_a_collection_of_documents_is_no_table(run: Run, tmp_path: Path, csv: Path) -> None:
    (tmp_path / "note.md").write_text("# Note\n\nA kedge is a light anchor.\n")

    async def scenario(desk: Desk) -> None:
        await desk.engine.ingest(IngestRequest(SCOPE, (str(tmp_path / "note.md"),)))
        with pytest.raises(UsageError, match="holds documents, not table"):
            await desk.feed(csv)

    run(scenario)


@pytest.mark.req("T-03")
@pytest.mark.parametrize("step", ["table built", "table written", "table published"])
def test_a_feed_killed_half_way_loses_nothing(run: Run, settings: Any, tmp_path: Path, step: str) -> None:
    path = write_sales(tmp_path / "sales.csv", 100)
    run(lambda desk: desk.feed(path))
    write_sales(path, 2000)
    assert run_victim(feed_victim.main, settings.home, path, step, die_at=0)[0] == -signal.SIGKILL

    async def scenario(desk: Desk) -> tuple[Any, str, int, Any]:
        before = await desk.figure("How many rows are there?")
        status = (await desk.session()).status
        drained = await desk.engine.drain()
        return before, status, drained, await desk.figure("How many rows are there?")

    before, status, drained, after = run(scenario)
    assert before == (2000 if step == "table published" else 100)
    assert (status, drained, after) == ("building", 1, 2000)
    assert len(list((settings.home / "tables").glob("*/g*"))) == 1


def test_an_older_feed_that_is_resumed_does_not_undo_a_newer_one(run: Run, settings: Any, tmp_path: Path) -> None:
    path, newer = write_sales(tmp_path / "sales.csv", 50), write_sales(tmp_path / "newer.csv", 70)
    assert run_victim(feed_victim.main, settings.home, path, "table built", die_at=0)[0] == -signal.SIGKILL

    async def scenario(desk: Desk) -> Any:
        await desk.feed(newer, mode="recreate")
        assert await desk.engine.drain() == 1
        return await desk.figure("How many rows are there?")

    assert run(scenario) == 70


def test_the_rows_are_out_of_reach_for_writing(run: Run, csv: Path) -> None:
    import duckdb

    async def scenario(desk: Desk) -> None:
        await desk.feed(csv)
        async with desk.engine.kinds.named("table").open_sessions.reading(SCOPE) as generation:
            for statement in ("DELETE FROM rows", "COPY rows TO 'x.csv'", f"SELECT * FROM read_csv('{csv}')"):
                with pytest.raises(duckdb.Error):
                    generation.cursor().execute(statement).fetchall()

    run(scenario)
    assert not Path("x.csv").exists()


def test_a_plan_from_outside_is_checked_and_run(run: Run, csv: Path) -> None:
    from kedge.core.errors import PlanError

    async def scenario(desk: Desk) -> None:
        await desk.feed(csv)
        plan: Any = {"task": "aggregate", "measures": [{"func": "sum", "column": "amount"}]}
        answer = await desk.engine.kinds.named("table").sessions.run_plan(SCOPE, plan)
        figures: Any = answer.metadata["rows"]
        assert figures == [[pytest.approx(sum(row[4] for row in sales()))]]
        wrong: Any = {"task": "aggregate", "measures": [{"func": "sum", "column": "x"}]}
        with pytest.raises(PlanError):
            await desk.engine.kinds.named("table").sessions.run_plan(SCOPE, wrong)

    run(scenario)


def test_streamed_answers_carry_the_same(run: Run, csv: Path) -> None:
    async def scenario(desk: Desk) -> None:
        await desk.feed(csv)
        events = [event async for event in desk.engine.stream(Query("total amount by department", SCOPE))]
        assert [event.type for event in events[-2:]] == ["metadata", "done"]
        assert sum(event.type == "citation" for event in events) == 3
        metadata = events[-2].metadata
        assert metadata is not None
        assert metadata["kind"] == "table"
        text = "".join(event.content or "" for event in events)
        assert text == (await desk.ask("total amount by department")).answer

    run(scenario)
