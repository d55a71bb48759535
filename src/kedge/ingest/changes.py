"""What changed since the last time: which sources are new, equal, or gone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from kedge.core.values import Document, DocumentStatus, IngestMode, IngestRequest, Scope
from kedge.stores.catalog.ports import Catalog

PAGE = 1000


@dataclass(frozen=True, slots=True)
class Known:
    """What the plan keeps of a document: there may be a million."""

    id: str
    file_hash: str | None
    """Of the live version; None when there is none."""
    chunk_count: int
    origin: str
    """Where it was read: its url, unless its metadata say otherwise."""
    content_hash: str | None = None
    """Of the bytes of the live version, as far as kept."""


class Changes:
    """The catalog's documents of the scope, compared with what is found."""

    def __init__(self, request: IngestRequest, known: dict[str, Known]) -> None:
        self._mode = request.mode
        self._known = known
        self._by_content = {one.content_hash: one.id for one in known.values() if one.content_hash and one.file_hash}

    @classmethod
    async def make(cls, catalog: Catalog, request: IngestRequest, document_id: str | None = None) -> Changes:
        """Load what the catalog knows under the sources of the request; that document alone if it is about one."""
        if document_id is None:
            return cls(request, await _documents(catalog, request.scope))
        found = await catalog.documents.get(request.scope.tenant, document_id)
        if found is None or found.status is DocumentStatus.ARCHIVED:
            return cls(request, {})
        return cls(request, {found.url: _known(found)})

    def unchanged(self, url: str, file_hash: str) -> bool:
        """True when the live version was made from the same content and options."""
        document = self._known.get(url)
        return self._mode is IngestMode.INCREMENTAL and document is not None and document.file_hash == file_hash

    def is_new(self, url: str) -> bool:
        """Whether nothing of it is visible yet."""
        document = self._known.get(url)
        return document is None or document.file_hash is None

    def twin(self, document_id: str, content_hash: str | None) -> str | None:
        """Another document that is visible and was made from the very same bytes, if there is one: before it was moved,
        or a copy."""
        found = self._by_content.get(content_hash) if content_hash else None
        return None if found == document_id else found

    def state(self, url: str, file_hash: str) -> Literal["new", "modified", "unchanged"]:
        """What the source is to what is there."""
        if self.is_new(url):
            return "new"
        return "unchanged" if self.unchanged(url, file_hash) else "modified"

    def vanished(self, gone: Callable[[str, str], bool]) -> list[Known]:
        """Documents that were looked for and are not there any more; `gone` says which, by url and origin."""
        return [document for url, document in self._known.items() if gone(url, document.origin)]


async def _documents(catalog: Catalog, scope: Scope) -> dict[str, Known]:
    found: dict[str, Known] = {}
    offset = 0
    while page := await catalog.documents.page(scope, limit=PAGE, offset=offset):
        found.update((document.url, _known(document)) for document in page)
        offset += len(page)  # not the number of urls: what others add meanwhile shows some twice
    return found


def _known(document: Document) -> Known:
    live_hash = document.file_hash if document.live_version is not None else None
    origin = document.metadata.get("origin")
    place = origin if isinstance(origin, str) else document.url
    return Known(document.id, live_hash, document.chunk_count, place, document.content_hash)
