"""A home as it was at one moment, gathered in a folder beside it: the catalog copied, files that never change linked.

Needs no lock: the server goes on reading and writing. What is gathered is a home in the default layout.
"""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from kedge.core.errors import ConfigError, StoreError
from kedge.core.files import link
from kedge.core.ids import new_id
from kedge.core.settings import Settings
from kedge.core.values import JobStatus, Scope
from kedge.engine.backup import manifest
from kedge.engine.backup.archive import OnPhase
from kedge.engine.backup.copying import copy_catalog, settle, snapshot_sqlite
from kedge.engine.jobs.spool import PREFIX
from kedge.engine.kinds import kind_files
from kedge.stores import registry
from kedge.stores.catalog.sql.database import read_url
from kedge.stores.queries import filled, load_queries

QUERIES = load_queries(__package__, "queries.sql")
FOLDER = ".backup-"
_LOCK = "lock"
_ENDED = tuple(status.value for status in JobStatus if status.ended)


@contextmanager
def staging(home: Path) -> Iterator[Path]:
    """A folder in the home, so that files can be linked; removed afterwards, and after a kill by the next backup."""
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left in home.glob(f"{FOLDER}*"):
        _remove_abandoned(left)
    folder = home / f"{FOLDER}{new_id()}"
    folder.mkdir(mode=0o700)
    lock = FileLock(folder / _LOCK)
    lock.acquire()
    try:
        yield folder
    finally:
        lock.release()
        shutil.rmtree(folder, ignore_errors=True)


def _remove_abandoned(folder: Path) -> None:
    lock = FileLock(folder / _LOCK)
    try:
        lock.acquire(blocking=False)
    except (Timeout, OSError):  # in use, or just gone
        return
    lock.release()
    shutil.rmtree(folder, ignore_errors=True)


def gather(settings: Settings, folder: Path, on_phase: OnPhase) -> None:
    """Everything but vectors and graphs in other stores. Uploads come first: jobs of the copied catalog need theirs."""
    home = settings.home
    uploads = _link_uploads(home, folder)
    _copy_catalog(settings, folder / manifest.CATALOG, on_phase)
    _link_late_uploads(home, folder, uploads)
    _copy_kinds(home, folder, on_phase)
    key = home / manifest.KEY
    if key.exists():
        shutil.copyfile(key, folder / manifest.KEY)
    if (home / manifest.TURNS).exists():
        snapshot_sqlite(home / manifest.TURNS, folder / manifest.TURNS, on_phase, "conversations")
        settle(folder / manifest.TURNS)


def _copy_catalog(settings: Settings, target: Path, on_phase: OnPhase) -> None:
    url = registry.catalog_url(settings)
    parsed = read_url(url) if not url.startswith("memory") else None
    if parsed is None:
        raise ConfigError("A catalog in memory cannot be backed up.", hint="Use one in a file or on PostgreSQL.")
    if parsed.get_backend_name() != "sqlite":
        copy_catalog(url, f"sqlite:///{target}", on_phase)
        return
    source = Path(str(parsed.database))
    if not source.exists():
        raise StoreError(f"There is no catalog at {source}.", hint="Name the home with --home; it may be empty still.")
    snapshot_sqlite(source, target, on_phase)


# ------------------------------------------------------------ uploads


def _link_uploads(home: Path, folder: Path) -> set[str]:
    found: set[str] = set()
    for path in (home / manifest.UPLOADS).glob("*"):
        if path.is_file() and not path.is_symlink() and link(path, folder / manifest.UPLOADS / path.name):
            found.add(path.name)
    return found


def _link_late_uploads(home: Path, folder: Path, linked: set[str]) -> None:
    """Those that came before the catalog's moment but behind the first look; others that no job waits for go."""
    wanted = set(unfinished_uploads(folder / manifest.CATALOG))
    for name in wanted - linked:
        link(home / manifest.UPLOADS / name, folder / manifest.UPLOADS / name)
    for name in linked - wanted:
        (folder / manifest.UPLOADS / name).unlink()


def unfinished_uploads(catalog: Path) -> list[str]:
    """File names of the uploads that unfinished jobs of a catalog wait for."""
    names: list[str] = []
    with closing(sqlite3.connect(catalog)) as database:
        jobs = database.execute(filled(QUERIES["unfinished_jobs"], ended=", ".join("?" * len(_ENDED))), _ENDED)
        for _, request in jobs:
            names += [
                Path(place).name for _, place in json.loads(request).get("uploads", []) if not place.startswith(PREFIX)
            ]
    return names


# ------------------------------------------------------------ files of kinds


def _copy_kinds(home: Path, folder: Path, on_phase: OnPhase) -> None:
    """What kinds keep beside the catalog of the collections that the copied catalog knows."""
    with closing(sqlite3.connect(folder / manifest.CATALOG)) as database:
        for kind, files in kind_files().items():
            known = database.execute(QUERIES["collections_of_kind"], [kind]).fetchall()
            for done, (tenant, name) in enumerate(known, 1):
                files.copy(home, folder, Scope(tenant, name))
                on_phase(kind, done, len(known))
