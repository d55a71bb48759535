"""The examples run."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.forked import ran_script
from tests.support.paths import ROOT
from tests.support.surfaces import EMBEDDER
from tests.surfaces.client.conftest import serving

EXAMPLES = ROOT / "examples"


def test_the_client(tmp_path: Path) -> None:
    with serving(tmp_path / "home") as url:
        done = ran_script((EXAMPLES / "client.py").read_text("utf-8"), url)
    assert done.returncode == 0, done.stderr
    assert "complete: 1 passages, 0 errors" in done.stdout
    assert "with an anchor bend. [1]" in done.stdout.replace("**", "")


def test_the_notebook(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Every cell runs, and those that end with an answer show it."""
    monkeypatch.setenv("KEDGE_EMBEDDER", EMBEDDER)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    notebook = json.loads((EXAMPLES / "notebook.ipynb").read_text("utf-8"))
    names: dict[str, Any] = {}
    shown: list[str] = []
    for cell in (one for one in notebook["cells"] if one["cell_type"] == "code"):
        assert cell["outputs"] == []
        *before, last = ast.parse("".join(cell["source"])).body
        exec(compile(ast.Module(before, []), "cell", "exec"), names)
        if isinstance(last, ast.Expr):
            value = eval(compile(ast.Expression(last.value), "cell", "eval"), names)
            if hasattr(value, "_repr_html_"):
                shown.append(value._repr_html_())
        else:
            exec(compile(ast.Module([last], []), "cell", "exec"), names)
    assert len(shown) == 4
    assert "anchor bend" in shown[0]
    assert "highest price" in shown[2]
    assert "Ada —serves_on→ Surprise" in shown[3]
