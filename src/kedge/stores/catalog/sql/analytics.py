"""Queries, metrics and feedback in SQL. Hashes only (D-17), and words in a table of their own where they are wanted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import Connection, Select, case, delete, func, insert, select, update

from kedge.core.errors import NotFoundError, UsageError
from kedge.core.ids import new_id
from kedge.core.values import PERIOD_DAYS, Json, Metadata
from kedge.stores.batches import batches
from kedge.stores.catalog.ports import QueryRecord
from kedge.stores.catalog.sql.database import Database, upsert
from kedge.stores.catalog.sql.schema import (
    analytics_sessions,
    feedback_events,
    query_words,
    rag_queries,
    retrieval_metrics,
)

METRICS = frozenset(retrieval_metrics.c.keys()) - {"id", "query_id", "extra", "created_at"}
SWEPT = 1000
"""Queries that are forgotten in one transaction."""
_of_session = (rag_queries.c.tenant == analytics_sessions.c.tenant) & (
    rag_queries.c.session_id == analytics_sessions.c.id
)
TIMES = ("vector_search_ms", "graph_traversal_ms", "fusion_ms", "rerank_ms")


class SqlAnalytics:
    """The `Analytics` port."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, query: QueryRecord) -> None:
        await self._database.write(_record, query)

    async def feedback(
        self, tenant: str, query_id: str, rating: int, comment: str | None, *, binary: bool = False
    ) -> str:
        row: dict[str, Json] = {"rating": rating, "scale": scale_of(rating, binary=binary), "comment": comment}
        return await self._database.write(_feedback, tenant, query_id, row)

    async def sweep(self, before: datetime) -> int:
        swept = 0
        while some := await self._database.write(_sweep, before):  # short transactions: others want to write too
            swept += some
        return swept

    async def erase(self, tenant: str, user_hash: str) -> tuple[int, list[str]]:
        return await self._database.write(_erase, tenant, user_hash)

    async def summary(self, tenant: str, since: datetime | None = None, top: int = 10) -> Metadata:
        return await self._database.read(_summary, tenant, since, top)


def scale_of(rating: int, *, binary: bool) -> str:
    """What the rating is on: `five` (D-17), or `binary` (D-40), as a 0 always is. UsageError for one on neither."""
    if binary or rating == 0:
        if rating in (0, 1):
            return "binary"
        raise UsageError(f"A binary rating must be 0 or 1, not {rating}.", hint="Leave `binary` out for 1 to 5.")
    if not 1 <= rating <= 5:
        raise UsageError(f"The rating must be between 1 and 5, not {rating}.", hint="Or 0 and 1 for no and yes.")
    return "five"


def _record(connection: Connection, query: QueryRecord) -> None:
    """Keep the query once: recording it again changes nothing."""
    if connection.execute(select(rag_queries.c.id).where(rag_queries.c.id == query.query_id)).first():
        return
    if query.session_id is not None:
        _touch_session(connection, query, query.session_id)
    if query.words is not None:
        said = {"tenant": query.tenant, "query_hash": query.query_hash, "words": query.words}
        upsert(connection, query_words, [said], ())
    values = {
        "id": query.query_id,
        "tenant": query.tenant,
        "session_id": query.session_id,
        "timestamp": query.created_at,
        "user_hash": query.user_hash,
        "query_hash": query.query_hash,
        "execution_time_ms": query.execution_time_ms,
        "vector_hits": query.vector_hits,
        "graph_hits": query.graph_hits,
        "strategy_used": query.strategy_used,
    }
    connection.execute(insert(rag_queries), [values])
    metrics = {name: value for name, value in query.metrics.items() if name in METRICS}
    extra = {name: value for name, value in query.metrics.items() if name not in METRICS}
    identity = {"id": new_id(), "query_id": query.query_id, "extra": extra, "created_at": query.created_at}
    connection.execute(insert(retrieval_metrics), [{**metrics, **identity}])


def _touch_session(connection: Connection, query: QueryRecord, session_id: str) -> None:
    started = {
        "tenant": query.tenant,
        "id": session_id,
        "started_at": query.created_at,
        "ended_at": query.created_at,
        "user_hash": query.user_hash,
    }
    upsert(connection, analytics_sessions, [started], ())
    this = (analytics_sessions.c.tenant == query.tenant) & (analytics_sessions.c.id == session_id)
    earlier = this & (analytics_sessions.c.ended_at < query.created_at)
    connection.execute(update(analytics_sessions).where(earlier).values(ended_at=query.created_at))


def _feedback(connection: Connection, tenant: str, query_id: str, said: Mapping[str, Json]) -> str:
    known = (rag_queries.c.id == query_id) & (rag_queries.c.tenant == tenant)
    if connection.execute(select(rag_queries.c.id).where(known)).first() is None:
        raise NotFoundError(f"There is no query {query_id!r}.", hint="Use the query_id of an answer.")
    feedback_id = new_id()
    row = {"id": feedback_id, "query_id": query_id, **said}
    connection.execute(insert(feedback_events), [{**row, "created_at": datetime.now(UTC)}])
    return feedback_id


def _sweep(connection: Connection, before: datetime) -> int:
    old = select(rag_queries.c.id).where(rag_queries.c.timestamp < before).limit(SWEPT)
    ids = list(connection.execute(old).scalars())
    forget_queries(connection, ids)
    unused = ~select(rag_queries.c.id).where(_of_session).exists()
    connection.execute(delete(analytics_sessions).where(unused & (analytics_sessions.c.started_at < before)))
    return len(ids)


