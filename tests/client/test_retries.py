"""What is turned away for now is tried again; what may have been done is not."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

import httpx
import pytest

from kedge.client import AsyncKedgeClient, KedgeClient, wire
from kedge.client.wire import made
from kedge.errors import DimensionMismatchError, KedgeError, MissingExtraError, StoreError

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


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Pauses that were made, without making them."""
    seen: list[float] = []

    async def nap(seconds: float) -> None:
        seen.append(seconds)

    monkeypatch.setattr("kedge.client.clients.time.sleep", seen.append)
    monkeypatch.setattr("kedge.client.clients.asyncio.sleep", nap)
    return seen


def client(server: Server) -> KedgeClient:
    return KedgeClient("http://kedge.test", transport=httpx.MockTransport(server))


def ok() -> httpx.Response:
    return httpx.Response(202, json={"job_id": "1", "document_id": None, "status": "queued", "estimated_chunks": None})


def busy(status: int = 429, **headers: str) -> httpx.Response:
    return httpx.Response(
        status, json=ERROR, headers={name.replace("_", "-"): value for name, value in headers.items()}
    )


def test_as_long_as_the_server_asks_for(pauses: list[float]) -> None:
    server = Server(busy(retry_after="3"), busy(503, retry_after="0.5"), ok())
    queued = client(server).ingest(files=[("a.md", b"text of the upload")])
    assert queued.job_id == "1"
    assert pauses == [3.0, 0.5]
    assert all(b"text of the upload" in body for body in server.asked)  # each try sends the whole body


def test_the_same_with_asyncio(pauses: list[float]) -> None:
    server = Server(httpx.ConnectError("away"), busy(retry_after="2"), ok())

    async def send() -> None:
        transport = httpx.MockTransport(server.later)
        async with AsyncKedgeClient("http://kedge.test", transport=transport) as asking:
            assert (await asking.ingest("https://kedge.test/a.md")).job_id == "1"

    asyncio.run(send())
    assert pauses[1:] == [2.0]
    assert len(server.asked) == 3


def test_a_date_is_understood_too(pauses: list[float]) -> None:
    server = Server(busy(retry_after="Sun, 06 Nov 1994 08:49:37 GMT"), ok())
    client(server).ingest("https://kedge.test/a.md")
    assert pauses == [0.0]


def test_not_for_ever(pauses: list[float]) -> None:
    server = Server(*[busy() for _ in range(10)])
    with pytest.raises(StoreError) as caught:
        client(server).ingest("https://kedge.test/a.md")
    assert len(server.asked) == 5
    assert caught.value.details == {"part": "vectors"}
    assert (caught.value.message, caught.value.hint) == ("It is away.", "Wait.")


def test_not_longer_than_a_minute(pauses: list[float]) -> None:
    server = Server(busy(retry_after="3600"))
    with pytest.raises(StoreError):
        client(server).ingest("https://kedge.test/a.md")
    assert pauses == []


@pytest.mark.parametrize(
    ("call", "tries"),
    [(lambda one: one.ingest("https://kedge.test/a.md"), 1), (lambda one: one.collections(), 5)],
)
def test_what_may_have_been_done_is_not_done_twice(
    pauses: list[float], call: Callable[[KedgeClient], object], tries: int
) -> None:
    server = Server(*[busy(503) for _ in range(10)])
    with pytest.raises(StoreError):
        call(client(server))
    assert len(server.asked) == tries


def test_other_errors_are_final(pauses: list[float]) -> None:
    server = Server(httpx.Response(502, text="<html>proxy</html>"))
    with pytest.raises(KedgeError, match="502") as caught:
        client(server).collections()
    assert "proxy" in caught.value.hint
    assert pauses == []


def test_a_server_that_is_none() -> None:
    with pytest.raises(StoreError, match="does not know"):
        client(Server(httpx.Response(200, json={"hello": "world"}))).collections()


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
