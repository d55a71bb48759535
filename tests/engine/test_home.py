"""The home is its owner's alone, from the first file on."""

from __future__ import annotations

import asyncio
import logging
import os
import stat
import sys
from pathlib import Path

import pytest

from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Scope
from kedge.engine.engine import Engine
from kedge.engine.home import open_to_others
from tests.support.surfaces import EMBEDDER, write_corpus

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="rights of POSIX")


def take_in(home: Path, source: Path) -> int:
    """Rights of the home while it is in use."""

    async def body() -> int:
        async with Engine.open(load_settings(environ={}, home=home, embedder=EMBEDDER)) as engine:
            await engine.ingest(IngestRequest(Scope(DEFAULT_TENANT, "default"), (str(source),)))
            return stat.S_IMODE(home.stat().st_mode)

    before = os.umask(0o022)
    try:
        return asyncio.run(body())
    finally:
        os.umask(before)


def test_nobody_else_can_look_into_a_home(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert take_in(home, write_corpus(tmp_path / "corpus")) == 0o700
    assert open_to_others(home) == []


def test_a_home_that_is_open_is_closed_with_a_note(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    home, source = tmp_path / "home", write_corpus(tmp_path / "corpus")
    take_in(home, source)
    outside = tmp_path / "outside"
    outside.touch(mode=0o644)
    (home / "link").symlink_to(outside)
    home.chmod(0o755)
    (home / "catalog.db").chmod(0o644)
    with caplog.at_level(logging.WARNING):
        assert take_in(home, source) == 0o700
    assert "was open to other users" in caplog.text
    assert open_to_others(home) == []
    assert stat.S_IMODE(outside.stat().st_mode) == 0o644
