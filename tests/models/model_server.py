"""A local server that speaks the protocols of OpenAI, text-embeddings-inference and Cohere, with faults to order."""

from __future__ import annotations

import base64
import json
import math
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np


@dataclass
class Fault:
    """What happens instead of an answer."""

    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: str = '{"error": {"message": "out of order"}}'
    cut: bool = False
    """Close the connection after half of the answer."""
    delay: float = 0.0


@dataclass
class ModelServer:
    """Its switches, and what it was asked."""

    url: str = ""
    width: int = 8
    """Dimensions of its embedding model."""
    takes_dimensions: str = "yes"
    """`yes`, `ignores`, or `refuses` with 400 as vLLM does for a model it does not know as Matryoshka."""
    encoding: str = "float"
    key: str = ""
    """Bearer token it wants; empty: none."""
    max_batch: int = 32
    reversed: bool = False
    """Send rows last first, with right numbers."""
    fewer: int = 0
    """Rows left out of each answer."""
    logits: bool = False
    """Its rerank scores are raw logits."""
    faults: list[Fault] = field(default_factory=list)
    """Used up one by one, a request each."""
    requests: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    most_at_once: int = 0
    _now: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def bodies(self, path: str) -> list[dict[str, Any]]:
        return [body for asked, body in self.requests if asked == path]

    @contextmanager
    def counted(self) -> Iterator[None]:
        with self._lock:
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
        try:
            yield
        finally:
            with self._lock:
                self._now -= 1

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, Any]:
        routes = {
            "/v1/embeddings": self._embeddings,
            "/tokenize": self._tokenize,
            "/rerank": self._tei_rerank,
            "/v1/rerank": self._cohere_rerank,
        }
        if path not in routes:
            return 404, {"detail": "Not Found"}
        return routes[path](body)

    def _embeddings(self, body: dict[str, Any]) -> tuple[int, Any]:
        texts, wanted = body["input"], body.get("dimensions")
        if wanted and self.takes_dimensions == "refuses":
            return 400, {"error": {"message": "Model does not support matryoshka representation"}}
        if any(not text for text in texts):
            return 400, {"error": {"message": "input cannot be an empty string"}}
        if len(texts) > self.max_batch:
            return 422, {"error": f"batch size {len(texts)} > maximum allowed batch size {self.max_batch}"}
        width = wanted if wanted and self.takes_dimensions == "yes" else self.width
        data = [
            {"object": "embedding", "index": index, "embedding": self._encoded(embedding(text, self.width)[:width])}
            for index, text in enumerate(texts)
        ]
        data = data[: len(data) - self.fewer]
        return 200, {"object": "list", "model": body["model"], "data": data[::-1] if self.reversed else data}

    def _encoded(self, row: np.ndarray) -> Any:
        if self.encoding == "base64":
            return base64.b64encode(row.astype("<f4").tobytes()).decode()
        return [float(value) for value in row]

    def _tokenize(self, body: dict[str, Any]) -> tuple[int, Any]:
        assert body["add_special_tokens"] is False
        return 200, [[{"id": 1, "text": word, "special": False} for word in text.split()] for text in body["inputs"]]

    def _tei_rerank(self, body: dict[str, Any]) -> tuple[int, Any]:
        logits = [logit(body["query"], text) for text in body["texts"]]
        scores = logits if body["raw_scores"] else [1 / (1 + math.exp(-value)) for value in logits]
        return 200, self._best_first(scores, "score")

    def _cohere_rerank(self, body: dict[str, Any]) -> tuple[int, Any]:
        logits = [logit(body["query"], text) for text in body["documents"]]
        scores = logits if self.logits else [1 / (1 + math.exp(-value)) for value in logits]
        return 200, {"id": "x", "results": self._best_first(scores, "relevance_score")[: body["top_n"]]}

    def _best_first(self, scores: list[float], name: str) -> list[dict[str, float]]:
        order = sorted(range(len(scores)), key=lambda index: -scores[index])
        return [{"index": index, name: scores[index]} for index in order][: len(order) - self.fewer]


def embedding(text: str, width: int) -> np.ndarray:
    """What the server gives for a text: not of norm 1."""
    return np.random.default_rng(zlib.crc32(text.encode())).normal(size=width).astype(np.float32) * 3


def logit(query: str, text: str) -> float:
    """More words of the query in the text, higher logit."""
    return 2.0 * len(set(query.split()) & set(text.split())) - 1.0


@contextmanager
def serving() -> Iterator[ModelServer]:
    """A server on a free port of this machine."""
    state = ModelServer()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            with state.counted():
                raw = self.rfile.read(int(self.headers["Content-Length"]))
                body = json.loads(raw)
                state.requests.append((self.path, body))
                fault = state.faults.pop(0) if state.faults else None
                if fault is not None:
                    time.sleep(fault.delay)
                if fault is not None and (fault.status or fault.cut):
                    self._send(fault.status or 200, fault.body.encode(), fault.headers, fault.cut)
                elif state.key and self.headers.get("Authorization") != f"Bearer {state.key}":
                    given = self.headers.get("Authorization", "")
                    self._send(401, json.dumps({"error": {"message": f"Incorrect key: {given}"}}).encode())
                else:
                    status, reply = state.answer(self.path, body)
                    self._send(status, json.dumps(reply).encode())

        def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None, cut: bool = False) -> None:
            try:
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                for name, value in (headers or {}).items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(body[: len(body) // 2] if cut else body)
            except OSError:  # the client has given up
                cut = True
            self.close_connection = cut

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
