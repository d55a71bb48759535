"""The port of the locks: who may write at the same time, in one process or among many machines."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Protocol

from kedge.core.values import Scope


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
