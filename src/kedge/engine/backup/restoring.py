"""Restoring: verify, unpack beside the home, build the indexes there, check, and only then change places.

Whatever interrupts it before the last step leaves the old home as it was.
"""

from __future__ import annotations

import asyncio
import ctypes
import json
import os
import shutil
import sqlite3
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kedge.core.errors import BackupError, ConflictError, StoreError, UsageError
from kedge.core.ids import new_id
from kedge.core.settings import Settings
from kedge.core.values import JobStatus, Json
from kedge.engine.backup import manifest
from kedge.engine.backup.archive import PIECE, Archive, OnPhase, no_phase, sync_folder
from kedge.engine.backup.copying import copy_catalog
from kedge.engine.backup.manifest import Manifest
from kedge.engine.backup.staging import FOLDER
from kedge.engine.backup.taking import copy_nodes, separate_graph
from kedge.engine.backup.vectors import load_vectors
from kedge.engine.engine import Engine
from kedge.engine.home import LOCK, OWNER, Home
from kedge.engine.jobs.spool import PREFIX
from kedge.engine.kinds import kind_files
from kedge.ingest.check import CheckReport
from kedge.stores import registry
from kedge.stores.catalog.ports import CanKeepUploads
from kedge.stores.catalog.sql.failures import translated
from kedge.stores.catalog.sql.look import look
from kedge.stores.graph.sql.nodes import open_nodes
from kedge.stores.queries import filled, load_queries

