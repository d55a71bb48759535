"""The client against a real server."""

from __future__ import annotations

import asyncio
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from kedge.core.errors import NotFoundError, QueryError, StoreError, UnreadableError, UsageError
from kedge.core.settings import load_settings
from kedge.core.values import DocumentStatus, Erased, JobStatus, Json
from kedge.engine.backup.archive import Archive
from kedge.kinds.tables.values import RowsChanged
from kedge.stores.graph.nodes import Edge, Node
from kedge.surfaces import client as client_package
from kedge.surfaces.client import AsyncKedgeClient, KedgeClient
from kedge.surfaces.client.endpoints import ENDPOINTS, added
from kedge.surfaces.server.app import create_app
from tests.support.surfaces import FOREIGN, QUESTION

PAGES = {"GET /rag"}
"""For people with a browser."""


def test_every_address_has_a_method_on_both_clients(tmp_path: Path) -> None:
    schema = create_app(load_settings(environ={}, home=tmp_path)).openapi()
    served = {f"{method.upper()} {path}" for path, methods in schema["paths"].items() for method in methods}
    brought = set(added())  # by kinds
    assert set(ENDPOINTS) == served - PAGES
    for kind in (KedgeClient, AsyncKedgeClient):
        client = kind()
        assert brought <= set(dir(client))
        for name in ENDPOINTS.values():
            assert inspect.getdoc(getattr(client, name)), name


def test_what_calls_return_can_be_had_by_name() -> None:
    assert [getattr(client_package, name).__name__ for name in ("Accepted", "TableSession", "Reconciled")] == [
        "Accepted",
        "TableSession",
        "Reconciled",
    ]
    with pytest.raises(AttributeError, match="Cage"):
        client_package.Cage  # noqa: B018


def test_it_needs_none_of_the_engine() -> None:
    heavy = ("numpy", "sqlalchemy", "onnxruntime", "fastapi", "duckdb", "pydantic", "qdrant_edge")
    code = f"import sys, kedge.surfaces.client; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_asking(client: KedgeClient, sea: str) -> None:
    answer = client.ask(QUESTION, collection=sea)
    assert not answer.refused
    cited = answer.citations[0]
    found, passages = client.document(cited.document_id)
    assert found.title == cited.title
    assert any(cited.snippet in passage.text for passage in passages)
    place = client.passage(cited.passage_id, collection=sea)
    assert place.document.id == found.id
    assert client.feedback(answer.query_id, 5, "thanks")
    assert client.ask(FOREIGN, collection=sea).refused


def test_searching(client: KedgeClient, sea: str) -> None:
    found = client.search("anchor bend", collection=sea, top_k=2, where={"shelf": 3})
    assert [hit.rank for hit in found.hits] == [1, 2]
    first = found.hits[0]
    assert first.passage.title == "Anchor bend"
    assert first.passage.metadata == {"shelf": 3}
    assert 0 <= first.passage.start < first.passage.end
    assert client.search("anchor bend", collection=sea, where={"shelf": 4}).hits == ()


def test_streaming(client: KedgeClient, sea: str) -> None:
    events = list(client.stream(QUESTION, collection=sea))
    assert events[-1].type == "done"
    said = "".join(event.content or "" for event in events)
    assert said.strip() == client.ask(QUESTION, collection=sea).answer.strip()
    assert [event.citation for event in events if event.citation]
    for event in client.stream(QUESTION, collection=sea):  # leaving early is fine
        assert event.type == "token"
        break


def test_errors_are_the_ones_that_the_server_raised(client: KedgeClient, url: str, sea: str) -> None:
    with pytest.raises(QueryError) as empty:
        client.ask("  ", collection=sea)
    assert empty.value.code == "invalid_query"
    assert empty.value.message
    with pytest.raises(NotFoundError) as missing:
        client.document("nowhere/../else")
    assert "nowhere" in missing.value.message
    with pytest.raises(QueryError):
        next(client.stream("", collection=sea))
    with pytest.raises(UsageError):
        client.search("x", collection=sea, top_k=1000)
    with pytest.raises(UnreadableError):
        client.ingest(files=["/nowhere/at/all.md"])
    with pytest.raises(StoreError, match="cannot be reached"), KedgeClient("http://127.0.0.1:9", attempts=1) as away:
        away.health()


def test_documents_and_collections(client: KedgeClient, tmp_path: Path) -> None:
    queued = client.ingest(files=[("one.md", b"# One\n\nThe first.\n")], collection="brief", title="Number one")
    seen: list[JobStatus] = []
    done = client.wait(queued.job_id, on_progress=lambda job: seen.append(job.status))
    assert (done.status, seen[-1]) == (JobStatus.COMPLETE, JobStatus.COMPLETE)
    (document,) = client.documents("brief")
    assert (document.title, document.status) == ("Number one", DocumentStatus.ACTIVE)
    assert client.delete_document(document.id).status is DocumentStatus.ARCHIVED
    assert client.documents("brief", status="active") == []
    assert "brief" in [one.scope.collection for one in client.collections()]
    assert client.collection("brief").documents == 0
    client.delete_collection("brief")
    with pytest.raises(NotFoundError):
        client.collection("brief")


