"""One way to ask a model over HTTP: a bound on requests at a time, retries with backoff, errors translated once.

The key is sent as a bearer token and appears in no message, log or repr.
"""

from __future__ import annotations

import asyncio
import email.utils
import random
import time
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import parse_qs, urlsplit

from pydantic import SecretStr

from kedge.core.errors import ConfigError, ModelError
from kedge.core.stages import carried

if TYPE_CHECKING:
    import httpx

RETRIED = frozenset({408, 425, 429, 500, 502, 503, 504, 529})
"""Statuses that may pass when asked again."""
CONCURRENT = 4
"""Requests to one endpoint at a time."""
EXCERPT = 200
"""Characters of a server's own message that are repeated."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Backoff:
    """How often and how long to wait: exponential with jitter, or what the server asks for."""

    attempts: int = 5
    first: float = 0.5
    longest: float = 30.0
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    def delay(self, attempt: int, asked: float | None) -> float:
        """Seconds before the next attempt; `attempt` counts from 0."""
        if asked is not None:
            return min(asked, self.longest)
        full = min(self.first * 2.0**attempt, self.longest)
        return float(full * random.uniform(0.5, 1.0))  # noqa: S311 (no secret)


def refused(error: ModelError) -> bool:
    """Whether the server took the request for faulty, so that another request may do better."""
    return error.details.get("status") in (400, 422)


@dataclass(slots=True)
class Endpoint:
    """A model server. Belongs to one event loop at a time; `ask_blocking` may be called from anywhere."""

    base: str
    """Address without a slash at its end; paths are put behind it."""
    key: SecretStr | None = None
    key_name: str = ""
    """Name of the environment variable that holds the key, for hints."""
    timeout: float = 30.0
    backoff: Backoff = Backoff()
    _client: httpx.AsyncClient | None = field(default=None, init=False, repr=False)
    _slots: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(CONCURRENT), init=False, repr=False)
    _loop: asyncio.AbstractEventLoop | None = field(default=None, init=False, repr=False)

    async def ask(self, path: str, body: object) -> Any:
        """POST the body as JSON and return the reply's JSON. Raises ModelError."""
        import httpx  # loaded by whoever has a model on a server

        client = self._open()
        async with self._slots:
            attempt = 0
            while True:
                last = attempt >= self.backoff.attempts - 1
                try:
                    reply = await client.post(f"{self.base}{path}", json=body, headers=carried())
                except httpx.RequestError as error:
                    if last or isinstance(error, httpx.UnsupportedProtocol):
                        raise self._unreachable(error, attempt + 1) from error
                    wait = None
                else:
                    if reply.status_code not in RETRIED or last:
                        return self._read(reply, path)
                    wait = _retry_after(reply)
                await self.backoff.sleep(self.backoff.delay(attempt, wait))
                attempt += 1

    def ask_blocking(self, path: str, body: object) -> Any:
        """Like ask, for code without an event loop and for code within one: on a connection and thread of its own."""
        own = Endpoint(self.base, self.key, self.key_name, self.timeout, self.backoff)

        async def once() -> Any:
            try:
                return await own.ask(path, body)
            finally:
                await own.close()

        with ThreadPoolExecutor(1) as thread:
            return thread.submit(lambda: asyncio.run(once())).result()

    async def close(self) -> None:
        """Close the connections. The next `ask` opens them anew."""
        client, self._client = self._client, None
        if client is not None and self._loop is asyncio.get_running_loop():
            await client.aclose()

    def _open(self) -> httpx.AsyncClient:
        import httpx

        from kedge.core.tls import trusted

        loop = asyncio.get_running_loop()
        if self._client is None or self._loop is not loop:
            headers = {"Authorization": f"Bearer {self.key.get_secret_value()}"} if self.key else {}
            self._client = httpx.AsyncClient(headers=headers, timeout=self.timeout, verify=trusted())
            self._slots = asyncio.Semaphore(CONCURRENT)
            self._loop = loop
        return self._client

    def _read(self, reply: httpx.Response, path: str) -> Any:
        if reply.status_code >= 300:
            raise self._failed(reply, path)
        try:
            return reply.json()
        except ValueError as error:
            raise ModelError(
                f"{self.base}{path} answered with something that is not JSON.",
                hint="Is this the address of a model server? It usually ends in /v1.",
            ) from error

    def _failed(self, reply: httpx.Response, path: str) -> ModelError:
        status = reply.status_code
        where = f"{self.base}{path}"
        if status in (401, 403):
            hint = f"Set {self.key_name} to a valid key." if self.key_name else ""
            return ModelError(f"{where} refused the key ({status}).", hint=hint, details={"status": status})
        message = f"{where} answered {status}: {self._excerpt(reply)}".rstrip(": ")
        if status == 404:
            hint = "Check the address (it usually ends in /v1) and the model's name."
        elif status == 429:
            hint = "The server limits the rate, or the account has no quota left. Try again later."
        elif status == 413:
            hint = "A batch or a text is too large for the server: set batch= or window= in the model's name."
        else:
            hint = "See the server's log."
        return ModelError(message, hint=hint, details={"status": status})

    def _unreachable(self, error: httpx.RequestError, attempts: int) -> ModelError:
        import httpx

        if isinstance(error, httpx.TimeoutException):
            what = f"did not answer within {self.timeout:g} s"
        else:
            what = f"cannot be reached ({type(error).__name__})"
        return ModelError(
            f"{self.base} {what}.",
            hint="Check that the server runs and that the address is right, or raise model_timeout.",
            details={"attempts": attempts},
        )

    def _excerpt(self, reply: httpx.Response) -> str:
        text = " ".join(reply.text.split())
        secret = self.key.get_secret_value() if self.key else ""
        return (text.replace(secret, "***") if secret else text)[:EXCERPT]


