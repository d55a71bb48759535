"""The queue, the locks and the place for uploads that fit the stores of the settings."""

from __future__ import annotations

from dataclasses import dataclass

from kedge import registry
from kedge.config import Settings
from kedge.errors import MissingExtraError
from kedge.home import Home
from kedge.queues.base import JobQueue, Locks
from kedge.queues.local import LocalLocks, LocalQueue
from kedge.queues.spool import CatalogSpool, HomeSpool, Spool
from kedge.stores.catalog.base import CanKeepUploads, Catalog


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
        from kedge.queues.postgresql import open_queue
    except ImportError as error:
        raise MissingExtraError("The job queue in PostgreSQL", "postgresql") from error
    queue, locks = open_queue(registry.catalog_url(settings), settings, catalog.jobs)
    return Work(queue, locks, CatalogSpool(catalog.uploads, settings.max_upload_bytes), shared=True)
