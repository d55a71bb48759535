"""The issuer's signing keys: found by discovery, fetched with a limit on time, size and number, and remembered.

Only the addresses of the settings and of the issuer's own discovery document are ever asked. Nothing that stands in a
token (`jku`, `x5u`, `iss`, `kid`) leads anywhere: a `kid` is compared with the names of the keys and nothing else.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Sequence
from typing import Any

import httpx

from kedge.core.errors import IssuerError
from kedge.core.settings import Settings
from kedge.core.tls import trusted
from kedge.core.urls import is_secure_url

log = logging.getLogger(__name__)
REFETCH_SECONDS = 10.0
"""Least time between two fetches, whatever tokens come: an unknown `kid` costs the issuer no more than that."""
STALE_SECONDS = 24 * 3600.0
"""So long the known keys serve an issuer that does not answer; then its tokens are no longer let in."""
MAX_BYTES = 1 << 20
MAX_KEYS = 100
WELL_KNOWN = "/.well-known/openid-configuration"


class Issuer:
    """The keys of one issuer. Belongs to one event loop."""

    def __init__(self, settings: Settings, clock: Callable[[], float] = time.monotonic) -> None:
        self._settings = settings
        self._clock = clock
        self._keys: tuple[dict[str, Any], ...] = ()
        self._fetched: float | None = None
        """When the keys came."""
        self._tried: float | None = None
        """When they were last asked for, with or without success."""
        self._fault: IssuerError | None = None
        self._fetching = asyncio.Lock()

    async def keys(self, *, fresh: bool = False) -> Sequence[dict[str, Any]]:
        """The keys as JWKs. `fresh`: look whether there are new ones, if that was not done just now. IssuerError."""
        if fresh or self._older_than(self._settings.oidc_refresh):
            known = self._fetched
            async with self._fetching:
                if self._fetched == known and self._may_ask():
                    await self._renew()
        if self._older_than(max(STALE_SECONDS, self._settings.oidc_refresh)):
            raise self._fault or IssuerError("The issuer's keys are not known.", hint="Try again in a moment.")
        return self._keys

    def _older_than(self, seconds: float) -> bool:
        return self._fetched is None or self._clock() - self._fetched >= seconds

    def _may_ask(self) -> bool:
        return self._tried is None or self._clock() - self._tried >= REFETCH_SECONDS

    async def _renew(self) -> None:
        """Fetch the keys; if that fails, those that are known stay."""
        self._tried = self._clock()
        try:
            self._keys = await self._fetch()
        except IssuerError as error:
            self._fault = error
            log.warning("%s", error)
        else:
            self._fetched, self._fault = self._clock(), None

    async def _fetch(self) -> tuple[dict[str, Any], ...]:
        settings = self._settings
        try:
            async with asyncio.timeout(2 * settings.oidc_timeout):
                async with httpx.AsyncClient(
                    timeout=settings.oidc_timeout, follow_redirects=False, verify=trusted()
                ) as client:
                    url = settings.oidc_jwks_url or await self._discover(client)
                    return _read_keys(url, await _get(client, url))
        except TimeoutError as error:
            raise _failed(settings.oidc_issuer, "did not answer in time") from error

    async def _discover(self, client: httpx.AsyncClient) -> str:
        """Where the keys are, by the issuer's own word."""
        address = self._settings.oidc_issuer.rstrip("/") + WELL_KNOWN
        found = await _get(client, address)
        if found.get("issuer") != self._settings.oidc_issuer:
            raise IssuerError(
                f"{address} belongs to the issuer {str(found.get('issuer'))[:200]!r}.",
                hint="Set oidc_issuer to exactly that, if it is the one you mean; a slash at the end counts.",
            )
        url = found.get("jwks_uri")
        if not isinstance(url, str) or not is_secure_url(url):
            raise _failed(address, "names no https address for its keys (jwks_uri)")
        return url


async def _get(client: httpx.AsyncClient, url: str) -> dict[str, Any]:
    """The JSON object at an address."""
    try:
        async with client.stream("GET", url, headers={"accept": "application/json"}) as response:
            if response.status_code != 200:
                raise _failed(url, f"answered with {response.status_code}")
            body = bytearray()
            async for piece in response.aiter_bytes():
                body += piece
                if len(body) > MAX_BYTES:
                    raise _failed(url, f"sent more than {MAX_BYTES} bytes")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise _failed(url, f"cannot be reached ({str(error) or type(error).__name__})") from error
    try:
        found = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise _failed(url, "did not send JSON") from error
    if not isinstance(found, dict):
        raise _failed(url, "did not send a JSON object")
    return found


def _read_keys(url: str, found: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    listed = found.get("keys")
    keys = [key for key in listed if isinstance(key, dict)] if isinstance(listed, list) else []
    if not keys or len(keys) > MAX_KEYS:
        raise _failed(url, f"sent {len(keys)} keys; 1 to {MAX_KEYS} can be")
    return tuple(keys)


def _failed(url: str, what: str) -> IssuerError:
    return IssuerError(
        f"{url} {what}.", hint="Check oidc_issuer and oidc_jwks_url, and that this machine reaches the issuer."
    )
