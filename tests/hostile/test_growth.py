"""Twice the text costs about twice the work, whatever it is made of, so that nothing freezes the server that reads it.

A text of 200,000 spaces took minutes, again after each restart. What is bounded is the processor's own time, of another
process that its limit ends: a busy machine changes nothing.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.hostile.growing import WAYS

CHILD = Path(__file__).with_name("growing.py")
SECONDS = 60
"""Ten times what they need; where the work grows with the square of the length, one case alone takes longer."""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="limits of POSIX")
@pytest.mark.parametrize("way", WAYS)
def test_long_runs_of_anything_are_read(way: str) -> None:
    done = subprocess.run(
        [sys.executable, str(CHILD), way, str(SECONDS)], capture_output=True, text=True, check=False, timeout=290
    )
    assert done.stdout.splitlines()[-1:] == ["done"], done.stderr
