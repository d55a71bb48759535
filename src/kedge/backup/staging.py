"""A home as it was at one moment, gathered in a folder beside it: the catalog copied, files that never change linked.

Needs no lock: the server goes on reading and writing. What is gathered is a home in the default layout.
"""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from kedge import registry
from kedge.backup import manifest
from kedge.backup.archive import OnPhase
from kedge.backup.copying import copy_catalog, settle, snapshot_sqlite
from kedge.config import Settings
from kedge.errors import ConfigError, StoreError
from kedge.ids import new_id
from kedge.queues.spool import PREFIX
from kedge.stores.catalog.database import read_url
from kedge.tables.state import FILE, Folders
from kedge.types import JobStatus, Scope

FOLDER = ".backup-"
_LOCK = "lock"
_ENDED = tuple(status.value for status in JobStatus if status.ended)
TRIES = 20
"""For a table that is fed again and again while it is linked."""


@contextmanager
def staging(home: Path) -> Iterator[Path]:
    """A folder in the home, so that files can be linked; removed afterwards, and after a kill by the next backup."""
    home.mkdir(parents=True, exist_ok=True)
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
    _link_tables(home, folder, on_phase)
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
        if path.is_file() and not path.is_symlink() and _link(path, folder / manifest.UPLOADS / path.name):
            found.add(path.name)
    return found


def _link_late_uploads(home: Path, folder: Path, linked: set[str]) -> None:
    """Those that came before the catalog's moment but behind the first look; others that no job waits for go."""
    wanted = set(unfinished_uploads(folder / manifest.CATALOG))
    for name in wanted - linked:
        _link(home / manifest.UPLOADS / name, folder / manifest.UPLOADS / name)
    for name in linked - wanted:
        (folder / manifest.UPLOADS / name).unlink()


def unfinished_uploads(catalog: Path) -> list[str]:
    """File names of the uploads that unfinished jobs of a catalog wait for."""
    names: list[str] = []
    with closing(sqlite3.connect(catalog)) as database:
        marks = ", ".join("?" * len(_ENDED))
        jobs = database.execute(f"SELECT request FROM ingestion_jobs WHERE status NOT IN ({marks})", _ENDED)  # noqa: S608
        for (request,) in jobs:
            names += [
                Path(place).name for _, place in json.loads(request).get("uploads", []) if not place.startswith(PREFIX)
            ]
    return names


# ------------------------------------------------------------ tables


def _link_tables(home: Path, folder: Path, on_phase: OnPhase) -> None:
    """Sessions that the copied catalog knows, each as one published generation."""
    with closing(sqlite3.connect(folder / manifest.CATALOG)) as database:
        known = database.execute("SELECT tenant, name FROM collections WHERE kind = 'table'").fetchall()
    folders = Folders(home / manifest.TABLES)
    for done, (tenant, name) in enumerate(known, 1):
        source = folders.of(Scope(tenant, name))
        for _ in range(TRIES):
            target = folder / manifest.TABLES / source.name
            if not (source / FILE).exists() or _link_session(source, target):
                break
            shutil.rmtree(target)
        else:
            raise StoreError(f"Table {name!r} changes too fast to be backed up.", hint="Try again.")
        on_phase("tables", done, len(known))


def _link_session(source: Path, target: Path) -> bool:
    """False when it was fed or deleted meanwhile."""
    target.mkdir(parents=True, exist_ok=True)
    try:
        shutil.copyfile(source / FILE, target / FILE)
    except FileNotFoundError:
        return False
    number = json.loads((target / FILE).read_text("utf-8"))["generation"]
    generation = source / f"g{number}"
    if not number:
        return True
    files = [path for path in generation.rglob("*") if path.is_file()]
    linked = [_link(path, target / generation.name / path.relative_to(generation)) for path in files]
    return bool(files) and all(linked) and generation.exists()


def _link(source: Path, target: Path) -> bool:
    """A second name for a file that never changes; a copy where the disk knows no links. False when it is gone."""
    target.parent.mkdir(parents=True, exist_ok=True)
    try:
        os.link(source, target)
    except FileNotFoundError:
        return False
    except OSError:
        try:
            shutil.copyfile(source, target)
        except FileNotFoundError:
            return False
    return True
