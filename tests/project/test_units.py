"""The units of systemd, as far as they can be checked without starting them."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from kedge.core.settings import Settings
from kedge.surfaces.cli.main import COMMANDS
from tests.support.paths import ROOT

DEPLOY = ROOT / "deploy"
UNITS = sorted(path.name for path in DEPLOY.glob("kedge*.*") if path.suffix in (".service", ".timer"))
MOST_EXPOSED = 2.0


def text_of(name: str) -> str:
    return (DEPLOY / name).read_text("utf-8")


def test_the_commands_and_variables_are_there() -> None:
    verbs = {command.name for command in COMMANDS}
    settings = {f"KEDGE_{name.upper()}" for name in Settings.model_fields}
    for name in UNITS:
        assert set(re.findall(r"bin/kedge (\w+)", text_of(name))) <= verbs
        assert set(re.findall(r"\bKEDGE_\w+", text_of(name))) <= settings


def test_a_restore_can_change_the_homes_place() -> None:
    home = re.search(r"KEDGE_HOME=(\S+)", text_of("kedge.service"))
    assert home is not None
    assert Path(home[1]).parent == Path("/var/lib/kedge")  # StateDirectory=kedge: it may write beside its home


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not here")
def test_systemd_finds_no_fault(tmp_path: Path) -> None:
    for name in UNITS:  # a command that is there takes the place of the one that is installed later
        (tmp_path / name).write_text(text_of(name).replace("/opt/kedge/bin/kedge", "/bin/true"), "utf-8")
    verify = ["systemd-analyze", "verify", *(str(tmp_path / name) for name in UNITS)]
    done = subprocess.run(verify, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    looked = ["systemd-analyze", "security", "--offline=true", str(tmp_path / "kedge.service")]
    said = subprocess.run(looked, capture_output=True, text=True, check=False).stdout
    exposed = re.search(r"exposure level for kedge.service: ([\d.]+)", said)
    assert exposed is not None, said
    assert float(exposed[1]) <= MOST_EXPOSED
