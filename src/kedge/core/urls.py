"""Addresses as they may be shown: one rule for errors, logs, health and `kedge doctor`."""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

from kedge.core.errors import ConfigError

HIDDEN = "***"
_USER = re.compile(r"^([\w.+-]*+:?+/*+).*@", re.DOTALL)
"""Up to the last @, so that a password with unescaped signs in it is hidden whole."""
_NO_PORT = re.compile(r"(://[^/?#@:\[]*:)(?!\d*(?:[/?#]|$))[^/?#@]*")
"""What stands in a port's place and is no number: a password, where the host was forgotten."""
_OPTION = re.compile(r"((?<!\w)(?=\w*?(?:pass|pwd|key|token|secret|credential))\w++=)[^&\s]*", re.IGNORECASE)


def mask_url(url: str) -> str:
    """The URL without user, password and keys; whatever is no URL is looked through for them too.

    >>> mask_url("postgresql://kedge:s3cret@db:5432/kedge?sslmode=require&sslpassword=x")
    'postgresql://***@db:5432/kedge?sslmode=require&sslpassword=***'
    >>> mask_url("qdrant://localhost:6333")
    'qdrant://localhost:6333'
    """
    shown = _USER.sub(rf"\g<1>{HIDDEN}@", url)
    for pattern in (_NO_PORT, _OPTION):
        shown = pattern.sub(rf"\g<1>{HIDDEN}", shown)
    return shown


def without_password(url: str) -> str:
    """The URL with its user and without the password, so that it can be kept; what is no address stays as it is.

    >>> without_password("iris://kedge:s3cret@db:1972/USER?table=RAG.Notes")
    'iris://kedge@db:1972/USER?table=RAG.Notes'
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        return mask_url(url)
    user, separator, host = parts.netloc.rpartition("@")
    if ":" not in user:
        return url
    return parts._replace(netloc=f"{user.partition(':')[0]}{separator}{host}").geturl()


def split_url(url: str, what: str, hint: str) -> SplitResult:
    """The parts of the URL, which messages call `what`. ConfigError, without secrets, when it cannot be taken apart."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise ConfigError(
            f"{what} cannot be read: {mask_url(url)}.",
            hint=f"{hint} The port is a number; signs like @ / [ in a password are percent-encoded (%40 for @).",
        ) from error
    return parts


def is_loopback(host: str) -> bool:
    """Is this a name or address of the machine itself?"""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def is_secure_url(url: str) -> bool:
    """Can what comes from there be trusted to come from there? https, or http within this machine.

    >>> [is_secure_url(url) for url in ("https://id.example/realm", "http://[::1]:9/", "http://id.example", "https://u@id")]
    [True, True, False, False]
    """
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname or "", parts.port
    except ValueError:
        return False
    plain = not (parts.username or parts.password or parts.query or parts.fragment) and url.isprintable()
    return bool(host) and plain and (parts.scheme == "https" or (parts.scheme == "http" and is_loopback(host)))
