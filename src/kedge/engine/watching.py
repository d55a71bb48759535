"""Failures of stores are told wherever they happen: in requests, streams, jobs and checks (G-29)."""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Mapping
from functools import wraps
from typing import Any

from kedge.core.errors import StoreError

OnFailure = Callable[[], None]
_PARTS = (
    "collections",
    "documents",
    "passages",
    "jobs",
    "analytics",
    "indexes",
    "keys",
    "uploads",
    "rights",
    "audit",
    "sources",
)
"""Parts of a catalog, each with calls of its own."""


def watch_stores(stores: Mapping[str, object], on_failure: Callable[[str], None]) -> None:
    """Have every `StoreError` of these stores told by the name it has here. An error that passes several is told once.

    Calls are wrapped on the objects themselves, so that what a store can do (`isinstance`) stays the same.
    """
    for name, store in stores.items():
        for part in (store, *(getattr(store, one) for one in _PARTS if hasattr(store, one))):
            _watch(part, lambda name=name: on_failure(name))  # type: ignore[misc]


def _watch(store: object, tell: OnFailure) -> None:
    for name, method in inspect.getmembers(store, callable):
        if name.startswith("_"):
            continue
        if inspect.isasyncgenfunction(method):
            setattr(store, name, _iterated(method, tell))
        elif inspect.iscoroutinefunction(method):
            setattr(store, name, _called(method, tell))


def _called(method: Callable[..., Any], tell: OnFailure) -> Callable[..., Any]:
    @wraps(method)
    async def call(*arguments: Any, **options: Any) -> Any:
        try:
            return await method(*arguments, **options)
        except StoreError as error:
            _once(error, tell)
            raise

    return call


def _iterated(method: Callable[..., Any], tell: OnFailure) -> Callable[..., Any]:
    @wraps(method)
    async def iterate(*arguments: Any, **options: Any) -> AsyncIterator[Any]:
        try:
            async for item in method(*arguments, **options):
                yield item
        except StoreError as error:
            _once(error, tell)
            raise

    return iterate


def _once(error: StoreError, tell: OnFailure) -> None:
    if not error.told:
        error.told = True
        tell()
