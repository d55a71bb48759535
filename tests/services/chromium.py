"""Chromium: Debian's, or another one on the PATH. No server; its "address" is the path of the program."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from tests.services import APT_INSTALL, Unavailable

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


def install() -> None:
    """Nothing to do where a browser is there; root gets it from Debian."""
    if _program():
        return
    if os.geteuid() != 0 or shutil.which("apt-get") is None:
        raise Unavailable("needs chromium on the PATH")
    command = [*APT_INSTALL, "chromium"]
    got = subprocess.run(command, capture_output=True, text=True, check=False)
    if got.returncode or not _program():
        raise Unavailable(f"apt-get install chromium failed: {got.stderr.strip().rpartition(chr(10))[2]}")


def start(folder: Path) -> str:
    """The path of the program, once it has said its version."""
    program = _program() or ""
    got = subprocess.run([program, "--version"], capture_output=True, text=True, check=False, timeout=60)
    if got.returncode:
        raise Unavailable(f"{program} --version failed: {got.stderr.strip()[:200]}")
    return program


def stop(folder: Path) -> None:
    """Nothing runs between tests."""


def _program() -> str | None:
    return next(filter(None, map(shutil.which, PROGRAMS)), None)
