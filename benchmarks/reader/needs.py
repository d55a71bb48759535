"""Packages that only training needs: imported when they are used, and named where they are missing."""

from __future__ import annotations

import importlib
import sys
import time
from typing import Any, NoReturn

PACKAGES = ("torch", "transformers", "onnx")


def need(name: str) -> Any:
    """The module, or an end that says what to install."""
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name != name.partition(".")[0]:
            raise
        stop(f"{name} is not installed. Training the reader needs: pip install {' '.join(PACKAGES)}")


def stop(message: str) -> NoReturn:
    """End with a message."""
    sys.exit(message)


def note(message: str) -> None:
    """Say on stderr how far it is."""
    print(f"{time.strftime('%H:%M:%S')}  {message}", file=sys.stderr, flush=True)
