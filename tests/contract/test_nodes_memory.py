"""The memory store keeps the contract of node stores."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

import pytest

from kedge.core.settings import Settings
from kedge.stores.graph.memory.nodes import open_nodes
from kedge.stores.graph.nodes import NodeStore
from kedge.testing import NodeStoreContract


@pytest.mark.req("G-01")
@pytest.mark.store("nodes", "memory")
class TestMemoryNodes(NodeStoreContract):
    _kept: ClassVar[dict[Path, NodeStore]] = {}

    async def open_store(self, folder: Path) -> NodeStore:
        if folder not in self._kept:
            self._kept[folder] = open_nodes("memory:", Settings())
        return self._kept[folder]
