"""Settings: read here and nowhere else. Order: arguments, environment (`KEDGE_…`), config file, defaults."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator

from kedge.core.errors import ConfigError
from kedge.core.urls import is_secure_url, mask_url
from kedge.core.values import Json

PREFIX = "KEDGE_"
PLAIN = ("enable_rag_search",)
"""Settings that are also read without the prefix."""
SigningAlgorithm: TypeAlias = Literal[
    "RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"
]
"""Signatures with a public key alone: neither `none` nor a shared secret can be chosen."""


class Settings(BaseModel):
    """Everything that can be set. Each field is also `KEDGE_<NAME>` in the environment and a key of the TOML file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    home: Path = Field(Path(".kedge"), description="Folder that holds everything Kedge stores.")
    collection: str = Field("default", description="Collection used when none is named.")
    catalog_url: str = Field("", repr=False, description="Catalog and graph database; empty: SQLite file in the home.")
    vector_url: str = Field("", repr=False, description="Vector store; empty: Qdrant Edge in the home.")
    vector_key: SecretStr | None = Field(
        None, description="Key of the vector store (Qdrant's API key, Milvus' token, the IRIS user's password)."
    )
    graph_url: str = Field("", repr=False, description="Graph store; empty: in the catalog's database.")
    optimize_after: int = Field(20_000, ge=1, description="New passages that make Qdrant Edge build its search index.")
    embedder: str = Field(
        "granite", description="Embedding model for new collections; unset: `minilm:int8` for tables and graphs."
    )
    embed_cache: Path | None = Field(None, description="SQLite file that remembers embeddings by text.")
    cache_url: str = Field("", repr=False, description="Redis that remembers embeddings instead, for 24 hours.")
    embed_url: str = Field("", description="Server of `openai:` embedders; empty: OpenAI's.")
    embed_key: SecretStr | None = Field(None, description="Key for that server.")
    reranker: str = Field("default", description="Reranker: `default`, `none`, or a name.")
    reader: Literal["minilm", "none"] = Field(
        "minilm",
        description="Model that reads question and passage together for the judge; `none`: words alone.",
    )
    relations: Literal["weights", "reader"] = Field(
        "weights",
        description="What says which relations sentences state: learned weights, or the reader too, which errs less "
        "and makes taking in dearer by a tenth to two thirds.",
    )
    rerank_key: SecretStr | None = Field(None, description="Key for the server of an `endpoint:` reranker.")
    model_timeout: float = Field(30.0, gt=0, description="Seconds for one request to a model server.")
    llm: str = Field("extractive", description="What writes answers: `extractive` (verbatim sentences) or a model.")
    llm_url: str = Field("", description="Server of the language model; empty: the vendor's own.")
    llm_key: SecretStr | None = Field(None, description="Key for that server.")
    llm_max_tokens: int = Field(512, ge=16, le=32_000, description="Most tokens of one generated answer.")
    llm_temperature: float | None = Field(None, ge=0, le=2, description="Sent only if set; local models use 0.")
    llm_timeout: float = Field(60.0, gt=0, description="Seconds until a model's first words.")
    llm_stall_timeout: float = Field(30.0, gt=0, description="Seconds that a model may pause between two pieces.")
    llm_attempts: int = Field(3, ge=1, le=10, description="How often a call is tried as long as nothing came of it.")
    llm_concurrent: int = Field(4, ge=1, le=256, description="Calls to the language model at a time.")
    llm_per_minute: int = Field(0, ge=0, description="Calls to the language model in a minute; 0: no limit.")
    llm_failure: Literal["extractive", "error"] = Field(
        "extractive", description="When a model fails: quote the sources instead, or fail."
    )
    unsupported: Literal["drop", "mark", "keep"] = Field(
        "drop", description="Generated sentences that the evidence does not support."
    )
    session_minutes: float = Field(30.0, ge=0, description="Minutes a session's questions are remembered; 0: never.")
    session_keep: Literal["memory", "home"] = Field(
        "memory", description="Where: in the process, or in a file of the home that other processes read too."
    )
    keep_uploads: bool = Field(
        True, description="Keep uploaded files, so that sources open as they are and can be taken in again."
    )
    conversation_days: float = Field(
        365.0, ge=0, description="Days a conversation of the page is kept after its last question; 0: not at all."
    )
    version_days: float = Field(
        30.0, ge=0, description="Days a superseded version of a document is kept for `--as-of`; 0: not at all."
    )
    context_passages: int = Field(20, ge=1, le=200, description="Most passages that a language model gets to read.")
    context_tokens: int = Field(
        100_000, ge=256, description="Most tokens of passages for it, if its window allows so many."
    )
    threads: int = Field(0, ge=0, le=256, description="Threads for the embedding model and the reader; 0: all cores.")
    channels: tuple[Literal["vector", "keyword", "graph"], ...] = Field(
        ("vector", "keyword", "graph"), min_length=1, description="Ways to search; comma-separated in the environment."
    )
    fusion: Literal["default", "rrf"] = Field("default", description="How channels are combined.")
    threshold: float = Field(0.6, ge=0, le=1, description="Least evidence probability for an answer.")
    top_k: int = Field(10, ge=1, le=1000, description="Passages of a search that does not say how many it wants.")
    max_top_k: int = Field(20, ge=1, le=1000, description="Most passages that a query may ask for.")
    candidates: int = Field(60, ge=10, le=1000, description="Hits taken from each channel before fusion.")
    chunk_tokens: int = Field(0, ge=0, le=2000, description="Target tokens per passage; 0: by the embedder's window.")
    enable_rag_search: bool = Field(
        True, description="Off: nodes are no longer indexed and `/rag` is hidden; also read from `ENABLE_RAG_SEARCH`."
    )
    node_threshold: float | None = Field(
        None, ge=0, le=1, description="Least raw similarity of a node that answers by its text; unset: the model's own."
    )
    node_neighbours: int = Field(3, ge=0, le=20, description="Neighbours of a cited node that are told with it.")
    max_source_bytes: int = Field(1 << 30, ge=1, description="Largest source that is taken in.")
    parse_apart: bool = Field(True, description="Read PDF, HTML, Parquet and long markdown in a process of its own.")
    parse_timeout: float = Field(120.0, gt=0, description="Seconds for reading one file there, for each 8 MiB of it.")
    parse_memory_bytes: int = Field(2 << 30, ge=256 << 20, description="Most memory of that process (Linux).")
    parse_output_bytes: int = Field(512 << 20, ge=1 << 16, description="Most bytes that a file may unpack to there.")
    allow_private_urls: bool = Field(False, description="Let URLs lead to private and loopback addresses.")
    source_password: SecretStr | None = Field(
        None,
        description="Password of the user in the address of a database that a graph or a foreign table is read from.",
    )
    source_secrets: tuple[str, ...] = Field(
        (),
        description="Secrets (`env:NAME`, `file:/path`) that sources added over HTTP from elsewhere may sign in with.",
    )
    url_timeout: float = Field(30.0, gt=0, description="Seconds for one download.")
    host: str = Field("127.0.0.1", description="Address the server binds to.")
    port: int = Field(8000, ge=0, le=65535, description="Port the server binds to.")
    processes: int = Field(
        1, ge=1, le=64, description="Processes that `kedge serve` serves with; several need every store on a server."
    )
    open_access: bool = Field(False, description="Serve without keys on other addresses than loopback.")
    oidc_issuer: str = Field("", description="OpenID Connect issuer whose tokens are let in; empty: keys only.")
    oidc_audience: str = Field("", description="Audience that tokens must name; needed with an issuer.")
    oidc_jwks_url: str = Field("", description="The issuer's signing keys; empty: found by discovery.")
    oidc_algorithms: tuple[SigningAlgorithm, ...] = Field(
        ("RS256", "ES256", "EdDSA"), min_length=1, description="Signatures that are accepted; comma-separated."
    )
    oidc_tenant_claim: str = Field("tenant", min_length=1, description="Claim that names the tenant.")
    oidc_rights_claim: str = Field("scope", min_length=1, description="Claim that lists the rights.")
    oidc_rights_prefix: str = Field("kedge:", description="What stands before `read`, `write` or `admin` there.")
    oidc_groups_claim: str = Field("groups", min_length=1, description="Claim that lists the user's groups.")
    oidc_subject_claim: str = Field("sub", min_length=1, description="Claim that names the user.")
    oidc_leeway: float = Field(30.0, ge=0, le=300, description="Seconds that clocks may differ.")
    oidc_refresh: float = Field(3600.0, ge=1, description="Seconds until the issuer's keys are fetched again.")
    oidc_timeout: float = Field(5.0, gt=0, le=60, description="Seconds for one request to the issuer.")
    api_key: SecretStr | None = Field(None, description="Key that commands send to a server named with `--url`.")
    allowed_hosts: tuple[str, ...] = Field(
        (), description="Names, beside loopback, that requests may be for; empty: any, but loopback alone on loopback."
    )
    cors_origins: tuple[str, ...] = Field(
        (), description="Sites whose pages may call the API, like https://app.example."
    )
    hsts_seconds: int = Field(0, ge=0, description="Behind TLS: how long browsers shall insist on it; 0: not said.")
    max_upload_bytes: int = Field(256 << 20, ge=1, description="Largest upload.")
    workers: int = Field(2, ge=0, le=64, description="Ingestions that a process runs at once; 0: leave all to workers.")
    job_timeout: float = Field(1800.0, ge=0, description="Seconds an ingestion may stand still; 0: no limit.")
    worker_timeout: float = Field(30.0, ge=1, description="Seconds without a sign of life: then others take its jobs.")
    check_every: float = Field(0.0, ge=0, description="Seconds between checks with repair in the background; 0: off.")
    table_texts: int = Field(3000, ge=0, description="Texts of a table embedded whole; more are composed of words.")
    session_ttl: float = Field(0.0, ge=0, description="Seconds a table session lives after its last feed; 0: for ever.")
    rate_reads: int = Field(600, ge=0, description="Reading requests in a minute for each key or address; 0: no limit.")
    rate_writes: int = Field(120, ge=0, description="Writing requests in a minute for each; 0: no limit.")
    rate_local: bool = Field(False, description="Limit callers of this machine without a key too.")
    max_connections: int = Field(
        2000, ge=1, description="Open connections; beyond that one without a request is cut for the next."
    )
    max_requests: int = Field(256, ge=1, description="Requests that are worked on at once; more are refused.")
    max_caller: int = Field(
        64, ge=1, description="Of these, how many of one key, or of one other machine while its key is looked at."
    )
    max_streams: int = Field(128, ge=1, description="Streams among them.")
    answers_at_once: int = Field(
        0, ge=0, le=1024, description="Questions that are searched and read for at once; 0: two for each core."
    )
    answer_wait: float = Field(
        10.0, ge=0, description="Seconds a server lets a question wait for that; beyond, it is refused; 0: no limit."
    )
    max_queued: int = Field(1000, ge=1, description="Ingestions that may wait or run; more are refused.")
    request_timeout: float = Field(120.0, ge=0, description="Seconds for a reading request; 0: no limit.")
    stream_timeout: float = Field(120.0, ge=0, description="Seconds a stream may stand still; 0: no limit.")
    client_timeout: float = Field(30.0, ge=0, description="Seconds for the next piece of a request; 0: no limit.")
    body_rate: int = Field(
        16_384, ge=0, description="Least bytes a second of a request's body, after client_timeout; 0: no limit."
    )
    wait_timeout: float = Field(
        60.0, ge=0, description="Seconds a writing request waits for another into the same collection; 0: no limit."
    )
    ready_timeout: float = Field(2.0, gt=0, description="Seconds that `/ready` gives each part to answer.")
    drain_notice: float = Field(0.0, ge=0, description="Seconds of `/ready` saying no before a server stops listening.")
    drain_timeout: float = Field(30.0, ge=0, description="Seconds that running requests get when the server stops.")
    analytics_days: float = Field(90.0, ge=0, description="Days that metrics of queries are kept; 0: for ever.")
    audit_days: float = Field(
        90.0, ge=0, description="Days for which is kept who asked and what was cited; 0: nothing is written."
    )
    audit_words: bool = Field(False, description="Keep questions in words in the audit log; off: as hashes.")
    keep_questions: bool = Field(
        False, description="Keep the words of questions for the list of the most frequent, and log them; off: hashes."
    )
    otlp_url: str = Field("", repr=False, description="OpenTelemetry collector (OTLP over HTTP); empty: no traces.")
    otlp_headers: SecretStr | None = Field(None, description="Headers for it: `name=value,name=value`.")
    trace_share: float = Field(1.0, ge=0, le=1, description="Share of requests that are traced.")
    log_format: Literal["plain", "json"] = Field("plain", description="Lines of text, or one JSON object a line.")
    log_level: Literal["debug", "info", "warning", "error"] = Field("warning", description="Least level logged.")

    @field_validator("channels", "oidc_algorithms", "allowed_hosts", "cors_origins", "source_secrets", mode="before")
    @classmethod
    def _listed(cls, value: object) -> object:
        return tuple(part.strip() for part in value.split(",")) if isinstance(value, str) else value

    @field_validator("cors_origins")
    @classmethod
    def _origins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for origin in value:
            parts = urlsplit(origin)
            if (
                parts.scheme not in ("http", "https")
                or not parts.netloc
                or origin != f"{parts.scheme}://{parts.netloc}"
            ):
                raise ValueError(f"{origin!r} is no origin; write https://app.example, without a path")
        return value

    @field_validator("oidc_issuer", "oidc_jwks_url")
    @classmethod
    def _secure(cls, value: str) -> str:
        if value and not is_secure_url(value):
            raise ValueError("must be https (plain http only to this machine), without user, query or fragment")
        return value

    @model_validator(mode="after")
    def _complete(self) -> Settings:
        if self.oidc_issuer and not self.oidc_audience:
            raise ValueError("oidc_issuer needs oidc_audience: else every token of the issuer would be let in")
        if not self.oidc_issuer and (self.oidc_audience or self.oidc_jwks_url):
            raise ValueError("oidc_audience and oidc_jwks_url need oidc_issuer")
        return self

    def shown(self) -> dict[str, Json]:
        """Every setting as it may be printed: keys and passwords are hidden."""
        dumped = self.model_dump(mode="json")
        return {name: mask_url(value) if isinstance(value, str) else value for name, value in dumped.items()}


