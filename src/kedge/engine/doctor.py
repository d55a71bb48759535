"""What is wrong with an installation, and what to do: every configured part is asked, each on its own.

Nothing is migrated or repaired. The vector store is written to in an index of the doctor's own, which is dropped again.
A check that fails is a finding and never hides the others.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, aclosing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from kedge.core.errors import ConfigError, DimensionMismatchError, HomeBusyError, KedgeError, NotFoundError
from kedge.core.ids import new_id
from kedge.core.opening import NOT_INSTALLED
from kedge.core.settings import Settings, stray_variables, without_effect
from kedge.core.urls import is_loopback, mask_url
from kedge.core.values import DEFAULT_TENANT, Collection, Finding, JobStatus, Scope
from kedge.core.values import FindingStatus as Status
from kedge.core.values.filters import Eq
from kedge.engine.collections import check_pinned
from kedge.engine.home import Home, is_open
from kedge.engine.plugin_states import others, own_parts
from kedge.models import registry as models
from kedge.models.ports import Prompt
from kedge.stores import registry
from kedge.stores.catalog.ports import Catalog
from kedge.stores.catalog.sql.look import look
from kedge.stores.ports import CanTellVersion, IndexSpec, Point, VectorStore

LIMIT_SECONDS = 60.0
"""For one check."""
INTEGRITY_SECONDS = 40.0
"""Of these, for looking through the catalog."""
LITTLE_SPACE, NO_SPACE = 1 << 30, 100 << 20
"""Free bytes below which the disk is a warning, and a fault."""
LATE = timedelta(hours=1)
"""How long a job may wait for a worker."""
PROBE_DIMENSION = 8
"""Of the point that is written to see whether that works."""
_PROBE = Scope("doctor", "doctor")
_SQL = ("sqlite", "postgresql")
SAID = 5
"""Faults of the catalog that are told one by one."""
_RESTORE = "Stop what writes to it, and put the last backup back: `kedge backup restore`."
_REPAIR = "Run `kedge check --repair`, which rebuilds the vectors from the catalog."


@dataclass(slots=True)
class Patient:
    """What the checks share: the settings, and what earlier ones opened."""

    settings: Settings
    closing: AsyncExitStack
    busy: bool = False
    """Another process holds the home, so what only one may open is left alone."""
    catalog: Catalog | None = None
    collections: list[Collection] = field(default_factory=list)

    def close_later(self, close: Callable[[], Awaitable[None]]) -> None:
        """Release it when all checks are done. A server that failed may fail here too, which is no news."""

        async def quietly() -> None:
            with suppress(KedgeError, OSError):
                await close()

        self.closing.push_async_callback(quietly)


Check = Callable[[Patient], AsyncIterator[Finding]]


async def examine(settings: Settings) -> list[Finding]:
    """Run every check, one after the other."""
    found: list[Finding] = []
    async with AsyncExitStack() as closing:
        patient = Patient(settings, closing)
        for name, check in CHECKS.items():
            found += await _isolated(name, check, patient)
    return found


def unusable(error: ConfigError) -> list[Finding]:
    """The findings when the settings cannot be read at all: every fault, and nothing else was looked at."""
    listed = error.details.get("faults")
    faults = [str(fault) for fault in listed] if isinstance(listed, list) else [error.message]
    found = [Finding("settings", Status.FAILED, fault, error.hint) for fault in faults]
    skipped = [name for name in CHECKS if name != "settings"]
    return found + [Finding(name, Status.SKIPPED, "the settings cannot be used") for name in skipped]


async def _isolated(name: str, check: Check, patient: Patient) -> list[Finding]:
    found: list[Finding] = []
    try:
        async with asyncio.timeout(LIMIT_SECONDS):
            async for finding in check(patient):
                found.append(finding)
    except KedgeError as error:
        found.append(_fault(name, error))
    except ImportError as error:
        todo = "Install Kedge again: pip install --force-reinstall kedge"
        found.append(Finding(name, Status.FAILED, f"a package is missing or broken: {error}", todo))
    except TimeoutError:
        found.append(Finding(name, Status.FAILED, f"no answer within {LIMIT_SECONDS:g} s", "Check that it runs."))
    except OSError as error:
        what = f"{error.strerror or error}: {error.filename}" if error.filename else str(error)
        found.append(Finding(name, Status.FAILED, what, "Check path and permissions."))
    return found


def _fault(name: str, error: KedgeError) -> Finding:
    return Finding(name, Status.FAILED, error.message, error.hint)


# ------------------------------------------------------------ settings and home


async def _settings(patient: Patient) -> AsyncIterator[Finding]:
    given = sorted(patient.settings.model_fields_set)
    yield Finding("settings", Status.OK, f"set: {', '.join(given)}" if given else "all at their defaults")
    for name in stray_variables():
        todo = "Correct or unset it; docs/reference/settings.md lists every setting."
        yield Finding("settings", Status.WARNING, f"{name} in the environment is no setting", todo)
    for sentence in without_effect(patient.settings):
        yield Finding("settings", Status.WARNING, sentence, "Take it out, or change the other.")


async def _home(patient: Patient) -> AsyncIterator[Finding]:
    path = patient.settings.home.absolute()
    if path.exists():
        yield _hold(patient, path)
        if is_open(path):
            todo = "The next command that opens it closes it; `chmod -R go-rwx` does so now."
            yield Finding("home, rights", Status.WARNING, "other users of this machine can look into it", todo)
    else:
        place = _nearest(path)
        if os.access(place, os.W_OK | os.X_OK) and place.is_dir():
            yield Finding("home", Status.OK, f"{path} is not there yet; the first ingest makes it")
        else:
            todo = "Choose a folder you may write to with --home or KEDGE_HOME."
            yield Finding("home", Status.FAILED, f"{path} cannot be made in {place}", todo)


def _hold(patient: Patient, path: Path) -> Finding:
    """Take the home for as long as the checks run, so that nobody else begins to use it."""
    home = Home(path)
    try:
        home.acquire(mend=False)
    except HomeBusyError as error:
        patient.busy = True
        todo = "That is right for a running server or worker; what only it may open is skipped."
        return Finding("home", Status.WARNING, error.message, todo)
    patient.closing.callback(home.release)
    return Finding("home", Status.OK, f"{path} is writable, and nobody else uses it")


async def _disk(patient: Patient) -> AsyncIterator[Finding]:
    place = _nearest(patient.settings.home.absolute())
    free = shutil.disk_usage(place).free
    status = Status.FAILED if free < NO_SPACE else Status.WARNING if free < LITTLE_SPACE else Status.OK
    todo = "" if status is Status.OK else "Free some space, or choose another disk with --home."
    yield Finding("disk", status, f"{free / (1 << 30):.1f} GiB free at {place}", todo)


def _nearest(path: Path) -> Path:
    return next((place for place in (path, *path.parents) if place.exists()), path)


async def _plugins(_patient: Patient) -> AsyncIterator[Finding]:
    """What other packages bring; what cannot be loaded is left out everywhere else."""
    own = own_parts()
    if own:
        yield Finding("plug-ins", Status.OK, f"Kedge's own: {own}")
    else:
        yield Finding("plug-ins", Status.FAILED, "Kedge's own parts are not found", NOT_INSTALLED)
    for one in await asyncio.to_thread(others):
        status = Status.FAILED if one.broken else Status.SKIPPED if one.fault else Status.OK
        yield Finding(f"plug-in {one.what}", status, one.fault or f"of {one.plugin.origin}", one.todo)


# ------------------------------------------------------------ stores


async def _catalog(patient: Patient) -> AsyncIterator[Finding]:
    url = registry.catalog_url(patient.settings)
    if _scheme(url) in _SQL:
        schema, ready = await _schema("catalog", url)
        yield schema
        if not ready:
            return
    catalog = await asyncio.to_thread(registry.open_catalog, patient.settings)
    patient.close_later(catalog.close)
    patient.collections = await catalog.collections.everywhere()
    patient.catalog = catalog
    documents = sum(one.documents for one in patient.collections)
    held = f"{len(patient.collections)} collections, {documents} documents"
    yield Finding("catalog", Status.OK, f"{held} at {mask_url(url)}")
    async for finding in _integrity(catalog):
        yield finding


async def _integrity(catalog: Catalog) -> AsyncIterator[Finding]:
    """Whether the file is whole and its rows fit each other; a large one may take longer than a doctor waits."""
    name = "catalog, integrity"
    try:
        async with asyncio.timeout(INTEGRITY_SECONDS):
            faults = await catalog.integrity()
    except TimeoutError:
        what = f"not looked through within {INTEGRITY_SECONDS:g} s"
        yield Finding(
            name, Status.WARNING, what, "`kedge check` compares the indexes with it, however long that takes."
        )
        return
    for fault in faults[:SAID]:
        yield Finding(name, Status.FAILED, fault, _RESTORE)
    if len(faults) > SAID:
        yield Finding(name, Status.FAILED, f"and {len(faults) - SAID} faults more", _RESTORE)
    if not faults:
        yield Finding(name, Status.OK, "the file is whole, and its rows fit each other")


async def _schema(name: str, url: str) -> tuple[Finding, bool]:
    """How the database is, and whether it can be opened without being made or upgraded by that."""
    seen = await asyncio.to_thread(look, url)
    if seen is None or seen.revision is None:
        return Finding(name, Status.OK, f"nothing there yet; the first ingest fills {mask_url(url)}"), False
    if seen.pending:
        what = f"{seen.server}, schema {seen.revision}: {seen.pending} migration(s) pending"
        todo = "Make a backup; the next command that opens it upgrades it."
        return Finding(name, Status.WARNING, what, todo), False
    return Finding(name, Status.OK, f"{seen.server}, schema {seen.revision} is current"), True


async def _vectors(patient: Patient) -> AsyncIterator[Finding]:
    settings = patient.settings
    inside = _scheme(settings.vector_url or "edge") == "edge"
    if inside and patient.busy:
        yield Finding("vectors", Status.SKIPPED, "the process that holds the home has them open")
        return
    if inside and not settings.vector_url and not settings.home.exists():
        yield Finding("vectors", Status.OK, "nothing there yet")
        return
    store = await asyncio.to_thread(registry.open_vectors, settings)
    patient.close_later(store.close)
    version = await store.version() if isinstance(store, CanTellVersion) else _scheme(settings.vector_url or "edge")
    with suppress(NotFoundError):  # a store that answers knows no such index
        await store.count(_PROBE.collection, _PROBE.tenant)
    yield Finding("vectors", Status.OK, f"{version} at {mask_url(settings.vector_url) or settings.home / 'vectors'}")
    yield await _written(store)
    for collection in patient.collections:
        yield await _index(store, collection)


async def _written(store: VectorStore) -> Finding:
    """Whether one point can be written, found and deleted: in an index of its own, which is dropped again (Q-07)."""
    name, part = f"doctor_{new_id().replace('-', '')[:12]}", "vectors, write"
    vector = np.eye(1, PROBE_DIMENSION, dtype=np.float32)[0]
    point = Point(new_id(), vector, "kedge doctor", {"probe": True})
    try:
        await store.create(IndexSpec(name, PROBE_DIMENSION))
        await store.upsert(name, _PROBE.tenant, [point])
        found = [hit.id for hit in await store.search(name, _PROBE.tenant, vector, 1, Eq("probe", True))]
        await store.delete(name, _PROBE.tenant, [point.id])
        left = await store.count(name, _PROBE.tenant)
    except KedgeError as error:
        return _fault(part, error)
    finally:
        with suppress(KedgeError):  # told already, or nothing was made
            await store.drop(name)
    if found != [point.id] or left:
        what = "a point that was written was not found" if found != [point.id] else "a deleted point is still there"
        return Finding(part, Status.FAILED, what, "Check the server's log, and its replication and consistency.")
    return Finding(part, Status.OK, "one point was written, found and deleted")


async def _index(store: VectorStore, collection: Collection) -> Finding:
    """Whether a collection's index is there, has its dimension and holds as many points as there are passages."""
    name, index, tenant = f"vectors of {_named(collection)}", collection.index_name, collection.scope.tenant
    try:
        held = await store.count(index, tenant)
        await store.search(index, tenant, np.eye(1, collection.dimension, dtype=np.float32)[0], 1)
    except NotFoundError:
        return Finding(name, Status.FAILED, f"the index {index} is missing", _REPAIR)
    except DimensionMismatchError as error:
        what = f"the index holds vectors of {error.details['expected']}, the collection is of {collection.dimension}"
        return Finding(name, Status.FAILED, what, f"Run `kedge collection reindex {collection.scope.collection}`.")
    except KedgeError as error:
        return _fault(name, error)
    what = f"{held} vectors of {collection.dimension} dimensions for {collection.passages} passages"
    if held < collection.passages:
        return Finding(name, Status.FAILED, what, _REPAIR)
    if held > collection.passages:
        todo = "Left by an unfinished or replaced version; no reader sees them. `kedge check --repair` removes them."
        return Finding(name, Status.WARNING, what, todo)
    return Finding(name, Status.OK, what)


