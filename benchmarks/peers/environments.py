"""Installs peers into `.bench-venv`, beside Kedge itself and never among its dependencies."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

from benchmarks.peers.catalog import Entry

ROOT = Path(__file__).parents[2]
PINS = Path(__file__).with_name("requirements.txt")


def python_of(entry: Entry) -> Path:
    """The interpreter that runs the peer."""
    if not entry.venv:
        return Path(sys.executable)
    return ROOT / ".bench-venv" / entry.venv / ("Scripts" if os.name == "nt" else "bin") / "python"


def install(entry: Entry) -> str:
    """Make the peer's environment. Empty when it went well, else the last line of what went wrong."""
    if not entry.venv:
        return ""
    python = python_of(entry)
    if not python.exists():
        venv.create(python.parents[1], with_pip=True)
    pip = [str(python), "-m", "pip", "install", "--quiet", "--constraint", str(PINS)]
    commands = [[*pip, "--editable", str(ROOT), *entry.packages]]
    if entry.bare:
        commands.append([*pip, "--no-deps", *entry.bare])
    for command in commands:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            return last_line(done.stderr) or f"pip ended with {done.returncode}"
    return ""


def last_line(text: str) -> str:
    """The last line that says something: what pip and Python end with when they fail."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