Check = Callable[[Settings], Iterable[str]]
"""Finds what is wrong with settings whose values are each possible."""


def load_settings(
    config_file: Path | None = None,
    environ: Mapping[str, str] | None = None,
    also: Check | None = None,
    **overrides: object,
) -> Settings:
    """Gather settings from all places. ConfigError names every fault at once, and where each value came from."""
    environ = os.environ if environ is None else environ
    file = config_file or _named_file(environ)
    faults = [f"{name} in the environment is no setting{_meant(name)}" for name in misspelt_variables(environ)]
    values: dict[str, object] = {}
    origins: dict[str, str] = {}
    try:
        written = _from_file(file)
    except ConfigError as error:
        faults.append(error.message.rstrip("."))
        written = {}
    given = {name: value for name, value in overrides.items() if value is not None}
    for place, found in ((str(file), written), ("the environment", _from_environment(environ)), ("", given)):
        values.update(found)
        origins.update(dict.fromkeys(found, f" (in {place})" if place else ""))
    settings = _settings(values, origins, faults)
    faults += contradictions(settings)
    faults += also(settings) if also is not None else ()
    if faults:
        details: dict[str, Json] = {"faults": list(faults)}
        raise ConfigError(
            "The settings cannot be used: " + "; ".join(faults) + ".",
            hint="docs/reference/settings.md lists every setting with its range; `kedge doctor` looks at all of them.",
            details=details,
        )
    return settings


