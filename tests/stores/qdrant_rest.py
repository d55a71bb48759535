"""A server that speaks the part of Qdrant's REST API which the store uses, with Qdrant's own engine behind it.

Every request is read strictly with the models that qdrant-client generates from Qdrant's OpenAPI: an unknown field, a
wrong type or a value that would be lost is answered with 400. The engine (Qdrant Edge) then does the work, so an answer
is what Qdrant makes of the request. `requests` keeps what came over the wire; `faults` breaks the next answers.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import threading
import uuid
from collections import deque
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import qdrant_edge as engine
from qdrant_client import models

from tests.stores.qdrant_engine import ROUTES, Collection, Refused, config_of, read

_IN_MEMORY = Path("/dev/shm")


@dataclass(frozen=True)
class Request:
    """What came over the wire."""

    method: str
    path: str
    query: dict[str, str]
    body: Any
    headers: dict[str, str]


@dataclass(frozen=True)
class Fault:
    """How to break one answer: another status, no answer, or half of one."""

    status: int = 0
    message: str = "made to fail"
    cut: bool = False
    hang: bool = False
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


class QdrantRest:
    """The server; use it as a context manager."""

    def __init__(self, version: str = "1.20.0") -> None:
        self.version = version
        self.requests: list[Request] = []
        self.faults: deque[Fault] = deque()
        self._collections: dict[str, Collection] = {}
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._folder = Path(tempfile.mkdtemp(dir=_IN_MEMORY if _IN_MEMORY.is_dir() else None))
        self._http = _Http(("127.0.0.1", 0), _handler(self))

    @property
    def url(self) -> str:
        return f"qdrant://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> QdrantRest:
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._http.shutdown()
        self._http.server_close()
        self.clear()
        shutil.rmtree(self._folder, ignore_errors=True)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            for held in self._collections.values():
                held.shard.close()
            self._collections.clear()
            self.requests.clear()
            self.faults.clear()

    def wait_for_the_end(self) -> None:
        self._stopping.wait()

    def answer(self, request: Request, raw: bytes) -> Any:
        """The `result` of the answer."""
        if request.path == "/" and request.method == "GET":
            return None
        found = re.fullmatch(r"/collections/([^/]+)(/.*)?", request.path)
        if found is None:
            raise Refused(404, "")
        name, rest = unquote(found.group(1)), found.group(2) or ""
        with self._lock:
            try:
                if not rest:
                    return self._collection(request, name, raw)
                return self._inside(request, rest, self._held(name), raw)
            except Exception as error:
                if type(error) is Exception:  # the engine's
                    raise Refused(400, f"Wrong input: {error}") from error
                raise

    def _held(self, name: str) -> Collection:
        held = self._collections.get(name)
        if held is None:
            raise Refused(404, f"Not found: Collection `{name}` doesn't exist!")
        return held

    def _collection(self, request: Request, name: str, raw: bytes) -> Any:
        if request.method == "GET":
            return self._held(name).info()
        if request.method == "DELETE":
            held = self._collections.pop(name, None)
            if held is not None:
                held.shard.close()
            return held is not None
        if request.method != "PUT":
            raise Refused(405, "")
        config = read(models.CreateCollection, raw)
        if name in self._collections:
            raise Refused(409, f"Wrong input: Collection `{name}` already exists!")
        folder = self._folder / uuid.uuid4().hex
        folder.mkdir()
        self._collections[name] = Collection(engine.EdgeShard.create(str(folder), config_of(config)), config)
        return True

    def _inside(self, request: Request, rest: str, held: Collection, raw: bytes) -> Any:
        work = ROUTES.get((request.method, rest))
        if work is None:
            raise Refused(404, "")
        if request.method == "PUT" or rest == "/points/delete":
            if request.query != {"wait": "true"}:
                raise Refused(400, f"a write that does not wait: {request.query}")
        elif request.query:
            raise Refused(400, f"unexpected query: {request.query}")
        return work(held, raw)


def _handler(server: QdrantRest) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            parts = urlsplit(self.path)
            query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
            body = json.loads(raw) if raw else None
            request = Request(self.command, parts.path, query, body, {k.lower(): v for k, v in self.headers.items()})
            server.requests.append(request)
            fault = server.faults.popleft() if server.faults else None
            if fault is not None:
                self._break(fault)
                return
            if parts.path == "/":
                self._send(200, {"title": "qdrant", "version": server.version})
                return
            try:
                self._send(200, {"result": server.answer(request, raw), "status": "ok", "time": 0.0})
            except Refused as error:
                self._send(error.status, {"status": {"error": str(error)}, "time": 0.0})

        do_GET = do_PUT = do_POST = do_DELETE = _serve

        def _break(self, fault: Fault) -> None:
            if fault.hang:
                server.wait_for_the_end()
            elif fault.cut:
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
            elif fault.body is not None:
                self._write(fault.status, fault.body, fault.headers)
            else:
                content = {"status": {"error": fault.message}, "time": 0.0}
                self._write(fault.status, json.dumps(content).encode(), fault.headers)
            self.close_connection = True

        def _send(self, status: int, content: Any) -> None:
            self._write(status, json.dumps(content).encode(), {})

        def _write(self, status: int, content: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Quiet."""

    return Handler
