"""What a Milvus URL says: where the server is, how indexes are built and searched, how fresh reads are.

`milvus://[user:password@]host[:19530][/database]?index=HNSW&M=16&ef_construction=200&ef=512`
`milvus://host?index=IVF_FLAT&nlist=128&nprobe=16` · `milvus+lite:///path/to/file.db`

Options of the index and the text field may be given for one kind of knowledge alone, behind the beginning of its
indexes' names: `milvus://host?graph_nodes.index=HNSW&graph_nodes.M=32`. Unless anything is said, the nodes of graphs
lie under IVF_FLAT with their text in `text_content`, all else under HNSW with `content_text`.
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
_GENERAL = {"consistency": "Strong", "timeout": "30", "secure": "false"}
_USUAL = {"index": "HNSW", "text": "content_text"}
_OF_KINDS = {"graph_nodes": {"index": "IVF_FLAT", "text": "text_content"}}
"""Beginning of an index's name → what the design says of it (G-03)."""
TEXT_FIELDS = ("content_text", "text_content")
"""Names that the text has by default."""
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
class MilvusLayout:
    """How the collections of one kind of knowledge are laid out."""

    index: VectorIndex
    text: str
    """Name of the field that holds the text."""


@dataclass(frozen=True, slots=True)
class MilvusAddress:
    """A Milvus URL, read."""

    uri: str
    """As the driver wants it."""
    usual: MilvusLayout
    """Of collections whose kind has none of its own."""
    kinds: Mapping[str, MilvusLayout] = field(default_factory=dict)
    """Beginning of an index's name → its layout."""
    user: str = ""
    password: str = field(default="", repr=False)
    token: str = field(default="", repr=False)
    """Key of a server that wants one instead of user and password."""
    database: str = ""
    consistency: str = "Strong"
    """Of searches; counts and listings are always strong."""
    timeout: float = 30.0
    """Seconds after which a call to the server has failed."""

    def layout(self, index: str) -> MilvusLayout:
        """How the collection of this index is laid out."""
        return next((one for start, one in self.kinds.items() if index.startswith(start)), self.usual)


def read_address(url: str, token: str = "") -> MilvusAddress:
    """Read the URL; all that is wrong with it is a `ConfigError`. A token takes the place of user and password."""
    parts = split_url(url, "The Milvus URL", "Write milvus://localhost:19530.")
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    general = {name: options.pop(name, default) for name, default in _GENERAL.items()}
    plain = {name: value for name, value in options.items() if "." not in name}
    starts = dict.fromkeys((*_OF_KINDS, *(name.partition(".")[0] for name in options if "." in name)))
    if general["consistency"] not in CONSISTENCIES:
        raise _wrong("consistency", general["consistency"], ", ".join(CONSISTENCIES))
    if general["secure"] not in ("true", "false"):
        raise _wrong("secure", general["secure"], "true, false")
    return MilvusAddress(
        uri=_uri(url, parts, secure=general["secure"] == "true"),
        usual=_layout(_USUAL, plain),
        kinds={start: _layout({**_USUAL, **_OF_KINDS.get(start, {})}, _options_of(start, options)) for start in starts},
        user="" if token else unquote(parts.username or ""),
        password="" if token else unquote(parts.password or ""),
        token=token,
        database="" if _is_lite(parts) else unquote(parts.path.strip("/")),
        consistency=general["consistency"],
        timeout=_positive("timeout", general["timeout"]),
    )


def _options_of(start: str, options: Mapping[str, str]) -> dict[str, str]:
    """What is said of one kind: its own options, and those of all kinds as far as they fit the index that it has."""
    own = {name.partition(".")[2]: value for name, value in options.items() if name.partition(".")[0] == start}
    plain = {name: value for name, value in options.items() if "." not in name}
    if "index" not in own and "index" in plain:
        return {**plain, **own}
    kept = ("text",) if "text" in plain else ()
    return {**{name: plain[name] for name in kept}, **own}


def _layout(usual: Mapping[str, str], given: Mapping[str, str]) -> MilvusLayout:
    options = dict(given)
    kind, text = options.pop("index", usual["index"]), options.pop("text", usual["text"])
    if not text.isidentifier():
        raise _wrong("text", text, "a name of letters, digits and _")
    return MilvusLayout(_index(kind, options), text)


def index_of_kind(kind: str, layout: MilvusLayout) -> VectorIndex:
    """How a collection is searched that is there already with an index of this kind."""
    return layout.index if layout.index.kind == kind else VectorIndex(kind, _INDEXES.get(kind, {}))


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
        names = ", ".join([*_GENERAL, *_USUAL, *known])
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
