"""What an ingestion would do, told before it is done: nothing is read but to be hashed, nothing is written (C-13)."""

from __future__ import annotations

import asyncio

from kedge.core.errors import SourceFault
from kedge.core.settings import Settings
from kedge.core.values import IngestPlan, IngestRequest, SourceError
from kedge.ingest.changes import Changes
from kedge.ingest.ports import Discovered, KnowsOrigins, PassageMaker
from kedge.ingest.sources.source import source_error
from kedge.models.ports import Embedder
from kedge.stores.catalog.ports import Catalog


async def planned(
    catalog: Catalog, maker: PassageMaker, request: IngestRequest, embedder: Embedder, settings: Settings
) -> IngestPlan:
    """Compare what the request names with what the catalog holds."""
    changes = await Changes.make(catalog, request)
    return await asyncio.to_thread(_compared, changes, maker, request, embedder, settings)


def _compared(
    changes: Changes, maker: PassageMaker, request: IngestRequest, embedder: Embedder, settings: Settings
) -> IngestPlan:
    found: dict[str, list[str]] = {"new": [], "modified": [], "unchanged": []}
    errors: list[SourceError] = []
    sources: Discovered = maker.discover(request, settings)
    for source in sources:
        if isinstance(source, SourceError):
            errors.append(source)
            continue
        try:
            file_hash = maker.fingerprint(source, request, embedder, settings)
        except SourceFault as fault:
            errors.append(source_error(source.label, fault))
            continue
        found[changes.state(source.url, file_hash)].append(source.label)
    gone = sources.gone_from if isinstance(sources, KnowsOrigins) else lambda url, _origin: sources.gone(url)
    deleted = sorted(known.origin for known in changes.vanished(gone))
    new, modified = tuple(sorted(found["new"])), tuple(sorted(found["modified"]))
    return IngestPlan(new, modified, tuple(deleted), len(found["unchanged"]), tuple(errors))
