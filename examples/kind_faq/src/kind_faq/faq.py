"""The kind at work in an engine, and the entries that it keeps."""

from __future__ import annotations

from kedge.core.values import Scope
from kedge.kinds.documents.way_in import sole_document
from kedge.kinds.passages import PassagesWayIn
from kedge.kinds.ports import Kind, OpenKind, Parts
from kind_faq.entry import Entry
from kind_faq.way_in import EntryMaker
from kind_faq.way_out import FaqWayOut


class Faq(OpenKind):
    """Its two ways, and its entries."""

    def __init__(self, kind: Kind[Faq], parts: Parts) -> None:
        super().__init__(kind, PassagesWayIn(EntryMaker(), sole_document), FaqWayOut(parts))
        self._parts = parts

    async def entries(self, scope: Scope) -> list[Entry]:
        """All entries of a collection, by file and in its order. NotFoundError."""
        await self._parts.collections.get(scope)
        pages = self._parts.stores.catalog.passages.scan(scope)
        passages = [passage async for page in pages for passage in page]
        passages.sort(key=lambda passage: (passage.url, passage.index))
        return [Entry(one.section_path[-1], one.text, one.url, one.id) for one in passages]
