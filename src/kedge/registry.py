"""Opens stores and models by URL or name. Drivers load on first use; a missing one names its extra."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from kedge.config import Settings
from kedge.errors import ConfigError, MissingExtraError
from kedge.models.base import Embedder, LanguageModel, Reranker
from kedge.models.cache import VectorCache
from kedge.stores.base import GraphStore, VectorStore
from kedge.stores.catalog.base import Catalog
from kedge.stores.nodes.base import NodeStore
from kedge.urls import mask_url


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a backend lives: `module:function`, called with (url or name, settings)."""

    target: str
    extra: str = ""
    """Extra of the package that brings its driver; empty when it is in the default install."""


VECTORS: Mapping[str, Entry] = {
    "memory": Entry("kedge.stores.memory:open_vectors"),
    "edge": Entry("kedge.stores.edge:open_vectors"),
    "iris": Entry("kedge.stores.iris:open_vectors", extra="iris"),
    "milvus": Entry("kedge.stores.milvus:open_vectors", extra="milvus"),
    "postgresql": Entry("kedge.stores.pgvector:open_vectors", extra="postgresql"),
    "qdrant": Entry("kedge.stores.qdrant:open_vectors", extra="qdrant"),
}
CATALOGS: Mapping[str, Entry] = {
    "memory": Entry("kedge.stores.memory:open_catalog"),
    "postgresql": Entry("kedge.stores.catalog.sql:open_catalog", extra="postgresql"),
    "sqlite": Entry("kedge.stores.catalog.sql:open_catalog"),
}
GRAPHS: Mapping[str, Entry] = {
    "memory": Entry("kedge.stores.memory:open_graph"),
    "neo4j": Entry("kedge.stores.neo4j:open_graph", extra="neo4j"),
    "postgresql": Entry("kedge.stores.sqlgraph:open_graph", extra="postgresql"),
    "sqlite": Entry("kedge.stores.sqlgraph:open_graph"),
}
NODES: Mapping[str, Entry] = {
    "memory": Entry("kedge.stores.nodes.memory:open_nodes"),
    "neo4j": Entry("kedge.stores.nodes.neo4j:open_nodes", extra="neo4j"),
    "postgresql": Entry("kedge.stores.nodes.sql:open_nodes", extra="postgresql"),
    "sqlite": Entry("kedge.stores.nodes.sql:open_nodes"),
}
CACHES: Mapping[str, Entry] = {
    "redis": Entry("kedge.models.redis_cache:open_cache", extra="redis"),
    "rediss": Entry("kedge.models.redis_cache:open_cache", extra="redis"),
}
EMBEDDERS: Mapping[str, Entry] = {
    "minilm": Entry("kedge.models.minilm:open_embedder"),
    "bge-small": Entry("kedge.models.bge:open_embedder", extra="bge"),
    "e5-multilingual": Entry("kedge.models.e5:open_embedder", extra="multilingual"),
    "hash": Entry("kedge.models.fake:open_embedder"),
    "onnx": Entry("kedge.models.onnx:open_embedder"),
    "openai": Entry("kedge.models.openai:open_embedder"),
    "safetensors": Entry("kedge.models.bert:open_embedder"),
    "st": Entry("kedge.models.torch:open_embedder", extra="torch"),
    "use-multilingual": Entry("kedge.models.use:open_embedder", extra="multilingual"),
}
RERANKERS: Mapping[str, Entry] = {
    "endpoint": Entry("kedge.models.rerank_http:open_reranker"),
    "onnx-rerank": Entry("kedge.models.onnx_rerank:open_reranker"),
}
LANGUAGE_MODELS: Mapping[str, Entry] = {
    "anthropic": Entry("kedge.models.llm.claude:open_language_model", extra="anthropic"),
    "local": Entry("kedge.models.llm.local:open_language_model", extra="local"),
    "ollama": Entry("kedge.models.llm.ollama:open_language_model"),
    "openai": Entry("kedge.models.llm.chat:open_language_model", extra="openai"),
}
EXTRACTIVE = "extractive"
"""The default: answers are verbatim sentences, and no model is asked."""


def open_vectors(settings: Settings) -> VectorStore:
    """The vector store of the settings."""
    url = settings.vector_url or f"edge://{settings.home / 'vectors'}"
    store: VectorStore = _open(VECTORS, url, "vector store", settings)
    return store