def test_tables(client: KedgeClient) -> None:
    assert client.make_session("fleet").status == "empty"
    rows: list[dict[str, Json]] = [{"ship": "Surprise", "guns": 28}, {"ship": "Sophie", "guns": 14}]
    client.wait(client.feed("fleet", rows=rows, name="ships").job_id)
    fleet = client.session("fleet")
    assert (fleet.rows, [(one.name, one.type) for one in fleet.columns]) == (
        2,
        [("ship", "category"), ("guns", "integer")],
    )
    assert [(one.name, one.rows, one.role) for one in fleet.files] == [("ships.jsonl", 2, "rows")]
    assert "28" in client.ask_session("fleet", "What is the highest number of guns?").answer
    assert [event.type for event in client.stream_session("fleet", "How many rows are there?")][-1] == "done"
    changed = client.update_rows("fleet", "ship", upsert=[{"ship": "Sophie", "guns": 40}], delete=["Surprise"])
    assert changed == RowsChanged(updated=1, inserted=0, deleted=1)
    assert client.bad_rows("fleet") == []
    assert [one.id for one in client.sessions()] == ["fleet"]
    assert client.wait(client.feed("fleet", files=[("more.csv", b"ship,guns\nPolychrest,24\n")]).job_id).errors == ()
    client.delete_session("fleet")
    assert client.sessions() == []


def test_graphs(client: KedgeClient) -> None:
    client.create_node(Node("a/1", "Person", "Ada"), collection="crew")
    client.create_node(Node("hms", "Ship", "Surprise"), collection="crew")
    edge = client.create_edge(Edge("", "a/1", "hms", "serves_on"), collection="crew")
    assert client.node("a/1", collection="crew").title == "Ada"
    assert client.update_node("a/1", collection="crew", title="Ada Byron").title == "Ada Byron"
    assert client.update_edge(edge.id, collection="crew", properties={"since": 1801}).properties == {"since": 1801}
    assert [one.id for one in client.nodes("crew", type="Ship")] == ["hms"]
    assert client.edges("crew", node="hms") == [client.edge(edge.id, collection="crew")]
    client.wait(client.index_graph("crew", full=True).job_id)
    assert client.reconcile("crew").ok
    said = "".join(
        event.content or "" for event in client.ask_graph("Which ship does Ada Byron serve on?", collection="crew")
    )
    assert "Surprise" in said
    client.delete_edge(edge.id, collection="crew")
    assert client.delete_node("hms", collection="crew") == []


LESSON = """---
module: 1
chapter: 1
lesson: {lesson}
title: {title}
hardware_tier: 1
proficiency_level: A1
layer: L1
---
# {title}

{title} is taught here, with a frame and a joint.
"""


def test_courses(client: KedgeClient, tmp_path: Path) -> None:
    files = [
        (f"module-1/chapter-01/lesson-0{number}.md", LESSON.format(lesson=number, title=title).encode())
        for number, title in enumerate(("Frames", "Joints"), 1)
    ]
    done = client.wait(client.ingest_course("robots", files=files).job_id)
    assert done.files_processed == 2, done.errors
    lessons = client.lessons("robots", filters=["hardware_tier<=1"])
    assert [(one.title, one.place.number) for one in lessons] == [("Frames", "1.1"), ("Joints", "1.2")]
    whole = client.lesson("robots", lessons[0].parent_doc_id)
    assert whole.lesson == lessons[0]
    assert "frame" in whole.passages[0].text
    around = client.expand("robots", whole.passages[0].id, max_tokens=100)
    assert (around.complete, around.passages) == (True, whole.passages)
    needs = client.prerequisites("robots", lessons[1].parent_doc_id)
    assert [(one.lesson, one.direct, one.why) for one in needs.needed] == [(lessons[0], True, "order")]
    assert needs.direct == (lessons[0].parent_doc_id,)
    assert [step.place.number for step in needs.needed[0].path] == ["1.2", "1.1"]
    found = client.search_course("joints", book_id="robots", limit=1)
    assert (found.result.hits[0].passage.title, found.total_found, found.reader.hardware_tier) == ("Joints", 2, 1)


def test_operations(client: KedgeClient, sea: str, tmp_path: Path) -> None:
    assert client.health().status == "ok"
    assert client.ready().status == "ready"
    assert "kedge_http_requests_total" in client.metrics()
    client.ask(QUESTION, collection=sea)
    assert client.analytics().queries >= 1
    assert client.forget_user("nobody") == Erased(queries=0, sessions=0)
    assert f"kedge/{sea}" in client.models()
    assert client.model(f"kedge/{sea}")["id"] == f"kedge/{sea}"
    said = client.chat([{"role": "user", "content": QUESTION}], model=f"kedge/{sea}")
    assert "anchor bend" in said["choices"][0]["message"]["content"]
    steps: list[tuple[int, int]] = []
    file = client.backup(tmp_path / "all.backup", on_bytes=lambda *step: steps.append(step))
    assert steps[-1] == (file.stat().st_size, file.stat().st_size)
    with Archive(file) as archive:
        archive.verify()
        assert archive.manifest.counts["vectors"] == archive.manifest.counts["passages"] >= 3


def test_asyncio(url: str, sea: str, tmp_path: Path) -> None:
    async def all_at_once() -> None:
        async with AsyncKedgeClient(url) as client:
            answers = await asyncio.gather(*(client.ask(QUESTION, collection=sea) for _ in range(5)))
            assert len({answer.answer for answer in answers}) == 1
            events = [event.type async for event in client.stream(QUESTION, collection=sea)]
            assert events[-1] == "done"
            queued = await client.ingest(files=[("two.md", b"# Two\n\nThe second.\n")], collection="later")
            assert (await client.wait(queued.job_id, within=60)).status is JobStatus.COMPLETE
            await client.delete_collection("later")
            with pytest.raises(NotFoundError):
                await client.collection("later")
            await client.backup(tmp_path / "all.backup")
            with Archive(tmp_path / "all.backup") as archive:
                archive.verify()

    asyncio.run(all_at_once())
