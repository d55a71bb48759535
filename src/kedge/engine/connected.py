"""Sources that collections stay in step with: kept in the catalog, run as jobs, by command and when they are due."""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any, TypeVar

from kedge.core.acting import actor
from kedge.core.errors import KedgeError, NotFoundError, UsageError
from kedge.core.ids import new_id
from kedge.core.settings import REFERENCES, Settings, is_reference, secret_of
from kedge.core.untrusted import MAX_NAME_CHARS, check_json, fault_in_line
from kedge.core.urls import mask_url
from kedge.core.values import (
    CONFIRM_OPTION,
    SOURCE_OPTION,
    ConnectedSource,
    IngestRequest,
    Job,
    JobStatus,
    Metadata,
    Scope,
    SourceItem,
    SourceRun,
)
from kedge.engine.collections import check_admitted, check_name, is_secret
from kedge.ingest.batch import OnStep, no_step
from kedge.ingest.connectors.ports import Connector, SourceAddress
from kedge.ingest.connectors.registry import address, open_connector
from kedge.ingest.sources.connected import ConnectedDiscovery, Ledger, held_message
from kedge.ingest.tracker import JobTracker
from kedge.stores.catalog.ports import CanKeepSources, Catalog, Sources

log = logging.getLogger(__name__)
T = TypeVar("T")
LOOK_SECONDS = 5.0
"""Between two looks at which sources are due."""
PAGE = 1000
LEAST_EVERY = 10.0
"""Seconds between two runs of one source, at least."""
_NO_NAME = re.compile(r"[^\w.-]++")
_EVERY = re.compile(r"(\d{1,9})(s|m|h|d|)")
_SECONDS = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400}
_SECRET_WORDS = ("pass", "secret", "token", "key", "credential")


@dataclass(frozen=True, slots=True)
class Wanted:
    """A source as somebody asks for it."""

    scope: Scope
    url: str
    name: str = ""
    """Empty: made from the address."""
    every: float = 0.0
    options: Metadata = field(default_factory=dict)
    secrets: Mapping[str, str] = field(default_factory=dict)


def seconds_of(every: str) -> float:
    """`15m`, `6h`, `1d`, `90` as seconds; 0 or empty: by command alone. UsageError."""
    found = _EVERY.fullmatch(every.strip() or "0")
    if found is None:
        raise UsageError(f"{every!r} is no time.", hint="Write 90s, 15m, 6h or 1d; 0 for never.")
    return float(int(found[1]) * _SECONDS[found[2]])


class SourceBook:
    """The sources of a catalog: what can be done with them without an engine."""

    def __init__(self, settings: Settings, catalog: Catalog) -> None:
        self._settings = settings
        self._catalog = catalog

    @property
    def kept(self) -> Sources:
        """Where they are kept. UsageError for a catalog that cannot."""
        if not isinstance(self._catalog, CanKeepSources):
            raise UsageError("This catalog keeps no sources.", hint="Use SQLite or PostgreSQL as the catalog.")
        return self._catalog.sources

    async def all(self, tenant: str) -> list[ConnectedSource]:
        """Those of the tenant, by name, as far as the actor in force may see them."""
        own = [one for one in await self.kept.everywhere() if one.scope.tenant == tenant]
        return [shown for one in own if (shown := await self._seen(one)) is not None]

    async def get(self, tenant: str, name: str) -> ConnectedSource:
        """One of them. NotFoundError."""
        found = await self.kept.get(tenant, name)
        shown = None if found is None else await self._seen(found)
        if shown is None:
            raise NotFoundError(f"There is no source {name!r}.", hint="`kedge source list` shows all.")
        return shown

    async def _seen(self, source: ConnectedSource) -> ConnectedSource | None:
        """The source for the actor in force: none where its collection is not there for it, and without figures and
        names where a part of the collection is not."""
        if actor() is None:
            return source
        if await is_secret(self._catalog, source.scope):
            return None
        return source if await self._catalog.rights.narrowed(source.scope) is None else source.without_figures()

    async def add(self, wanted: Wanted) -> ConnectedSource:
        """Keep a source; nothing is read yet. UsageError, MissingExtraError, ConflictError for a name that is taken."""
        check_name(wanted.scope.collection)
        await check_admitted(self._catalog, wanted.scope)
        url = address(wanted.url)
        options = _checked_options(wanted.options)
        for name, reference in wanted.secrets.items():
            if not is_reference(reference):
                raise UsageError(
                    f"The secret {name} is not given as a reference.",
                    hint=f"Write {REFERENCES}: secrets themselves are never kept.",
                )
        if wanted.every and wanted.every < LEAST_EVERY:
            raise UsageError(f"A source runs every {LEAST_EVERY:g} s at most.", hint="Write --every 15m.")
        place = SourceAddress(url, options, dict.fromkeys(wanted.secrets, ""))
        connector = await asyncio.to_thread(open_connector, place, self._settings)
        await asyncio.to_thread(connector.close)
        source = ConnectedSource(
            id=new_id(),
            scope=wanted.scope,
            name=await self._name(wanted, url),
            url=url,
            created_at=datetime.now(UTC),
            every=wanted.every,
            options=options,
            secrets=dict(wanted.secrets),
        )
        await self.kept.put(source)
        return source

    async def _name(self, wanted: Wanted, url: str) -> str:
        if wanted.name:
            if fault_in_line(wanted.name) or len(wanted.name) > MAX_NAME_CHARS or "/" in wanted.name:
                raise UsageError("The name of a source is one short line without a slash.", hint="Choose another one.")
            return wanted.name.strip()
        words = _NO_NAME.sub("-", url.partition("#")[0].rstrip("/").rpartition("//")[2])
        stem = words.strip("-.")[-60:].strip("-.") or "source"
        taken = {one.name for one in await self.kept.everywhere() if one.scope.tenant == wanted.scope.tenant}
        return next(name for n in range(1, len(taken) + 2) if (name := stem if n == 1 else f"{stem}-{n}") not in taken)


