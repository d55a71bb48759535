"""What documents say of their readers, what changes of it do at once, holds, and what is kept of who asked."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from kedge.core.acting import acting_as
from kedge.core.errors import (
    ConflictError,
    ForbiddenError,
    HeldError,
    NotFoundError,
    QueryError,
    UnreadableError,
    UsageError,
)
from kedge.core.settings import load_settings
from kedge.core.values import Actor, Document, IngestMode, IngestRequest, Job, Query, Scope
from kedge.engine.connected import Wanted
from kedge.engine.engine import Engine
from kedge.ingest.sources.sidecar import NAME
from kedge.kinds.graphs.surfaces.opened import nodes_of
from kedge.kinds.tables.surfaces.opened import sessions_of
from kedge.stores.graph.nodes import Edge, Node

SCOPE = Scope("default", "documents")
ANN, BOB = Actor("ann"), Actor("bob", frozenset({"board"}))
Story = Callable[[Engine, Path], Awaitable[None]]


def told(tmp_path: Path, story: Story, **changes: object) -> None:
    """Run the story on a fresh home with a folder beside it."""
    folder = tmp_path / "docs"
    folder.mkdir()
    settings = load_settings(environ={}, home=tmp_path / "home", embedder="hash:64", **changes)

    async def inside() -> None:
        async with Engine.open(settings) as engine:
            await story(engine, folder)

    asyncio.run(inside())


def write(folder: Path, name: str, words: str, head: str = "") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{head}# {name}\n\nThe harbour {words}.\n")
    return path


async def take(engine: Engine, *sources: Path, readers: tuple[str, ...] | None = None) -> Job:
    return await engine.ingest(IngestRequest(SCOPE, tuple(map(str, sources)), readers=readers))


async def found(engine: Engine, who: Actor | None, words: str = "harbour") -> set[str]:
    """File names of what somebody finds; none where the collection shows them nothing, and so is not there for them."""
    with acting_as(who):
        if SCOPE not in {one.scope for one in await engine.collections(SCOPE.tenant)}:
            with pytest.raises(NotFoundError):
                await engine.search(Query(words, SCOPE, top_k=20))
            return set()
        result = await engine.search(Query(words, SCOPE, top_k=20))
    return {Path(hit.passage.url).name for hit in result.hits}


async def named(engine: Engine, name: str) -> Document:
    return next(one for one in await engine.documents(SCOPE) if one.url.endswith(name))


def test_request_front_matter_and_folder_say_it_in_this_order(tmp_path: Path) -> None:
    async def story(engine: Engine, folder: Path) -> None:
        (folder / NAME).write_text('"*": [group:board]\n')
        plain = write(folder, "plain.md", "opens at six")
        own = write(folder, "own.md", "opens at seven", "---\nreaders: [user:ann]\n---\n")
        await take(engine, folder)
        assert (await named(engine, "plain.md")).readers == ("group:board",)
        assert (await named(engine, "own.md")).readers == ("user:ann",)
        assert "readers" not in (await named(engine, "own.md")).metadata
        await take(engine, plain, own, readers=("user:zoe",))
        assert (await named(engine, "own.md")).readers == ("user:zoe",)
        assert await found(engine, Actor("zoe")) == {"plain.md", "own.md"}
        assert await found(engine, ANN) == set()

    told(tmp_path, story)


def test_an_unchanged_file_follows_its_folder(tmp_path: Path) -> None:
    async def story(engine: Engine, folder: Path) -> None:
        write(folder, "a.md", "opens at six")
        await take(engine, folder)
        assert await found(engine, BOB) == {"a.md"} == await found(engine, ANN)
        (folder / NAME).write_text('"*": [group:board]\n')
        job = await take(engine, folder)
        assert job.passages_created == 0  # vectors are kept
        assert await found(engine, ANN) == set()
        assert await found(engine, BOB) == {"a.md"}
        assert await engine.stores.catalog.rights.unsettled(SCOPE) == []

    told(tmp_path, story)


def test_a_slip_of_the_pen_makes_nothing_public(tmp_path: Path) -> None:
    async def story(engine: Engine, folder: Path) -> None:
        job = await take(engine, write(folder, "a.md", "opens", "---\nreaders: [bord]\n---\n"))
        assert [one.code for one in job.errors] == ["unreadable"]
        assert await found(engine, None) == set()

    told(tmp_path, story)


def test_a_change_holds_before_the_index_knows(tmp_path: Path) -> None:
    async def story(engine: Engine, folder: Path) -> None:
        await take(engine, write(folder, "a.md", "opens at six"), write(folder, "b.md", "opens at seven"))
        rights, a, b = engine.stores.catalog.rights, await named(engine, "a.md"), await named(engine, "b.md")
        await rights.give("default", [a.id], ("user:ann",))
        assert (await found(engine, ANN), await found(engine, BOB)) == ({"a.md", "b.md"}, {"b.md"})
        assert await rights.unsettled(SCOPE) == [a.id]
        await rights.give("default", [a.id], ("group:board",))
        await rights.give("default", [b.id], ())
        assert (await found(engine, ANN), await found(engine, BOB)) == (set(), {"a.md"})
        await engine.check(repair=True)
        assert await rights.unsettled(SCOPE) == []
        assert (await found(engine, ANN), await found(engine, BOB)) == (set(), {"a.md"})
        await engine.access.give("default", b.id, None)
        assert await found(engine, ANN) == {"b.md"}

    told(tmp_path, story)


def test_why_is_told_in_a_sentence(tmp_path: Path) -> None:
    async def story(engine: Engine, folder: Path) -> None:
        await take(engine, write(folder, "a.md", "opens"), readers=("group:board", "user:ann"))
        document = await named(engine, "a.md")

        async def why(who: Actor) -> tuple[bool, str]:
            checked = await engine.access.check("default", who, document.id)
            return checked.allowed, checked.why

        assert await why(ANN) == (True, "Yes: as user:ann.")
        assert await why(Actor("cy")) == (False, "No: it is for group:board, user:ann alone.")
        await engine.access.give_collection(SCOPE, ["group:board"])
        assert await why(ANN) == (False, "No: the collection 'documents' is for group:board alone.")
        assert await why(BOB) == (True, "Yes: as group:board.")
        with acting_as(Actor("cy")), pytest.raises(NotFoundError):
            await engine.access.check("default", ANN, document.id)

    told(tmp_path, story)


@pytest.mark.parametrize("keep", ["memory", "home"])
def test_a_session_leans_on_nothing_that_may_not_be_read_any_more(tmp_path: Path, keep: str) -> None:
    """Nor on what somebody else asked in a session of the same name."""

    async def story(engine: Engine, folder: Path) -> None:
        await take(engine, write(folder, "a.md", "of Kedge opens at six in the morning"))
        await take(engine, write(folder, "b.md", "has two cranes"))

        async def follows(who: Actor, user: str) -> object:
            with acting_as(who):
                answer = await engine.ask(Query("When does it open?", SCOPE, session_id="s", user=user))
            return answer.metadata.get("resolved_question")

        with acting_as(ANN):
            await engine.ask(Query("When does the harbour of Kedge open?", SCOPE, session_id="s", user="k1"))
        assert await follows(BOB, "k2") is None
        assert "Kedge" in str(await follows(ANN, "k1"))
        await engine.access.give("default", (await named(engine, "a.md")).id, ["user:zoe"])
        assert await follows(ANN, "k1") is None

    told(tmp_path, story, session_keep=keep)


@pytest.mark.parametrize("keep", ["memory", "home"])
def test_answers_of_a_table_go_with_the_right_to_read_it(tmp_path: Path, keep: str) -> None:
    pay = Scope("default", "pay")

    async def story(engine: Engine, folder: Path) -> None:
        table = folder / "pay.csv"
        table.write_text("name,crowns\ncaptain,9000\npilot,40\nkeeper,30\n")
        await engine.ingest(IngestRequest(pay, (str(table),), kind="table"))
        asked = Query("What is the highest crowns?", pay, session_id="s", user="k1")
        with acting_as(ANN):
            assert "9,000" in (await engine.ask(asked)).answer
            kept = await engine.conversations.make("default", "k1")
            _, events = await engine.conversations.ask(asked, kept.id, limits={})
            assert [event async for event in events]
            followed = await engine.ask(replace(asked, text="And the lowest?"))
            assert "resolved_question" in followed.metadata
        await engine.access.give_collection(pay, ["user:zoe"])
        with acting_as(ANN):
            assert (await engine.conversations.show("default", "k1", kept.id))[1] == []
            await take(engine, write(folder, "a.md", "opens at six"))
            followed = await engine.ask(Query("And the lowest?", SCOPE, session_id="s", user="k1"))
            assert "resolved_question" not in followed.metadata

    told(tmp_path, story, session_keep=keep)


def test_who_may_write_cannot_make_what_is_hidden_their_own(tmp_path: Path) -> None:
    """A file taken in again under the address of a document that they may not read keeps its readers."""

    async def story(engine: Engine, folder: Path) -> None:
        path = write(folder, "pay.md", "pays its captain 9000 crowns")
        await take(engine, path, readers=("user:ann",))
        before = datetime.now(UTC)
        write(folder, "pay.md", "is mine now", "---\nreaders: [public]\n---\n")
        with acting_as(BOB):
            await take(engine, path)
            assert (await found(engine, BOB)) == set()
            await take(engine, path, readers=("public",))
            with pytest.raises((NotFoundError, QueryError)):  # as for what is not there
                await engine.search(Query("captain", SCOPE, as_of=before))
        assert (await named(engine, "pay.md")).readers == ("user:ann",)
        with acting_as(ANN):
            await take(engine, path, readers=("user:ann", "user:bob"))  # whoever may read it may
        assert (await found(engine, BOB)) == {"pay.md"}

    told(tmp_path, story)


def test_a_hold_on_what_may_not_be_read_is_not_told(tmp_path: Path) -> None:
    async def story(engine: Engine, folder: Path) -> None:
        path = write(folder, "pay.md", "pays its captain 9000 crowns")
        await take(engine, path, readers=("user:ann",))
        await take(engine, write(folder, "tide.md", "opens"))
        document = await named(engine, "pay.md")
        await engine.access.hold("default", document.id, "case 7")
        with acting_as(BOB):
            for work in (
                engine.delete_collection(SCOPE),
                engine.ingest(IngestRequest(SCOPE, (str(path),), mode=IngestMode.RECREATE)),
            ):
                with pytest.raises(HeldError) as refused:
                    await work
                assert document.id not in str(refused.value.as_json())
                assert "case 7" not in str(refused.value.as_json())
            write(folder, "pay.md", "is mine now")
            job = await take(engine, path)
            assert [one.code for one in job.errors] == ["held"]
            assert "case 7" not in str(job.errors)
        with acting_as(ANN), pytest.raises(HeldError, match="case 7"):
            await engine.delete_collection(SCOPE)

    told(tmp_path, story)


def test_a_collection_that_is_shut_is_not_there_and_takes_nothing(tmp_path: Path) -> None:
    async def story(engine: Engine, folder: Path) -> None:
        path = write(folder, "a.md", "opens")
        await take(engine, path)
        await engine.access.give_collection(SCOPE, ["group:board"])
        with acting_as(ANN):
            assert await engine.collections("default") == []
            for work in (engine.collection(SCOPE), engine.search(Query("harbour", SCOPE)), engine.documents(SCOPE)):
                with pytest.raises(NotFoundError):
                    await work
            with pytest.raises(ForbiddenError):
                await take(engine, path)
        assert await found(engine, BOB) == {"a.md"}

    told(tmp_path, story)


def test_jobs_are_shown_to_who_submitted_them(tmp_path: Path) -> None:
    async def story(engine: Engine, folder: Path) -> None:
        with acting_as(ANN):
            mine = await take(engine, write(folder, "a.md", "opens"), readers=("user:ann",))
            assert [one.id for one in await engine.jobs("default")] == [mine.id]
        with acting_as(BOB):
            assert await engine.jobs("default") == []
            with pytest.raises(NotFoundError):
                await engine.job("default", mine.id)

    told(tmp_path, story)


def test_a_held_document_outlives_all_that_would_take_it(tmp_path: Path) -> None:
    async def story(engine: Engine, folder: Path) -> None:
        path, other = write(folder, "a.md", "opens at six"), write(folder, "b.md", "closes")
        await take(engine, folder)
        document = await named(engine, "a.md")
        with pytest.raises(UsageError):
            await engine.access.hold("default", document.id, "  ")
        await engine.access.hold("default", document.id, "case 7")
        for work in (
            lambda: engine.delete_document("default", document.id),
            lambda: engine.delete_collection(SCOPE),
            lambda: engine.access.erase("default", document.id),
            lambda: engine.ingest(IngestRequest(SCOPE, (str(folder),), mode=IngestMode.RECREATE)),
        ):
            with pytest.raises(HeldError, match="case 7"):
                await work()
        write(folder, "a.md", "opens at nine")
        job = await take(engine, folder)
        assert [one.code for one in job.errors] == ["held"]
        path.unlink()
        other.unlink()
        job = await take(engine, folder)
        assert any("legal hold" in warning for warning in job.warnings)
        assert await found(engine, None) == {"a.md"}
        passages = (await engine.document("default", document.id))[1]
        assert "six" in passages[0].text
        await engine.access.release("default", document.id)
        await take(engine, folder)
        assert await found(engine, None) == set()

    told(tmp_path, story)


def test_the_audit_log_tells_who_asked_and_what_was_cited(tmp_path: Path) -> None:
    async def story(engine: Engine, folder: Path) -> None:
        await take(engine, write(folder, "a.md", "opens at six"))
        document = await named(engine, "a.md")
        with acting_as(ANN):
            answer = await engine.ask(Query("When does the harbour open?", SCOPE, user="k1"))
            await engine.search(Query("harbour", SCOPE))
        search, ask = await engine.access.log("default")
        assert (search.who, search.action, search.documents) == ("user:ann", "search", (document.id,))
        assert (ask.who, ask.action, ask.query_id, ask.words) == ("user:ann", "ask", answer.query_id, None)
        assert ask.documents == ((document.id,) if answer.citations else ())
        assert "harbour" not in f"{ask.words_hash} {search.words_hash}"
        await engine.access.give("default", document.id, ["user:ann"])
        with acting_as(BOB):
            assert [entry.documents for entry in await engine.access.log("default")] == [(), ()]
        report = await engine.access.report("default", document.id)
        assert (report.audit_entries, report.restricted_documents) == (2, 1)
        assert report.document is not None
        assert report.document.audit_entries >= 1
        gone = await engine.access.erase("default", document.id)
        assert gone.erased
        assert await engine.access.log("default", document_id=document.id) == []
        after = (await engine.access.report("default", document.id)).document
        assert after is not None
        assert (after.audit_entries, after.queries, after.conversation_turns) == (0, 0, 0)

    told(tmp_path, story)


def test_plans_and_suggestions_are_in_the_audit_log(tmp_path: Path) -> None:
    async def story(engine: Engine, folder: Path) -> None:
        pay = Scope("default", "pay")
        await engine.ingest(IngestRequest(pay, (str(rows(folder, "table")),), kind="table"))
        await take(engine, write(folder, "tide.md", "opens at noon"))
        with acting_as(ANN):
            assert (await sessions_of(engine).run_plan(pay, {"measures": [{"func": "count"}]})).short_answer == "1"
            await engine.suggestions(Query("When does the harbour open?", SCOPE))
        noted = [(one.who, one.action, one.collection) for one in await engine.access.log("default")]
        assert noted == [("user:ann", "search", "documents"), ("user:ann", "ask", "pay")]

    told(tmp_path, story)


def test_settings_decide_whether_words_are_kept_and_whether_anything_is(tmp_path: Path) -> None:
    async def worded(engine: Engine, folder: Path) -> None:
        await take(engine, write(folder, "a.md", "opens"))
        await engine.search(Query("harbour", SCOPE))
        (entry,) = await engine.access.log("default")
        assert (entry.who, entry.words) == ("owner", "harbour")

    async def silent(engine: Engine, folder: Path) -> None:
        await take(engine, write(folder, "a.md", "opens"))
        await engine.search(Query("harbour", SCOPE))
        assert await engine.access.log("default") == []

    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    told(tmp_path / "one", worded, audit_words=True)
    told(tmp_path / "two", silent, audit_days=0)


def test_conversations_do_not_lean_on_what_may_not_be_read_any_more(tmp_path: Path) -> None:
    async def story(engine: Engine, folder: Path) -> None:
        await take(engine, write(folder, "a.md", "of Kedge opens at six in the morning"))
        document = await named(engine, "a.md")
        with acting_as(ANN):
            kept = await engine.conversations.make("default", "k1")
            query = Query("When does the harbour of Kedge open?", SCOPE, user="k1")
            _, events = await engine.conversations.ask(query, kept.id, limits={})
            assert [event async for event in events]
            _, turns = await engine.conversations.show("default", "k1", kept.id)
            assert len(turns) == 1
        assert (await engine.access.report("default", document.id)).document is not None
        await engine.access.give("default", document.id, ["user:zoe"])
        with acting_as(ANN):
            shown, turns = await engine.conversations.show("default", "k1", kept.id)
            assert (shown.turn_count, turns) == (0, [])
        assert (await engine.access.erase("default", document.id)).conversation_turns == 1

    told(tmp_path, story)


def test_types_of_nodes_that_are_hidden_stay_hidden_from_who_may_write(tmp_path: Path) -> None:
    """No rule, no edge and no file can be put in the place of what may not be read, and nothing of it is told."""
    graph = Scope("default", "family")

    async def story(engine: Engine, folder: Path) -> None:
        nodes = nodes_of(engine)
        for node in (Node("p", "Person", "Paula"), Node("t", "Town", "Tyre"), Node("u", "Town", "Ur")):
            await nodes.create(graph, node)
        await nodes.create_edge(graph, Edge("born", "p", "t", "born_in"))
        await nodes.create_edge(graph, Edge("near", "t", "u", "near"))
        await engine.access.give_collection(graph, ["user:ann"], "Person")
        with acting_as(BOB):
            assert await engine.access.rules(graph) == {}
            with pytest.raises(NotFoundError):
                await engine.access.give_collection(graph, ["public"], "Person")
            with pytest.raises(ConflictError):
                await nodes.create_edge(graph, Edge("born", "t", "u", "near"))
            rows = folder / "graph.json"
            mine = [{"id": "p", "type": "Town", "title": "Mine"}, {"id": "v", "type": "Town", "title": "Veii"}]
            rows.write_text(json.dumps([*mine, {"id": "born", "source": "v", "target": "u", "type": "near"}]))
            job = await engine.ingest(IngestRequest(graph, (str(rows),), kind="graph"))
            assert ["cannot be used" in one.message for one in job.errors] == [True, True]
            assert not any("nodes" in warning for warning in job.warnings)
            assert [node.id for node in await nodes.nodes(graph)] == ["t", "u", "v"]
            assert await nodes.delete(graph, "t") == ["near"]
        with acting_as(ANN):
            assert (await nodes.node(graph, "p")).title == "Paula"
            assert set(await engine.access.rules(graph)) == {"Person"}

    told(tmp_path, story)


def test_taking_in_the_same_bytes_does_not_tell_that_they_are_hidden(tmp_path: Path) -> None:
    async def story(engine: Engine, folder: Path) -> None:
        for name, who, embedded in (("theirs", ANN, 2), ("mine", ANN, 0), ("guessed", BOB, 2)):
            (folder / name).mkdir()
            for number in range(2):
                (folder / name / f"{number}.md").write_text(f"# Pay\n\nThe captain gets {number}000 crowns.\n")
            with acting_as(who):
                job = await take(engine, folder / name, readers=("user:ann",) if who is ANN else None)
            assert (name, job.passages_created) == (name, embedded)

    told(tmp_path, story)


def rows(folder: Path, kind: str) -> Path:
    """A file of that kind, with one thing in it."""
    path = folder / ("pay.csv" if kind == "table" else "pay.json")
    path.write_text("name,crowns\ncaptain,9000\n" if kind == "table" else json.dumps([{"id": "p", "type": "Person"}]))
    return path


@pytest.mark.parametrize("kind", ["table", "graph"])
def test_readers_of_a_request_are_those_of_a_collection_that_has_them_as_a_whole(tmp_path: Path, kind: str) -> None:
    pay = Scope("default", "pay")

    async def story(engine: Engine, folder: Path) -> None:
        job = await engine.ingest(
            IngestRequest(pay, (str(rows(folder, kind)),), kind=kind, readers=("group:board", "user:ann"))
        )
        assert not job.errors
        assert await engine.access.rules(pay) == {"": ("group:board", "user:ann")}
        with acting_as(Actor("cy")):
            assert await engine.collections("default") == []
        with acting_as(BOB):
            await engine.ingest(IngestRequest(pay, (str(rows(folder, kind)),), kind=kind))
        assert await engine.access.rules(pay) == {"": ("group:board", "user:ann")}

    told(tmp_path, story)


@pytest.mark.parametrize("kind", ["table", "graph"])
def test_a_folder_that_names_readers_makes_no_table_and_no_graph_for_everybody(tmp_path: Path, kind: str) -> None:
    pay = Scope("default", "pay")

    async def story(engine: Engine, folder: Path) -> None:
        (folder / NAME).write_text('"*": [group:board]\n')
        request = IngestRequest(pay, (str(rows(folder, kind)),), kind=kind)
        with suppress(UnreadableError):
            job = await engine.ingest(request)
            assert [one.code for one in job.errors] == ["unreadable"]
        assert [one.passages for one in await engine.collections("default")] == [0]
        assert not (await engine.ingest(replace(request, readers=("group:board",)))).errors
        assert [one.passages for one in await engine.collections("default")] == [1]

    told(tmp_path, story)


def test_a_node_has_no_readers_alone(tmp_path: Path) -> None:
    """It would be hidden from searches, and shown among the nodes."""
    graph = Scope("default", "family")

    async def story(engine: Engine, _folder: Path) -> None:
        await nodes_of(engine).create(graph, Node("p", "Person", "Paula"))
        (paula,) = await engine.documents(graph)
        with pytest.raises(UsageError, match="no readers of its own"):
            await engine.access.give("default", paula.id, ["user:ann"])

    told(tmp_path, story)


def test_sources_show_no_more_than_their_collections(tmp_path: Path) -> None:
    async def story(engine: Engine, folder: Path) -> None:
        write(folder, "pay.md", "pays")
        (folder / "broken.pdf").write_bytes(b"%PDF-1.7 broken")
        write(folder, "tide.md", "opens")
        await engine.sources.add(Wanted(SCOPE, str(folder), "fleet"))
        job = await engine.sync_source("default", "fleet")
        run = (await engine.source("default", "fleet")).last_run
        assert run is not None
        assert (run.new, len(run.errors)) == (2, 1)
        with acting_as(BOB):
            assert (await engine.source("default", "fleet")).last_run == run  # all of it is for everybody
        await engine.access.give("default", (await named(engine, "pay.md")).id, ["user:ann"])
        with acting_as(BOB):
            (shown,) = await engine.sources.all("default")
            assert shown.last_run is not None
            assert (shown.documents, shown.last_run.new, shown.last_run.errors) == (0, 0, ())
            job = await engine.sources.sync("default", "fleet")
            assert await engine.drain() == 1
            told_of = await engine.job("default", job.id)
            assert (told_of.state, told_of.files_discovered, told_of.errors) == ("completed", 0, ())
            assert [one.errors for one in await engine.jobs("default") if one.id == job.id] == [()]
        await engine.access.give_collection(SCOPE, ["user:ann"])
        with acting_as(BOB):
            assert await engine.sources.all("default") == []
            for work in (
                engine.source("default", "fleet"),
                engine.sources.sync("default", "fleet"),
                engine.remove_source("default", "fleet", documents=True),
            ):
                with pytest.raises(NotFoundError):
                    await work
            with pytest.raises(ForbiddenError):
                await engine.sources.add(Wanted(SCOPE, str(folder), "mine"))
        assert len(await engine.documents(SCOPE)) == 3

    told(tmp_path, story)
