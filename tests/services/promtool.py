"""promtool, which runs alert rules over made-up series: from the PATH, or out of Debian's package `prometheus`.

The package is unpacked below `.services/`, not installed: nothing of it is started. The “URL” is the program's path.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from tests.services import ROOT, Unavailable

PROGRAM = "promtool"
HELD = ROOT / PROGRAM / "usr" / "bin" / PROGRAM


def install() -> None:
    """Nothing to do where the program is there; else it is taken out of the package."""
    if shutil.which(PROGRAM) or HELD.exists():
        return
    if shutil.which("apt-get") is None or shutil.which("dpkg-deb") is None:
        raise Unavailable(f"needs {PROGRAM} on the PATH")
    folder = ROOT / PROGRAM
    folder.mkdir(parents=True, exist_ok=True)
    _run(["apt-get", "download", "--quiet", "prometheus"], folder)
    for package in folder.glob("prometheus_*.deb"):
        _run(["dpkg-deb", "--extract", str(package), str(folder)], folder)
    if not HELD.exists():
        raise Unavailable("Debian's package prometheus holds no promtool")


def start(_folder: Path) -> str:
    """Where the program is."""
    return shutil.which(PROGRAM) or str(HELD)


def stop(_folder: Path) -> None:
    """Nothing runs."""


def _run(command: list[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"{' '.join(command[:2])} failed: {done.stderr.strip().rpartition(chr(10))[2]}")
