"""axe-core, the accessibility checker (MPL-2.0): fetched from npm for the tests, never part of Kedge."""

from __future__ import annotations

import shutil
import subprocess
import tarfile
from pathlib import Path

from tests.services import ROOT, Unavailable

PACKAGE = "axe-core@4.10.3"
SCRIPT = ROOT / "axe" / "package" / "axe.min.js"


def install() -> None:
    """Fetch and unpack it once."""
    if SCRIPT.exists():
        return
    if shutil.which("npm") is None:
        raise Unavailable(f"needs npm to fetch {PACKAGE}")
    SCRIPT.parent.parent.mkdir(parents=True, exist_ok=True)
    command = ["npm", "pack", PACKAGE, "--silent"]
    got = subprocess.run(command, cwd=SCRIPT.parent.parent, capture_output=True, text=True, check=False, timeout=120)
    packed = next(SCRIPT.parent.parent.glob("axe-core-*.tgz"), None)
    if got.returncode or packed is None:
        raise Unavailable(f"npm pack {PACKAGE} failed: {got.stderr.strip().rpartition(chr(10))[2]}")
    with tarfile.open(packed) as archive:
        member = archive.extractfile(f"package/{SCRIPT.name}")
        if member is None:
            raise Unavailable(f"{PACKAGE} holds no {SCRIPT.name}")
        SCRIPT.parent.mkdir(exist_ok=True)
        SCRIPT.write_bytes(member.read())


def start(folder: Path) -> str:
    """The path of the script."""
    return str(SCRIPT)


def stop(folder: Path) -> None:
    """Nothing runs."""
