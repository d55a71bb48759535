"""Embeddings in Redis: `embed:{digest}` → the vector's bytes, for 24 hours.

A cache must never be in the way: a server that does not answer is left alone for a while, longer each time, and
everything is embedded meanwhile as if there were none.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeVar
from urllib.parse import parse_qsl

from redis.asyncio import Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import AuthenticationError, RedisError

from kedge.core.errors import ConfigError, StoreError
from kedge.core.settings import Settings
from kedge.core.urls import mask_url, split_url

log = logging.getLogger(__name__)
T = TypeVar("T")

PREFIX = "embed:"
EXPIRE_SECONDS = 24 * 60 * 60
CONNECT_SECONDS = 0.5
ANSWER_SECONDS = 1.0
REST_SECONDS = (1.0, 60.0)
"""How long the server is left alone after its first failure, and at most."""
_AT_ONCE = 500
"""Keys of one command: with 1,536 dimensions 3 MB."""
_OPTIONS = frozenset(
    {"db", "ssl_cert_reqs", "ssl_ca_certs", "ssl_ca_path", "ssl_certfile", "ssl_keyfile", "ssl_check_hostname"}
)
_HINT = "Write redis://[user:password@]host[:6379][/db], or rediss:// for TLS."


class RedisCache:
    """The `VectorCache` port. Belongs to one event loop."""

    def __init__(self, url: str, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.shown = mask_url(url)
        self._client = _client(url)
        self._clock = clock
        self._rest = 0.0
        """Seconds of the present rest; 0 while the server answers."""
        self.on_failure: Callable[[], None] = lambda: None
        """Called for every call that the server failed."""
        self._wake = 0.0

    async def get(self, keys: Sequence[bytes]) -> list[bytes | None]:
        async def ask() -> list[bytes | None]:
            names = [_name(key) for key in keys]
            found: list[bytes | None] = []
            for start in range(0, len(names), _AT_ONCE):
                kept = await self._client.mget(names[start : start + _AT_ONCE])
                found += [value if isinstance(value, bytes) else None for value in kept]
            return found

        return await self._try(ask, [None] * len(keys))

    async def put(self, entries: Mapping[bytes, bytes]) -> None:
        async def tell() -> None:
            items = list(entries.items())
            for start in range(0, len(items), _AT_ONCE):
                async with self._client.pipeline(transaction=False) as pipe:
                    for key, value in items[start : start + _AT_ONCE]:
                        pipe.set(_name(key), value, ex=EXPIRE_SECONDS)
                    await pipe.execute()

        await self._try(tell, None)

    async def version(self) -> str:
        """Name and version of the server. StoreError when it does not answer."""
        try:
            info = await self._client.info("server")
        except (RedisError, OSError) as error:
            raise _unreachable(self.shown, error) from error
        return f"Redis {info.get('redis_version', '')}".strip()

    async def close(self) -> None:
        await self._client.aclose()

    async def _try(self, work: Callable[[], Awaitable[T]], otherwise: T) -> T:
        again = self._rest > 0
        if again:
            if self._clock() < self._wake:
                return otherwise
            self._wake = self._clock() + self._rest  # one caller tries again; the others go on without
        try:
            done = await work()
        except (RedisError, OSError) as error:
            self.on_failure()
            if again or not self._rest:  # else a call beside this one has met the same failure
                self._failed(error)
            return otherwise
        if self._rest:
            log.info("the embedding cache %s is back", self.shown)
            self._rest = 0.0
        return done

    def _failed(self, error: Exception) -> None:
        """Once for each outage in the log: what follows from it is no news."""
        if not self._rest:
            log.warning("the embedding cache %s is not used for now: %s", self.shown, _said(error))
        first, longest = REST_SECONDS
        self._rest = min(max(first, 2 * self._rest), longest)
        self._wake = self._clock() + self._rest


def open_cache(url: str, _settings: Settings) -> RedisCache:
    """`redis://[user:password@]host[:6379][/db]` or `rediss://…`. Connects on first use; ConfigError for a bad URL."""
    return RedisCache(url)


def _client(url: str) -> Redis:
    parts = split_url(url, "The cache URL", _HINT)
    unknown = sorted({name for name, _ in parse_qsl(parts.query, keep_blank_values=True)} - _OPTIONS)
    database = parts.path.strip("/")
    if unknown or not parts.hostname or (database and not database.isdecimal()):
        fault = f"has unknown options ({', '.join(unknown)})" if unknown else "names no host or no valid database"
        raise ConfigError(f"The cache URL {mask_url(url)} {fault}.", hint=_HINT)
    return Redis.from_url(
        url,
        socket_connect_timeout=CONNECT_SECONDS,
        socket_timeout=ANSWER_SECONDS,
        retry=Retry(NoBackoff(), 0),
    )


def _name(key: bytes) -> str:
    return f"{PREFIX}{key.hex()}"


def _unreachable(shown: str, error: Exception) -> StoreError:
    if isinstance(error, AuthenticationError):
        return StoreError(
            f"The cache {shown} refused the password.", hint="Check user and password in cache_url (KEDGE_CACHE_URL)."
        )
    return StoreError(
        f"The cache {shown} cannot be used: {_said(error)}",
        hint="Check that the server runs and that cache_url names it. Kedge works without it, only slower.",
    )


def _said(error: Exception) -> str:
    return (str(error) or type(error).__name__).splitlines()[0].rstrip(".") + "."
