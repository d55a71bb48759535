"""The port of the locks: who may write at the same time, in one process or among many machines."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from contextvars import ContextVar
from typing import Protocol

from kedge.core.values import Scope

OnWait = Callable[[bool], None]
"""Told True when whoever is at work begins to wait for a lock, and False when the wait has ended."""
_ON_WAIT: ContextVar[OnWait | None] = ContextVar("on_wait", default=None)


def tell_waits(on_wait: OnWait) -> None:
    """Have the waits of this task told: nothing has been changed yet, so whoever waits may be broken off."""
    _ON_WAIT.set(on_wait)


@contextmanager
def waiting() -> Iterator[None]:
    """Around each wait for a lock."""
    on_wait = _ON_WAIT.get()
    if on_wait is None:
        yield
        return
    on_wait(True)
    try:
        yield
    finally:
        on_wait(False)


class Locks(Protocol):
    """Who may write into a collection. Held by one task; freed when its process dies."""

    def writing(self, scope: Scope, document_id: str | None = None) -> AbstractAsyncContextManager[None]:
        """The collection alone; or with a document: that document alone, beside writers of other documents."""

    def named(self, name: str) -> AbstractAsyncContextManager[None]:
        """A lock by name, waited for."""

    def alone(self, name: str) -> AbstractAsyncContextManager[None]:
        """The same lock, not waited for: ConflictError when somebody holds it."""


def finishing(scope: Scope) -> str:
    """Name of the lock for linking and sweeping in a collection that others write to; taken after `writing`."""
    return f"finishing/{scope.tenant}/{scope.collection}"