QUERIES = load_queries(__package__, "queries.sql")
_ENDED = tuple(status.value for status in JobStatus if status.ended)
_AT_FDCWD, _EXCHANGE = -100, 2


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore did."""

    manifest: Manifest
    report: CheckReport
    vectors: int
    """Taken from the backup; the others were embedded again."""
    embedded: int


async def restore_backup(
    settings: Settings, path: Path, *, force: bool = False, on_phase: OnPhase = no_phase
) -> Restored:
    """Put a backup into the stores that the settings name. BackupError, ConflictError, HomeBusyError, DiskFullError.

    Without `force` a home that holds anything is refused, and so is a catalog on a server that does.
    """
    home = settings.home.absolute()
    if home.resolve() in path.resolve().parents:
        raise UsageError(
            f"The backup lies inside of the home {home}, which is replaced.", hint="Move the file out of it first."
        )
    with Archive(path) as archive, _held(home, force=force), _beside(home) as fresh:
        archive.fits(fresh)
        await asyncio.to_thread(archive.verify, on_phase)
        await asyncio.to_thread(archive.unpack, fresh, on_phase)
        await asyncio.to_thread(_prepare, fresh, home)
        if settings.catalog_url:
            place = f"sqlite:///{fresh / manifest.CATALOG}"
            await asyncio.to_thread(copy_catalog, place, settings.catalog_url, on_phase, replace=force)
        vectors, report = await _rebuild(settings, fresh, archive.manifest, on_phase)
        shutil.rmtree(fresh / manifest.VECTORS, ignore_errors=True)
        if settings.catalog_url:
            (fresh / manifest.CATALOG).unlink()
        _exchange(fresh, home)
    missing = sum(one.count for one in report.problems if one.kind == "missing_vectors")
    return Restored(archive.manifest, report, vectors, missing)


async def _rebuild(settings: Settings, fresh: Path, held: Manifest, on_phase: OnPhase) -> tuple[int, CheckReport]:
    """Fill the indexes and check everything, in the new place."""
    # Each collection is embedded by the model that it pins, and nothing is asked of a language model.
    given = settings.model_dump(exclude_unset=True, exclude={"embedder", "llm"})
    async with Engine.open(Settings(**{**given, "home": fresh})) as engine:
        for collection in await engine.stores.catalog.collections.everywhere():
            files = kind_files().get(collection.kind)
            if files is not None and not files.held(fresh, collection.scope):  # made or deleted during the backup
                await engine.delete_collection(collection.scope)
        if separate_graph(settings):
            nodes = open_nodes(f"sqlite:///{fresh / manifest.CATALOG}", settings)
            try:
                await copy_nodes(nodes, engine.stores.nodes, engine.stores.catalog)
            finally:
                await nodes.close()
        await _respool(engine, fresh, settings)
        vectors = await load_vectors(engine.stores, fresh, held.vectors, on_phase)
        on_phase("checking", 0, 0)
        report = await engine.check(repair=True)
    if not report.ok:
        wrong = "; ".join(problem.detail for problem in report.problems if not problem.repaired)
        raise BackupError(f"The backup's catalog contradicts itself: {wrong}", hint="Use another backup.")
    return vectors, report


async def _respool(engine: Engine, fresh: Path, settings: Settings) -> None:
    """Put uploads of unfinished jobs where this layout looks for them: in the home, or in the catalog on a server."""
    shared, uploads = registry.on_servers(settings), engine.stores.catalog
    for job in await engine.stores.catalog.jobs.unfinished():
        named: Any = job.request.get("uploads", [])
        kept: list[Json] = []
        for name, place in named:
            if place.startswith(PREFIX) == shared:
                kept.append([name, place])
            elif shared:
                kept.append([name, (await engine.spool(name, _pieces(fresh, Path(place).name)))[1]])
            elif isinstance(uploads, CanKeepUploads):
                id = place.removeprefix(PREFIX)
                _, written = await engine.spool(name, uploads.uploads.read(id))
                kept.append([name, str(settings.home.absolute() / manifest.UPLOADS / Path(written).name)])
                await uploads.uploads.delete([id])
        if kept != named:
            await engine.stores.catalog.jobs.put(replace(job, request={**job.request, "uploads": kept}))


async def _pieces(fresh: Path, name: str) -> AsyncIterator[bytes]:
    with (fresh / manifest.UPLOADS / name).open("rb") as file:
        while piece := await asyncio.to_thread(file.read, PIECE):
            yield piece


# ------------------------------------------------------------ the copied catalog


def _prepare(fresh: Path, home: Path) -> None:
    """Make the copied catalog fit its new place: jobs to be resumed, indexes to be filled, uploads under their path."""
    catalog = fresh / manifest.CATALOG
    try:
        look(f"sqlite:///{catalog}")  # a schema of a newer Kedge is refused
    except StoreError as error:
        raise BackupError(error.message, hint="Restore it with a Kedge that is at least as new.") from error
    marks = ", ".join("?" * len(_ENDED))
    with translated(str(catalog)), closing(sqlite3.connect(catalog)) as database, database:
        tables = {name for (name,) in database.execute(QUERIES["tables"])}
        if "collections" not in tables:
            raise BackupError("The backup's catalog has no tables of Kedge.", hint="Use another backup.")
        for name in tables & {"passage_indexes", "collection_indexes"}:
            database.execute(f"DELETE FROM {name}")  # noqa: S608 (names of our own)
        database.execute(filled(QUERIES["queue_unfinished_jobs"], ended=marks), _ENDED)
        jobs = database.execute(filled(QUERIES["unfinished_jobs"], ended=marks), _ENDED).fetchall()
        for id, request in jobs:
            database.execute(QUERIES["change_request"], (_moved(request, home), id))


def _moved(request: str, home: Path) -> str:
    asked = json.loads(request)
    asked["uploads"] = [
        [name, place if place.startswith(PREFIX) else str(home / manifest.UPLOADS / Path(place).name)]
        for name, place in asked.get("uploads", [])
    ]
    return json.dumps(asked)


# ------------------------------------------------------------ places


@contextmanager
def _held(home: Path, *, force: bool) -> Iterator[None]:
    """Nobody else uses the home, and nothing in it is lost by mistake."""
    if home.exists() and (not home.is_dir() or home.is_symlink()):
        raise ConflictError(f"{home} is no folder of its own.", hint="Name another folder with --home.")
    made = not home.exists()
    held = Home(home)
    held.acquire()
    try:
        kept = [path.name for path in home.iterdir() if path.name not in (LOCK, OWNER) and FOLDER not in path.name]
        if kept and not force:
            raise ConflictError(
                f"The home {home} is not empty.", hint="Restore into another folder, or add --force to replace it."
            )
        yield
        made = False
    finally:
        held.release()
        if made:
            shutil.rmtree(home, ignore_errors=True)


@contextmanager
def _beside(home: Path) -> Iterator[Path]:
    """A new folder on the same disk; gone at the end with whatever it holds then, as are those of killed restores."""
    pattern = f".{home.name}.restore-"
    try:
        for left in home.parent.glob(f"{pattern}*"):  # the home is held, so nobody else restores it
            shutil.rmtree(left, ignore_errors=True)
        fresh = home.parent / f"{pattern}{new_id()}"
        fresh.mkdir(mode=0o700)
    except OSError as error:
        raise StoreError(
            f"The restore needs a place beside {home}: {error.strerror}.",
            hint="Name a home in a folder you may write to.",
        ) from error
    try:
        yield fresh
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _exchange(fresh: Path, home: Path) -> None:
    """Let the folders change places, in one step where the system can; the old one is then removed by `_beside`."""
    for name in (LOCK, OWNER):
        (fresh / name).unlink(missing_ok=True)
    try:
        if not _swap(fresh, home):
            old = fresh.with_name(f"{fresh.name}.old")
            home.rename(old)
            try:
                fresh.rename(home)
            except OSError:
                old.rename(home)
                raise
            old.rename(fresh)
        sync_folder(home.parent)
    except OSError as error:
        raise StoreError(
            f"{home} cannot be replaced: {error.strerror}.",
            hint="A home that is itself a mounted disk cannot; use a folder in it.",
        ) from error


def _swap(one: Path, other: Path) -> bool:
    """Exchange two folders in one step (Linux). False where that is not possible."""
    if not sys.platform.startswith("linux"):
        return False
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    return call is not None and call(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _EXCHANGE) == 0
