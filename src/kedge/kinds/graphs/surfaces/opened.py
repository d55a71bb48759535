"""From an engine to what the surfaces of graphs work with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kedge.kinds.graphs.kind import KIND

if TYPE_CHECKING:
    from kedge.engine.engine import Engine
    from kedge.kinds.graphs.keeping import NodeKeeper


def nodes_of(engine: Engine) -> NodeKeeper:
    """Nodes and edges."""
    return engine.kinds.opened(KIND).nodes