def _erase(connection: Connection, tenant: str, user_hash: str) -> tuple[int, list[str]]:
    own = (rag_queries.c.tenant == tenant) & (rag_queries.c.user_hash == user_hash)
    rows = connection.execute(select(rag_queries.c.id, rag_queries.c.session_id).where(own)).all()
    forget_queries(connection, [row.id for row in rows])
    theirs = (analytics_sessions.c.tenant == tenant) & (analytics_sessions.c.user_hash == user_hash)
    begun = list(connection.execute(select(analytics_sessions.c.id).where(theirs)).scalars())
    first = (
        select(rag_queries.c.user_hash)
        .where(_of_session)
        .order_by(rag_queries.c.timestamp, rag_queries.c.id)
        .limit(1)
        .scalar_subquery()
    )
    used = select(rag_queries.c.id).where(_of_session).exists()
    connection.execute(update(analytics_sessions).where(theirs & used).values(user_hash=first))
    connection.execute(delete(analytics_sessions).where(theirs))
    return len(rows), sorted({row.session_id for row in rows if row.session_id is not None}.union(begun))


def forget_queries(connection: Connection, query_ids: Sequence[str]) -> None:
    for some in batches(query_ids):
        connection.execute(delete(retrieval_metrics).where(retrieval_metrics.c.query_id.in_(some)))
        connection.execute(delete(feedback_events).where(feedback_events.c.query_id.in_(some)))
        connection.execute(delete(rag_queries).where(rag_queries.c.id.in_(some)))
    asked = (rag_queries.c.tenant == query_words.c.tenant) & (rag_queries.c.query_hash == query_words.c.query_hash)
    connection.execute(delete(query_words).where(~select(rag_queries.c.id).where(asked).exists()))


def _summary(connection: Connection, tenant: str, since: datetime | None, top: int) -> Metadata:
    queries = select(func.count(), func.avg(rag_queries.c.execution_time_ms)).where(rag_queries.c.tenant == tenant)
    count, mean = connection.execute(queries).one()
    means = connection.execute(
        _metrics_of(tenant, *(func.avg(retrieval_metrics.c[name]).label(f"mean_{name}") for name in TIMES))
    ).one()
    refused = retrieval_metrics.c.confidence_threshold_met.is_(False)
    scale, rating = feedback_events.c.scale, feedback_events.c.rating
    ratings = (
        select(func.count(), func.avg(case((scale == "five", rating))), func.avg(case((scale == "binary", rating))))
        .join(rag_queries, rag_queries.c.id == feedback_events.c.query_id)
        .where(rag_queries.c.tenant == tenant)
    )
    rated, mean_rating, yes = connection.execute(ratings).one()
    return {
        "queries": count,
        "sessions": _sessions(connection, tenant),
        "refusals": connection.execute(_metrics_of(tenant, func.count()).where(refused)).scalar_one(),
        "strategies": _strategies(connection, tenant),
        "mean_execution_time_ms": mean,
        **means._mapping,
        "feedback": rated,
        "mean_rating": None if mean_rating is None else float(mean_rating),
        "yes_share": None if yes is None else float(yes),
        **_period(connection, tenant, since or datetime.now(UTC) - timedelta(days=PERIOD_DAYS), top),
    }


def _period(connection: Connection, tenant: str, since: datetime, top: int) -> dict[str, Json]:
    """How many queries came in a minute since then, and which the most often; ties by hash."""
    count, met = func.count(), retrieval_metrics.c.confidence_threshold_met
    own = (rag_queries.c.tenant == tenant) & (rag_queries.c.timestamp >= since)
    total = connection.execute(select(count).select_from(rag_queries).where(own)).scalar_one()
    minutes = (datetime.now(UTC) - since).total_seconds() / 60
    joined = rag_queries.outerjoin(retrieval_metrics, retrieval_metrics.c.query_id == rag_queries.c.id).outerjoin(
        query_words,
        (query_words.c.tenant == rag_queries.c.tenant) & (query_words.c.query_hash == rag_queries.c.query_hash),
    )
    refused = func.avg(case((met.is_(True), 0.0), (met.is_(False), 1.0)))
    mean, words = func.avg(rag_queries.c.execution_time_ms), func.max(query_words.c.words)
    often = (
        select(rag_queries.c.query_hash, count, refused, mean, words)
        .select_from(joined)
        .where(own)
        .group_by(rag_queries.c.query_hash)
        .order_by(count.desc(), rag_queries.c.query_hash)
        .limit(top)
    )
    names = ("query_hash", "count", "refusal_share", "mean_execution_time_ms", "words")
    found: list[Json] = [
        {**dict(zip(names, row, strict=True)), "refusal_share": float(row[2] or 0.0)}
        for row in connection.execute(often)
    ]
    return {"queries_per_minute": total / minutes if minutes > 0 else 0.0, "top_queries": found}


def _metrics_of(tenant: str, *columns: Any) -> Select[Any]:
    joined = retrieval_metrics.join(rag_queries, rag_queries.c.id == retrieval_metrics.c.query_id)
    return select(*columns).select_from(joined).where(rag_queries.c.tenant == tenant)


def _sessions(connection: Connection, tenant: str) -> int:
    found = select(func.count()).select_from(analytics_sessions).where(analytics_sessions.c.tenant == tenant)
    return connection.execute(found).scalar_one()


def _strategies(connection: Connection, tenant: str) -> dict[str, Json]:
    by_strategy = (
        select(rag_queries.c.strategy_used, func.count())
        .where(rag_queries.c.tenant == tenant)
        .group_by(rag_queries.c.strategy_used)
        .order_by(rag_queries.c.strategy_used)
    )
    return {row[0]: row[1] for row in connection.execute(by_strategy)}
