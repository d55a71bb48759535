"""What is there: collections, documents, passages and jobs as the catalog tells of them.

The catalog alone is read, so commands that list and show work beside a process that has the home.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from difflib import get_close_matches
from pathlib import Path

from kedge.core.acting import actor
from kedge.core.errors import NotFoundError, UsageError
from kedge.core.settings import Settings
from kedge.core.values import SOURCE_OPTION, Collection, Document, DocumentStatus, Job, Passage, Scope
from kedge.kinds import installed
from kedge.stores.catalog.ports import Catalog

PAGE = 500
SHOWN = 5
"""Documents that are named where several are meant."""


class Library:
    """Reads the catalog; changes nothing."""

    def __init__(self, settings: Settings, catalog: Catalog) -> None:
        self._settings = settings
        self._catalog = catalog

    async def collections(self, tenant: str) -> list[Collection]:
        """All collections of the tenant, by name."""
        return [self._counted(one) for one in await self._catalog.collections.all(tenant)]

    async def collection(self, scope: Scope) -> Collection:
        """One collection. NotFoundError that names the nearest."""
        return self._counted(await found_collection(self._catalog, scope))

    async def documents(
        self,
        scope: Scope,
        *,
        status: DocumentStatus | None = None,
        search: str = "",
        limit: int = 100,
        offset: int = 0,
    ) -> list[Document]:
        """Documents of a collection, by url; `search`: those whose identity or url has these words. NotFoundError."""
        await found_collection(self._catalog, scope)
        words = search.casefold().split()
        if not words:
            return await self._catalog.documents.page(scope, status=status, limit=limit, offset=offset)
        found: list[Document] = []
        async for document in self.all_documents(scope, status):
            named = f"{document.identity} {document.url}".casefold()
            if all(word in named for word in words):
                found.append(document)
                if len(found) == offset + limit:
                    break
        return found[offset:]

    async def document(self, tenant: str, document_id: str) -> tuple[Document, list[Passage]]:
        """One document with its live passages in order. NotFoundError."""
        while True:
            document = await self._catalog.documents.get(tenant, document_id)
            if document is None:
                raise _no_document(document_id)
            passages = await self._catalog.passages.of_document(tenant, document_id)
            versions = {passage.version_id for passage in passages}
            if versions <= {document.live_version} and len(passages) == document.chunk_count:
                return document, passages  # else it was switched between the two reads

    async def passage(self, scope: Scope, passage_id: str, beside: int = 1) -> tuple[Document, list[Passage]]:
        """A live passage among up to `beside` passages before and after it, and its document. NotFoundError."""
        passages = self._catalog.passages
        while (found := (await passages.live(scope, [passage_id])).get(passage_id)) is not None:
            document = await self._catalog.documents.get(scope.tenant, found.document_id)
            first, last = max(0, found.index - beside), found.index + beside
            around = await passages.of_document(scope.tenant, found.document_id, first=first, last=last)
            versions = {passage.version_id for passage in around}
            if document is not None and versions == {found.version_id} == {document.live_version}:
                return document, around  # else it was switched between the reads
        raise NotFoundError(
            f"There is no passage {passage_id} in {scope.collection!r}.",
            hint="Its document may have changed or gone since: ask again.",
        )

    async def document_id(self, scope: Scope, named: str) -> str:
        """The id of the document that is meant by id, path, address, file name or title.

        What is given whole goes before a part of a name. NotFoundError, UsageError where several are meant.
        """
        if await self._catalog.documents.get(scope.tenant, named) is not None:
            return named
        if await self._catalog.collections.get(scope) is None:
            raise _no_document(named)
        urls = list(dict.fromkeys((named, str(Path(named).absolute()), str(Path(named).resolve()))))
        if by_url := await self._catalog.documents.find(scope, urls):
            return next(iter(by_url.values())).id
        wanted = named.casefold()
        whole: list[Document] = []
        part: list[Document] = []
        async for document in self.all_documents(scope):
            name = _file_name(document).casefold()
            if wanted in (name, name.rpartition(".")[0], document.title.casefold()):
                whole.append(document)
            elif wanted in name or wanted in document.identity.casefold():
                part.append(document)
        meant = whole or part
        if not meant:
            raise _no_document(named)
        if len(meant) > 1:
            shown = "; ".join(f"{one.id} ({one.url})" for one in meant[:SHOWN])
            raise UsageError(f"{len(meant)} documents may be meant by {named!r}: {shown}.", hint="Give one by its id.")
        return meant[0].id

    async def job(self, tenant: str, job_id: str) -> Job:
        """One job. NotFoundError."""
        job = await self._catalog.jobs.get(tenant, job_id)
        if job is None or not await self._shown(job):
            raise NotFoundError(f"There is no job {job_id}.", hint="`kedge job list` shows all.")
        return await self._as_seen(job)

    async def jobs(self, tenant: str, limit: int = 50) -> list[Job]:
        """Jobs of the tenant, newest first."""
        if actor() is None:
            return await self._catalog.jobs.recent(tenant, limit=limit)
        found: list[Job] = []
        looked = limit
        while True:
            recent = await self._catalog.jobs.recent(tenant, limit=looked)
            found = [job for job in recent if await self._shown(job)][:limit]
            if len(found) == limit or len(recent) < looked:
                return [await self._as_seen(job) for job in found]
            looked *= 4

    async def _shown(self, job: Job) -> bool:
        """A job names sources: it is shown to who submitted it, and while all is for everybody to all."""
        who = actor()
        if who is None or job.request.get("submitted_by") == list(who.principals):
            return True
        return not job.request.get("readers") and not await self._catalog.rights.restricted(job.scope.tenant)

    async def _as_seen(self, job: Job) -> Job:
        """A run of a connected source names and counts what is in it, whoever asked for the run."""
        options = job.request.get("options")
        of_source = isinstance(options, dict) and SOURCE_OPTION in options
        whole = not of_source or await self._catalog.rights.narrowed(job.scope) is None
        return job if whole else job.without_figures()

    def _counted(self, collection: Collection) -> Collection:
        kind = installed().get(collection.kind)
        return collection if kind is None else kind.counted(collection, self._settings)

    async def all_documents(self, scope: Scope, status: DocumentStatus | None = None) -> AsyncIterator[Document]:
        """Every document of a collection, by url; archived ones only when asked for by status."""
        offset = 0
        while documents := await self._catalog.documents.page(scope, status=status, limit=PAGE, offset=offset):
            for document in documents:
                yield document
            offset += len(documents)


async def found_collection(catalog: Catalog, scope: Scope) -> Collection:
    """The collection, or NotFoundError that names the nearest one, else how to make one."""
    collection = await catalog.collections.get(scope)
    if collection is not None:
        return collection
    names = [one.scope.collection for one in await catalog.collections.all(scope.tenant)]
    near = get_close_matches(scope.collection, names, n=1, cutoff=0.7)
    meant = f"Did you mean {near[0]!r}? " if near else ""
    raise NotFoundError(
        f"There is no collection {scope.collection!r}.",
        hint=f"{meant}Make it with: kedge ingest PATH --collection {scope.collection}",
    )


def _file_name(document: Document) -> str:
    return document.url.rstrip("/").replace("\\", "/").rpartition("/")[2]


def _no_document(named: str) -> NotFoundError:
    return NotFoundError(f"There is no document {named}.", hint="`kedge document list` shows all.")