async def _graph(patient: Patient) -> AsyncIterator[Finding]:
    url = patient.settings.graph_url
    if not url and patient.catalog is None:
        yield Finding("graph", Status.SKIPPED, "it is in the catalog's database, which was not opened")
        return
    if url and _scheme(url) in _SQL:
        schema, ready = await _schema("graph", url)
        yield schema
        if not ready:
            return
    store = await asyncio.to_thread(registry.open_graph, patient.settings)
    patient.close_later(store.close)
    version = f"{await store.version()} " if isinstance(store, CanTellVersion) else ""
    await store.concepts_by_key(_PROBE, ["doctor"])
    yield Finding("graph", Status.OK, f"{version}at {mask_url(url)}" if url else "in the catalog's database")


async def _cache(patient: Patient) -> AsyncIterator[Finding]:
    settings = patient.settings
    cache = registry.open_cache(settings)
    if cache is None:
        kept = f"texts in {settings.embed_cache}" if settings.embed_cache else "nothing is kept between runs"
        yield Finding("cache", Status.OK, f"questions in memory, {kept}")
        return
    patient.close_later(cache.close)
    version = await cache.version() if isinstance(cache, CanTellVersion) else "a cache"
    yield Finding("cache", Status.OK, f"{version} at {mask_url(settings.cache_url)}")


