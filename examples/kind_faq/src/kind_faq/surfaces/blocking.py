"""`Kedge.faq`: for code that does not use asyncio."""

from __future__ import annotations

from kedge.engine.blocking import Kedge
from kind_faq.entry import Entry
from kind_faq.kind import KIND


class FaqFacade:
    """Entries of collections of the kind `faq`."""

    def __init__(self, kedge: Kedge) -> None:
        self._kedge = kedge
        self._faq = kedge.engine.kinds.opened(KIND)

    def faq_entries(self, collection: str | None = None) -> list[Entry]:
        """The questions of a collection with their answers."""
        return self._kedge.run(self._faq.entries(self._kedge.scope(collection)))
