"""Real servers for the tests: one module for each, installed and started below `.services/`, on loopback only.

A module has `install()` (from the registries, once; quick when done), `start(folder) -> url` (returns when the server
answers) and `stop(folder)`. What cannot be installed or started raises `Unavailable` with the reason, which becomes the
reason of the skip. `KEDGE_TEST_<NAME>_URL` names a server of your own instead.
"""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2] / ".services"
APT_INSTALL = ("apt-get", "-o", "DPkg::Lock::Timeout=300", "install", "--yes", "--quiet", "--no-install-recommends")
"""Waits for its turn: servers are installed beside each other."""
NAMES: tuple[str, ...] = ("axe", "chromium", "clients", "dovecot", "milvus", "neo4j", "postgresql", "promtool", "redis")


class Unavailable(Exception):
    """The server cannot run here; the message says why."""


def start(name: str) -> str:
    """Install and start the server if it does not run yet; returns its URL."""
    own = os.environ.get(f"KEDGE_TEST_{name.upper()}_URL")
    if own:
        return own
    module = _module(name)
    module.install()
    folder = ROOT / name
    folder.mkdir(parents=True, exist_ok=True)
    url: str = module.start(folder)
    (folder / "url").write_text(url, encoding="utf-8")
    (folder / "reason").unlink(missing_ok=True)
    return url


def stop(name: str) -> None:
    """Stop the server that `start` started. One that does not run is ignored."""
    folder = ROOT / name
    if (folder / "url").exists():
        _module(name).stop(folder)
        (folder / "url").unlink()


def need(name: str) -> str:
    """URL of the running server, or the test is skipped with the reason printed. `make services` starts them."""
    own = os.environ.get(f"KEDGE_TEST_{name.upper()}_URL")
    if own:
        return own
    folder = ROOT / name
    if (folder / "url").exists():
        return (folder / "url").read_text("utf-8")
    reason = folder / "reason"
    pytest.skip(f"{name}: {reason.read_text('utf-8') if reason.exists() else 'not started; run `make services`'}")


def _module(name: str) -> Any:
    return importlib.import_module(f"tests.services.{name}")
