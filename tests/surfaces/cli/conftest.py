"""A home with the small corpus, and a way to run the command in this process."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kedge.surfaces.cli.main import run
from tests.support.surfaces import EMBEDDER, write_corpus


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        return json.loads(self.out)


Kedge = Callable[..., Ran]


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEDGE_EMBEDDER", EMBEDDER)
    monkeypatch.setenv("COLUMNS", "200")


@pytest.fixture
def kedge(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Kedge:
    """Run a command line on this test's own home."""
    monkeypatch.setenv("KEDGE_HOME", str(tmp_path / "home"))

    def ran(*arguments: str) -> Ran:
        capfd.readouterr()
        code = run(arguments)
        out, err = capfd.readouterr()
        return Ran(code, out, err)

    return ran


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_corpus(tmp_path_factory.mktemp("corpus"))


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory, corpus: Path) -> Path:
    """A home that holds the corpus; tests only read it."""
    home = tmp_path_factory.mktemp("filled") / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KEDGE_EMBEDDER", EMBEDDER)
        assert run(["ingest", str(corpus), "--home", str(home), "--json"]) == 0
    return home