class SourceKeeper(SourceBook):
    """The same with runs: what an engine does with its sources."""

    def __init__(
        self,
        settings: Settings,
        catalog: Catalog,
        submit: Callable[[IngestRequest], Awaitable[Job]],
        on_step: OnStep = no_step,
    ) -> None:
        super().__init__(settings, catalog)
        self._submit = submit
        self._on_step = on_step

    async def request(self, tenant: str, name: str, *, confirm: bool = False) -> IngestRequest:
        """What a run of the source is asked for with. NotFoundError."""
        source = await self.get(tenant, name)
        await self.kept.begin(source.id, datetime.now(UTC), source.begun_at)
        return _request(source, confirm=confirm)

    async def sync(self, tenant: str, name: str, *, confirm: bool = False) -> Job:
        """Queue a run, or return the one that waits or runs already. NotFoundError, QueueFullError."""
        source = await self.get(tenant, name)
        running = await self._running(source)
        if running is not None and not confirm:
            return running
        return await self._submit(await self.request(tenant, name, confirm=confirm))

    async def run_due(self) -> None:
        """Queue runs of the sources that are due, until cancelled. Among several workers each is queued once."""
        while True:
            try:
                await self.queue_due(datetime.now(UTC))
            except KedgeError as error:
                log.error("the sources that are due could not be queued: %s", error)
            await asyncio.sleep(LOOK_SECONDS)

    async def queue_due(self, now: datetime) -> list[Job]:
        """Queue those that are due at that time; returns the jobs."""
        if not isinstance(self._catalog, CanKeepSources):
            return []
        queued = []
        for source in await self.kept.everywhere():
            if not source.due(now) or await self._running(source) is not None:
                continue
            if await self.kept.begin(source.id, now, source.begun_at):
                queued.append(await self._submit(_request(source)))
        return queued

    async def _running(self, source: ConnectedSource) -> Job | None:
        return next((job for job in await self._catalog.jobs.unfinished() if _is_of(job, source)), None)

    async def own_documents(self, source: ConnectedSource) -> list[str]:
        """Ids of the documents that came from it and from no other source of its collection."""
        items = (await self.kept.items(source.id)).values()
        shared = await self.kept.elsewhere(source, [item.url for item in items])
        own = {item.url for item in items} - shared
        archives = tuple(f"{item.url}#" for item in items if item.several and item.url in own)
        found: list[str] = []
        offset = 0
        while page := await self._catalog.documents.page(source.scope, limit=PAGE, offset=offset):
            found += [one.id for one in page if one.url in own or (archives and one.url.startswith(archives))]
            offset += len(page)
        return found

    async def forget(self, scope: Scope) -> None:
        """Forget all sources of a collection."""
        if isinstance(self._catalog, CanKeepSources):
            for source in await self.kept.everywhere():
                if source.scope == scope:
                    await self.kept.delete(source.id)

    # ------------------------------------------------------------ one run

    @asynccontextmanager
    async def following(self, request: IngestRequest, tracker: JobTracker) -> AsyncIterator[ConnectedDiscovery | None]:
        """What a job reads whose request names a source, and None for every other; when the block ends the run is
        written down with the source. To be used while nobody else writes into the collection.

        NotFoundError for a source that was removed meanwhile, ConfigError for a secret that is not there.
        """
        name = request.options.get(SOURCE_OPTION)
        if not isinstance(name, str):
            yield None
            return
        try:
            source = await self.get(request.scope.tenant, name)
            if source.scope != request.scope:
                raise NotFoundError(f"The source {name!r} belongs to another collection.", hint="Run it by its name.")
        except KedgeError as error:
            await tracker.fail(error)
            raise
        discovered: ConnectedDiscovery | None = None
        connector: Connector | None = None
        try:
            try:
                connector = await asyncio.to_thread(self._open, source)
                discovered = await self._discovery(source, connector, request)
            except KedgeError as error:
                await tracker.fail(error)
                raise
            yield discovered
        except KedgeError:
            await self._ended(source, discovered, tracker.job)
            raise
        else:
            await self._ended(source, discovered, tracker.job)
        finally:
            if connector is not None:
                await asyncio.to_thread(connector.close)

    def _open(self, source: ConnectedSource) -> Connector:
        secrets = {name: secret_of(reference) for name, reference in source.secrets.items()}
        return open_connector(SourceAddress(source.url, source.options, secrets), self._settings)

    async def _discovery(
        self, source: ConnectedSource, connector: Connector, request: IngestRequest
    ) -> ConnectedDiscovery:
        loop = asyncio.get_running_loop()

        def wait(work: Coroutine[Any, Any, T]) -> T:
            return asyncio.run_coroutine_threadsafe(work, loop).result()

        async def visible(urls: list[str]) -> set[str]:
            found = await self._catalog.documents.find(source.scope, urls)
            return {url for url, document in found.items() if document.live_version is not None}

        async def remember(items: Sequence[SourceItem]) -> None:
            await self.kept.remember(source.id, items)
            self._on_step("entries remembered")

        ledger = Ledger(
            items=await self.kept.items(source.id),
            remember=lambda items: wait(remember(items)),
            visible=lambda urls: wait(visible(list(urls))),
            shared=lambda urls: wait(self.kept.elsewhere(source, urls)),
            cursor=source.cursor,
        )
        confirmed = request.options.get(CONFIRM_OPTION) is True
        return ConnectedDiscovery(source.url, connector, ledger, self._settings, confirmed=confirmed)

    async def _ended(self, source: ConnectedSource, discovered: ConnectedDiscovery | None, job: Job) -> None:
        """Write the run down. What is gone is forgotten after its documents are: before, nobody would know of them."""
        now = datetime.now(UTC)
        current = await self.kept.get(source.scope.tenant, source.name)
        if current is None or current.id != source.id:
            return
        outcome = discovered.outcome if discovered is not None else None
        if outcome is None or job.status is JobStatus.FAILED:
            run = SourceRun.of(job, "failed", job.error_message, now)
            await self.kept.put(replace(current, last_run=run))
            return
        await self.kept.forget(source.id, outcome.gone)
        self._on_step("entries forgotten")
        if outcome.fault is not None:
            run = SourceRun.of(job, "failed", outcome.fault, now)
            await self.kept.put(replace(current, last_run=run))
            return
        message = held_message(outcome.held, source.name) if outcome.held else None
        run = SourceRun.of(job, "held" if outcome.held else "complete", message, now)
        held = outcome.held if outcome.whole else current.held
        count = outcome.entries + (outcome.held.gone if outcome.held else 0)
        cursor = outcome.cursor or current.cursor
        await self.kept.put(replace(current, last_run=run, held=held, documents=count, cursor=cursor))