def open_catalog(settings: Settings) -> Catalog:
    """The catalog of the settings."""
    store: Catalog = _open(CATALOGS, catalog_url(settings), "catalog", settings)
    return store


def open_graph(settings: Settings) -> GraphStore:
    """The graph store of the settings; by default in the catalog's database."""
    store: GraphStore = _open(GRAPHS, settings.graph_url or catalog_url(settings), "graph store", settings)
    return store


def open_nodes(settings: Settings) -> NodeStore:
    """Users' own graphs: where the graph is."""
    store: NodeStore = _open(NODES, settings.graph_url or catalog_url(settings), "graph store", settings)
    return store


def catalog_url(settings: Settings) -> str:
    """URL of the catalog's database."""
    return settings.catalog_url or f"sqlite:///{settings.home / 'catalog.db'}"


def on_servers(settings: Settings) -> bool:
    """Whether every store is a server, so that several processes on several machines may use them together."""
    stores = (catalog_url(settings), settings.vector_url, settings.graph_url or catalog_url(settings))
    return catalog_url(settings).startswith("postgresql") and all(map(_is_server, stores))


def _is_server(url: str) -> bool:
    """PostgreSQL always is one; others may also be a folder or in memory, and name no host then."""
    return url.startswith("postgresql") or bool(urlsplit(url).hostname)


def open_cache(settings: Settings) -> VectorCache | None:
    """The shared cache of embeddings, if the settings name one."""
    if not settings.cache_url:
        return None
    cache: VectorCache = _open(CACHES, settings.cache_url, "cache", settings)
    return cache


def open_embedder(name: str, settings: Settings) -> Embedder:
    """An embedder by name (`minilm`) or by scheme (`onnx:/path/to/folder`, `openai:MODEL`)."""
    model: Embedder = _open(EMBEDDERS, name, "embedder", settings)
    return model


def open_reranker(name: str, settings: Settings) -> Reranker:
    """A reranker by scheme (`endpoint:http://host:8080?api=tei`, `onnx-rerank:/path/to/folder`)."""
    model: Reranker = _open(RERANKERS, name, "reranker", settings)
    return model


def open_language_model(name: str, settings: Settings) -> LanguageModel:
    """A language model by scheme (`anthropic:claude-…`, `openai:MODEL`, `ollama:MODEL`, `local`), within its limits."""
    model: LanguageModel = _open(LANGUAGE_MODELS, name, "language model", settings)
    return model


def open_writer(settings: Settings) -> LanguageModel | None:
    """The language model of the settings; None when answers are extractive."""
    return None if settings.llm == EXTRACTIVE else open_language_model(settings.llm, settings)


def faults(settings: Settings) -> list[str]:
    """Stores and models that the settings name and nobody knows, with those that are known: for `load_settings`."""
    named = (
        ("catalog_url", CATALOGS, settings.catalog_url, ()),
        ("vector_url", VECTORS, settings.vector_url, ()),
        ("graph_url", GRAPHS, settings.graph_url, ()),
        ("cache_url", CACHES, settings.cache_url, ()),
        ("embedder", EMBEDDERS, settings.embedder, ()),
        ("reranker", RERANKERS, settings.reranker, ("default", "none")),
        ("llm", LANGUAGE_MODELS, settings.llm, (EXTRACTIVE,)),
    )
    return [
        f"{name}: there is no {mask_url(_scheme(value))!r}, known are {', '.join((*others, *sorted(entries)))}"
        for name, entries, value, others in named
        if value and _scheme(value) not in (*entries, *others)
    ]


def _scheme(name: str) -> str:
    return name.partition(":")[0].partition("+")[0].partition("?")[0]


def _open(entries: Mapping[str, Entry], name: str, what: str, settings: Settings) -> Any:
    scheme = _scheme(name)
    entry = entries.get(scheme)
    if entry is None:
        known = ", ".join(sorted(entries)) or "none yet"
        raise ConfigError(f"There is no {what} named {mask_url(scheme)!r}.", hint=f"Known: {known}.")
    return _load(entry, f"The {what} {scheme!r}")(name, settings)


def _load(entry: Entry, what: str) -> Callable[[str, Settings], Any]:
    module, _, attribute = entry.target.partition(":")
    try:
        loaded = importlib.import_module(module)
    except ImportError as error:
        if entry.extra and not (error.name or "").startswith("kedge"):
            raise MissingExtraError(what, entry.extra) from error
        raise
    factory: Callable[[str, Settings], Any] = getattr(loaded, attribute)
    return factory
