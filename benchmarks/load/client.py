"""A client that costs little: HTTP/1.1 by hand on asyncio's streams, one connection for each question."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field


@dataclass(slots=True)
class Seen:
    """What a client saw of one server."""

    first_ms: list[float] = field(default_factory=list)
    """To the first event of each stream."""
    whole_ms: list[float] = field(default_factory=list)
    events: int = 0
    bytes: int = 0
    refused: int = 0
    """Questions that a full server refused; they are asked later."""
    errors: Counter[str] = field(default_factory=Counter)
    uploads_ms: list[float] = field(default_factory=list)


async def ask(port: int, question: str, seen: Seen) -> None:
    """One streamed question."""
    body = json.dumps({"query": question}).encode()
    started = time.perf_counter()
    try:
        status, first, text = await _post(port, "/api/query/stream", "application/json", body)
    except (OSError, asyncio.IncompleteReadError, ValueError) as error:
        seen.errors[type(error).__name__] += 1
        return
    if status == 503:
        seen.refused += 1
        await asyncio.sleep(1)  # the least that Retry-After says
    elif status != 200:
        seen.errors[str(status)] += 1
    elif b"event: error" in text or b"event: done" not in text:
        seen.errors["broken stream"] += 1
    else:
        seen.first_ms.append(1000 * (first - started))
        seen.whole_ms.append(1000 * (time.perf_counter() - started))
        seen.events += text.count(b"event: ")
        seen.bytes += len(text)


async def upload(port: int, name: str, text: str, seen: Seen) -> None:
    """One document."""
    edge = "kedge-load-edge"
    head = f'--{edge}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n\r\n'
    body = f"{head}{text}\r\n--{edge}--\r\n".encode()
    started = time.perf_counter()
    try:
        status, _, _ = await _post(port, "/api/ingest", f"multipart/form-data; boundary={edge}", body)
    except (OSError, asyncio.IncompleteReadError, ValueError) as error:
        seen.errors[f"upload {type(error).__name__}"] += 1
        return
    if status == 202:
        seen.uploads_ms.append(1000 * (time.perf_counter() - started))
    else:
        seen.errors[f"upload {status}"] += 1


async def _post(port: int, path: str, kind: str, body: bytes) -> tuple[int, float, bytes]:
    """Status, when the first byte of the body came, and the body."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\nContent-Type: {kind}\r\n"
        writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
        answer = await reader.readuntil(b"\r\n\r\n")
        status = int(answer.split(b" ", 2)[1])
        start = await reader.read(1 << 16)
        first = time.perf_counter()
        rest = await reader.read(-1)
    finally:
        writer.close()
    whole = start + rest
    return status, first, b"".join(_chunks(whole)) if b"chunked" in answer.lower() else whole


def _chunks(data: bytes) -> Iterator[bytes]:
    place = 0
    while place < len(data):
        end = data.index(b"\r\n", place)
        size = int(data[place:end], 16)
        yield data[end + 2 : end + 2 + size]
        place = end + 4 + size
