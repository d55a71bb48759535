"""Fields that a filter names and no passage of the collection has: a slip of the pen, not a reason to find nothing."""

from __future__ import annotations

from difflib import get_close_matches

from kedge.core.errors import FilterError
from kedge.core.values import PAGE_BREAKS, SECTION_BREAKS, TABLE_HEAD, Scope
from kedge.core.values.filters import Filter, fields
from kedge.stores.catalog.ports import Catalog

BATCH = 500
LOOKED_AT = 5000
"""Passages whose fields are looked at; among more, only a name that is nearly another's is taken for a slip."""
SHOWN = 40
WITHIN = frozenset((PAGE_BREAKS, SECTION_BREAKS, TABLE_HEAD))
"""Fields that say what stands where in a passage: nobody filters by them."""


async def check_fields(catalog: Catalog, scope: Scope, where: Filter) -> None:
    """FilterError that lists the fields there are, and names the nearest."""
    missing, known, seen = fields(where), set[str](), 0
    async for batch in catalog.passages.scan(scope, BATCH):
        known |= {field for passage in batch for field in passage.payload()}
        missing -= known
        seen += len(batch)
        if not missing or seen >= LOOKED_AT:
            break
    if not missing or not seen:
        return
    name = min(missing)
    near = get_close_matches(name, known, n=1, cutoff=0.75)
    if seen >= LOOKED_AT and not near:
        return
    meant = f"Did you mean {near[0]!r}? " if near else ""
    shown = sorted(known - WITHIN)[:SHOWN]
    raise FilterError(
        f"No passage of {scope.collection!r} has the field {name!r}.",
        hint=f"{meant}Fields: {', '.join(shown)}{' …' if len(known - WITHIN) > SHOWN else ''}.",
        details={"field": name, "fields": list(shown)},
    )
