"""Benchmarks may use what tests are made of, never the other way round."""

from __future__ import annotations

import ast

from tests.support.paths import ROOT


def test_no_test_knows_a_benchmark() -> None:
    knowing = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            named = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            named += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            if any(name.split(".")[0] == "benchmarks" for name in named):
                knowing.append(str(path.relative_to(ROOT)))
    assert knowing == []
