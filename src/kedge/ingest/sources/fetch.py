"""Downloads from the public web, and from nowhere else unless the settings allow it.

Every address of every hop is checked before a connection is made, and the connection goes to the very address that
was checked: the name is not looked up a second time, so an answer that changes in between leads nowhere.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import parsedate_to_datetime
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address
from pathlib import PurePosixPath
from urllib.parse import unquote

import httpx

from kedge.core.errors import ForbiddenAddressError, SourceTooLargeError, UnreadableError, UnsupportedFormatError
from kedge.core.settings import Settings
from kedge.core.tls import trusted
from kedge.core.untrusted import file_name
from kedge.core.urls import mask_url
from kedge.ingest.parse.formats import known_type
from kedge.ingest.sources.deadline import DeadlineWatch
from kedge.ingest.sources.download import Download

MAX_REDIRECTS = 5
Address = IPv4Address | IPv6Address
Resolve = Callable[[str, int], list[str]]
_NAT64 = IPv6Network("64:ff9b::/96")
_PIECE = 1 << 16
_HEADERS = {
    "User-Agent": "kedge (+document ingestion)",
    "Accept": "text/html, text/markdown, text/plain, application/pdf;q=0.9, */*;q=0.5",
    "Accept-Encoding": "gzip, deflate",
}
_ENCODINGS = frozenset(("", "identity", "gzip", "x-gzip", "deflate"))
"""Those whose pieces grow a thousandfold at most, so that the size can be checked piece by piece."""
_NO_DOCUMENTS = ("image/", "audio/", "video/", "font/", "application/zip", "application/x-tar", "application/gzip")
_WEB_PORTS = frozenset((80, 443))
_SYSTEM_PORTS = range(1024)


@dataclass(frozen=True, slots=True)
class Fetched:
    """What an address led to."""

    url: str
    """Where it came from in the end, after redirects."""
    name: str
    """Last part of the path, or the host."""
    download: Download
    content_type: str | None
    updated_at: datetime | None
    """From `Last-Modified`."""
    etag: str | None = None
    """As the server gave it."""
    last_modified: str | None = None
    """As the server wrote it."""


@dataclass(frozen=True, slots=True)
class FetchTerms:
    """What else is said with a request, and where it may lead."""

    headers: Mapping[str, str] = field(default_factory=dict)
    """Sent to the first address alone, and wherever it redirects to on the same host."""
    stays: Callable[[str], bool] = lambda _url: True
    """Whether a redirect to that address is followed."""
    most_bytes: int | None = None
    """Instead of the setting `max_source_bytes`."""
    any_type: bool = False
    """Whatever type the server declares: it is no document that is asked for."""


NOT_MODIFIED = 304
_PLAIN = FetchTerms()


def resolve(host: str, port: int) -> list[str]:
    """All addresses of a host, by the system's resolver. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def fetch(url: str, settings: Settings, *, resolve: Resolve = resolve, asked: FetchTerms = _PLAIN) -> Fetched:
    """Download one address to a temporary file.

    Raises ForbiddenAddressError for anything but public http(s), SourceTooLargeError, and UnreadableError for all
    that servers and networks do wrong; its details hold the `status` of an answer that is no document.
    """
    if asked.most_bytes is not None:
        settings = settings.model_copy(update={"max_source_bytes": min(asked.most_bytes, settings.max_source_bytes)})
    deadline = time.monotonic() + settings.url_timeout
    watch = DeadlineWatch()
    try:
        with watch.until(deadline):
            return _follow(httpx.URL(url), settings, resolve, deadline, watch=watch, asked=asked)
    except httpx.InvalidURL as error:
        raise UnreadableError(f"{url} is not a valid address: {error}.", hint="Check its spelling.") from error
    except httpx.TimeoutException as error:
        raise _too_slow(url, settings) from error
    except httpx.HTTPError as error:
        if watch.late:
            raise _too_slow(url, settings) from error
        hint = "Check that the server is up and the address is right."
        raise UnreadableError(
            f"{url} cannot be downloaded: {str(error) or type(error).__name__}.", hint=hint
        ) from error


def _follow(
    url: httpx.URL, settings: Settings, resolve: Resolve, deadline: float, *, watch: DeadlineWatch, asked: FetchTerms
) -> Fetched:
    first = url
    for _ in range(MAX_REDIRECTS + 1):
        addresses = _checked_addresses(url, settings, resolve)
        # No proxies from the environment: they would look the name up again.
        with httpx.Client(trust_env=False, follow_redirects=False, verify=trusted(trust_env=False)) as client:
            headers = asked.headers if url.host == first.host else {}
            response = _send(client, url, addresses, deadline, settings=settings, watch=watch, headers=headers)
            try:
                if not response.has_redirect_location:
                    return _save(url, response, settings, deadline, any_type=asked.any_type)
                url = url.join(response.headers["location"])
                if not asked.stays(str(url)):
                    raise UnreadableError(
                        f"{first} redirects to another site.",
                        hint="Connect that one if you want it.",
                        details={"status": response.status_code},
                    )
            finally:
                response.close()
    raise UnreadableError(f"{first} redirects more than {MAX_REDIRECTS} times.", hint="Use its final address.")


