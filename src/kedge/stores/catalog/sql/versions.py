"""Life and death of document versions: what `documents` and `passages` both need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from sqlalchemy import ColumnElement, Connection, delete, exists, func, select, update

from kedge.stores.batches import batches
from kedge.stores.catalog.sql.collections import count_change, totals
from kedge.stores.catalog.sql.schema import document_versions as versions
from kedge.stores.catalog.sql.schema import passage_indexes, passages

BUILDING = "building"
LIVE = "live"
DEAD = "dead"


def not_shared() -> ColumnElement[bool]:
    """True for a row of `passages` whose id no live or staged version holds."""
    other, holder = passages.alias(), versions.alias()
    return ~exists(
        select(other.c.passage_id)
        .join(holder, holder.c.id == other.c.version_id)
        .where((other.c.passage_id == passages.c.passage_id) & (holder.c.state != DEAD))
    )


def kill(connection: Connection, version_ids: Iterable[str], at: datetime | None = None) -> None:
    """These versions are dead: not seen any more from `at` on (now), to be swept.

    Their passages no longer count as indexed, because the sweep may take the vectors away at any time: a version that
    is begun again embeds them again.
    """
    dying_ids = list(version_ids)
    if not dying_ids:
        return
    last: int = connection.execute(select(func.coalesce(func.max(versions.c.died), 0))).scalar_one()
    for ids in batches(dying_ids):
        dying = versions.c.id.in_(ids) & (versions.c.state != DEAD)
        seen = dying & (versions.c.state == LIVE)
        connection.execute(update(versions).where(seen).values(live_until=at or datetime.now(UTC)))
        connection.execute(update(versions).where(dying).values(state=DEAD, died=last + 1))
        theirs = select(passages.c.passage_id).where(passages.c.version_id.in_(ids) & not_shared())
        connection.execute(delete(passage_indexes).where(passage_indexes.c.passage_id.in_(theirs)))


@contextmanager
def counted(connection: Connection, document_ids: list[str]) -> Iterator[None]:
    """Keep the counts of collections right while the visibility of these documents changes."""
    groups = list(batches(document_ids))
    before = [totals(connection, group) for group in groups]
    yield
    for group, old in zip(groups, before, strict=True):
        count_change(connection, old, totals(connection, group))
