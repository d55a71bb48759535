"""The figures of all queries, as far as whoever asks may see them."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from kedge.core.acting import actor
from kedge.core.outside import from_json
from kedge.core.values import AnalyticsSummary
from kedge.stores.catalog.ports import Catalog


async def query_figures(catalog: Catalog, tenant: str, since: datetime, top: int) -> AnalyticsSummary:
    """Counts and means of the tenant's queries that are kept, and the `top` most frequent since then.

    Words of questions are shown to the owner, and to others while nothing of the tenant is hidden from anybody: who
    asks about a hidden document says what stands in it.
    """
    found = from_json(AnalyticsSummary, await catalog.analytics.summary(tenant, since, top))
    if actor() is None or not await catalog.rights.restricted(tenant):
        return found
    return replace(found, top_queries=tuple(replace(one, words=None) for one in found.top_queries))
