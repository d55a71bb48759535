"""The queue, the locks and the place for uploads that fit the stores of the settings."""

from __future__ import annotations

from dataclasses import dataclass

from kedge.core.errors import MissingExtraError
from kedge.core.locks import Locks
from kedge.core.settings import Settings
from kedge.engine.home import Home
from kedge.engine.jobs.local import LocalLocks, LocalQueue
from kedge.engine.jobs.ports import JobQueue
from kedge.engine.jobs.spool import CatalogSpool, HomeSpool, Spool
from kedge.stores import registry
from kedge.stores.catalog.ports import CanKeepUploads, Catalog


@dataclass(frozen=True, slots=True)
class Work:
    """How an engine gets its work done."""

    queue: JobQueue
    locks: Locks
    spool: Spool
    shared: bool
    """Other processes may work on the same stores."""


def open_work(settings: Settings, catalog: Catalog, home: Home) -> Work:
    """Among many processes when every store is a server, else within this one."""
    if not (registry.on_servers(settings) and isinstance(catalog, CanKeepUploads)):
        return Work(LocalQueue(catalog.jobs), LocalLocks(), HomeSpool(home, settings.max_upload_bytes), shared=False)
    try:
        from kedge.engine.jobs.postgresql import open_queue
    except ImportError as error:
        raise MissingExtraError("The job queue in PostgreSQL", "postgresql") from error
    queue, locks = open_queue(registry.catalog_url(settings), settings, catalog.jobs)
    return Work(queue, locks, CatalogSpool(catalog.uploads, settings.max_upload_bytes), shared=True)