def _settings(values: dict[str, object], origins: Mapping[str, str], faults: list[str]) -> Settings:
    """The settings without what is wrong in them, which is added to the faults."""
    for name in [name for name in values if name not in Settings.model_fields]:
        del values[name]
        faults.append(f"{name}: there is no such setting{_meant(name)}{origins[name]}")
    try:
        return Settings(**values)  # type: ignore[arg-type]
    except ValidationError as error:
        for item in error.errors():
            place = [str(part) for part in item["loc"]]
            # a fault of several settings together has no place; its message names them
            names = place[:1] or [name for name in values if name in item["msg"]]
            faults.append(f"{'.'.join(place) or names[0]}: {item['msg']}{origins[names[0]]}")
            for name in names:
                values.pop(name, None)
        return _settings(values, origins, faults)  # what only shows when the rest is right


def contradictions(settings: Settings) -> list[str]:
    """Settings that are each possible and cannot be together."""
    found = []
    if settings.max_upload_bytes > settings.max_source_bytes:
        found.append(
            "max_upload_bytes: it is above max_source_bytes, so larger uploads would be accepted and then refused"
        )
    own = {settings.home.absolute() / name for name in ("catalog.db", "sessions.db")}
    if settings.embed_cache is not None and settings.embed_cache.absolute() in own:
        found.append("embed_cache: that file of the home is used for something else")
    for name, url in (("embed_url", settings.embed_url), ("llm_url", settings.llm_url)):
        if url and not _is_http(url):
            found.append(f"{name}: it has to begin with http:// or https:// and name a host")
    return found


