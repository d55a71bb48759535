"""A typed client of the HTTP API, blocking (`KedgeClient`) and for asyncio (`AsyncKedgeClient`).

Needs only httpx: none of the engine is loaded. What calls return can be had here too, that of kinds as well.
"""

from kedge.core.values import Accepted, PassageInDocument
from kedge.surfaces import notebook  # noqa: F401 (values are shown by it)
from kedge.surfaces.client.clients import AsyncKedgeClient, KedgeClient
from kedge.surfaces.client.endpoints import returned

__all__ = ["Accepted", "AsyncKedgeClient", "KedgeClient", "PassageInDocument"]


def __getattr__(name: str) -> object:
    """What calls of kinds return: `from kedge.surfaces.client import TableSession`."""
    found = None if name.startswith("_") else returned().get(name)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found