def _checked_addresses(url: httpx.URL, settings: Settings, resolve: Resolve) -> list[Address]:
    if url.scheme not in ("http", "https"):
        raise ForbiddenAddressError(
            f"{url} is not an http or https address.", hint="Download it yourself and ingest the file."
        )
    if url.userinfo:
        raise ForbiddenAddressError(
            f"{mask_url(str(url))} carries a user or a password.",
            hint="Addresses are shown with answers: leave it out.",
        )
    if _port(url) in _SYSTEM_PORTS and _port(url) not in _WEB_PORTS and not settings.allow_private_urls:
        raise ForbiddenAddressError(
            f"{url} leads to port {_port(url)}, which is no port of the web.", hint="Use 80, 443, or one from 1024 on."
        )
    if not url.host:
        raise UnreadableError(f"{url} names no host.", hint="Check its spelling.")
    try:
        found = [ip_address(text.split("%")[0]) for text in resolve(url.host, _port(url))]
    except (OSError, UnicodeError) as error:
        raise UnreadableError(f"The host {url.host} is not known.", hint="Check address and network.") from error
    if not found:
        raise UnreadableError(f"The host {url.host} has no address.", hint="Check the address and the network.")
    closed = [address for address in found if not is_public(address)]
    if closed and not settings.allow_private_urls:
        raise ForbiddenAddressError(
            f"{url} does not lead to a public address.",  # to which one, who asks need not learn
            hint="Set allow_private_urls (KEDGE_ALLOW_PRIVATE_URLS=true) if you trust it.",
            details={"host": url.host},
        )
    return found


def is_public(address: Address) -> bool:
    """Whether an address belongs to the public internet, looking through all ways to wrap IPv4 in IPv6."""
    if isinstance(address, IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if inner is None and (address in _NAT64 or int(address) >> 32 == 0):
            inner = IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
        if address.is_site_local:
            return False
    return address.is_global and not (
        address.is_private
        or address.is_loopback
        or address.is_link_local
        or address.is_multicast
        or address.is_reserved
        or address.is_unspecified
    )


def _send(
    client: httpx.Client,
    url: httpx.URL,
    addresses: list[Address],
    deadline: float,
    *,
    settings: Settings,
    watch: DeadlineWatch,
    headers: Mapping[str, str],
) -> httpx.Response:
    """Ask the first address that answers, by number; the server still hears the name, in Host and in TLS."""
    for number, address in enumerate(addresses):
        request = client.build_request(
            "GET",
            url.copy_with(host=str(address), fragment=None),
            headers={**_HEADERS, **headers, "Host": url.netloc.decode("ascii")},
            timeout=_left(deadline, url, settings),
            extensions={"sni_hostname": url.host, "trace": watch.trace},
        )
        try:
            return client.send(request, stream=True)
        except httpx.ConnectError:
            if number == len(addresses) - 1:
                raise
    raise UnreadableError(f"{url} has no address to connect to.")


def _save(url: httpx.URL, response: httpx.Response, settings: Settings, deadline: float, *, any_type: bool) -> Fetched:
    if response.status_code != httpx.codes.OK:
        raise UnreadableError(
            f"{url} answered {response.status_code} {response.reason_phrase}.",
            hint="Open it in a browser; pages behind a login cannot be ingested by address.",
            details={"status": response.status_code},
        )
    kind = response.headers.get("content-type", "").strip().lower()
    if not any_type and kind.startswith(_NO_DOCUMENTS) and not known_type(kind):
        raise UnsupportedFormatError(f"{url} is {kind[:60]}, not a document.", hint="Give the address of a text.")
    coding = response.headers.get("content-encoding", "").strip().lower()
    if coding not in _ENCODINGS:
        raise UnreadableError(
            f"{url} is packed as {coding[:40]!r}, which was not asked for.", hint="Download it yourself."
        )
    download = Download()
    for piece in response.iter_bytes(_PIECE):
        download.write(piece)
        if download.size > settings.max_source_bytes:
            download.discard()
            raise SourceTooLargeError(
                f"{url} is larger than {settings.max_source_bytes:,} bytes.",
                hint="Raise the setting max_source_bytes (KEDGE_MAX_SOURCE_BYTES).",
            )
        _left(deadline, url, settings)
    download.finish()
    name = file_name(unquote(PurePosixPath(url.path).name) or url.host)
    headers = response.headers
    return Fetched(
        str(url),
        name,
        download,
        headers.get("content-type"),
        _last_modified(response),
        headers.get("etag"),
        headers.get("last-modified"),
    )


def _last_modified(response: httpx.Response) -> datetime | None:
    try:
        return parsedate_to_datetime(response.headers["last-modified"])
    except (KeyError, ValueError):
        return None


def _port(url: httpx.URL) -> int:
    return url.port or (443 if url.scheme == "https" else 80)


def _left(deadline: float, url: httpx.URL, settings: Settings) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise _too_slow(str(url), settings)
    return left


def _too_slow(url: str, settings: Settings) -> UnreadableError:
    return UnreadableError(
        f"{url} took longer than {settings.url_timeout:g} s.", hint="Raise the setting url_timeout (KEDGE_URL_TIMEOUT)."
    )
