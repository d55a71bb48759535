"""Builds HNSW for one shard folder in a process of its own: `python -m kedge.stores.vectors.edge.optimizer FOLDER`.

The engine's `optimize()` keeps Python's global lock for as long as it runs (20 s for 20,000 vectors), so a thread
would freeze the whole process.
"""

from __future__ import annotations

import os
import sys

import qdrant_edge as engine


def main(folder: str) -> None:
    """Optimise the shard and leave it closed."""
    if hasattr(os, "nice"):
        os.nice(10)
    shard = engine.EdgeShard.load(folder)
    shard.optimize()
    shard.flush()
    shard.close()


if __name__ == "__main__":
    main(sys.argv[1])
