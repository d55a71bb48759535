"""Local servers that stream as Anthropic, OpenAI and Ollama do, with faults to order.

The events are those that the vendors document: Anthropic's `message_start … message_stop` with `ping` and `error`,
OpenAI's `chat.completion.chunk` with a usage chunk and `[DONE]`, Ollama's one JSON object a line.
"""

from __future__ import annotations

import json
import select
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

PATHS = {"/v1/messages": "anthropic", "/v1/chat/completions": "openai", "/api/chat": "ollama"}


@dataclass
class Turn:
    """What happens to one request instead of a whole answer."""

    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    message: str = "out of order"
    stop_after: int | None = None
    """Send only so many pieces of text, then do as `then` says."""
    then: str = "cut"
    """`cut` the connection, `end` it without the last events, `hang` until the client leaves, send an `error`, or
    send something `malformed`."""
    finish: str = ""
    """Reason to stop other than the usual one."""


@dataclass
class LLMServer:
    """Its switches, and what it was asked."""

    url: str = ""
    key: str = ""
    """Key it wants; empty: none."""
    say: Callable[[str, str], str] = lambda _system, _user: "A kedge is a light anchor. [1]"
    """The answer to a system and a user message."""
    tells_usage: bool = True
    turns: list[Turn] = field(default_factory=list)
    """Used up one by one, a request each."""
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    """Of each request, with names in small letters."""
    left: threading.Event = field(default_factory=threading.Event)
    """A client went away while the server was waiting for it to."""
    hanging: threading.Event = field(default_factory=threading.Event)
    """The server waits in the middle of an answer."""
    most_at_once: int = 0
    now: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock)

    def prompt(self, place: int = -1) -> tuple[str, str]:
        """System and user message of a request."""
        return read_prompt(self.requests[place])


def read_prompt(body: dict[str, Any]) -> tuple[str, str]:
    system = body.get("system") or next((m["content"] for m in body["messages"] if m["role"] == "system"), "")
    return system, next(m["content"] for m in body["messages"] if m["role"] == "user")


def pieces_of(text: str) -> list[str]:
    """A text in pieces of a few characters, so that words and marks are cut anywhere."""
    return [text[start : start + 5] for start in range(0, len(text), 5)]


def counted(body: dict[str, Any], text: str) -> tuple[int, int]:
    """The server's own count of tokens: words."""
    return len(" ".join(read_prompt(body)).split()), len(text.split())


# ------------------------------------------------------------ protocols: (before, one piece, after, an error)

Wire = tuple[list[str], Callable[[str], str], list[str], Callable[[str], str]]


def _event(name: str, data: dict[str, Any]) -> str:
    return f"event: {name}\ndata: {json.dumps({'type': name, **data})}\n\n"


def anthropic_wire(state: LLMServer, body: dict[str, Any], text: str, finish: str) -> Wire:
    read, wrote = counted(body, text)
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body["model"], "content": []}
    message |= {"stop_reason": None, "stop_sequence": None, "usage": {"input_tokens": read, "output_tokens": 1}}
    before = [
        _event("message_start", {"message": message}),
        _event("content_block_start", {"index": 0, "content_block": {"type": "text", "text": ""}}),
        _event("ping", {}),
    ]
    delta = {"stop_reason": finish or "end_turn", "stop_sequence": None}
    after = [
        _event("content_block_stop", {"index": 0}),
        _event("message_delta", {"delta": delta, "usage": {"output_tokens": wrote}}),
        _event("message_stop", {}),
    ]
    return (
        before,
        lambda piece: _event("content_block_delta", {"index": 0, "delta": {"type": "text_delta", "text": piece}}),
        after,
        lambda said: _event("error", {"error": {"type": "overloaded_error", "message": said}}),
    )


def openai_wire(state: LLMServer, body: dict[str, Any], text: str, finish: str) -> Wire:
    read, wrote = counted(body, text)

    def chunk(choices: list[dict[str, Any]], **more: Any) -> str:
        shape = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": body["model"]}
        return f"data: {json.dumps({**shape, 'choices': choices, **more})}\n\n"

    def choice(delta: dict[str, Any], reason: str | None = None) -> list[dict[str, Any]]:
        return [{"index": 0, "delta": delta, "finish_reason": reason}]

    after = [chunk(choice({}, finish or "stop"))]
    if state.tells_usage and body.get("stream_options", {}).get("include_usage"):
        usage = {"prompt_tokens": read, "completion_tokens": wrote, "total_tokens": read + wrote}
        after.append(chunk([], usage=usage))
    return (
        [chunk(choice({"role": "assistant", "content": ""}))],
        lambda piece: chunk(choice({"content": piece})),
        [*after, "data: [DONE]\n\n"],
        lambda said: f"data: {json.dumps({'error': {'message': said, 'type': 'server_error', 'code': 503}})}\n\n",
    )


