"""Limits: rates, requests and streams at once, the ingest queue, clocks, clients that leave or dawdle."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.core.settings import load_settings
from kedge.core.stages import heard
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Query, Scope, StreamEvent
from kedge.engine.engine import Engine
from kedge.surfaces.cli.main import run
from kedge.surfaces.server.app import create_app
from kedge.surfaces.server.rates import Buckets
from tests.models.llm_server import LLMServer, Turn
from tests.models.llm_server import serving as llm_server
from tests.support.surfaces import EMBEDDER, QUESTION, write_corpus
from tests.surfaces.server.serving import Served, serving

SHAPE = {"code", "message", "hint", "details"}


def refused(response: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """The one error shape, with a time to wait and the request's id."""
    error: dict[str, Any] = response.json()["error"]
    assert (response.status_code, error["code"]) == (status, code), response.text
    assert set(error) == SHAPE
    assert error["hint"]
    assert error["details"]["request_id"] == response.headers["x-request-id"]
    return error


# ------------------------------------------------------------ rates


@given(st.integers(1, 6000), st.lists(st.floats(0, 30), max_size=60))
def test_a_bucket_never_gives_more_than_its_rate_and_its_size(per_minute: int, pauses: list[float]) -> None:
    now = [0.0]
    buckets = Buckets(per_minute, clock=lambda: now[0])
    taken = 0
    for pause in pauses:
        now[0] += pause
        wait = buckets.take("a")
        taken += wait == 0
        assert taken <= buckets.size + now[0] * per_minute / 60 + 1e-6
        if wait:  # what it says is true: then there is one, and not much earlier
            assert buckets.left("a") < 1
            now[0] += wait + 1e-9
            assert buckets.left("a") >= 1 - 1e-6


def test_callers_do_not_share_a_bucket_and_the_quiet_ones_are_forgotten() -> None:
    now = [0.0]
    buckets = Buckets(6, most=2, clock=lambda: now[0])
    assert buckets.take("a") == 0
    assert buckets.take("a") > 0
    assert buckets.take("b") == 0
    assert buckets.take("c") == 0  # a is forgotten
    assert buckets.take("a") == 0
    assert Buckets(0).take("a") == 0


