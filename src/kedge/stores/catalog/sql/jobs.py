"""Ingestion jobs in SQL."""

from __future__ import annotations

from dataclasses import asdict, fields
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, Row, func, select

from kedge.core.errors import UsageError
from kedge.core.values import IngestMode, Job, JobStatus, Scope, SourceError
from kedge.stores.catalog.sql.database import Database, upsert
from kedge.stores.catalog.sql.schema import document_versions as versions
from kedge.stores.catalog.sql.schema import documents
from kedge.stores.catalog.sql.schema import ingestion_jobs as table
from kedge.stores.catalog.sql.versions import BUILDING

_COLUMNS = {"total_passages": "total_chunks", "processed_passages": "processed_chunks"}
"""Fields of `Job` whose column has the design document's name."""
_PLAIN = tuple(
    field.name
    for field in fields(Job)
    if field.name not in ("scope", "mode", "status", "request", "errors", "warnings", "created_at")
)


class SqlJobs:
    """The `Jobs` port."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def put(self, job: Job) -> None:
        if not 0 <= job.progress <= 100:
            raise UsageError(f"The progress of a job is 0 to 100, not {job.progress}.", hint="Give it in percent.")
        await self._database.write(_put, job)

    async def get(self, tenant: str, job_id: str) -> Job | None:
        return await self._database.read(_get, tenant, job_id)

    async def recent(self, tenant: str, *, limit: int = 50) -> list[Job]:
        return await self._database.read(_recent, tenant, limit)

    async def unfinished(self) -> list[Job]:
        return await self._database.read(_unfinished)

    async def waiting(self) -> tuple[int, datetime | None]:
        return await self._database.read(_waiting)

    async def building(self, scope: Scope) -> list[tuple[str, str]]:
        return await self._database.read(_building, scope)


def _put(connection: Connection, job: Job) -> None:
    row: dict[str, Any] = {_COLUMNS.get(name, name): getattr(job, name) for name in _PLAIN}
    row |= {
        "tenant": job.scope.tenant,
        "collection": job.scope.collection,
        "mode": job.mode.value,
        "status": job.status.value,
        "request": dict(job.request),
        "errors": [asdict(error) for error in job.errors],
        "warnings": list(job.warnings),
        "created_at": job.created_at or datetime.now(UTC),
    }
    kept = {"id"} if job.created_at else {"id", "created_at"}
    upsert(connection, table, [row], [name for name in row if name not in kept])


def _get(connection: Connection, tenant: str, job_id: str) -> Job | None:
    row = connection.execute(select(table).where((table.c.id == job_id) & (table.c.tenant == tenant))).first()
    return None if row is None else _job(row)


def _recent(connection: Connection, tenant: str, limit: int) -> list[Job]:
    newest = select(table).where(table.c.tenant == tenant).order_by(table.c.created_at.desc(), table.c.id.desc())
    return [_job(row) for row in connection.execute(newest.limit(limit))]


def _unfinished(connection: Connection) -> list[Job]:
    open_ = table.c.status.in_([status.value for status in JobStatus if not status.ended])
    rows = connection.execute(select(table).where(open_).order_by(table.c.created_at, table.c.id))
    return [_job(row) for row in rows]


def _waiting(connection: Connection) -> tuple[int, datetime | None]:
    open_ = table.c.status.in_([status.value for status in JobStatus if not status.ended])
    row = connection.execute(select(func.count(), func.min(table.c.created_at)).where(open_)).one()
    return row[0], row[1]


def _building(connection: Connection, scope: Scope) -> list[tuple[str, str]]:
    statement = (
        select(versions.c.document_id, versions.c.id)
        .join(documents, documents.c.id == versions.c.document_id)
        .where(
            versions.c.state == BUILDING,
            documents.c.tenant == scope.tenant,
            documents.c.collection == scope.collection,
        )
        .order_by(versions.c.document_id)
    )
    return [(row.document_id, row.id) for row in connection.execute(statement)]


def _job(row: Row[Any]) -> Job:
    values = row._mapping
    plain = {name: values[_COLUMNS.get(name, name)] for name in _PLAIN}
    return Job(
        **plain,
        scope=Scope(values["tenant"], values["collection"]),
        mode=IngestMode(values["mode"]),
        status=JobStatus(values["status"]),
        request=values["request"],
        errors=tuple(SourceError(**error) for error in values["errors"]),
        warnings=tuple(values["warnings"]),
        created_at=values["created_at"],
    )
