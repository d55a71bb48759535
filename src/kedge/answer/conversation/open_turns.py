"""What was said before, without what leans on something that may not be read any more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from kedge.answer.conversation.turns import Turn
from kedge.core.acting import acting_as, actor
from kedge.core.values import KeptTurn, documents_in
from kedge.stores.catalog.ports import Catalog


class OpenTurns:
    """Leaves out turns for the actor in force: rights change after an answer was given.

    A turn leans on the documents that it cites, and on its collection: rows of tables are no documents of the catalog.
    """

    def __init__(self, catalog: Catalog) -> None:
        self._catalog = catalog

    async def of_turns(self, tenant: str, turns: Sequence[Turn]) -> list[Turn]:
        """Those of a session that may be read."""
        documents = await self._hidden_documents(tenant, (one for turn in turns for one in turn.documents))
        shut = await self._shut(tenant)
        return [one for one in turns if one.collection not in shut and documents.isdisjoint(one.documents)]

    async def of_kept(self, tenant: str, turns: Sequence[KeptTurn]) -> list[KeptTurn]:
        """Those of a kept conversation that may be read."""
        documents = await self._hidden_documents(tenant, (one for turn in turns for one in documents_in(turn.metadata)))
        shut = await self._shut(tenant)
        return [one for one in turns if one.collection not in shut and documents.isdisjoint(documents_in(one.metadata))]

    async def _hidden_documents(self, tenant: str, named: Iterable[str]) -> set[str]:
        """Those that are there and may not be read."""
        documents = self._catalog.documents
        if actor() is None:
            return set()
        unseen = [one for one in sorted(set(named)) if one and await documents.get(tenant, one) is None]
        with acting_as(None):
            return {one for one in unseen if await documents.get(tenant, one) is not None}

    async def _shut(self, tenant: str) -> set[str]:
        """Names of the collections that may not be read at all."""
        if actor() is None:
            return set()
        seen = {one.scope.collection for one in await self._catalog.collections.all(tenant)}
        with acting_as(None):
            return {one.scope.collection for one in await self._catalog.collections.all(tenant)} - seen