# ------------------------------------------------------------ models and jobs


async def _embedders(patient: Patient) -> AsyncIterator[Finding]:
    pinned: dict[str, list[Collection]] = {patient.settings.embedder: []}
    for collection in patient.collections:
        pinned.setdefault(collection.embedder, []).append(collection)
        try:
            check_pinned(patient.settings, collection)
        except KedgeError as error:
            yield _fault(f"embedder of {_named(collection)}", error)
    for name, collections in pinned.items():
        try:
            yield await _embedder(patient, name, collections)
        except KedgeError as error:
            yield _fault(f"embedder {mask_url(name)}", error)


async def _embedder(patient: Patient, name: str, collections: Sequence[Collection]) -> Finding:
    part = f"embedder {mask_url(name)}"
    model = await asyncio.to_thread(models.open_embedder, name, patient.settings)
    patient.close_later(model.close)
    begun = time.perf_counter()
    (dimension,) = (await model.embed_query("What is a kedge?")).shape
    took = 1000 * (time.perf_counter() - begun)
    others = [one for one in collections if one.dimension != dimension]
    if others:
        listed = ", ".join(f"{_named(one)} ({one.dimension})" for one in others)
        todo = f"Use the model it was built with, or run `kedge collection reindex {others[0].scope.collection}`."
        return Finding(part, Status.FAILED, f"gives {dimension} dimensions, but is used by {listed}", todo)
    return Finding(part, Status.OK, f"{dimension} dimensions, a question in {took:.0f} ms")


