"""Settings: read here and nowhere else. Order: arguments, environment (`KEDGE_…`), config file, defaults."""

from __future__ import annotations

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from kedge.errors import ConfigError
from kedge.types import Json
from kedge.urls import mask_url

PREFIX = "KEDGE_"
PLAIN = ("enable_rag_search",)
"""Settings that are also read without the prefix."""


class Settings(BaseModel):
    """Everything that can be set. Each field is also `KEDGE_<NAME>` in the environment and a key of the TOML file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    home: Path = Field(Path(".kedge"), description="Folder that holds everything Kedge stores.")
    collection: str = Field("default", description="Collection used when none is named.")
    catalog_url: str = Field("", repr=False, description="Catalog and graph database; empty: SQLite file in the home.")
    vector_url: str = Field("", repr=False, description="Vector store; empty: Qdrant Edge in the home.")
    vector_key: SecretStr | None = Field(None, description="Key of the vector store (Qdrant's API key, Milvus' token).")
    graph_url: str = Field("", repr=False, description="Graph store; empty: in the catalog's database.")
    optimize_after: int = Field(20_000, ge=1, description="New passages that make Qdrant Edge build its search index.")
    embedder: str = Field("minilm", description="Embedding model for new collections.")
    embed_cache: Path | None = Field(None, description="SQLite file that remembers embeddings by text.")
    cache_url: str = Field("", repr=False, description="Redis that remembers embeddings instead, for 24 hours.")
    embed_url: str = Field("", description="Server of `openai:` embedders; empty: OpenAI's.")
    embed_key: SecretStr | None = Field(None, description="Key for that server.")
    reranker: str = Field("default", description="Reranker: `default`, `none`, or a name.")
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
    context_passages: int = Field(20, ge=1, le=200, description="Most passages that a language model gets to read.")
    context_tokens: int = Field(
        100_000, ge=256, description="Most tokens of passages for it, if its window allows so many."
    )
    threads: int = Field(0, ge=0, le=256, description="Threads for the embedding model; 0: all cores.")
    channels: tuple[Literal["vector", "keyword", "graph"], ...] = Field(
        ("vector", "keyword", "graph"), min_length=1, description="Ways to search; comma-separated in the environment."
    )
    fusion: Literal["default", "rrf"] = Field("default", description="How channels are combined.")
    threshold: float = Field(0.6, ge=0, le=1, description="Least evidence probability for an answer.")
    candidates: int = Field(60, ge=10, le=1000, description="Hits taken from each channel before fusion.")
    chunk_tokens: int = Field(0, ge=0, le=2000, description="Target tokens per passage; 0: by the embedder's window.")
    enable_rag_search: bool = Field(
        True, description="Off: nodes are no longer indexed and `/rag` is hidden; also read from `ENABLE_RAG_SEARCH`."
    )
    node_threshold: float = Field(
        0.7, ge=0, le=1, description="Least raw similarity of a node that answers by its text."
    )
    node_neighbours: int = Field(3, ge=0, le=20, description="Neighbours of a cited node that are told with it.")
    max_source_bytes: int = Field(1 << 30, ge=1, description="Largest source that is taken in.")
    parse_apart: bool = Field(True, description="Read PDF, HTML, Parquet and long markdown in a process of its own.")
    parse_timeout: float = Field(120.0, gt=0, description="Seconds for reading one file there, for each 8 MiB of it.")
    parse_memory_bytes: int = Field(2 << 30, ge=256 << 20, description="Most memory of that process (Linux).")
    parse_output_bytes: int = Field(512 << 20, ge=1 << 16, description="Most bytes that a file may unpack to there.")
    allow_private_urls: bool = Field(False, description="Let URLs lead to private and loopback addresses.")
    url_timeout: float = Field(30.0, gt=0, description="Seconds for one download.")
    host: str = Field("127.0.0.1", description="Address the server binds to.")
    port: int = Field(8000, ge=0, le=65535, description="Port the server binds to.")
    open_access: bool = Field(False, description="Serve without keys on other addresses than loopback.")
    allowed_hosts: tuple[str, ...] = Field(
        (), description="Names, beside loopback, that requests may be for; empty: any, but loopback alone on loopback."
    )
    cors_origins: tuple[str, ...] = Field(
        (), description="Sites whose pages may call the API, like https://app.example."
    )
    hsts_seconds: int = Field(0, ge=0, description="Behind TLS: how long browsers shall insist on it; 0: not said.")
    max_upload_bytes: int = Field(256 << 20, ge=1, description="Largest upload.")
    workers: int = Field(1, ge=0, le=64, description="Ingestions that a process runs at once; 0: leave all to workers.")
    worker_timeout: float = Field(30.0, ge=1, description="Seconds without a sign of life: then others take its jobs.")
    check_every: float = Field(0.0, ge=0, description="Seconds between checks with repair in the background; 0: off.")
    table_texts: int = Field(3000, ge=0, description="Texts of a table embedded whole; more are composed of words.")
    session_ttl: float = Field(0.0, ge=0, description="Seconds a table session lives after its last feed; 0: for ever.")
    log_level: Literal["debug", "info", "warning", "error"] = Field("warning", description="Least level logged.")

    @field_validator("channels", "allowed_hosts", "cors_origins", mode="before")
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

    def shown(self) -> dict[str, Json]:
        """Every setting as it may be printed: keys and passwords are hidden."""
        dumped = self.model_dump(mode="json")
        return {name: mask_url(value) if isinstance(value, str) else value for name, value in dumped.items()}


def load_settings(
    config_file: Path | None = None,
    environ: Mapping[str, str] | None = None,
    **overrides: object,
) -> Settings:
    """Gather settings from all places and name every fault at once."""
    environ = os.environ if environ is None else environ
    values: dict[str, object] = {}
    values.update(_from_file(config_file or _named_file(environ)))
    values.update(_from_environment(environ))
    values.update({name: value for name, value in overrides.items() if value is not None})
    try:
        return Settings(**values)  # type: ignore[arg-type]
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, item['loc']))}: {item['msg']}" for item in error.errors()]
        details: dict[str, Json] = {"faults": list(faults)}
        raise ConfigError(
            "The settings cannot be used: " + "; ".join(faults) + ".",
            hint="docs/reference/settings.md lists every setting with its range.",
            details=details,
        ) from error


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
        raise ConfigError(f"The config file {path} cannot be read: {error.strerror}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(f"The config file {path} is not valid TOML: {error}.") from error


def _from_environment(environ: Mapping[str, str]) -> dict[str, object]:
    found: dict[str, object] = {}
    for name in Settings.model_fields:
        plain = environ.get(name.upper()) if name in PLAIN else None
        value = environ.get(f"{PREFIX}{name.upper()}") or plain
        if value is not None and value != "":
            found[name] = value
    return found
