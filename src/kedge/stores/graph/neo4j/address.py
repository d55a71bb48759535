"""What a graph URL says: where the server is, who asks, which database, and how long to wait."""

from __future__ import annotations

from dataclasses import dataclass, field
from urllib.parse import parse_qsl, unquote

from kedge.core.errors import ConfigError
from kedge.core.urls import split_url

SCHEMES = ("neo4j", "neo4j+s", "neo4j+ssc")
DEFAULT_PORT = 7687
DEFAULT_TIMEOUT = 15.0
_HINT = "Use neo4j://user:password@host:7687/database (neo4j+s:// for TLS); docs/how-to/stores-neo4j.md."


@dataclass(frozen=True, slots=True)
class Neo4jAddress:
    """A database on a server."""

    uri: str
    """For the driver; without user, password and database."""
    database: str | None
    """None: the user's home database."""
    auth: tuple[str, str] | None = field(repr=False)
    """User and password; None for a server without authentication."""
    timeout: float
    """Seconds to connect, and for tries again after a failure that may pass."""

    @property
    def shown(self) -> str:
        """For messages: never the password."""
        return f"{self.uri}/{self.database or ''}".rstrip("/")


def parse(url: str) -> Neo4jAddress:
    """Read `neo4j[+s|+ssc]://[user[:password]@]host[:port][/database][?direct=true&timeout=15]`, or raise ConfigError.

    >>> parse("neo4j+s://me:p%40ss@graph.example/kb?direct=true")
    Address(uri='bolt+s://graph.example:7687', database='kb', timeout=15.0)
    """
    parts = split_url(url, "The graph URL", _HINT)
    host, port = parts.hostname, parts.port or DEFAULT_PORT
    if parts.scheme not in SCHEMES or not host:
        raise _wrong("it names no server" if parts.scheme in SCHEMES else f"there is no scheme {parts.scheme!r}")
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    direct = options.pop("direct", "false")
    timeout = _seconds(options.pop("timeout", str(DEFAULT_TIMEOUT)))
    if options or direct not in ("true", "false"):
        raise _wrong(f"it has options other than direct=true|false and timeout: {', '.join(options) or 'direct'}")
    scheme = parts.scheme.replace("neo4j", "bolt") if direct == "true" else parts.scheme
    place = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    auth = (unquote(parts.username), unquote(parts.password or "")) if parts.username else None
    return Neo4jAddress(f"{scheme}://{place}", unquote(parts.path.strip("/")) or None, auth, timeout)


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise _wrong(f"timeout={text} is no number of seconds")
    return value


def _wrong(reason: str) -> ConfigError:
    return ConfigError(f"The graph URL cannot be used: {reason}.", hint=_HINT)
