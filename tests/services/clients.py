"""Clients that others wrote, in an environment of their own: what they need does not fit beside Kedge's tools.

Fetched from the package index, 400 MB, never part of Kedge. The “URL” is the program that runs Python there.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.services import ROOT, Unavailable

PACKAGES = ("instructor==1.17.0", "litellm==1.106.2", "openapi-python-client==0.29.1")
FOLDER = ROOT / "clients"
PYTHON = FOLDER / "environment" / "bin" / "python"
INSTALLED = FOLDER / "packages"


def install() -> None:
    """Make the environment once, and again when other versions are wanted."""
    wanted = "\n".join(PACKAGES)
    if INSTALLED.exists() and INSTALLED.read_text("utf-8") == wanted:
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    _run([sys.executable, "-m", "venv", "--clear", str(FOLDER / "environment")])
    _run([str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *PACKAGES])
    INSTALLED.write_text(wanted, "utf-8")


def start(_folder: Path) -> str:
    """Where its Python is."""
    return str(PYTHON)


def stop(_folder: Path) -> None:
    """Nothing runs."""


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f"{' '.join(command[:4])} failed: {done.stderr.strip().rpartition(chr(10))[2]}")
