"""No tenant reaches another's knowledge, whatever it sends, on any surface."""

from __future__ import annotations

from pathlib import Path

import pytest

from kedge.config import load_settings
from kedge.server.app import create_app
from tests.tenants.campaign import Plan, campaign
from tests.tenants.recipes import RECIPES

EMBEDDER = "hash:64"
PLANS = {
    "memory": Plan(http=4 * len(RECIPES), engine=80, mcp=30),
    "embedded": Plan(http=2 * len(RECIPES), engine=40, mcp=12, facade=27, cli=10),
}
MEMORY = {"catalog_url": "memory:", "vector_url": "memory:", "graph_url": "memory:"}


def test_every_address_has_attempts_to_cross(tmp_path: Path) -> None:
    """A new address without a recipe fails here."""
    schema = create_app(load_settings(environ={}, home=tmp_path / "home")).openapi()
    served = {f"{method.upper()} {path}" for path, methods in schema["paths"].items() for method in methods}
    assert set(RECIPES) == served


@pytest.mark.parametrize("stores", list(PLANS))
def test_nobody_crosses(tmp_path: Path, stores: str) -> None:
    urls = MEMORY if stores == "memory" else {}
    settings = load_settings(environ={}, home=tmp_path / "home", embedder=EMBEDDER, **urls)
    report = campaign(settings, PLANS[stores], seed=7)
    assert report.leaks == []
    assert report.control > 15
    assert report.statuses["404"] > PLANS[stores].http / 3
    assert not any(status.startswith("5") for status in report.statuses)