async def _reranker(patient: Patient) -> AsyncIterator[Finding]:
    name = patient.settings.reranker
    if name not in ("default", "none"):
        model = await asyncio.to_thread(models.open_reranker, name, patient.settings)
        patient.close_later(model.close)
        await model.rerank("What is a kedge?", ["A kedge is a light anchor."])
    yield Finding("reranker", Status.OK, mask_url(name))


async def _language_model(patient: Patient) -> AsyncIterator[Finding]:
    name = patient.settings.llm
    if name != "extractive":
        model = models.open_language_model(name, patient.settings)
        patient.close_later(model.close)
        begun = time.perf_counter()
        async with aclosing(model.stream(Prompt("Answer with one word.", "Say: ready", max_tokens=8))) as pieces:
            await anext(pieces, None)
        took = 1000 * (time.perf_counter() - begun)
        yield Finding(
            "language model", Status.OK, f"{model.name}: a window of {model.window}, first word in {took:.0f} ms"
        )
        return
    yield Finding("language model", Status.OK, name)


async def _jobs(patient: Patient) -> AsyncIterator[Finding]:
    if patient.catalog is None:
        yield Finding("jobs", Status.SKIPPED, "the catalog was not opened")
        return
    waiting = await patient.catalog.jobs.unfinished()
    what = f"{len(waiting)} unfinished" + (f", the oldest {waiting[0].id}" if waiting else "")
    if _scheme(registry.catalog_url(patient.settings)) == "postgresql":  # a worker on another machine may have them
        late = datetime.now(UTC) - LATE
        waiting = [
            job for job in waiting if job.status is JobStatus.QUEUED and job.created_at and job.created_at < late
        ]
        what += f", {len(waiting)} in the queue for more than an hour"
    if waiting and not patient.busy:
        yield Finding("jobs", Status.WARNING, f"{what}; nothing seems to run them", "Run `kedge worker`.")
    else:
        yield Finding("jobs", Status.OK, what)


