"""What is turned away for now is tried again; what may have been done is not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import httpx
import pytest

from kedge.core.errors import DimensionMismatchError, KedgeError, MissingExtraError, StoreError
from kedge.surfaces.client import AsyncKedgeClient, KedgeClient, wire
from kedge.surfaces.client.wire import made

ERROR = {"error": {"code": "store_failed", "message": "It is away.", "hint": "Wait.", "details": {"part": "vectors"}}}


class Server:
    """Answers from a list; remembers what it was asked."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self._answers: Iterator[httpx.Response | Exception] = iter(answers)
        self.asked: list[bytes] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request.read())
        answer = next(self._answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def later(self, request: httpx.Request) -> httpx.Response:
        await request.aread()
        return self(request)


class Asking:
    """A client of such a server; remembers the pauses, without making them."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.pauses: list[float] = []
        self.server = Server(*answers)
        transport = httpx.MockTransport(self.server)
        self.client = KedgeClient("http://kedge.test", transport=transport, sleep=self.pauses.append)


def ok() -> httpx.Response:
    return httpx.Response(202, json={"job_id": "1", "document_id": None, "status": "queued", "estimated_chunks": None})


def busy(status: int = 429, **headers: str) -> httpx.Response:
    return httpx.Response(
        status, json=ERROR, headers={name.replace("_", "-"): value for name, value in headers.items()}
    )


def test_as_long_as_the_server_asks_for() -> None:
    asking = Asking(busy(retry_after="3"), busy(503, retry_after="0.5"), ok())
    queued = asking.client.ingest(files=[("a.md", b"text of the upload")])
    assert queued.job_id == "1"
    assert asking.pauses == [3.0, 0.5]
    assert all(b"text of the upload" in body for body in asking.server.asked)  # each try sends the whole body


def test_the_same_with_asyncio() -> None:
    server = Server(httpx.ConnectError("away"), busy(retry_after="2"), ok())
    pauses: list[float] = []

    async def nap(seconds: float) -> None:
        pauses.append(seconds)

    async def send() -> None:
        transport = httpx.MockTransport(server.later)
        async with AsyncKedgeClient("http://kedge.test", transport=transport, sleep=nap) as asking:
            assert (await asking.ingest("https://kedge.test/a.md")).job_id == "1"

    asyncio.run(send())
    assert pauses[1:] == [2.0]
    assert len(server.asked) == 3


def test_a_date_is_understood_too() -> None:
    asking = Asking(busy(retry_after="Sun, 06 Nov 1994 08:49:37 GMT"), ok())
    asking.client.ingest("https://kedge.test/a.md")
    assert asking.pauses == [0.0]


def test_not_for_ever() -> None:
    asking = Asking(*[busy() for _ in range(10)])
    with pytest.raises(StoreError) as caught:
        asking.client.ingest("https://kedge.test/a.md")
    assert (len(asking.server.asked), len(asking.pauses)) == (5, 4)
    assert caught.value.details == {"part": "vectors"}
    assert (caught.value.message, caught.value.hint) == ("It is away.", "Wait.")


def test_not_longer_than_a_minute() -> None:
    asking = Asking(busy(retry_after="3600"))
    with pytest.raises(StoreError):
        asking.client.ingest("https://kedge.test/a.md")
    assert asking.pauses == []


@pytest.mark.parametrize(
    ("call", "tries"),
    [(lambda one: one.ingest("https://kedge.test/a.md"), 1), (lambda one: one.collections(), 5)],
)
def test_what_may_have_been_done_is_not_done_twice(call: Callable[[KedgeClient], object], tries: int) -> None:
    asking = Asking(*[busy(503) for _ in range(10)])
    with pytest.raises(StoreError):
        call(asking.client)
    assert len(asking.server.asked) == tries


def test_other_errors_are_final() -> None:
    asking = Asking(httpx.Response(502, text="<html>proxy</html>"))
    with pytest.raises(KedgeError, match="502") as caught:
        asking.client.collections()
    assert "proxy" in caught.value.hint
    assert asking.pauses == []


def test_a_server_that_is_none() -> None:
    with pytest.raises(StoreError, match="does not know"):
        Asking(httpx.Response(200, json={"hello": "world"})).client.collections()


def test_every_error_can_be_made_from_what_is_sent() -> None:
    for original in (
        DimensionMismatchError(found=1, expected=2, collection="x"),
        MissingExtraError("x", "y"),
        StoreError("m", hint="h", details={"a": 1}),
    ):
        shape = original.as_json()["error"]
        assert isinstance(shape, dict)
        copy = made(shape)
        assert type(copy) is type(original)
        assert copy.as_json() == original.as_json()
    unknown = made({"code": "of_tomorrow", "message": "m", "hint": "h", "details": {}})
    assert (type(unknown), unknown.details) == (KedgeError, {"code": "of_tomorrow"})


def test_the_key_goes_along_and_is_not_shown() -> None:
    seen: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers["authorization"])
        return httpx.Response(200, json={"collections": []})

    asking = KedgeClient("http://kedge.test/behind/a/proxy", key="kdg_x", transport=httpx.MockTransport(answer))
    assert asking.collections() == []
    assert seen == ["Bearer kdg_x"]
    assert "kdg_x" not in repr(asking)


def test_pauses_grow_and_differ() -> None:
    assert wire.backoff(1) < wire.backoff(6) <= 15
    assert len({wire.backoff(3) for _ in range(10)}) > 1
