"""Installs a package into a folder of its own, as a user's pip would, without a network."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def pip_install(project: Path, folder: Path) -> str:
    """Install the project there; returns what PYTHONPATH has to be for it, with all that this process imports from."""
    options = ["--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--disable-pip-version-check"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", str(folder), str(project)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return os.pathsep.join([str(folder), *filter(None, sys.path)])
