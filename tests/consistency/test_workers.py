"""Several `kedge worker` processes over one PostgreSQL: shared work, sudden death, orderly stop, uploads for others."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx
import psycopg
import pytest
from psycopg.sql import SQL, Identifier
from sqlalchemy.engine import make_url

from kedge.core.ids import document_id
from kedge.core.settings import Settings, load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Query, Scope
from kedge.engine.engine import Engine
from tests.contract.postgresql import url_of
from tests.models.model_server import ModelServer, serving
from tests.support.forked import Command, command
from tests.support.serving import served
from tests.support.surfaces import http_client

pytestmark = [pytest.mark.slow, pytest.mark.store("workers", "postgresql")]

SCOPE = Scope(DEFAULT_TENANT, "default")
DOCUMENTS = 36
SECONDS = 150.0
T = TypeVar("T")


def wait_for(what: str, condition: Callable[[], T], seconds: float = SECONDS) -> T:
    """Ask until the answer is true; what is asked takes its own time, so this does not spin."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if found := condition():
            return found
    raise AssertionError(f"{what}: not within {seconds} s")


class Site:
    """One PostgreSQL with all stores; every process has a home of its own, as on its own machine."""

    def __init__(self, folder: Path, embedder: str = "hash", **more: str) -> None:
        self.url = url_of(folder)
        self._folder = folder
        stores = dict.fromkeys(("catalog_url", "vector_url", "graph_url"), self.url)
        self._values = {**stores, "embedder": embedder, "worker_timeout": "3", "log_level": "info", **more}
        self._started = 0

    def settings(self, **changes: object) -> Settings:
        values: dict[str, Any] = {**self._values, "home": self._home(), **changes}
        return load_settings(environ={}, **values)

    def _home(self) -> Path:
        self._started += 1
        return self._folder / f"home-{self._started}"

    @contextmanager
    def worker(self, **changes: str) -> Iterator[Command]:
        """The command in a process of its own; killed at the end if it still runs."""
        environ = self._environ(changes)
        log = self._folder / f"worker-{self._started}.log"
        with command(["worker"], environ, log, log) as started:
            yield started

    def kedge(self, *arguments: str, code: int = 0) -> Any:
        """Run a command to its end and read what it prints."""
        environ = self._environ({})
        out, err = (self._folder / f"command-{self._started}.{name}" for name in ("out", "err"))
        with command([*arguments, "--json"], environ, out, err) as started:
            assert started.wait(SECONDS) == code, err.read_text("utf-8")
        return json.loads(out.read_text("utf-8"))

    def _environ(self, changes: dict[str, str]) -> dict[str, str]:
        values = {**self._values, "home": str(self._home()), **changes}
        environ = {name: value for name, value in os.environ.items() if not name.startswith("KEDGE_")}
        return environ | {f"KEDGE_{name.upper()}": value for name, value in values.items()}

    def logs(self) -> str:
        return "\n".join(path.read_text("utf-8") for path in sorted(self._folder.glob("worker-*.log")))

    @contextmanager
    def server(self) -> Iterator[httpx.Client]:
        """A server that only enqueues."""
        with served(self.settings(workers=0)) as url, http_client(url) as client:
            yield client

    def count(self, table: str) -> int:
        schema = make_url(self.url).query["schema"]
        with psycopg.connect(self.url.partition("?")[0]) as connection:
            named = SQL("SELECT count(*) FROM {}.{}").format(Identifier(str(schema)), Identifier(table))
            row = connection.execute(named).fetchone()
            assert row is not None
            return int(row[0])


def upload(client: httpx.Client, name: str, text: str) -> str:
    response = client.post("/api/ingest", files={"file": (name, text.encode())})
    return str(response.raise_for_status().json()["job_id"])


def statuses(client: httpx.Client, jobs: list[str]) -> list[str]:
    return [client.get(f"/api/ingest/{job}").raise_for_status().json()["status"] for job in jobs]


def text_of(number: int) -> str:
    return f"# Word{number}\n\nThe text of document word{number}. See Word{(number + 1) % DOCUMENTS} for more.\n"


async def look(site: Site) -> None:
    """Every document is live exactly once, the stores agree, and nothing is left in the queue."""
    async with Engine.open(site.settings()) as engine:
        report = await engine.check()
        assert report.problems == ()
        documents = await engine.documents(SCOPE, limit=1000)
        assert {document.title for document in documents} == {f"Word{n}" for n in range(DOCUMENTS)}
        assert len(documents) == DOCUMENTS
        assert {(document.status.value, document.chunk_count) for document in documents} == {("active", 1)}
        collection = await engine.collection(SCOPE)
        assert (collection.documents, collection.passages) == (DOCUMENTS, DOCUMENTS)
        held = [key async for ids in engine.stores.vectors.ids(collection.index_name, DEFAULT_TENANT) for key in ids]
        assert len(held) == len(set(held)) == DOCUMENTS
        for number in (0, 17, 35):
            found = (await engine.search(Query(f"the text of document word{number}", SCOPE))).hits
            assert f"Word{number}" in {hit.passage.title for hit in found}
        for number in range(DOCUMENTS):
            await linked(engine, number)
        assert await engine.stores.catalog.jobs.unfinished() == []


