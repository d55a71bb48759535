"""How notebooks show values. Nothing is drawn here: who draws a kind of value says so (`kedge.surfaces.notebook`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
_DRAWN: dict[type, Callable[[Any], str]] = {}


def draws(kind: type[T], make: Callable[[T], str]) -> None:
    """Have values of this type shown by the function. The last one said counts."""
    _DRAWN[kind] = make


def html_of(value: object) -> str | None:
    """The value as HTML; None, which lets a notebook print it plainly, where nobody draws it."""
    make = _DRAWN.get(type(value))
    return None if make is None else make(value)
