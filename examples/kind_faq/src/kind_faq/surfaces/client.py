"""What clients can call: a function here becomes a method of both clients."""

from __future__ import annotations

from kedge.core.outside import from_json
from kedge.surfaces.client.endpoints import calls
from kedge.surfaces.client.wire import ClientCall, at
from kind_faq.entry import Entry, EntryList


@calls("GET /api/faq/{collection}")
def faq_entries(collection: str) -> ClientCall[list[Entry]]:
    """The questions of a collection with their answers."""
    path = at("/api/faq/{name}", name=collection)
    return ClientCall("GET", path, lambda found: list(from_json(EntryList, found).entries))
