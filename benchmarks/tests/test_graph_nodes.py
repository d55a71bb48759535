"""The benchmark of graphs measures what the targets name; how fast it is, only a quiet machine can tell (G-12)."""

from __future__ import annotations

import argparse
import asyncio

import pytest

from benchmarks.graph_nodes import measure


@pytest.mark.req("G-12")
def test_the_benchmark_measures_every_target() -> None:
    options = argparse.Namespace(embedder="hash:32", described=False, exact=False, queries=5)
    figures = asyncio.run(measure(120, options))
    assert figures["nodes"] == 120
    assert figures["nodes_per_second"] > 0
    assert figures["bare_embedding_nodes_per_second"] > 0
    for name in ("search_ms", "vector_ms", "ask_ms"):
        assert 0 < figures[name]["p50"] <= figures[name]["p95"]
