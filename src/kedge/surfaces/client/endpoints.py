"""What all calls share: the list of addresses, and how requests to take something in are put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import Any, ParamSpec, TypeVar

from kedge.core.outside import from_json, goes_outside
from kedge.core.values import Accepted
from kedge.surfaces.client.wire import ClientCall, Upload

P = ParamSpec("P")
T = TypeVar("T")
ENDPOINTS: dict[str, str] = {}
"""`METHOD /path` → the name of the method that calls it."""


def calls(endpoint: str) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """Say which address a function calls. In a module that a kind names, it becomes a method of both clients."""

    def register(function: Callable[P, T]) -> Callable[P, T]:
        ENDPOINTS[endpoint] = function.__name__
        function.__dict__["endpoint"] = endpoint
        return function

    return register


@cache
def added() -> dict[str, Callable[..., ClientCall[Any]]]:
    """The calls that installed kinds bring, by name. Of two with one name the first counts, so Kedge's own."""
    return {one.__name__: one for one in reversed(_brought()) if "endpoint" in getattr(one, "__dict__", {})}


@cache
def returned() -> dict[str, type]:
    """The values that those calls return, by name."""
    return {one.__name__: one for one in _brought() if goes_outside(one)}


def _brought() -> list[Any]:
    """What the kinds' modules hold. Looked for when a client is first asked for something of theirs."""
    from kedge.core.plugins import resolved
    from kedge.kinds import installed

    modules = [resolved(kind.surfaces.client) for kind in installed().values() if kind.surfaces.client]
    return [value for module in modules if module is not None for value in vars(module).values()]


def taken_in(
    path: str, sources: Sequence[str], files: Sequence[Upload], fields: dict[str, Any]
) -> ClientCall[Accepted]:
    """Addresses as JSON, or files as a form."""
    if files:
        sent = {name: str(value) for name, value in fields.items() if value is not None}
        return ClientCall("POST", path, reads(Accepted), body=sent, uploads=tuple(files))
    return ClientCall("POST", path, reads(Accepted), body={"sources": list(sources), **fields})


def reads(kind: type[T]) -> Callable[[Any], T]:
    """What reads a value of this class from the JSON of an answer."""
    return partial(from_json, kind)


def nothing(_found: object) -> None:
    """There is nothing to read."""


def as_object(found: Any) -> dict[str, Any]:
    """The JSON object as it is."""
    return dict(found)
