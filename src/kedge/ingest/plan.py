"""What changed since the last time: which sources are new, equal, or gone."""

from __future__ import annotations

from collections.abc import Callable

from kedge.stores.catalog.base import Catalog
from kedge.types import Document, IngestMode, IngestRequest, Scope

PAGE = 1000


class Plan:
    """The catalog's documents of the scope, compared with what is found."""

    def __init__(self, request: IngestRequest, known: dict[str, Document]) -> None:
        self._mode = request.mode
        self._known = known

    @classmethod
    async def make(cls, catalog: Catalog, request: IngestRequest) -> Plan:
        """Load what the catalog knows under the sources of the request."""
        return cls(request, await _documents(catalog, request.scope))

    def unchanged(self, url: str, file_hash: str) -> bool:
        """True when the live version was made from the same content and options."""
        document = self._known.get(url)
        return (
            self._mode is IngestMode.INCREMENTAL
            and document is not None
            and document.live_version is not None
            and document.file_hash == file_hash
        )

    def vanished(self, gone: Callable[[str], bool]) -> list[Document]:
        """Documents that were looked for and are not there any more; `gone` says which."""
        return [document for url, document in self._known.items() if gone(url)]


async def _documents(catalog: Catalog, scope: Scope) -> dict[str, Document]:
    found: dict[str, Document] = {}
    while page := await catalog.documents.page(scope, limit=PAGE, offset=len(found)):
        found.update((document.url, document) for document in page)
    return found
