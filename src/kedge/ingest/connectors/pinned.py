"""How drivers that bring their own HTTP client reach a host: by the address that was looked at, within bounds."""

from __future__ import annotations

from collections.abc import Iterator

import httpx

from kedge.core.settings import Settings
from kedge.core.tls import trusted
from kedge.ingest.connectors.hosts import Resolve, check_host
from kedge.ingest.sources.fetch import resolve

MOST_LISTING = 64 << 20
"""Bytes of an answer that is no file: a listing."""
PLAIN = ("", "identity")


class PinnedTransport(httpx.BaseTransport):
    """Each host is looked up once and asked at that address; answers come unpacked, and listings within a size.

    Requests raise ForbiddenAddressError, UnreadableError and `httpx.HTTPError`.
    """

    def __init__(self, settings: Settings, resolve: Resolve = resolve) -> None:
        self._settings = settings
        self._resolve = resolve
        self._inner = httpx.HTTPTransport(verify=trusted(trust_env=False), trust_env=False)
        self._known: dict[tuple[str, int], str] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """The answer of the host; its name still stands in `Host` and in TLS."""
        url = request.url
        port = url.port or (443 if url.scheme == "https" else 80)
        where = (url.host, port)
        if where not in self._known:
            self._known[where] = check_host(*where, self._settings, self._resolve)
        request.url = url.copy_with(host=self._known[where])
        request.extensions = {**request.extensions, "sni_hostname": url.host}
        request.headers["accept-encoding"] = "identity"
        response = self._inner.handle_request(request)
        request.url = url
        if response.headers.get("content-encoding", "").strip().lower() not in PLAIN:
            response.close()
            raise httpx.DecodingError("the answer is packed, which was not asked for", request=request)
        if request.method != "GET" and isinstance(response.stream, httpx.SyncByteStream):
            response.stream = _Bounded(response.stream, request)
        return response

    def close(self) -> None:
        """Close its connections."""
        self._inner.close()


class _Bounded(httpx.SyncByteStream):
    """A body that ends in an error where it is larger than a listing may be."""

    def __init__(self, inner: httpx.SyncByteStream, request: httpx.Request) -> None:
        self._inner = inner
        self._request = request

    def __iter__(self) -> Iterator[bytes]:
        size = 0
        for piece in self._inner:
            size += len(piece)
            if size > MOST_LISTING:
                raise httpx.ReadError(f"a listing is larger than {MOST_LISTING:,} bytes", request=self._request)
            yield piece

    def close(self) -> None:
        """Let go of the connection."""
        self._inner.close()