def ollama_wire(state: LLMServer, body: dict[str, Any], text: str, finish: str) -> Wire:
    read, wrote = counted(body, text)

    def line(content: str, **more: Any) -> str:
        shape = {"model": body["model"], "created_at": "2025-01-01T00:00:00Z"}
        return json.dumps({**shape, "message": {"role": "assistant", "content": content}, **more}) + "\n"

    usage = {"prompt_eval_count": read, "eval_count": wrote} if state.tells_usage else {}
    return (
        [],
        lambda piece: line(piece, done=False),
        [line("", done=True, done_reason=finish or "stop", **usage)],
        lambda said: json.dumps({"error": said}) + "\n",
    )


WIRES = {"anthropic": anthropic_wire, "openai": openai_wire, "ollama": ollama_wire}


def error_body(protocol: str, status: int, message: str) -> bytes:
    if protocol == "ollama":
        return json.dumps({"error": message}).encode()
    kinds = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error", 529: "overloaded_error"}
    error = {"type": kinds.get(status, "api_error"), "message": message}
    return json.dumps({"type": "error", "error": error} if protocol == "anthropic" else {"error": error}).encode()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    state: LLMServer

    def do_POST(self) -> None:
        state = self.state
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        protocol = PATHS.get(self.path, "")
        with state.lock:
            state.requests.append(body)
            state.headers.append({name.lower(): value for name, value in self.headers.items()})
            turn = state.turns.pop(0) if state.turns else Turn()
            state.now += 1
            state.most_at_once = max(state.most_at_once, state.now)
        try:
            if not protocol:
                self._refuse("openai", Turn(404, message="no such address"))
            elif not self._has_key():
                self._refuse(protocol, Turn(401, message=f"invalid key {self._key()}"))
            elif turn.status >= 300:
                self._refuse(protocol, turn)
            else:
                self._answer(protocol, body, turn)
        finally:
            with state.lock:
                state.now -= 1

    def _key(self) -> str:
        return self.headers.get("x-api-key") or self.headers.get("Authorization", "").removeprefix("Bearer ")

    def _has_key(self) -> bool:
        return not self.state.key or self._key() == self.state.key

    def _refuse(self, protocol: str, turn: Turn) -> None:
        data = error_body(protocol, turn.status, turn.message)
        self.send_response(turn.status)
        for name, value in {"Content-Type": "application/json", **turn.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _answer(self, protocol: str, body: dict[str, Any], turn: Turn) -> None:
        text = self.state.say(*read_prompt(body))
        before, piece, after, error = WIRES[protocol](self.state, body, text, turn.finish)
        self.send_response(200)
        kind = "application/x-ndjson" if protocol == "ollama" else "text/event-stream"
        self.send_header("Content-Type", kind)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for part in before:
            self._chunk(part)
        shown = pieces_of(text)
        for part in shown[: turn.stop_after]:
            self._chunk(piece(part))
        if turn.stop_after is None:
            for part in after:
                self._chunk(part)
            self._chunk("")
            return
        self.close_connection = True
        if turn.then == "hang":
            self._wait_until_left()
        elif turn.then == "end":
            self._chunk("")
        elif turn.then == "error":
            self._chunk(error(turn.message))
            self._chunk("")
        elif turn.then == "malformed":
            self._chunk("{not json\n" if protocol == "ollama" else "event: content_block_delta\ndata: {not json\n\n")
            self._chunk("")
        else:
            self.connection.shutdown(socket.SHUT_RDWR)

    def _chunk(self, part: str) -> None:
        data = part.encode()
        try:
            self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            self.wfile.flush()
        except ConnectionError:  # whoever asked left while this was written
            self.state.left.set()
            raise

    def _wait_until_left(self) -> None:
        self.state.hanging.set()
        ready, _, _ = select.select([self.connection], [], [], 30)
        with suppress(ConnectionError):  # left in the middle of what was sent
            if not ready or self.connection.recv(1, socket.MSG_PEEK):
                return
        self.state.left.set()

    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serving() -> Iterator[LLMServer]:
    """A server on a free port of this machine."""
    state = LLMServer()
    handler = type("Handler", (_Handler,), {"state": state})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        state.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield state
        finally:
            server.shutdown()
            thread.join()
