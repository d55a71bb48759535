"""A server that is told to stop: it says so, ends what it has begun, and hands its job over."""

from __future__ import annotations

import json
import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.models.llm_server import LLMServer
from tests.models.llm_server import serving as llm_server
from tests.support.forked import piped
from tests.support.surfaces import QUESTION, events_of, http_client, write_corpus
from tests.surfaces.server.serving import fill, process


class Held:
    """An embedding server that lets nobody through until it is told to."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.open = threading.Event()
        self.url = ""


@contextmanager
def held_embedder() -> Iterator[Held]:
    held = Held()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            texts = body["input"] if isinstance(body["input"], list) else [body["input"]]
            if len(texts) > 1:  # passages, not the probe of one word
                held.asked.set()
                held.open.wait(60)
            rows = [[float(len(text) % 7 + 1), 1.0, float(index % 5)] for index, text in enumerate(texts)]
            data = [{"object": "embedding", "index": place, "embedding": row} for place, row in enumerate(rows)]
            reply = json.dumps({"object": "list", "model": "m", "data": data}).encode()
            try:
                self.send_response(200)
                self.send_header("Content-Length", str(len(reply)))
                self.end_headers()
                self.wfile.write(reply)
            except ConnectionError:
                pass

        def log_message(self, format: str, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        held.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield held
        finally:
            held.open.set()
            server.shutdown()
            thread.join()


def slow_model(model: LLMServer) -> threading.Event:
    """Its answer comes when the event is set."""
    go = threading.Event()

    def say(_system: str, _user: str) -> str:
        model.hanging.set()
        go.wait(60)
        return "The warp is tied to the ring of the kedge anchor with an anchor bend. [1]"

    model.say = say
    return go


@pytest.mark.slow
def test_sigterm_lets_streams_end_and_says_not_ready(tmp_path: Path) -> None:
    with llm_server() as model:
        go = slow_model(model)
        variables = {
            "KEDGE_LLM": "openai:test",
            "KEDGE_LLM_URL": f"{model.url}/v1",
            "KEDGE_LLM_KEY": "k",
            "KEDGE_THRESHOLD": "0",
            "KEDGE_DRAIN_NOTICE": "120",
            "KEDGE_DRAIN_TIMEOUT": "60",
        }
        with (
            process(tmp_path / "home", **variables) as (running, url),
            http_client(url) as client,
        ):
            fill(client, tmp_path / "docs")
            assert client.get("/ready").status_code == 200
            said: list[str] = []
            stream = threading.Thread(
                target=lambda: said.append(
                    httpx.post(f"{url}/api/query/stream", json={"query": QUESTION}, timeout=60).text
                )
            )
            stream.start()
            assert model.hanging.wait(60)
            running.send_signal(signal.SIGTERM)
            while (ready := client.get("/ready")).status_code == 200:
                pass
            assert ready.status_code == 503
            assert ready.json()["parts"]["server"] == {"ok": False, "message": "The server stops."}
            assert client.get("/health").status_code == 200
            assert running.returncode is None, "it must not end while a stream runs"
            go.set()
            stream.join(60)
            kinds = [kind for kind, _ in events_of(said[0])]
            assert kinds[-1] == "done"
            assert "citation" in kinds
            running.send_signal(signal.SIGTERM)  # enough of the notice
            _, errors = running.read_all()
            assert running.returncode == 0, errors
            assert "Traceback" not in errors


@pytest.mark.slow
@pytest.mark.req("D-10")
def test_a_running_job_is_handed_from_process_to_process(tmp_path: Path) -> None:
    """A server begins it, a worker takes it up, the next server ends it; each but the last is told to stop."""
    home = tmp_path / "home"
    corpus = write_corpus(tmp_path / "docs")
    with held_embedder() as held:
        variables = {"KEDGE_EMBEDDER": "openai:m", "KEDGE_EMBED_URL": held.url, "KEDGE_EMBED_KEY": "k"}
        with process(home, **variables) as (running, url):
            job = httpx.post(f"{url}/api/ingest", json={"sources": [str(corpus)]}, timeout=60).json()["job_id"]
            assert held.asked.wait(60)
            running.send_signal(signal.SIGTERM)
            _, errors = running.read_all()
            assert running.returncode == 0, errors
        held.asked.clear()
        environment = {**os.environ, **variables, "KEDGE_HOME": str(home), "KEDGE_LOG_LEVEL": "info"}
        with piped(["worker"], environment) as worker:
            assert held.asked.wait(60)
            worker.send_signal(signal.SIGTERM)
            _, errors = worker.read_all()
        assert worker.returncode == 0, errors
        assert f"job {job} is handed back" in errors
        assert "Traceback" not in errors
        with process(home, **variables) as (_, url), http_client(url) as client:
            assert client.get(f"/api/ingest/{job}").json()["status"] in ("queued", "chunking", "embedding")
            held.open.set()
            while client.get(f"/api/ingest/{job}").json()["status"] != "complete":
                pass
            assert client.get("/api/collections/default").json()["documents"] == 3