async def linked(engine: Engine, number: int) -> None:
    """The passage is linked to the title it names, whichever of the two was taken in first."""
    key = document_id(SCOPE, f"upload:d{number}.md")
    (passage,) = (await engine.document(DEFAULT_TENANT, key))[1]
    concepts, _ = await engine.stores.graph.concepts_of(SCOPE, [passage.id])
    assert f"Word{(number + 1) % DOCUMENTS}".casefold() in {concept.name.casefold() for concept in concepts}


class Gate:
    """A model server that answers some texts, says when it is asked for more, and goes on when told to."""

    def __init__(self, server: ModelServer, passing: int = 0) -> None:
        self.url = server.url
        self._passing = passing
        self.asked = threading.Event()
        self.open = threading.Event()
        self._answer = server.answer
        server.answer = self._wait  # type: ignore[method-assign]
        self.texts: list[str] = []

    def _wait(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        if path == "/v1/embeddings":
            self.texts += body["input"]
            if len(self.texts) > self._passing:
                self.asked.set()
                assert self.open.wait(SECONDS)
        return self._answer(path, body)


@pytest.mark.req("D-18", "C-10")
def test_three_workers_share_the_jobs_and_one_is_killed(tmp_path: Path) -> None:
    with serving() as model, ExitStack() as stack:
        gate = Gate(model, passing=8)
        site = Site(tmp_path, "openai:tiny?dim=8&window=100", embed_url=f"{gate.url}/v1")
        client = stack.enter_context(site.server())
        jobs = [upload(client, f"d{n}.md", text_of(n)) for n in range(DOCUMENTS)]
        assert set(statuses(client, jobs)) == {"queued"}, "this server only enqueues"
        workers = [stack.enter_context(site.worker()) for _ in range(3)]
        wait_for("some jobs done", lambda: "complete" in statuses(client, jobs))
        assert gate.asked.wait(SECONDS)
        workers[0].send_signal(signal.SIGKILL)
        assert statuses(client, jobs).count("complete") < DOCUMENTS, "the kill came in the middle"
        gate.open.set()
        wait_for("all jobs ended", lambda: set(statuses(client, jobs)) <= {"complete", "failed"})
        assert set(statuses(client, jobs)) == {"complete"}
        wait_for("an empty queue", lambda: site.count("procrastinate_jobs") == 0)
        assert site.count("upload_pieces") == DOCUMENTS, "each upload is kept once, beside its document"
        for worker in workers[1:]:
            worker.send_signal(signal.SIGTERM)
            assert worker.wait() == 0
        asyncio.run(look(site))


@pytest.mark.req("D-18", "C-10")
def test_a_job_goes_from_worker_to_worker(tmp_path: Path) -> None:
    """The first is told to stop in the middle of it, the second is killed there, the third ends it."""
    with serving() as model, ExitStack() as stack:
        gate = Gate(model)
        site = Site(tmp_path, "openai:tiny?dim=8&window=100", embed_url=f"{gate.url}/v1")
        client = stack.enter_context(site.server())
        job = upload(client, "d.md", text_of(0))
        first = stack.enter_context(site.worker())
        assert gate.asked.wait(SECONDS)
        assert statuses(client, [job]) == ["embedding"]
        first.send_signal(signal.SIGTERM)
        assert first.wait() == 0
        assert statuses(client, [job]) == ["queued"], "handed back"
        gate.asked.clear()
        second = stack.enter_context(site.worker())
        assert gate.asked.wait(SECONDS)
        second.send_signal(signal.SIGKILL)
        second.wait()
        assert statuses(client, [job]) == ["embedding"], "nobody could say that it ended"
        gate.open.set()
        third = stack.enter_context(site.worker())
        wait_for("the job's end", lambda: statuses(client, [job]) == ["complete"])
        shown = client.get("/api/documents").raise_for_status().json()
        assert [one["status"] for one in shown["documents"]] == ["active"]
        third.send_signal(signal.SIGTERM)
        assert third.wait() == 0
        assert "goes to another" in site.logs()


@pytest.mark.req("C-09")
def test_versions_of_one_document_come_in_their_order(tmp_path: Path) -> None:
    """Two workers with two jobs at once each: the last upload of a name is what stays."""
    site = Site(tmp_path)
    with ExitStack() as stack:
        client = stack.enter_context(site.server())
        jobs = [upload(client, "same.md", f"# Same\n\nEdition number{n}.\n") for n in range(6)]
        for _ in range(2):
            stack.enter_context(site.worker(workers="2"))
        wait_for("all jobs ended", lambda: set(statuses(client, jobs)) <= {"complete", "failed"})
        assert set(statuses(client, jobs)) == {"complete"}
    asyncio.run(_last_edition(site))


async def _last_edition(site: Site) -> None:
    async with Engine.open(site.settings()) as engine:
        (document,) = await engine.documents(SCOPE)
        (passage,) = (await engine.document(DEFAULT_TENANT, document.id))[1]
        assert "number5" in passage.text
        assert (await engine.check()).problems == ()


@pytest.mark.req("D-19")
def test_a_server_answers_while_another_process_reindexes(tmp_path: Path) -> None:
    site = Site(tmp_path)
    with ExitStack() as stack:
        client = stack.enter_context(site.server())
        jobs = [upload(client, f"d{n}.md", text_of(n)) for n in range(12)]
        stack.enter_context(site.worker())
        wait_for("all jobs ended", lambda: set(statuses(client, jobs)) == {"complete"})
        done, answers = threading.Event(), 0

        def ask() -> None:
            nonlocal answers
            while not done.is_set():
                word = answers % 12
                body = {"query": f"the text of document word{word}"}
                found = client.post("/api/query", json=body).raise_for_status().json()
                shown = found["citations"] or found["metadata"]["nearest"]
                assert shown[0]["title"] == f"Word{word}"
                answers += 1

        with ThreadPoolExecutor(2) as readers:
            asked = [readers.submit(ask) for _ in range(2)]
            wait_for("the first answers", lambda: answers > 2)
            shown = site.kedge("collection", "reindex", "default", "--embedder", "hash:128")
            assert (shown["embedder"], shown["dimension"], shown["generation"]) == ("hash:128", 128, 2)
            assert [one["state"] for one in shown["other_indexes"]] == ["kept"]
            before = answers
            wait_for("answers of the new index", lambda: answers > before + 2)
            back = site.kedge("collection", "reindex", "default", "--rollback")
            assert (back["embedder"], back["generation"]) == ("hash:64", 1)
            done.set()
            for one in asked:
                one.result()
        assert site.kedge("check")["ok"] is True


@pytest.mark.req("G-09", "D-18")
def test_one_worker_repairs_drift_now_and_then(tmp_path: Path) -> None:
    site = Site(tmp_path)

    async def spoil() -> None:
        async with Engine.open(site.settings()) as engine:
            file = tmp_path / "d.md"
            file.write_text(text_of(1))
            await engine.ingest(IngestRequest(SCOPE, (str(file),)))
            index = (await engine.collection(SCOPE)).index_name
            held = [key async for ids in engine.stores.vectors.ids(index, DEFAULT_TENANT) for key in ids]
            await engine.stores.vectors.delete(index, DEFAULT_TENANT, held)

    asyncio.run(spoil())
    assert site.kedge("check", code=1)["problems"][0]["kind"] == "missing_vectors"
    with site.worker(check_every="1"), site.worker(check_every="1"):
        wait_for("a repair", lambda: "check repaired missing_vectors" in site.logs())
    assert site.kedge("check")["problems"] == []
    assert site.logs().count("check repaired") == 1


@pytest.mark.req("D-18")
def test_what_a_dead_command_left_does_not_stay_running(tmp_path: Path) -> None:
    """A job that no queue knows: its process died. Addresses are taken up, files of another machine are not."""
    site = Site(tmp_path)
    file = tmp_path / "here.md"
    file.write_text("# Here\n\nA file of this machine.\n")

    async def left() -> tuple[str, str]:
        async with Engine.open(site.settings()) as engine:
            ids = []
            for source in (str(file), "http://127.0.0.1:9/nothing.md"):
                job = await engine._intake._register(IngestRequest(SCOPE, (source,)))
                ids.append(job.id)
            await _age(site)
            assert await engine.drain() == 1
            first, second = [await engine.job(DEFAULT_TENANT, key) for key in ids]
            assert (first.status.value, second.status.value) == ("failed", "complete")
            assert "Run the same command again" in (first.error_message or "")
            assert [error.code for error in second.errors] == ["forbidden_address"]
            return first.id, second.id

    asyncio.run(left())


async def _age(site: Site) -> None:
    schema = str(make_url(site.url).query["schema"])
    async with await psycopg.AsyncConnection.connect(site.url.partition("?")[0]) as connection:
        table = SQL("UPDATE {}.ingestion_jobs SET created_at = created_at - interval '1 hour'")
        await connection.execute(table.format(Identifier(schema)))