def test_each_key_has_its_own_rate_and_writes_are_counted_apart(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    keys = []
    for name in ("one", "two"):
        assert run(["key", "create", name, "--right", "admin", "--home", str(home)]) == 0
        keys.append(capsys.readouterr().out.strip())
    with serving(home, rate_reads=12, rate_writes=6) as served:
        one, two = (served.client(headers={"authorization": f"Bearer {key}"}) for key in keys)
        with one, two:
            assert [one.get("/api/collections").status_code for _ in range(2)] == [200, 200]
            error = refused(limited := one.get("/api/collections"), 429, "too_many_requests")
            assert limited.headers["retry-after"] == str(error["details"]["retry_after"])
            assert 1 <= error["details"]["retry_after"] <= 5
            assert two.get("/api/collections").status_code == 200
            assert one.post("/api/sessions", json={}).status_code == 201
            assert refused(one.post("/api/sessions", json={}), 429, "too_many_requests")["details"]["limit"] == "writes"
            assert one.get("/health").status_code == one.get("/ready").status_code == 200
            shown = two.get("/metrics").text
            assert 'kedge_rejected_total{limit="reads"} 1' in shown
            assert 'kedge_rejected_total{limit="writes"} 1' in shown


def test_the_local_user_is_limited_only_on_request(tmp_path: Path) -> None:
    with serving(tmp_path / "home", rate_reads=6) as served, served.client() as client:
        assert {client.get("/api/collections").status_code for _ in range(20)} == {200}
    with serving(tmp_path / "home", rate_reads=6, rate_local=True) as served, served.client() as client:
        assert [client.get("/api/collections").status_code for _ in range(2)] == [200, 429]


# ------------------------------------------------------------ back-pressure


@contextmanager
def hanging(home: Path, corpus: Path, **settings: Any) -> Iterator[tuple[Served, LLMServer]]:
    """A server whose language model begins to answer and then waits until its client leaves."""
    with llm_server() as model:
        chosen = {"llm": "openai:test", "llm_url": f"{model.url}/v1", "llm_key": "k", "threshold": 0.0, **settings}
        asyncio.run(take_in(home, corpus))
        with serving(home, **chosen) as served:
            yield served, model


async def take_in(home: Path, corpus: Path) -> None:
    """Without a server, whose limits may be tight."""
    async with Engine.open(load_settings(environ={}, home=home, embedder=EMBEDDER)) as engine:
        await engine.ingest(IngestRequest(Scope(DEFAULT_TENANT, "default"), (str(write_corpus(corpus)),)))


def hang(model: LLMServer) -> None:
    """Let the next call hang before its first sentence."""
    model.hanging.clear()
    model.left.clear()
    model.turns.append(Turn(stop_after=1, then="hang"))


@contextmanager
def asking(served: Served, path: str = "/api/query/stream", **fields: str) -> Iterator[socket.socket]:
    """A connection on which a question has been sent; closed when the block ends."""
    body = json.dumps(fields or {"query": QUESTION}).encode()
    host, port = served.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        head = f"POST {path} HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
        connection.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        yield connection


@pytest.mark.parametrize(("path", "limit"), [("/api/query/stream", "streams"), ("/api/query", "requests")])
def test_more_than_the_server_takes_is_refused_at_once(tmp_path: Path, path: str, limit: str) -> None:
    with hanging(tmp_path / "home", tmp_path / "docs", **{f"max_{limit}": 1}) as (served, model):
        hang(model)
        with asking(served, path), served.client() as client:
            assert model.hanging.wait(30)
            full = client.post(path, json={"query": QUESTION})
            assert refused(full, 503, "overloaded")["details"]["limit"] == limit
            assert full.headers["retry-after"] == "1"
            assert client.get("/health").status_code == 200
            assert served.metric("kedge_http_in_flight") == 1
        assert model.left.wait(30)
        with served.client() as client:  # the place is free again
            while client.post(path, json={"query": QUESTION}).status_code == 503:
                pass
        assert served.metric(f'kedge_rejected_total{{limit="{limit}"}}') >= 1
        assert served.metric("kedge_streams_open") == 0


@pytest.mark.parametrize("path", ["/api/query", "/api/query/stream"])
def test_a_question_that_would_wait_too_long_is_refused_with_a_time_to_come_back(path: str, tmp_path: Path) -> None:
    home = tmp_path / "home"
    settings = load_settings(environ={}, home=home, embedder=EMBEDDER, answers_at_once=1, answer_wait=0.001)
    body = {"query": QUESTION}

    async def work() -> None:
        await take_in(home, tmp_path / "corpus")
        async with Engine.open(settings) as engine:
            app = create_app(settings, engine)
            async with (
                app.router.lifespan_context(app),
                httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client,
            ):
                assert (await client.post(path, json=body)).status_code == 200  # now it is known what one takes
                async with engine.answerer.line.place("somebody else"):
                    full = await client.post(path, json=body)
                assert full.status_code == 503
                assert full.json()["error"]["code"] == "overloaded"
                assert int(full.headers["retry-after"]) >= 1
                assert (await client.post(path, json=body)).status_code == 200

    asyncio.run(work())


def test_who_waits_is_told_that_the_stream_lives(tmp_path: Path) -> None:
    home = tmp_path / "home"
    settings = load_settings(environ={}, home=home, embedder=EMBEDDER, answers_at_once=1, answer_wait=60)

    async def work() -> None:
        await take_in(home, tmp_path / "corpus")
        async with Engine.open(settings) as engine:
            app = create_app(settings, engine)
            async with app.router.lifespan_context(app):
                sign = asyncio.Event()
                with heard(lambda stage: sign.set() if stage == "wait" else None):
                    async with engine.answerer.line.place("somebody else"):
                        asked = asyncio.create_task(engine.ask(Query(QUESTION, Scope(DEFAULT_TENANT, "default"))))
                        await asyncio.wait_for(sign.wait(), 60)
                        assert not asked.done()
                    assert (await asked).citations

    asyncio.run(work())


def test_a_full_queue_refuses_and_keeps_nothing_and_loses_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    settings = load_settings(environ={}, home=home, embedder=EMBEDDER, max_queued=1)
    upload = {"file": ("b.md", b"# Kedge\n\nA light anchor.")}

    async def work() -> None:
        async with Engine.open(settings) as engine:  # without a worker: what is queued stays queued
            app = create_app(settings, engine)
            transport = httpx.ASGITransport(app)
            async with (
                app.router.lifespan_context(app),
                httpx.AsyncClient(transport=transport, base_url="http://localhost") as client,
            ):
                first = await client.post("/api/ingest", files=upload)
                assert first.status_code == 202
                for again in ({"files": upload}, {"json": {"sources": ["http://example.org/a.md"]}}):
                    full = await client.post("/api/ingest", **again)
                    assert refused(full, 503, "queue_full")["details"]["waiting"] == 1
                    assert full.headers["retry-after"] == "30"
                assert len(list((home / "uploads").iterdir())) == 1
                shown = (await client.get("/metrics")).text
                assert "kedge_ingest_queue 1" in shown
                assert "kedge_workers 0" in shown
                assert await engine.drain() == 1
                job = (await client.get(f"/api/ingest/{first.json()['job_id']}")).json()
                assert job["status"] == "complete"
                assert (await client.post("/api/ingest", files=upload)).status_code == 202

    asyncio.run(work())


# ------------------------------------------------------------ clocks


def test_a_slow_question_is_broken_off_and_answered_504(tmp_path: Path) -> None:
    with (
        hanging(tmp_path / "home", tmp_path / "docs", request_timeout=1) as (served, model),
        served.client() as client,
    ):
        hang(model)
        error = refused(client.post("/api/query", json={"query": QUESTION}), 504, "timed_out")
        assert error["details"]["seconds"] == 1
        assert not model.requests or model.left.wait(30), "the call to the model goes on"
        assert served.metric('kedge_timeouts_total{late="request"}') == 1


def test_a_stream_that_stands_still_ends_with_an_error(tmp_path: Path) -> None:
    settings = {"stream_timeout": 1, "request_timeout": 0}
    with hanging(tmp_path / "home", tmp_path / "docs", **settings) as (served, model), served.client() as client:
        model.say = lambda _system, _user: f"{'The anchor bend is a knot. [1] ' * 3}And so on"
        model.turns.append(Turn(stop_after=12, then="hang"))
        text = client.post("/api/query/stream", json={"query": QUESTION}).text
        assert "timed_out" in text
        assert not model.requests or model.left.wait(30)
        assert served.metric('kedge_timeouts_total{late="stream"}') == 1


@pytest.mark.parametrize("path", ["/api/query", "/api/query/stream"])
def test_a_client_that_leaves_ends_the_call_to_the_model(tmp_path: Path, path: str) -> None:
    with hanging(tmp_path / "home", tmp_path / "docs") as (served, model):
        hang(model)
        with asking(served, path):
            assert model.hanging.wait(30)
        assert model.left.wait(30)
        while not served.metric("kedge_clients_left_total"):
            pass
        assert served.metric(f'kedge_http_requests_total{{method="POST",route="{path}",status="499"}}') == 1
        assert served.metric("kedge_http_in_flight") == 0


def test_a_client_that_leaves_ends_a_question_to_a_graph(tmp_path: Path) -> None:
    with hanging(tmp_path / "home", tmp_path / "docs") as (served, model):
        with served.client() as client:
            graph = {"collection": "g"}
            for node in ({"id": "ada", "title": "Ada Lovelace"}, {"id": "engine", "title": "Analytical Engine"}):
                client.post("/api/graph/nodes", params=graph, json={"type": "Thing", **node}).raise_for_status()
            edge = {"source": "ada", "target": "engine", "type": "DESCRIBED"}
            client.post("/api/graph/edges", params=graph, json=edge).raise_for_status()
        hang(model)
        with asking(served, "/api/rag/query", question="What did Ada Lovelace describe?", collection="g"):
            assert model.hanging.wait(30)
        assert model.left.wait(30)


def connect(served: Served) -> socket.socket:
    host, port = served.url.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=30)


