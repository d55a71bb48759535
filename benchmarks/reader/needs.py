"""Packages that only training and export need: imported when they are used, and named where they are missing."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NoReturn

TRAINING = ("torch", "transformers")
FILES = ("onnx",)
"""What reading and writing ONNX files needs."""


def need(name: str, packages: Sequence[str] = TRAINING) -> Any:
    """The module, or an end that says what to install."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.partition(".")[0]:
            raise
        stop(f"{name} is not installed. This needs: pip install {' '.join(packages)}")


def check(packages: Sequence[str] = TRAINING) -> None:
    """End at once, before long work, where one of the packages is missing. None is imported."""
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        stop(f"{' and '.join(missing)}: not installed. This needs: pip install {' '.join(packages)}")


def stop(message: str) -> NoReturn:
    """End with a message."""
    sys.exit(message)


def note(message: str) -> None:
    """Say on stderr how far it is."""
    print(f"{time.strftime('%H:%M:%S')}  {message}", file=sys.stderr, flush=True)