def _request(source: ConnectedSource, *, confirm: bool = False) -> IngestRequest:
    options: Metadata = {SOURCE_OPTION: source.name, **({CONFIRM_OPTION: True} if confirm else {})}
    return IngestRequest(source.scope, (), options=options)


def _is_of(job: Job, source: ConnectedSource) -> bool:
    options = job.request.get("options")
    return job.scope == source.scope and isinstance(options, dict) and options.get(SOURCE_OPTION) == source.name


def _checked_options(options: Metadata) -> Metadata:
    """Options that may be kept and shown. UsageError for one that looks like a secret."""
    try:
        check_json(dict(options))
    except ValueError as error:
        raise UsageError(f"The options of the source: {error}.", hint="Give words and numbers.") from error
    for name in options:
        if any(word in name.lower() for word in _SECRET_WORDS) and name != "host_key":
            raise UsageError(
                f"The option {name!r} looks like a secret, and options are kept and shown.",
                hint=f"Give it as --secret {name}=env:NAME.",
            )
        value = options[name]
        if isinstance(value, str) and "://" in value and mask_url(value) != value:
            raise UsageError(
                f"The option {name!r} carries a user or a secret, and options are kept and shown.",
                hint="Leave it out of the address, and give it as --secret.",
            )
    return dict(options)
