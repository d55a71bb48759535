"""A running server makes the backup, with its vectors, for the operator alone."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from kedge.core.errors import ForbiddenError, UnauthorizedError
from kedge.engine.backup.restoring import restore_backup
from kedge.surfaces.cli.main import run
from kedge.surfaces.client import KedgeClient
from tests.engine.backup.made import fill, settings_of, tell
from tests.surfaces.client.conftest import serving


def make_key(home: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    capsys.readouterr()
    assert run(["key", "create", "x", *words, "--home", str(home), "--json"]) == 0
    return str(json.loads(capsys.readouterr().out)["key"])


def test_who_may_have_it(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    home, file = tmp_path / "home", tmp_path / "all.backup"
    asyncio.run(fill(settings_of(home), tmp_path / "sea"))
    operator = make_key(home, capsys, "--right", "admin")
    others = [
        make_key(home, capsys, "--right", "admin", "--tenant", "acme"),
        make_key(home, capsys, "--right", "write"),
        make_key(home, capsys, "--right", "read"),
    ]
    with serving(home) as url:
        for key in others:
            with pytest.raises(ForbiddenError), KedgeClient(url, key=key) as client:
                client.backup(file)
        with pytest.raises(UnauthorizedError), KedgeClient(url) as client:
            client.backup(file)
        assert list(tmp_path.glob("all.backup*")) == []
        monkeypatch.setenv("KEDGE_API_KEY", operator)
        capsys.readouterr()
        assert run(["backup", str(file), "--url", url, "--home", str(tmp_path / "elsewhere"), "--json"]) == 0
        said = capsys.readouterr().out
        made = json.loads(said)
        assert (made["counts"]["vectors"], made["left_out"]) == (8, [])
        assert operator not in said
    assert not list(home.glob(".sent-*"))  # gone once the server has ended what it began, not with the last byte
    restored = asyncio.run(restore_backup(settings_of(tmp_path / "restored"), file))
    assert (restored.vectors, restored.embedded) == (8, 0)
    assert tell(settings_of(tmp_path / "restored"))["keys"] == tell(settings_of(home))["keys"]
