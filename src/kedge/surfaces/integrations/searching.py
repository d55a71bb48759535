"""What the retrievers share: searching through whatever is given, and what a framework is told about a passage."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, cast, runtime_checkable

from kedge.core.errors import UsageError
from kedge.core.values import Json, SearchHit, SearchResult
from kedge.core.values.identity import heading


@runtime_checkable
class Searches(Protocol):
    """A `Kedge` (the engine in this process) or a `KedgeClient` (a server)."""

    def search(self, query: str, /, **options: Any) -> Any:
        """Passages, best first; an awaitable of them from an `AsyncKedgeClient`."""


@dataclass(frozen=True, slots=True)
class Search:
    """How a retriever searches."""

    source: Any
    """A `Kedge`, a `KedgeClient` or an `AsyncKedgeClient`."""
    collection: str | None = None
    top_k: int = 5
    include_graph: bool = True
    topic: str | None = None
    where: Mapping[str, Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.source, Searches):
            raise UsageError(
                f"A retriever needs a Kedge or a client of one, not {type(self.source).__name__}.",
                hint="Give it Kedge(home), KedgeClient(url) or AsyncKedgeClient(url).",
            )

    def run(self, query: str) -> SearchResult:
        """Search, blocking."""
        found = self._begin(query)
        if asyncio.iscoroutine(found):
            found.close()
            raise UsageError("This retriever has an AsyncKedgeClient.", hint="Await it, or give it a KedgeClient.")
        return cast(SearchResult, found)

    async def arun(self, query: str) -> SearchResult:
        """Search without holding up the event loop."""
        found = await asyncio.to_thread(self._begin, query)
        return await cast(Awaitable[SearchResult], found) if asyncio.iscoroutine(found) else cast(SearchResult, found)

    def _begin(self, query: str) -> object:
        return self.source.search(
            query,
            collection=self.collection,
            top_k=self.top_k,
            include_graph=self.include_graph,
            topic=self.topic,
            where=dict(self.where),
        )


def metadata_of(hit: SearchHit) -> dict[str, Any]:
    """What there is to cite: title, address, section, page, and the offsets of the text in its document."""
    passage = hit.passage
    return {
        **passage.metadata,
        "passage_id": passage.id,
        "document_id": passage.document_id,
        "external_id": passage.external_id,
        "title": passage.title,
        "identity": passage.identity,
        "url": passage.url,
        "source": passage.url,
        "section_path": list(passage.section_path),
        "page": passage.page,
        "start": passage.start,
        "end": passage.end,
        "language": passage.language,
        "rank": hit.rank,
        "score": hit.score,
        "citation": citation_of(hit),
    }


def citation_of(hit: SearchHit) -> str:
    """A line for people: `Kedge anchor › Warp, p. 3 (docs/kedge.md)`."""
    passage = hit.passage
    place = heading(passage.identity, passage.title, passage.section_path)
    page = f", p. {passage.page}" if passage.page is not None else ""
    return f"{place}{page} ({passage.url})"