async def _access(patient: Patient) -> AsyncIterator[Finding]:
    """Who could use a server with these settings."""
    if patient.catalog is None:
        yield Finding("access", Status.SKIPPED, "the catalog was not opened")
        return
    host, keys = patient.settings.host, await patient.catalog.keys.all()
    valid = sum(key.valid(datetime.now(UTC)) for key in keys)
    if keys and not valid:
        todo = "Make one with `kedge key create NAME`."
        yield Finding("access", Status.WARNING, "every key is revoked or expired, so nobody gets in", todo)
    elif keys:
        yield Finding("access", Status.OK, f"{valid} valid keys; every request needs one")
    elif is_loopback(host):
        yield Finding("access", Status.OK, f"no keys: a server on {host} is this machine's user's own")
    else:
        todo = "Make one with `kedge key create NAME`, or leave `host` on loopback."
        status = Status.WARNING if patient.settings.open_access else Status.FAILED
        said = "whoever reaches it may use it" if patient.settings.open_access else "`kedge serve` would not start"
        yield Finding("access", status, f"no keys, and {host} is not loopback: {said}", todo)


def _named(collection: Collection) -> str:
    scope = collection.scope
    return scope.collection if scope.tenant == DEFAULT_TENANT else f"{scope.tenant}/{scope.collection}"


def _scheme(url: str) -> str:
    return url.partition(":")[0].partition("+")[0]


CHECKS: dict[str, Check] = {
    "settings": _settings,
    "home": _home,
    "disk": _disk,
    "plug-ins": _plugins,
    "catalog": _catalog,
    "vectors": _vectors,
    "graph": _graph,
    "cache": _cache,
    "embedder": _embedders,
    "reranker": _reranker,
    "language model": _language_model,
    "jobs": _jobs,
    "access": _access,
}
