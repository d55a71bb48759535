"""Who may read what, what is held, and who asked: said, looked up, explained and forgotten."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from kedge.core.acting import acting_as, actor, called
from kedge.core.errors import HeldError, NotFoundError, UsageError
from kedge.core.settings import Settings
from kedge.core.values import (
    PUBLIC,
    AccessChecked,
    AccessReport,
    Actor,
    AuditEntry,
    Document,
    DocumentTraces,
    Hold,
    Readers,
    Scope,
    checked_readers,
    parse_actor,
)
from kedge.engine.library import Library, found_collection
from kedge.kinds import installed
from kedge.stores.catalog.ports import Catalog

MAX_REASON = 500
"""Characters of the reason for a hold."""


Settle = Callable[[Scope], Awaitable[None]]


async def _later(_scope: Scope) -> None:
    """The catalog decides until somebody does."""


class AccessKeeper:
    """Changes what documents and collections say of their readers, and tells of it.

    Whatever is named must be something that the actor in force may read: else it is not there.
    """

    def __init__(self, settings: Settings, catalog: Catalog, library: Library, settle: Settle = _later) -> None:
        """`settle` lets the index of a collection know what changed; without it that is done by whoever opens the
        stores next, and the catalog decides until then."""
        self._settings = settings
        self._catalog = catalog
        self._library = library
        self._rights = catalog.rights
        self._settle = settle

    # ------------------------------------------------------------ readers

    async def give(self, tenant: str, document_id: str, readers: Sequence[str] | None) -> Document:
        """The document has these readers from the next request on, whatever its sources say; None: they say it again.

        NotFoundError; UsageError for what is no principal, and for a node or a table: those have no readers alone.
        """
        document, _ = await self._library.document(tenant, document_id)
        await self._refuse_parts(document.scope)
        said = None if readers is None else checked_readers(readers)
        await self._rights.give(tenant, [document.id], said)
        await self._settle(document.scope)
        with acting_as(None):
            return (await self._library.document(tenant, document_id))[0]

    async def _refuse_parts(self, scope: Scope) -> None:
        """UsageError where the collection has readers as a whole: its parts would be hidden here and shown there."""
        found = await self._catalog.collections.get(scope)
        kind = installed().get(found.kind) if found is not None else None
        if kind is not None and not kind.each_has_readers:
            raise UsageError(
                f"What is in {scope.collection!r}, of the kind {kind.name}, has no readers of its own.",
                hint="Say them of the collection, or of nodes by type: kedge access collection NAME --label TYPE.",
            )

    async def give_collection(self, scope: Scope, readers: Sequence[str] | None, label: str = "") -> dict[str, Readers]:
        """Set the readers of a whole collection, or of the nodes of a type in a graph; returns all its rules.

        NotFoundError, UsageError for what is no principal.
        """
        await found_collection(self._catalog, scope)
        said = None if readers is None else checked_readers(readers)
        if label not in await self.rules(scope) and label in await self._rights.rules(scope):
            raise NotFoundError(f"There are no nodes of the type {label!r}.", hint="Name another type.")
        with acting_as(None):
            if label:
                nodes = [
                    one.id async for one in self._library.all_documents(scope) if one.metadata.get("node_type") == label
                ]
                await self._rights.give(scope.tenant, nodes, said)
            await self._rights.rule(scope, label, said)
            await self._settle(scope)
        return await self._rules(scope)

    async def rules(self, scope: Scope) -> dict[str, Readers]:
        """Readers of the collection, under the empty label, and of types of nodes in it. NotFoundError."""
        await found_collection(self._catalog, scope)
        return await self._rules(scope)

    async def _rules(self, scope: Scope) -> dict[str, Readers]:
        """Those of what the actor in force may read."""
        who = actor()
        every = await self._rights.rules(scope)
        return {label: said for label, said in every.items() if who is None or who.may_read(said)}

    async def check(self, tenant: str, who: Actor, document_id: str) -> AccessChecked:
        """Whether somebody may read a document, and why. NotFoundError where whoever asks may not read it."""
        document, _ = await self._library.document(tenant, document_id)
        rule = (await self._rights.rules(document.scope)).get("")
        holds = await self._rights.holds(tenant, [document.id])
        allowed, why = _explained(who, document, rule)
        return AccessChecked(
            document_id=document.id,
            title=document.title,
            principals=who.principals,
            allowed=allowed,
            why=why,
            readers=document.readers,
            collection_readers=rule,
            hold=holds[0].reason if holds else None,
        )

    async def somebody(self, tenant: str, named: str) -> Actor:
        """`ann`, `user:ann` or `user:ann,group:board` as an actor; with no group named, in those that valid keys of
        the user say. UsageError."""
        who = parse_actor(named if ":" in named else f"user:{named}")
        if who.user is None or who.groups:
            return who
        now = datetime.now(UTC)
        keys = [one for one in await self._catalog.keys.all() if one.tenant == tenant and one.user == who.user]
        return Actor(who.user, frozenset(group for key in keys if key.valid(now) for group in key.groups))

    # ------------------------------------------------------------ holds

    async def hold(self, tenant: str, document_id: str, reason: str) -> Hold:
        """Keep a document from being deleted or replaced until it is released. NotFoundError, UsageError."""
        document, _ = await self._library.document(tenant, document_id)
        reason = " ".join(reason.split())
        if not reason or len(reason) > MAX_REASON:
            raise UsageError("A hold needs a reason.", hint=f"Say why, in at most {MAX_REASON} characters.")
        hold = Hold(document.id, document.scope, reason, called(actor(), "a key"), datetime.now(UTC))
        await self._rights.hold(hold)
        return (await self._rights.holds(tenant, [document.id]))[0]

    async def release(self, tenant: str, document_id: str) -> None:
        """End the hold of a document. NotFoundError where there is none."""
        await self._library.document(tenant, document_id)
        if not await self._rights.release(tenant, document_id):
            raise NotFoundError(f"Document {document_id} is not on hold.", hint="`kedge access report` shows all.")

    async def refuse_held(self, scope: Scope, document_id: str | None = None) -> None:
        """HeldError where the document, or any of the collection, is held."""
        await refuse_held(self._catalog, scope, document_id)

    # ------------------------------------------------------------ what is kept

    async def log(
        self, tenant: str, *, who: str | None = None, document_id: str | None = None, limit: int = 100
    ) -> list[AuditEntry]:
        """Entries of the audit log, newest first."""
        if document_id is not None:
            await self._library.document(tenant, document_id)
        found = await self._catalog.audit.recent(tenant, who=who, document_id=document_id, limit=limit)
        if actor() is None:
            return found
        seen = await self._seen(tenant, {one for entry in found for one in entry.documents})
        return [_for_reader(entry, seen) for entry in found]

    async def _seen(self, tenant: str, document_ids: Iterable[str]) -> set[str]:
        """Those of the documents that the actor in force may read."""
        documents = self._catalog.documents
        return {one for one in document_ids if await documents.get(tenant, one) is not None}

    async def report(self, tenant: str, document_id: str | None = None) -> AccessReport:
        """What is kept, for how long, and what is held back; of one document also what is kept of its use."""
        settings = self._settings
        traces = None if document_id is None else await self._traces(tenant, document_id)
        collections = await self._catalog.collections.all(tenant)
        rules = {one.scope.collection: await self._rights.rules(one.scope) for one in collections}
        holds = await self._rights.holds(tenant)
        if actor() is None:
            restricted = await self._rights.restricted_documents(tenant)
        else:
            restricted = 0
            for one in collections:
                every = self._library.all_documents(one.scope)
                restricted += len([1 async for each in every if PUBLIC not in (each.readers or (PUBLIC,))])
            seen = await self._seen(tenant, [hold.document_id for hold in holds])
            holds = [hold for hold in holds if hold.document_id in seen]
        return AccessReport(
            audit_days=settings.audit_days,
            audit_entries=await self._catalog.audit.count(tenant),
            audit_words=settings.audit_words,
            analytics_days=settings.analytics_days,
            conversation_days=settings.conversation_days,
            restricted_documents=restricted,
            restricted_collections=tuple(name for name, said in rules.items() if said),
            holds=tuple(holds),
            document=traces,
        )

    async def erase(self, tenant: str, document_id: str) -> DocumentTraces:
        """Forget what audit log, analytics and conversations hold of a document; the document itself stays.

        NotFoundError; HeldError for one that is held: its traces are kept with it.
        """
        document, _ = await self._library.document(tenant, document_id)
        await self.refuse_held(document.scope, document.id)
        return await self._traces(tenant, document.id, erase=True)

    async def _traces(self, tenant: str, document_id: str, *, erase: bool = False) -> DocumentTraces:
        await self._library.document(tenant, document_id)
        entries, queries, turns = await self._catalog.audit.traces(tenant, document_id, erase=erase)
        holds = await self._rights.holds(tenant, [document_id])
        return DocumentTraces(document_id, entries, queries, turns, holds[0].reason if holds else None, erase)


async def refuse_held(catalog: Catalog, scope: Scope, document_id: str | None = None) -> None:
    """HeldError where the document, or any of the collection, is held: with its name where it may be read."""
    held = await catalog.rights.holds(scope.tenant, None if document_id is None else [document_id])
    here = [hold for hold in held if hold.scope == scope]
    for hold in here:
        if await catalog.documents.get(scope.tenant, hold.document_id) is not None:
            raise HeldError(hold.document_id, hold.reason)
    if here:
        raise HeldError.unnamed(scope.collection)


def _for_reader(entry: AuditEntry, seen: Collection[str]) -> AuditEntry:
    """The entry without documents that may not be read, and then without the words that found them."""
    shown = tuple(one for one in entry.documents if one in seen)
    return replace(entry, documents=shown, words=entry.words if shown == entry.documents else None)


def _explained(who: Actor, document: Document, rule: Readers | None) -> tuple[bool, str]:
    if not who.may_read(rule):
        return False, f"No: the collection {document.scope.collection!r} is for {_listed(rule)} alone."
    if document.live_version is None:
        return False, "No: nothing of it is visible to anybody."
    if document.readers is None:
        return True, "Yes: nobody was ever named as its reader, so everybody of the tenant may."
    if PUBLIC in document.readers:
        return True, "Yes: it is public."
    own = sorted(set(who.principals) & set(document.readers))
    if own:
        return True, f"Yes: as {_listed(own)}."
    return False, f"No: it is for {_listed(document.readers)} alone."


def _listed(principals: Sequence[str] | None) -> str:
    return ", ".join(principals or ()) or "the owner of the home"