_INSIDE = frozenset(
    "granite minilm bge-small e5-multilingual use-multilingual hash onnx safetensors st".split()
    + "default none onnx-rerank".split()
) | {"", "edge", "memory", "postgresql"}
"""Models and stores of Kedge that take no key; what a plug-in takes is not known here."""


def _scheme(name: str) -> str:
    return name.partition(":")[0].partition("+")[0]


def without_effect(settings: Settings) -> list[str]:
    """Settings that were given and that others make meaningless, said in sentences: for `kedge doctor`."""
    given = settings.model_fields_set
    language_model = {"llm_url", "llm_key", "llm_max_tokens", "llm_temperature", "llm_failure", "unsupported"}
    idle = {
        "llm is extractive, so no language model is asked": language_model if settings.llm == "extractive" else set(),
        "embedder is not openai:…, so no server embeds": {"embed_url", "embed_key"}
        if _scheme(settings.embedder) in _INSIDE
        else set(),
        "reranker is not endpoint:…": {"rerank_key"} if _scheme(settings.reranker) in _INSIDE else set(),
        "vector_url names no store that takes a key": {"vector_key"}
        if _scheme(settings.vector_url) in _INSIDE or settings.vector_url.startswith(("qdrant+", "milvus+"))
        else set(),
        "session_minutes is 0, so nothing is remembered": {"session_keep"} if not settings.session_minutes else set(),
        "cache_url is used instead": {"embed_cache"} if settings.cache_url else set(),
        "the store is not Qdrant Edge": {"optimize_after"}
        if settings.vector_url and not settings.vector_url.startswith("edge:")
        else set(),
    }
    found = [(name, why) for why, names in idle.items() for name in sorted(names & given)]
    if settings.workers == 0 and not settings.catalog_url.startswith("postgresql"):
        found.append(("workers", "0 leaves all jobs to other processes, which only server stores allow; 1 is used"))
    return [f"{name} has no effect: {why}" for name, why in found]


