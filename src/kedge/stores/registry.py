"""Opens stores by URL: those of Kedge and of other packages, by the entry point `kedge.stores`."""

from __future__ import annotations

from urllib.parse import urlsplit

from kedge.core.opening import Opener
from kedge.core.plugins import STORES
from kedge.core.settings import Settings
from kedge.models import registry as models
from kedge.models.ports import VectorCache
from kedge.stores.catalog.ports import Catalog
from kedge.stores.graph.nodes import NodeStore
from kedge.stores.ports import ForeignTable, GraphStore, VectorStore

CATALOGS: Opener[Catalog] = Opener(STORES, "catalog", "catalog", Catalog)
VECTORS: Opener[VectorStore] = Opener(STORES, "vectors", "vector store", VectorStore)
GRAPHS: Opener[GraphStore] = Opener(STORES, "graph", "graph store", GraphStore)
NODES: Opener[NodeStore] = Opener(STORES, "nodes", "node store", NodeStore)
FOREIGN: Opener[ForeignTable] = Opener(STORES, "foreign", "store with tables of other programs", ForeignTable)
CACHES: Opener[VectorCache] = Opener(STORES, "cache", "cache", VectorCache)


def open_vectors(settings: Settings) -> VectorStore:
    """The vector store of the settings."""
    return VECTORS.open(settings.vector_url or f"edge://{settings.home / 'vectors'}", settings)


def open_catalog(settings: Settings) -> Catalog:
    """The catalog of the settings."""
    return CATALOGS.open(catalog_url(settings), settings)


def open_graph(settings: Settings) -> GraphStore:
    """The graph store of the settings; by default in the catalog's database."""
    return GRAPHS.open(settings.graph_url or catalog_url(settings), settings)


def open_nodes(settings: Settings) -> NodeStore:
    """Users' own graphs: where the graph is."""
    return NODES.open(settings.graph_url or catalog_url(settings), settings)


def open_cache(settings: Settings) -> VectorCache | None:
    """The shared cache of embeddings, if the settings name one."""
    return CACHES.open(settings.cache_url, settings) if settings.cache_url else None


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


def faults(settings: Settings) -> list[str]:
    """Stores and models that the settings name and nobody knows, with those that are known: for `load_settings`."""
    return [
        *CATALOGS.faults("catalog_url", settings.catalog_url),
        *VECTORS.faults("vector_url", settings.vector_url),
        *GRAPHS.faults("graph_url", settings.graph_url),
        *CACHES.faults("cache_url", settings.cache_url),
        *models.faults(settings),
    ]
