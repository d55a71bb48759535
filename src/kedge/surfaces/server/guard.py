"""What every request must keep to before anything reads it, and what every response carries.

A page of another site can make a browser send requests here. `Host` and `Origin` say for whom: a name that was made to
lead to this machine (DNS rebinding) is not one of this server's own names, and another site's page has another origin.
"""

from __future__ import annotations

from urllib.parse import unquote_to_bytes, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import Scope

from kedge.core.errors import UsageError
from kedge.core.settings import Settings
from kedge.core.urls import is_loopback

API_POLICY = "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
"""For everything that is no page: nothing in it may run or load, wherever a browser shows it."""
PERMISSIONS = ", ".join(
    f"{name}=()" for name in ("camera", "display-capture", "geolocation", "microphone", "payment", "usb")
)
HEADERS = {
    "content-security-policy": API_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "permissions-policy": PERMISSIONS,
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
"""Set where a route has not set its own."""


def check_request(scope: Scope, settings: Settings) -> None:
    """UsageError for a request to a name that is not this server's, or with a NUL in its address."""
    if b"\0" in scope["path"].encode("utf-8", "replace") or b"\0" in unquote_to_bytes(scope["query_string"]):
        raise UsageError("The address holds a NUL.", hint="Leave it out.")
    host = Headers(scope=scope).get("host", "")
    name = _host_name(host)
    if settings.allowed_hosts or (is_loopback(settings.host) and not settings.open_access):
        known = (*settings.allowed_hosts, settings.host)
        if name not in known and not is_loopback(name):
            raise UsageError(
                f"This server does not answer for the host {host[:100]!r}.",
                hint="Use its own address, or add the name to the setting allowed_hosts.",
            )


def add_headers(headers: MutableHeaders, settings: Settings) -> None:
    """The headers of every response."""
    for name, value in HEADERS.items():
        headers.setdefault(name, value)
    if settings.hsts_seconds:
        headers["strict-transport-security"] = f"max-age={settings.hsts_seconds}"


def _host_name(host: str) -> str:
    try:
        return (urlsplit(f"//{host}").hostname or "").rstrip(".")
    except ValueError:
        return ""
