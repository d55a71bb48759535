"""The control: a plain Starlette app on the same uvicorn that streams as many events of the same size, from memory."""

from __future__ import annotations

import argparse
import json
from collections.abc import AsyncIterator

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route


def create_app(events: int, size: int) -> Starlette:
    """Answers every question with that many events of that many bytes."""

    async def ask(request: Request) -> StreamingResponse:
        await request.json()
        return StreamingResponse(told(), media_type="text/event-stream")

    async def told() -> AsyncIterator[str]:
        for _ in range(events):
            yield f"event: token\ndata: {json.dumps({'type': 'token', 'content': 'x' * max(1, size - 50)})}\n\n"
        yield 'event: done\ndata: {"type": "done"}\n\n'

    return Starlette(routes=[Route("/api/query/stream", ask, methods=["POST"])])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--events", type=int, required=True)
    parser.add_argument("--size", type=int, required=True)
    options = parser.parse_args()
    uvicorn.run(create_app(options.events, options.size), port=options.port, log_level="warning", access_log=False)


if __name__ == "__main__":
    main()
