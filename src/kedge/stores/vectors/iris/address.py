"""Where an IRIS is: `iris://user[:password]@host[:1972]/NAMESPACE[?timeout=10&vector_type=double&sslconfig=NAME]`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, unquote

from kedge.core.errors import ConfigError
from kedge.core.urls import split_url

_HINT = "Write iris://user:password@host:1972/NAMESPACE; the setting vector_key may hold the password instead."
_OPTIONS = {"timeout", "vector_type", "sslconfig"}
_TYPES = ("decimal", "double", "float")


@dataclass(frozen=True, slots=True)
class IrisAddress:
    """One IRIS."""

    shown: str
    """What errors and logs may show: no password in it."""
    options: Mapping[str, Any] = field(repr=False)
    """Arguments of the driver's `connect`."""
    vector_type: str = "DOUBLE"
    """Keyword of the type that vectors have in the column, in what is written and in what is asked."""

    @classmethod
    def of(cls, url: str, key: str | None = None) -> IrisAddress:
        """Read the URL; `ConfigError` says what is wrong with it. A `key` wins over the password in the URL."""
        parts = split_url(url, "The IRIS URL", _HINT)
        port = parts.port or 1972
        namespace = unquote(parts.path.strip("/"))
        if not parts.hostname or not namespace or parts.username is None:
            raise ConfigError("The IRIS URL names no user, host or namespace.", hint=_HINT)
        given = dict(parse_qsl(parts.query, keep_blank_values=True))
        if given.keys() - _OPTIONS:
            raise ConfigError(
                f"The IRIS URL has unknown options: {', '.join(sorted(given.keys() - _OPTIONS))}.",
                hint=f"Known: {', '.join(sorted(_OPTIONS))}.",
            )
        timeout, kind = given.get("timeout", "10"), given.get("vector_type", "double").lower()
        if not timeout.isdecimal() or not int(timeout):
            raise ConfigError(f"timeout={timeout} is no positive whole number.", hint=_HINT)
        if kind not in _TYPES:
            raise ConfigError(f"vector_type={kind} is not known.", hint=f"Known: {', '.join(_TYPES)}.")
        options: dict[str, Any] = {
            "hostname": parts.hostname,
            "port": port,
            "namespace": namespace,
            "username": unquote(parts.username),
            "password": unquote(parts.password or "") if key is None else key,
            "timeout": int(timeout),
            "autoCommit": False,
        }
        if "sslconfig" in given:
            options["sslconfig"] = given["sslconfig"]
        return cls(f"{parts.hostname}:{port}/{namespace}", options, kind.upper())
