"""The two clients: the same calls, blocking and for asyncio."""

from __future__ import annotations

import asyncio
import functools
import json
import time
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, get_args

import httpx

from kedge._version import __version__
from kedge.core.errors import StoreError
from kedge.core.outside import from_json
from kedge.core.tls import trusted
from kedge.core.values import EventType, Job, StreamEvent
from kedge.surfaces.client import access_calls, calls, kept_calls, source_calls
from kedge.surfaces.client.endpoints import added
from kedge.surfaces.client.wire import ClientCall, backoff, error_of, made, pause, read, translated

P = ParamSpec("P")
T = TypeVar("T")

ATTEMPTS = 5
TIMEOUT = 60.0
POLL = (0.05, 1.0)
"""Seconds between two looks at a job: from the first to the last."""

KNOWN: frozenset[str] = frozenset(get_args(EventType))
"""Events of an answer; a server may send others beside them."""

OnBytes = Callable[[int, int], None]
"""Called with bytes so far and in all (0 when unknown)."""


class _Client(ABC):
    """What both have in common: address, key, tries."""

    def __init__(self, base_url: str, key: str | None, timeout: float, attempts: int) -> None:
        self._attempts = attempts
        headers = {"user-agent": f"kedge/{__version__}"} | ({"authorization": f"Bearer {key}"} if key else {})
        self._options: dict[str, Any] = {"base_url": base_url, "headers": headers, "timeout": timeout}
        self._base_url = httpx.URL(base_url)

    def __getattr__(self, name: str) -> Any:
        """What kinds add: `client.lessons("ros")` makes the call that `kinds.courses.surfaces.client` describes."""
        make = None if name.startswith("_") else added().get(name)
        if make is None:
            raise AttributeError(f"{type(self).__name__!r} has no {name!r}, and no installed kind adds it")

        @functools.wraps(make)
        def method(*args: Any, **kwargs: Any) -> Any:
            return self.do(make(*args, **kwargs))

        return method

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *added()})

    @abstractmethod
    def do(self, call: ClientCall[Any]) -> Any:
        """Make a call, such as a module of a kind describes it."""