REFERENCES = "env:NAME or file:/path"
"""How a secret is given."""


def is_reference(reference: str) -> bool:
    """Whether it says where a secret is, and is none itself."""
    kind, _, place = reference.partition(":")
    return bool(place) and (kind == "env" or (kind == "file" and Path(place).is_absolute()))


def secret_of(reference: str, environ: Mapping[str, str] | None = None) -> str:
    """The secret that `env:NAME` or `file:/path` refers to, without blanks around it. ConfigError, which names the
    reference alone, where there is none."""
    environ = os.environ if environ is None else environ
    kind, _, place = reference.partition(":")
    if not is_reference(reference):
        raise ConfigError("A secret is given as a reference.", hint=f"Write {REFERENCES}.")
    try:
        found = environ.get(place, "") if kind == "env" else Path(place).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"The secret {reference} cannot be read.", hint="Check the path and its rights.") from error
    if not found.strip():
        raise ConfigError(
            f"The secret {reference} is empty or not there.",
            hint="Set it where the process runs that reads the source: for a server, in its own environment.",
        )
    return found.strip()


def misspelt_variables(environ: Mapping[str, str] | None = None) -> list[str]:
    """Stray variables that are so near to a setting that it was surely meant."""
    return [name for name in stray_variables(environ) if _near(name.removeprefix(PREFIX).lower())]


def _meant(name: str) -> str:
    variable = name.startswith(PREFIX)
    near = _near(name.removeprefix(PREFIX).lower() if variable else name)
    if not near:
        return ""
    return f", did you mean {PREFIX + near.upper() if variable else near}?"


def _near(name: str) -> str:
    return next(iter(get_close_matches(name, [*Settings.model_fields, "config"], n=1, cutoff=0.8)), "")


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def stray_variables(environ: Mapping[str, str] | None = None) -> list[str]:
    """Variables that look like settings and are none: misspelt, most of the time."""
    known = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields} | {f"{PREFIX}CONFIG"}
    environ = os.environ if environ is None else environ
    return sorted(name for name in environ if name.startswith(PREFIX) and name not in known)


def _named_file(environ: Mapping[str, str]) -> Path | None:
    name = environ.get(f"{PREFIX}CONFIG")
    return Path(name) if name else None


def _from_file(path: Path | None) -> dict[str, object]:
    if path is None:
        return {}
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise ConfigError(
            f"The config file {path} cannot be read: {error.strerror}.", hint="Check --config and KEDGE_CONFIG."
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"The config file {path} is not valid TOML: {error}.", hint='Write a setting as name = "value", one a line.'
        ) from error


def _from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name in Settings.model_fields:
        plain = environ.get(name.upper()) if name in PLAIN else None
        value = environ.get(f"{PREFIX}{name.upper()}") or plain
        if value is not None and value != "":
            found[name] = value
    return found
