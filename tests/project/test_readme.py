"""What the README shows is run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.paths import ROOT

README = (ROOT / "README.md").read_text("utf-8")


def test_the_python_block_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    block = re.search(r"```python\n(.*?)```", README, re.DOTALL)
    assert block is not None
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "kedge.md").write_text("# Kedge\n\nA kedge is a light anchor that pulls a ship.\n")
    monkeypatch.chdir(tmp_path)
    exec(compile(block[1], "README.md", "exec"), {})
    assert "A kedge is **a light anchor that pulls a ship**. [1]" in capsys.readouterr().out


def test_every_relative_link_leads_somewhere() -> None:
    broken = []
    for page in (ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *(ROOT / "docs").rglob("*.md")):
        for target in re.findall(r"\]\((?!https?://|#)([^)#\s]+)", page.read_text("utf-8")):
            if not (page.parent / target).exists():
                broken.append(f"{page.relative_to(ROOT)}: {target}")
    assert broken == []


def test_the_make_targets_that_are_shown_exist() -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    assert set(re.findall(r"^\$ make ([a-z]+)", README, re.MULTILINE)) == {"demo", "test", "dist"}
    assert {"demo", "test", "check", "bench", "serve", "dist"} <= targets
