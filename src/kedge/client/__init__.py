"""A typed client of the HTTP API, blocking (`KedgeClient`) and for asyncio (`AsyncKedgeClient`).

Needs only httpx: none of the engine is loaded.
"""

from kedge.client.clients import AsyncKedgeClient, KedgeClient
from kedge.client.results import Accepted, PassageInDocument, Reconciled, TableSession

__all__ = ["Accepted", "AsyncKedgeClient", "KedgeClient", "PassageInDocument", "Reconciled", "TableSession"]
