"""What one caller, or nobody in particular, sends cannot keep the server from the others."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from starlette.types import Message

from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Scope
from kedge.engine.engine import Engine
from kedge.surfaces.cli.main import run
from kedge.surfaces.server.app import create_app
from tests.support.surfaces import EMBEDDER
from tests.surfaces.server.serving import Served, serving

LONG = 1000
"""Bytes of a body that never comes."""


def make_key(home: Path, capsys: pytest.CaptureFixture[str], name: str, tenant: str = DEFAULT_TENANT) -> str:
    assert run(["key", "create", name, "--right", "admin", "--tenant", tenant, "--home", str(home)]) == 0
    return capsys.readouterr().out.strip()


@contextmanager
def promising(served: Served, key: str = "", path: str = "/api/query") -> Iterator[socket.socket]:
    """A request whose head announces a body, of which nothing is sent."""
    address = urlsplit(served.url)
    with socket.create_connection((str(address.hostname), int(address.port or 0)), timeout=60) as connection:
        credential = f"authorization: Bearer {key}\r\n" if key else ""
        head = f"POST {path} HTTP/1.1\r\nhost: {address.netloc}\r\ncontent-type: application/json\r\n"
        connection.sendall(f"{head}content-length: {LONG}\r\n{credential}\r\n".encode())
        yield connection


def status_of(connection: socket.socket) -> int:
    answer = connection.recv(65536)
    return int(answer.split(b" ", 2)[1])


def until(served: Served, path: str, status: int) -> httpx.Response:
    """Ask until it is answered so: what was sent before may be on its way."""
    for _ in range(1000):
        answer = httpx.get(f"{served.url}{path}", timeout=60)
        if answer.status_code == status:
            return answer
    raise AssertionError(answer.text)


def in_work(served: Served, count: int) -> None:
    """Until the server works on exactly so many."""
    for _ in range(1000):
        if served.app.state.traffic.requests == count:
            return
        httpx.get(f"{served.url}/health", timeout=60)
    raise AssertionError(f"{served.app.state.traffic.requests} instead of {count} requests are in work")


def test_nothing_of_a_body_is_read_for_who_has_no_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    make_key(tmp_path / "home", capsys, "one")
    with serving(tmp_path / "home", max_requests=4) as served, ExitStack() as stack:
        assert {status_of(stack.enter_context(promising(served))) for _ in range(12)} == {401}  # all are kept open
        with promising(served, "kdg_wrong") as wrong:
            assert status_of(wrong) == 401
        in_work(served, 0)


def test_whoever_has_no_key_takes_no_place_while_that_is_found_out(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three hundred at once, on a machine that is slow to look at their keys, would have been all places."""
    key = make_key(tmp_path / "home", capsys, "one")
    with serving(tmp_path / "home", max_requests=1) as served, ExitStack() as stack:
        keys = served.app.state.engine.stores.catalog.keys
        looked, exist, held = threading.Semaphore(0), keys.exist, asyncio.Event()
        loops: list[asyncio.AbstractEventLoop] = []

        async def slow() -> bool:
            loops.append(asyncio.get_running_loop())
            looked.release()
            await held.wait()
            return bool(await exist())

        monkeypatch.setattr(keys, "exist", slow)
        for connection in (stack.enter_context(promising(served)) for _ in range(3)):
            assert looked.acquire(timeout=60)
            assert connection.fileno() > 0
        assert served.app.state.traffic.requests == 0
        loops[0].call_soon_threadsafe(held.set)
        assert httpx.get(f"{served.url}/api/collections", headers={"x-api-key": key}, timeout=60).status_code == 200


def test_a_key_has_its_own_places_and_ready_tells_when_all_are_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    home = tmp_path / "home"
    one, two = make_key(home, capsys, "one"), make_key(home, capsys, "two", "other")
    with serving(home, max_caller=2, max_requests=3) as served, ExitStack() as stack:
        for _ in range(2):
            stack.enter_context(promising(served, one))
        in_work(served, 2)
        with served.client(headers={"authorization": f"Bearer {one}"}) as client:
            refused = client.post("/api/query", json={"query": "What is a kedge?"})
            assert (refused.status_code, refused.json()["error"]["details"]["limit"]) == (429, "caller")
            assert client.get("/ready").status_code == 200
        with served.client(headers={"authorization": f"Bearer {two}"}) as client:
            assert client.get("/api/collections").status_code == 200
            stack.enter_context(promising(served, two))
            full = until(served, "/ready", 503)
            assert "refused" in full.json()["parts"]["requests"]["message"]