def test_a_head_that_does_not_end_is_cut(tmp_path: Path) -> None:
    with serving(tmp_path / "home", client_timeout=1) as served:
        with connect(served) as silent, connect(served) as slow, ThreadPoolExecutor(2) as pool:
            slow.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\nX-Slow: ")
            assert list(pool.map(_until_cut, (silent, slow))) == [b"", b""]
        with connect(served) as second:  # also after a first request on the same connection
            second.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert second.recv(4096).startswith(b"HTTP/1.1 200")
            second.sendall(b"GET /hea")
            assert _until_cut(second).count(b"HTTP/1.1") == 0


def _until_cut(connection: socket.socket) -> bytes:
    found = b""
    try:
        while piece := connection.recv(4096):
            found += piece
    except ConnectionResetError:
        pass
    return found


def test_a_body_that_does_not_end_is_answered_408(tmp_path: Path) -> None:
    with serving(tmp_path / "home", client_timeout=1) as served, connect(served) as connection:
        connection.sendall(
            b"POST /api/query HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
            b'Content-Length: 100\r\n\r\n{"query": "wh'
        )
        answer = _until_cut(connection)
        assert answer.startswith(b"HTTP/1.1 408")
        assert b'"slow_client"' in answer
        assert served.metric('kedge_timeouts_total{late="client"}') == 1


def test_a_client_that_reads_nothing_is_cut(tmp_path: Path) -> None:
    """The answer is larger than all buffers on the way, so the server cannot get rid of it."""
    with hanging(tmp_path / "home", tmp_path / "docs", stream_timeout=0.5) as (served, _):
        engine = served.app.state.engine

        async def endless(_query: Any) -> Any:
            while True:
                yield StreamEvent("token", content="x" * 100_000)

        engine.stream = endless
        with asking(served) as connection:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            while not served.metric('kedge_timeouts_total{late="stream"}'):
                pass
            while served.server.server_state.connections:  # the connection is gone, though its client is not
                pass
        assert served.metric("kedge_streams_open") == 0
