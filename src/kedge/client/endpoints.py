"""What all calls share: the list of addresses, and how requests to take something in are put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

from kedge.client import results
from kedge.client.results import Accepted
from kedge.client.wire import Call, Upload

P = ParamSpec("P")
T = TypeVar("T")
ENDPOINTS: dict[str, str] = {}
"""`METHOD /path` → the name of the method that calls it."""


def calls(endpoint: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Say which address a function calls."""

    def register(function: Callable[P, T]) -> Callable[P, T]:
        ENDPOINTS[endpoint] = function.__name__
        return function

    return register


def taken_in(path: str, sources: Sequence[str], files: Sequence[Upload], fields: dict[str, Any]) -> Call[Accepted]:
    """Addresses as JSON, or files as a form."""
    if files:
        sent = {name: str(value) for name, value in fields.items() if value is not None}
        return Call("POST", path, results.accepted, body=sent, uploads=tuple(files))
    return Call("POST", path, results.accepted, body={"sources": list(sources), **fields})


def nothing(_found: object) -> None:
    """There is nothing to read."""


def as_object(found: Any) -> dict[str, Any]:
    """The JSON object as it is."""
    return dict(found)