def test_connections_that_say_nothing_make_place_for_those_that_ask(tmp_path: Path) -> None:
    with serving(tmp_path / "home", max_connections=8) as served, ExitStack() as stack:
        address = urlsplit(served.url)
        for _ in range(30):
            stack.enter_context(socket.create_connection((str(address.hostname), int(address.port or 0)), timeout=60))
        with served.client() as client:
            assert client.get("/api/collections").status_code == 200


def test_a_body_that_drips_is_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    key = make_key(tmp_path / "home", capsys, "one")
    with serving(tmp_path / "home", client_timeout=3, body_rate=100_000) as served, promising(served, key) as slow:
        slow.settimeout(0.1)
        for _ in range(300):  # never three seconds without a byte
            try:
                slow.sendall(b" ")
                answer = slow.recv(65536)
            except TimeoutError:
                continue
            assert b" 408 " in answer.splitlines()[0]
            while not answer.endswith(b"}"):  # the body may come by itself
                answer += slow.recv(65536)
            assert b"bytes a second" in answer
            return
    raise AssertionError("it was read for ever")


def test_a_write_waits_for_its_own_collection_alone_and_ends_with_its_time(tmp_path: Path) -> None:
    """A DELETE of another tenant took 53 s, and those that waited filled all places though their clients had left."""
    settings = load_settings(environ={}, home=tmp_path / "home", embedder=EMBEDDER, wait_timeout=0.2)

    async def body() -> None:
        async with Engine.open(settings) as engine:
            app = create_app(settings, engine)
            async with (
                app.router.lifespan_context(app),
                httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client,
            ):
                await _filled(engine, tmp_path, "busy")
                async with engine._work.locks.writing(Scope(DEFAULT_TENANT, "busy")):
                    late = await client.delete("/api/collections/busy")
                    assert (late.status_code, late.json()["error"]["code"]) == (504, "timed_out")
                    assert "nothing was done" in late.json()["error"]["message"]
                    assert (await client.delete("/api/collections/idle")).status_code == 404
                    assert app.state.traffic.requests == 0
                assert (await client.delete("/api/collections/busy")).status_code == 204

    asyncio.run(body())


def test_a_write_that_waits_ends_with_its_client(tmp_path: Path) -> None:
    settings = load_settings(environ={}, home=tmp_path / "home", embedder=EMBEDDER, wait_timeout=0)
    sent: list[Message] = []

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    async def body() -> None:
        async with Engine.open(settings) as engine:
            app = create_app(settings, engine)
            await _filled(engine, tmp_path, "busy")
            async with app.router.lifespan_context(app), engine._work.locks.writing(Scope(DEFAULT_TENANT, "busy")):
                scope = {
                    "type": "http",
                    "method": "DELETE",
                    "path": "/api/collections/busy",
                    "query_string": b"",
                    "headers": [(b"host", b"127.0.0.1")],
                    "client": ("127.0.0.1", 1),
                    "server": ("127.0.0.1", 80),
                    "scheme": "http",
                }
                await asyncio.wait_for(app(scope, receive, send), 60)
                assert app.state.traffic.requests == 0

    asyncio.run(body())
    assert sent == []


async def _filled(engine: Engine, folder: Path, collection: str) -> None:
    note = folder / "note.md"
    note.write_text("# Note\n\nThe boat is made fast.\n", "utf-8")
    await engine.ingest(IngestRequest(Scope(DEFAULT_TENANT, collection), (str(note),)))


@pytest.mark.parametrize("origin", ["http://[", "http://[::1", "null", "//"])
def test_an_origin_that_is_no_address_is_refused(tmp_path: Path, origin: str) -> None:
    with serving(tmp_path / "home") as served, served.client() as client:
        refused = client.get("/api/collections", headers={"origin": origin})
        assert (refused.status_code, refused.json()["error"]["code"]) == (400, "invalid_request")
