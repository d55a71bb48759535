"""Where a Qdrant is: the URL, read and checked.

```
qdrant://[:KEY@]HOST[:6333][/prefix][?https=1&timeout=30&grpc_port=6334]
qdrant+local:///folder      qdrant+memory:
```
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import SplitResult, parse_qsl, unquote

from qdrant_client import AsyncQdrantClient

from kedge.core.errors import ConfigError, HomeBusyError
from kedge.core.urls import split_url

_HINT = "Write qdrant://host:6333; the key is the setting vector_key, or the password: qdrant://:KEY@host:6333."
_OPTIONS = {"https", "timeout", "grpc_port"}
_TIMEOUT = 30


@dataclass(frozen=True, slots=True)
class QdrantAddress:
    """One Qdrant."""

    shown: str
    """What errors and logs may show: no key in it."""
    options: Mapping[str, Any] = field(repr=False)
    """Arguments of the client."""
    local: bool = False

    @classmethod
    def of(cls, url: str, key: str | None = None) -> QdrantAddress:
        """Read the URL; `ConfigError` says what is wrong with it. A `key` wins over the one in the URL."""
        parts = split_url(url, "The Qdrant URL", _HINT)
        if parts.scheme == "qdrant+memory":
            return cls("in memory", {"location": ":memory:"}, local=True)
        if parts.scheme == "qdrant+local":
            folder = unquote(url.partition("://")[2])
            if not folder:
                raise ConfigError(f"The vector store {url!r} names no folder.", hint="Write qdrant+local:///folder.")
            return cls(folder, {"path": folder, "force_disable_check_same_thread": True}, local=True)
        if parts.scheme != "qdrant":
            raise ConfigError(f"There is no Qdrant of the kind {parts.scheme!r}.", hint=_HINT)
        return cls._remote(parts, key)

    @classmethod
    def _remote(cls, parts: SplitResult, key: str | None) -> QdrantAddress:
        port = parts.port or 6333
        if not parts.hostname:
            raise ConfigError("The Qdrant URL names no host.", hint=_HINT)
        given = dict(parse_qsl(parts.query, keep_blank_values=True))
        if "api_key" in given:
            raise ConfigError("The key is no option of the Qdrant URL.", hint=_HINT)
        if given.keys() - _OPTIONS:
            raise ConfigError(
                f"The Qdrant URL has unknown options: {', '.join(sorted(given.keys() - _OPTIONS))}.",
                hint=f"Known: {', '.join(sorted(_OPTIONS))}.",
            )
        if key is None and parts.password:
            key = unquote(parts.password)
        options: dict[str, Any] = {
            "host": parts.hostname,
            "port": port,
            "https": _flag(given["https"]) if "https" in given else key is not None,
            "timeout": _number("timeout", given.get("timeout"), _TIMEOUT),
            "check_compatibility": False,  # it would ask in a thread and print; `create` asks itself
        }
        if key is not None:
            options["api_key"] = key
        if parts.path.strip("/"):
            options["prefix"] = parts.path.strip("/")
        if "grpc_port" in given:
            options |= {"grpc_port": _number("grpc_port", given["grpc_port"], 0), "prefer_grpc": True}
        return cls(f"{parts.hostname}:{port}", options)

    def client(self) -> AsyncQdrantClient:
        """A client; a server is not asked yet, a local folder is locked."""
        try:
            return AsyncQdrantClient(**self.options)
        except RuntimeError as error:
            if "already accessed" not in str(error):
                raise
            raise HomeBusyError(
                f"Another process uses the vector store in {self.shown}.",
                hint="Stop it, or use a Qdrant server.",
                details={"folder": self.shown},
            ) from error


def _flag(value: str) -> bool:
    if value.lower() not in ("0", "1", "true", "false"):
        raise ConfigError(f"https={value} cannot be read.", hint="Write https=1 or https=0.")
    return value.lower() in ("1", "true")


def _number(name: str, value: str | None, default: int) -> int:
    if value is None:
        return default
    if not value.isdecimal() or not int(value):
        raise ConfigError(f"{name}={value} is no positive whole number.", hint=_HINT)
    return int(value)