def _retry_after(reply: httpx.Response) -> float | None:
    """Seconds that the server asks to wait: a number or a date (RFC 9110)."""
    value = reply.headers.get("retry-after", "").strip()
    if value.isdigit():
        return float(value)
    try:
        when = email.utils.parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, when.timestamp() - time.time())


async def gather(jobs: Sequence[Awaitable[T]]) -> list[T]:
    """Results in order. The first failure cancels the rest and is raised."""
    tasks = [asyncio.ensure_future(job) for job in jobs]
    try:
        return await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def options(query: str, known: Sequence[str], what: str) -> dict[str, str]:
    """The parameters of a model's name. Raises ConfigError for one that is unknown or given twice."""
    given = parse_qs(query, keep_blank_values=True)
    faults = [name for name, values in given.items() if name not in known or len(values) > 1]
    if faults:
        raise ConfigError(
            f"{what} cannot take {', '.join(sorted(faults))}.", hint=f"It takes, once each: {', '.join(known)}."
        )
    return {name: values[0] for name, values in given.items()}


def number(given: dict[str, str], name: str, default: int, most: int = 1_000_000) -> int:
    """A whole number from 1 to `most`. Raises ConfigError for anything else."""
    text = given.get(name, "")
    if name not in given:
        return default
    if not text.isdecimal() or not 1 <= int(text) <= most:
        raise ConfigError(
            f"{name}={text} is not a whole number from 1 to {most}.", hint=f"Leave {name} out for {default}."
        )
    return int(text)


def base_url(url: str, what: str) -> str:
    """The address without a slash at its end. Raises ConfigError for one that is no http address or holds a secret."""
    try:
        parts = urlsplit(url)
        valid = parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        valid = False
    if not valid:
        raise ConfigError(
            f"{what} needs an address like http://host:8080/v1.", hint="Begin with http:// or https:// and name a host."
        )
    if parts.username or parts.password:
        raise ConfigError(
            f"The address of {what} holds a user name or password, which would be stored and shown.",
            hint="Give the key in the environment instead.",
        )
    return url.rstrip("/")
