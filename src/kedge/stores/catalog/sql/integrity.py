"""Whether the database and the catalog's rules hold, said in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, Select, and_, exists, func, or_, select

from kedge.core.values import DocumentStatus
from kedge.stores.catalog.sql.schema import collections, documents, passage_indexes, passages
from kedge.stores.catalog.sql.schema import document_versions as versions
from kedge.stores.catalog.sql.schema_rights import audiences
from kedge.stores.catalog.sql.versions import BUILDING, DEAD, LIVE
from kedge.stores.queries import load_queries

QUERIES = load_queries(__package__, "queries.sql")
SAID = 20
"""Faults of one kind that are named; more are not helpful."""


def faults(connection: Connection) -> list[str]:
    """All faults; empty when sound."""
    found = _of_file(connection)
    for sentence, statement in _RULES.items():
        found += [sentence.format(*row) for row in connection.execute(statement.limit(SAID))]
    return found


def _of_file(connection: Connection) -> list[str]:
    if connection.dialect.name != "sqlite":
        return []
    # From 3.44 on SQLite looks through full-text indexes as well, and compares with what this connection knew of them.
    connection.exec_driver_sql(QUERIES["look_at_concepts"]).all()
    connection.exec_driver_sql(QUERIES["look_at_chunks"]).all()
    said = connection.exec_driver_sql(f"PRAGMA integrity_check({SAID})").scalars().all()
    broken = connection.exec_driver_sql(QUERIES["broken_references"]).all()
    wrong = [f"The database file is damaged: {line}." for line in said if line != "ok"]
    return wrong + [f"A row of {row[0]} refers to a row of {row[2]} that is not there." for row in broken[:SAID]]


def _unsound_live() -> Select[Any]:
    """Documents whose live version is missing, of another document, or not live."""
    joined = documents.outerjoin(versions, versions.c.id == documents.c.live_version)
    wrong = or_(versions.c.id.is_(None), versions.c.document_id != documents.c.id, versions.c.state != LIVE)
    return select(documents.c.id).select_from(joined).where(documents.c.live_version.is_not(None), wrong)


def _unreferenced_live() -> Select[Any]:
    shown = exists().where(documents.c.live_version == versions.c.id, documents.c.id == versions.c.document_id)
    return select(versions.c.id).where(versions.c.state == LIVE, ~shown)


def _active_unlike_live() -> Select[Any]:
    active, live = documents.c.status == DocumentStatus.ACTIVE.value, documents.c.live_version.is_not(None)
    return select(documents.c.id, documents.c.status).where(or_(and_(active, ~live), and_(~active, live)))


def _miscounted() -> Select[Any]:
    """Documents whose chunk count is not the number of their visible passages."""
    staged = select(func.count()).where(passages.c.version_id == documents.c.live_version).scalar_subquery()
    return select(documents.c.id, documents.c.chunk_count, staged).where(documents.c.chunk_count != staged)


def _torn() -> Select[Any]:
    """Live versions whose positions are not 0 to n - 1."""
    joined = passages.join(versions, versions.c.id == passages.c.version_id)
    span = or_(func.min(passages.c.position) != 0, func.max(passages.c.position) != func.count() - 1)
    by_version = select(passages.c.version_id).select_from(joined).where(versions.c.state == LIVE)
    return by_version.group_by(passages.c.version_id).having(span)


def _foreign_passages() -> Select[Any]:
    joined = passages.join(versions, versions.c.id == passages.c.version_id)
    return select(passages.c.passage_id).select_from(joined).where(passages.c.document_id != versions.c.document_id)


def _crowded() -> Select[Any]:
    building = select(versions.c.document_id).where(versions.c.state == BUILDING)
    return building.group_by(versions.c.document_id).having(func.count() > 1)


def _wrong_totals() -> Select[Any]:
    of_collection = and_(documents.c.tenant == collections.c.tenant, documents.c.collection == collections.c.name)
    live = select(func.count(documents.c.live_version)).where(of_collection).scalar_subquery()
    held = select(func.coalesce(func.sum(documents.c.chunk_count), 0)).where(of_collection).scalar_subquery()
    wrong = or_(collections.c.live_documents != live, collections.c.live_passages != held)
    return select(collections.c.tenant, collections.c.name).where(wrong)


def _wrong_audiences() -> Select[Any]:
    own = documents.c.audience == audiences.c.id
    live = select(func.count(documents.c.live_version)).where(own).scalar_subquery()
    held = select(func.coalesce(func.sum(documents.c.chunk_count), 0)).where(own).scalar_subquery()
    return select(audiences.c.id).where(or_(audiences.c.live_documents != live, audiences.c.live_passages != held))


def _stale_marks() -> Select[Any]:
    """Marks of passages that only dead versions hold: their vectors may be gone."""
    joined = passages.join(versions, versions.c.id == passages.c.version_id)
    this = passages.c.passage_id == passage_indexes.c.passage_id
    known = exists(select(passages.c.passage_id).where(this))
    held = exists(select(passages.c.passage_id).select_from(joined).where(this, versions.c.state != DEAD))
    return select(passage_indexes.c.passage_id).where(known, ~held)


_RULES: Mapping[str, Select[Any]] = {
    "Document {0} shows a version that is not its live one.": _unsound_live(),
    "Version {0} is live, but its document does not show it.": _unreferenced_live(),
    "Document {0} is {1}, which does not fit whether it has a live version.": _active_unlike_live(),
    "Document {0} counts {1} passages, but has {2}.": _miscounted(),
    "Version {0} is live, but its passages have gaps.": _torn(),
    "Passage {0} lies in a version of another document.": _foreign_passages(),
    "Document {0} has several versions in building.": _crowded(),
    "The counts of collection {0}/{1} are wrong.": _wrong_totals(),
    "The counts of audience {0} are wrong.": _wrong_audiences(),
    "Passage {0} is dead, but marked as indexed.": _stale_marks(),
}
