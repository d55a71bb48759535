"""Who may read what, what is held, and the audit log, in dictionaries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from kedge.core.acting import actor
from kedge.core.values import PUBLIC, AuditEntry, Document, Hold, Narrowed, Readers, Scope, documents_in
from kedge.stores.catalog.memory.conversations import MemoryConversations
from kedge.stores.catalog.memory.state import State


class MemoryRights:
    """The `Rights` port."""

    def __init__(self, state: State) -> None:
        self._state = state

    async def give(self, tenant: str, document_ids: Sequence[str], readers: Readers | None) -> list[str]:
        changed: list[str] = []
        for document in (self._state.documents.get(one) for one in dict.fromkeys(document_ids)):
            if document is None or document.scope.tenant != tenant:
                continue
            self._state.given.discard(document.id)
            self._state.given |= set() if readers is None else {document.id}
            if document.readers != readers:
                self._state.documents[document.id] = replace(document, readers=readers)
                self._state.unsettled.add(document.id)
                changed.append(document.id)
        return changed

    async def readers(self, document_ids: Sequence[str]) -> dict[str, Readers]:
        held = (self._state.documents[one] for one in document_ids if one in self._state.documents)
        return {one.id: one.readers for one in held if one.readers is not None and PUBLIC not in one.readers}

    async def expected(self, version_ids: Sequence[str]) -> dict[str, Readers]:
        found: dict[str, Readers] = {}
        for version in (self._state.versions[one] for one in version_ids if one in self._state.versions):
            readers = self._state.said(version)
            if readers is not None:
                found[version.document.id] = readers
        return found

    async def narrowed(self, scope: Scope) -> Narrowed | None:
        who = actor()
        if who is None:
            return None
        live = [document for document in self._state.within(scope) if document.live_version is not None]
        moving = tuple(await self.unsettled(scope))
        if not moving and all(who.may_read(document.readers) for document in live):
            return None
        return Narrowed(who.principals, moving)

    async def restricted(self, tenant: str | None = None) -> bool:
        ruled = (scope.tenant for scope, _ in self._state.rules)
        narrow = (one.scope.tenant for one in self._state.documents.values() if _narrow(one))
        return any(tenant in (None, own) for own in (*ruled, *narrow))

    async def restricted_documents(self, tenant: str) -> int:
        own = (one for one in self._state.documents.values() if one.scope.tenant == tenant)
        return sum(_narrow(one) for one in own if one.live_version is not None)

    async def unsettled(self, scope: Scope) -> list[str]:
        return sorted(one.id for one in self._state.within(scope) if one.id in self._state.unsettled)

    async def settled(self, document_ids: Sequence[str]) -> None:
        self._state.unsettled.difference_update(document_ids)

    async def rules(self, scope: Scope) -> dict[str, Readers]:
        return {label: self._state.rules[at, label] for at, label in sorted(self._state.rules, key=str) if at == scope}

    async def rule(self, scope: Scope, label: str, readers: Readers | None) -> None:
        self._state.rules.pop((scope, label), None)
        if readers is not None and PUBLIC not in readers:
            self._state.rules[scope, label] = readers

    async def hold(self, hold: Hold) -> None:
        self._state.holds[hold.document_id] = hold

    async def release(self, tenant: str, document_id: str) -> bool:
        held = self._state.holds.get(document_id)
        if held is None or held.scope.tenant != tenant:
            return False
        del self._state.holds[document_id]
        return True

    async def holds(self, tenant: str, document_ids: Sequence[str] | None = None) -> list[Hold]:
        own = [hold for _, hold in sorted(self._state.holds.items()) if hold.scope.tenant == tenant]
        return own if document_ids is None else [hold for hold in own if hold.document_id in set(document_ids)]


def _narrow(document: Document) -> bool:
    """Whether it is not for everybody."""
    return document.readers is not None and PUBLIC not in document.readers


class MemoryAuditLog:
    """The `AuditLog` port."""

    def __init__(self, state: State, conversations: MemoryConversations) -> None:
        self._state = state
        self._conversations = conversations
        self._entries: dict[str, AuditEntry] = {}

    async def record(self, entry: AuditEntry) -> None:
        named = tuple(sorted(set(entry.documents)))
        self._entries[entry.id] = replace(entry, documents=named)

    async def recent(
        self, tenant: str, *, who: str | None = None, document_id: str | None = None, limit: int = 100
    ) -> list[AuditEntry]:
        own = [one for one in self._entries.values() if one.tenant == tenant and who in (None, one.who)]
        own = [one for one in own if document_id is None or document_id in one.documents]
        return sorted(sorted(own, key=lambda one: one.id), key=lambda one: one.at, reverse=True)[:limit]

    async def count(self, tenant: str) -> int:
        return sum(one.tenant == tenant for one in self._entries.values())

    async def sweep(self, before: datetime) -> int:
        old = [one.id for one in self._entries.values() if one.at < before]
        for key in old:
            del self._entries[key]
        return len(old)

    async def traces(self, tenant: str, document_id: str, *, erase: bool = False) -> tuple[int, int, int]:
        named = await self.recent(tenant, document_id=document_id, limit=len(self._entries) + 1)
        queries = {one.query_id for one in named} & self._state.queries.keys()
        turns = self._conversations.quoting(tenant, lambda turn: document_id in documents_in(turn.metadata))
        if erase:
            for one in named:
                others = tuple(other for other in one.documents if other != document_id)
                del self._entries[one.id]
                if others:
                    self._entries[one.id] = replace(one, documents=others, words=None)
            for query in queries:
                self._state.queries.pop(str(query))
            self._state.ratings[:] = [one for one in self._state.ratings if one[0] not in queries]
            self._conversations.forget_turns(turns)
        return len(named), len(queries), len(turns)
