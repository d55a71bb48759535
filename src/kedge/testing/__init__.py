"""Contract suites that stores, embedders, file formats and connectors keep, Kedge's own and those of others.

They need `pip install 'kedge[testing]'`. A package that brings a part derives a test class from its suite and says how
the part is opened; pytest does the rest (docs/how-to/extend.md):

```python
from kedge.testing import VectorStoreContract

class TestMine(VectorStoreContract):
    async def open_store(self, folder):
        return MyVectors(folder)
```

| part | suite | against random sequences, with the memory store as the oracle |
|---|---|---|
| vector store | `VectorStoreContract`, `DurableVectorStoreContract` for one that outlives its process | (in both) |
| catalog | `CatalogContract` | `CatalogCongruence` |
| graph store | `GraphStoreContract` | `GraphCongruence` |
| node store | `NodeStoreContract` | `NodesCongruence` |
| embedder | `EmbedderContract` | |
| file format | `FileFormatContract` | |
| connector | `ConnectorContract` | |

`pytest_plugins = ["kedge.testing"]` in a `conftest.py` has failures in the suites explained, and their mark known.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from kedge.core.errors import MissingExtraError

if TYPE_CHECKING:
    import pytest

    from kedge.testing.catalog.congruence import CatalogCongruence
    from kedge.testing.catalog.contract import CatalogContract
    from kedge.testing.connector import ConnectorContract
    from kedge.testing.embedder import EmbedderContract
    from kedge.testing.file_format import FileFormatContract
    from kedge.testing.graph.congruence import GraphCongruence
    from kedge.testing.graph.contract import GraphStoreContract
    from kedge.testing.nodes.congruence import NodesCongruence
    from kedge.testing.nodes.contract import NodeStoreContract
    from kedge.testing.vectors.contract import DurableVectorStoreContract, VectorStoreContract

__all__ = [
    "CatalogCongruence",
    "CatalogContract",
    "ConnectorContract",
    "DurableVectorStoreContract",
    "EmbedderContract",
    "FileFormatContract",
    "GraphCongruence",
    "GraphStoreContract",
    "NodeStoreContract",
    "NodesCongruence",
    "VectorStoreContract",
]
_PLACES = {
    "CatalogCongruence": "catalog.congruence",
    "CatalogContract": "catalog.contract",
    "ConnectorContract": "connector",
    "DurableVectorStoreContract": "vectors.contract",
    "EmbedderContract": "embedder",
    "FileFormatContract": "file_format",
    "GraphCongruence": "graph.congruence",
    "GraphStoreContract": "graph.contract",
    "NodeStoreContract": "nodes.contract",
    "NodesCongruence": "nodes.congruence",
    "VectorStoreContract": "vectors.contract",
}


def __getattr__(name: str) -> Any:
    """Load a suite on first use. MissingExtraError where pytest or hypothesis is not installed."""
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        return getattr(import_module(f"{__name__}.{_PLACES[name]}"), name)
    except ModuleNotFoundError as error:
        if error.name in ("pytest", "hypothesis"):
            raise MissingExtraError("A contract suite", "testing") from error
        raise


def pytest_configure(config: pytest.Config) -> None:
    """Called by pytest where this package is loaded as its plug-in."""
    config.addinivalue_line("markers", "req(*ids): requirements of Kedge that a test covers")
