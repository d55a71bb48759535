"""What a Milvus URL says: where the server is, how indexes are built and searched, how fresh reads are.

`milvus://[user:password@]host[:19530][/database]?index=HNSW&M=16&ef_construction=200&ef=512`
`milvus://host?index=IVF_FLAT&nlist=128&nprobe=16` · `milvus+lite:///path/to/file.db`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import SplitResult, parse_qsl, unquote

from kedge.core.errors import ConfigError
from kedge.core.urls import mask_url, split_url

PORT = 19530
CONSISTENCIES = ("Strong", "Session", "Bounded", "Eventually")
_INDEXES: Mapping[str, Mapping[str, int]] = {
    "HNSW": {"M": 16, "ef_construction": 200, "ef": 512},
    "IVF_FLAT": {"nlist": 128, "nprobe": 16},
    "FLAT": {},
}
"""Kind of index → its options with what they are by default."""
_GENERAL = {"index": "HNSW", "consistency": "Strong", "timeout": "30", "text": "content_text", "secure": "false"}
_SERVERS_NAME = {"ef_construction": "efConstruction"}
_AT_SEARCH = ("ef", "nprobe")


@dataclass(frozen=True, slots=True)
class VectorIndex:
    """How vectors are indexed."""

    kind: str
    options: Mapping[str, int]

    def build(self) -> dict[str, int]:
        """Parameters of the index, by the server's names."""
        return {_SERVERS_NAME.get(name, name): n for name, n in self.options.items() if name not in _AT_SEARCH}

    def search(self, fetch: int) -> dict[str, int]:
        """Parameters of a search for `fetch` hits; HNSW looks at no fewer candidates than that."""
        given = {name: n for name, n in self.options.items() if name in _AT_SEARCH}
        return {name: max(n, fetch) if name == "ef" else n for name, n in given.items()}


@dataclass(frozen=True, slots=True)
class MilvusAddress:
    """A Milvus URL, read."""

    uri: str
    """As the driver wants it."""
    index: VectorIndex
    user: str = ""
    password: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    """Key of a server that wants one instead of user and password."""
    database: str = ""
    consistency: str = "Strong"
    """Of searches; counts and listings are always strong."""
    timeout: float = 30.0
    """Seconds after which a call to the server has failed."""
    text: str = "content_text"
    """Name of the field that holds the text."""


def read_address(url: str, token: str = "") -> MilvusAddress:
    """Read the URL; all that is wrong with it is a `ConfigError`. A token takes the place of user and password."""
    parts = split_url(url, "The Milvus URL", "Write milvus://localhost:19530.")
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    general = {name: options.pop(name, default) for name, default in _GENERAL.items()}
    index = _index(general["index"], options)
    if general["consistency"] not in CONSISTENCIES:
        raise _wrong("consistency", general["consistency"], ", ".join(CONSISTENCIES))
    if general["secure"] not in ("true", "false"):
        raise _wrong("secure", general["secure"], "true, false")
    if not general["text"].isidentifier():
        raise _wrong("text", general["text"], "a name of letters, digits and _")
    return MilvusAddress(
        uri=_uri(url, parts, secure=general["secure"] == "true"),
        index=index,
        user="" if token else unquote(parts.username or ""),
        password="" if token else unquote(parts.password or ""),
        token=token,
        database="" if _is_lite(parts) else unquote(parts.path.strip("/")),
        consistency=general["consistency"],
        timeout=_positive("timeout", general["timeout"]),
        text=general["text"],
    )


def _is_lite(parts: SplitResult) -> bool:
    return parts.scheme.endswith("+lite")


def _uri(url: str, parts: SplitResult, *, secure: bool) -> str:
    if _is_lite(parts):
        path = unquote(f"{parts.netloc}{parts.path}")
        if not path.endswith(".db"):
            raise ConfigError(
                f"The vector store {mask_url(url)} names no file.", hint="Write milvus+lite:///path/to/file.db."
            )
        return path
    host, port = parts.hostname, parts.port or PORT
    if not host:
        raise ConfigError(f"The vector store {mask_url(url)} names no host.", hint="Write milvus://localhost:19530.")
    shown = f"[{host}]" if ":" in host else host
    return f"{'https' if secure else 'http'}://{shown}:{port}"


def _index(kind: str, given: Mapping[str, str]) -> VectorIndex:
    known = _INDEXES.get(kind)
    if known is None:
        raise _wrong("index", kind, ", ".join(_INDEXES))
    unknown = sorted(set(given) - set(known))
    if unknown:
        names = ", ".join([*_GENERAL, *known])
        raise ConfigError(
            f"A Milvus URL with index={kind} has no option {', '.join(unknown)}.", hint=f"Known: {names}."
        )
    return VectorIndex(kind, {**known, **{name: int(_positive(name, raw)) for name, raw in given.items()}})


def _positive(name: str, raw: str) -> float:
    try:
        number = float(raw)
    except ValueError:
        number = 0
    if not 0 < number < float("inf"):
        raise _wrong(name, raw, "a number above 0")
    return number


def _wrong(name: str, value: str, known: str) -> ConfigError:
    return ConfigError(f"The option {name}={value} of a Milvus URL cannot be.", hint=f"Possible: {known}.")