def _blocking(make: Callable[P, ClientCall[T]]) -> Callable[Concatenate[KedgeClient, P], T]:
    @functools.wraps(make)
    def method(self: KedgeClient, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._do(make(*args, **kwargs))

    return method


def _blocking_events(
    make: Callable[P, ClientCall[StreamEvent]],
) -> Callable[Concatenate[KedgeClient, P], Iterator[StreamEvent]]:
    @functools.wraps(make)
    def method(self: KedgeClient, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[StreamEvent]:
        return self._events(make(*args, **kwargs))

    return method


def _awaited(make: Callable[P, ClientCall[T]]) -> Callable[Concatenate[AsyncKedgeClient, P], Awaitable[T]]:
    @functools.wraps(make)
    def method(self: AsyncKedgeClient, /, *args: P.args, **kwargs: P.kwargs) -> Awaitable[T]:
        return self._do(make(*args, **kwargs))

    return method


def _awaited_events(
    make: Callable[P, ClientCall[StreamEvent]],
) -> Callable[Concatenate[AsyncKedgeClient, P], AsyncIterator[StreamEvent]]:
    @functools.wraps(make)
    def method(self: AsyncKedgeClient, /, *args: P.args, **kwargs: P.kwargs) -> AsyncIterator[StreamEvent]:
        return self._events(make(*args, **kwargs))

    return method


def _event(line: str) -> StreamEvent | None:
    """The event of one line; None for what is none of the answer's own. An error is raised as the error that it is."""
    if not line.startswith("data:"):
        return None
    found: Mapping[str, Any] = json.loads(line.removeprefix("data:"))
    if found["type"] == "error":
        raise made(found["error"])
    return from_json(StreamEvent, found) if found["type"] in KNOWN else None


def _pauses() -> Iterator[float]:
    wait, longest = POLL
    while True:
        yield wait
        wait = min(longest, wait * 1.5)


def _deadline(within: float | None) -> float | None:
    return None if within is None else time.monotonic() + within


def _until(ends: float | None, wait: float, job_id: str) -> float:
    left = wait if ends is None else ends - time.monotonic()
    if left <= 0:
        raise StoreError(f"Job {job_id} has not ended in time.", hint="It goes on; look at it again later.")
    return min(wait, left)


class KedgeClient(_Client):
    """Talks to a Kedge server, blocking. Errors are those of `kedge.core.errors`, as the server raised them.

    with KedgeClient("http://127.0.0.1:8000", key="kdg_…") as kedge:
        kedge.wait(kedge.ingest(files=["handbook.pdf"]).job_id)
        print(kedge.ask("What is a kedge?"))
    """

    ask = _blocking(calls.ask)
    stream = _blocking_events(calls.stream)
    search = _blocking(calls.search)
    feedback = _blocking(calls.feedback)
    plan_ingest = _blocking(calls.plan_ingest)
    analytics = _blocking(calls.analytics)
    forget_user = _blocking(calls.forget_user)
    ingest = _blocking(calls.ingest)
    job = _blocking(calls.job)
    collections = _blocking(calls.collections)
    collection = _blocking(calls.collection)
    delete_collection = _blocking(calls.delete_collection)
    documents = _blocking(calls.documents)
    document = _blocking(calls.document)
    delete_document = _blocking(calls.delete_document)
    passage = _blocking(calls.passage)
    chat = _blocking(calls.chat)
    models = _blocking(calls.models)
    model = _blocking(calls.model)
    health = _blocking(calls.health)
    ready = _blocking(calls.ready)
    metrics = _blocking(calls.metrics)
    conversations = _blocking(kept_calls.conversations)
    begin_conversation = _blocking(kept_calls.begin_conversation)
    conversation = _blocking(kept_calls.conversation)
    rename_conversation = _blocking(kept_calls.rename_conversation)
    delete_conversation = _blocking(kept_calls.delete_conversation)
    ask_in_conversation = _blocking_events(kept_calls.ask_in_conversation)
    delete_turn = _blocking(kept_calls.delete_turn)
    suggestions = _blocking(kept_calls.suggestions)
    jobs = _blocking(kept_calls.jobs)
    document_page = _blocking(kept_calls.document_page)
    document_page_image = _blocking(kept_calls.document_page_image)
    original = _blocking(kept_calls.original)
    ingest_again = _blocking(kept_calls.ingest_again)
    check_access = _blocking(access_calls.check_access)
    access_report = _blocking(access_calls.access_report)
    access_log = _blocking(access_calls.access_log)
    set_readers = _blocking(access_calls.set_readers)
    hold_document = _blocking(access_calls.hold_document)
    release_document = _blocking(access_calls.release_document)
    erase_traces = _blocking(access_calls.erase_traces)
    collection_readers = _blocking(access_calls.collection_readers)
    set_collection_readers = _blocking(access_calls.set_collection_readers)
    sources = _blocking(source_calls.sources)
    add_source = _blocking(source_calls.add_source)
    source = _blocking(source_calls.source)
    sync_source = _blocking(source_calls.sync_source)
    remove_source = _blocking(source_calls.remove_source)

    def __init__(
        self,
        base_url: str = "http://127.0.0.1:8000",
        *,
        key: str | None = None,
        timeout: float = TIMEOUT,
        attempts: int = ATTEMPTS,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        """`attempts` is how often a call is made that the server turns away for now (429, 503).

        `sleep` makes the pauses between them, and between two looks at a job.
        """
        super().__init__(base_url, key, timeout, attempts)
        self._sleep = sleep
        self._http = httpx.Client(**self._options, transport=transport, verify=trusted())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def wait(
        self, job_id: str, *, within: float | None = None, on_progress: Callable[[Job], None] | None = None
    ) -> Job:
        """Look at a job until it has ended. StoreError when it has not `within` so many seconds."""
        ends, pauses = _deadline(within), _pauses()
        while True:
            found = self.job(job_id)
            if on_progress is not None:
                on_progress(found)
            if found.status.ended:
                return found
            self._sleep(_until(ends, next(pauses), job_id))

    def backup(self, path: str | Path, *, on_bytes: OnBytes | None = None) -> Path:
        """Have the server back everything up, into a file that appears when it is whole. Needs an admin key."""
        target = Path(path)
        part = target.with_name(f"{target.name}.part")
        try:
            with self._sent(calls.backup()) as response, part.open("wb") as file:
                part.chmod(0o600)
                done, total = 0, int(response.headers.get("content-length", 0))
                for piece in response.iter_bytes():
                    file.write(piece)
                    done += len(piece)
                    if on_bytes is not None:
                        on_bytes(done, total)
            return part.replace(target)
        finally:
            part.unlink(missing_ok=True)

    def do(self, call: ClientCall[Any]) -> Any:
        """Make a call and return what it reads; its events, for a call that streams."""
        return self._events(call) if call.streams else self._do(call)

    def _do(self, call: ClientCall[T]) -> T:
        with self._sent(call) as response:
            response.read()
            return read(call, response)

    def _events(self, call: ClientCall[StreamEvent]) -> Iterator[StreamEvent]:
        with self._sent(call) as response, translated(self._base_url):
            for line in response.iter_lines():
                if event := _event(line):
                    yield event

    @contextmanager
    def _sent(self, call: ClientCall[Any]) -> Iterator[httpx.Response]:
        """The response, not yet read, after as many tries as it takes."""
        for attempt in range(1, self._attempts + 1):
            with translated(self._base_url), call.request(self._http) as request:
                try:
                    response = self._http.send(request, stream=True)
                except httpx.ConnectError:  # nothing was sent
                    if attempt == self._attempts:
                        raise
                    self._sleep(backoff(attempt))
                    continue
            try:
                wait = None if call.any_status else pause(response, attempt, self._attempts)
                if wait is None:
                    if response.is_error and not call.any_status:
                        response.read()
                        raise error_of(response)
                    with translated(self._base_url):
                        yield response
                    return
            finally:
                response.close()
            self._sleep(wait)


class AsyncKedgeClient(_Client):
    """Talks to a Kedge server from asyncio. The same methods as `KedgeClient`, to be awaited."""

    ask = _awaited(calls.ask)
    stream = _awaited_events(calls.stream)
    search = _awaited(calls.search)
    feedback = _awaited(calls.feedback)
    plan_ingest = _awaited(calls.plan_ingest)
    analytics = _awaited(calls.analytics)
    forget_user = _awaited(calls.forget_user)
    ingest = _awaited(calls.ingest)
    job = _awaited(calls.job)
    collections = _awaited(calls.collections)
    collection = _awaited(calls.collection)
    delete_collection = _awaited(calls.delete_collection)
    documents = _awaited(calls.documents)
    document = _awaited(calls.document)
    delete_document = _awaited(calls.delete_document)
    passage = _awaited(calls.passage)
    chat = _awaited(calls.chat)
    models = _awaited(calls.models)
    model = _awaited(calls.model)
    health = _awaited(calls.health)
    ready = _awaited(calls.ready)
    metrics = _awaited(calls.metrics)
    conversations = _awaited(kept_calls.conversations)
    begin_conversation = _awaited(kept_calls.begin_conversation)
    conversation = _awaited(kept_calls.conversation)
    rename_conversation = _awaited(kept_calls.rename_conversation)
    delete_conversation = _awaited(kept_calls.delete_conversation)
    ask_in_conversation = _awaited_events(kept_calls.ask_in_conversation)
    delete_turn = _awaited(kept_calls.delete_turn)
    suggestions = _awaited(kept_calls.suggestions)
    jobs = _awaited(kept_calls.jobs)
    document_page = _awaited(kept_calls.document_page)
    document_page_image = _awaited(kept_calls.document_page_image)
    original = _awaited(kept_calls.original)
    ingest_again = _awaited(kept_calls.ingest_again)
    check_access = _awaited(access_calls.check_access)
    access_report = _awaited(access_calls.access_report)
    access_log = _awaited(access_calls.access_log)
    set_readers = _awaited(access_calls.set_readers)
    hold_document = _awaited(access_calls.hold_document)
    release_document = _awaited(access_calls.release_document)
    erase_traces = _awaited(access_calls.erase_traces)
    collection_readers = _awaited(access_calls.collection_readers)
    set_collection_readers = _awaited(access_calls.set_collection_readers)
    sources = _awaited(source_calls.sources)
    add_source = _awaited(source_calls.add_source)
    source = _awaited(source_calls.source)
    sync_source = _awaited(source_calls.sync_source)
    remove_source = _awaited(source_calls.remove_source)

    def __init__(
        self,
        base_url: str = "http://127.0.0.1:8000",
        *,
        key: str | None = None,
        timeout: float = TIMEOUT,
        attempts: int = ATTEMPTS,
        transport: httpx.AsyncBaseTransport | None = None,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        """`attempts` is how often a call is made that the server turns away for now (429, 503).

        `sleep` makes the pauses between them, and between two looks at a job.
        """
        super().__init__(base_url, key, timeout, attempts)
        self._options["headers"] |= headers or {}
        self._sleep = sleep
        self._http = httpx.AsyncClient(**self._options, transport=transport, verify=trusted())

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Let go of the connections."""
        await self._http.aclose()

    async def wait(
        self, job_id: str, *, within: float | None = None, on_progress: Callable[[Job], None] | None = None
    ) -> Job:
        """Look at a job until it has ended. StoreError when it has not `within` so many seconds."""
        ends, pauses = _deadline(within), _pauses()
        while True:
            found = await self.job(job_id)
            if on_progress is not None:
                on_progress(found)
            if found.status.ended:
                return found
            await self._sleep(_until(ends, next(pauses), job_id))

    async def backup(self, path: str | Path, *, on_bytes: OnBytes | None = None) -> Path:
        """Have the server back everything up, into a file that appears when it is whole. Needs an admin key."""
        target = Path(path)
        part = target.with_name(f"{target.name}.part")
        try:
            async with self._sent(calls.backup()) as response:
                with part.open("wb") as file:
                    part.chmod(0o600)
                    done, total = 0, int(response.headers.get("content-length", 0))
                    async for piece in response.aiter_bytes():
                        await asyncio.to_thread(file.write, piece)
                        done += len(piece)
                        if on_bytes is not None:
                            on_bytes(done, total)
            return part.replace(target)
        finally:
            part.unlink(missing_ok=True)

    def do(self, call: ClientCall[Any]) -> Any:
        """Make a call: await what it reads; for a call that streams, go through its events with `async for`."""
        return self._events(call) if call.streams else self._do(call)

    async def _do(self, call: ClientCall[T]) -> T:
        async with self._sent(call) as response:
            await response.aread()
            return read(call, response)

    async def _events(self, call: ClientCall[StreamEvent]) -> AsyncIterator[StreamEvent]:
        async with self._sent(call) as response:
            with translated(self._base_url):
                async for line in response.aiter_lines():
                    if event := _event(line):
                        yield event

    @asynccontextmanager
    async def _sent(self, call: ClientCall[Any]) -> AsyncIterator[httpx.Response]:
        for attempt in range(1, self._attempts + 1):
            with translated(self._base_url), call.request(self._http) as request:
                try:
                    response = await self._http.send(request, stream=True)
                except httpx.ConnectError:  # nothing was sent
                    if attempt == self._attempts:
                        raise
                    await self._sleep(backoff(attempt))
                    continue
            try:
                wait = None if call.any_status else pause(response, attempt, self._attempts)
                if wait is None:
                    if response.is_error and not call.any_status:
                        await response.aread()
                        raise error_of(response)
                    with translated(self._base_url):
                        yield response
                    return
            finally:
                await response.aclose()
            await self._sleep(wait)
