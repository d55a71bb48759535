"""Hosts that connectors may talk to: public ones, unless the settings allow others. One rule with downloads."""

from __future__ import annotations

from collections.abc import Callable
from ipaddress import ip_address
from urllib.parse import urlsplit

from kedge.core.errors import ForbiddenAddressError, UnreadableError, UsageError
from kedge.core.settings import Settings
from kedge.ingest.sources.fetch import is_public, resolve

Resolve = Callable[[str, int], list[str]]


def check_host(host: str, port: int, settings: Settings, resolve: Resolve = resolve) -> str:
    """An address of the host, each of which was looked at. ForbiddenAddressError for one that is not public,
    UnreadableError for one that nobody knows."""
    try:
        found = [ip_address(text.split("%")[0]) for text in resolve(host, port)]
    except (OSError, UnicodeError) as error:
        raise UnreadableError(f"The host {host} is not known.", hint="Check address and network.") from error
    if not found:
        raise UnreadableError(f"The host {host} has no address.", hint="Check the address and the network.")
    if not settings.allow_private_urls and not all(map(is_public, found)):
        raise ForbiddenAddressError(
            f"{host} does not lead to a public address.",
            hint="Set allow_private_urls (KEDGE_ALLOW_PRIVATE_URLS=true) if you trust it.",
            details={"host": host},
        )
    return str(found[0])


def host_of(url: str, port: int) -> tuple[str, int]:
    """Host and port of an address. UsageError where it names none."""
    parts = urlsplit(url)
    if not parts.hostname:
        raise UsageError(f"{url} names no host.", hint="Check its spelling.")
    return parts.hostname, parts.port or port
