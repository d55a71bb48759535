"""Packages that only training and export need: imported when they are used, and named where they are missing."""

from __future__ import annotations

import importlib
import sys
import time
from collections.abc import Sequence
from typing import Any, NoReturn

PACKAGES = ("torch", "transformers", "onnx")
"""What training needs; exporting needs the last alone."""


def need(name: str, packages: Sequence[str] = PACKAGES) -> Any:
    """The module, or an end that says what to install."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.partition(".")[0]:
            raise
        stop(f"{name} is not installed. This needs: pip install {' '.join(packages)}")


def stop(message: str) -> NoReturn:
    """End with a message."""
    sys.exit(message)


def note(message: str) -> None:
    """Say on stderr how far it is."""
    print(f"{time.strftime('%H:%M:%S')}  {message}", file=sys.stderr, flush=True)
