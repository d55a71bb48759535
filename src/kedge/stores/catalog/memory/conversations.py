"""Conversations of users in dictionaries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from kedge.core.values import KeptConversation, KeptTurn


class MemoryConversations:
    """The `Conversations` port."""

    def __init__(self) -> None:
        self._kept: dict[str, KeptConversation] = {}
        self._turns: dict[str, dict[str, KeptTurn]] = {}

    async def put(self, conversation: KeptConversation) -> None:
        old = self._kept.get(conversation.id, conversation)
        self._kept[conversation.id] = replace(old, name=conversation.name, updated_at=conversation.updated_at)
        self._turns.setdefault(conversation.id, {})

    async def get(self, tenant: str, user_hash: str, conversation_id: str) -> KeptConversation | None:
        found = self._kept.get(conversation_id)
        if found is None or (found.tenant, found.user_hash) != (tenant, user_hash):
            return None
        return replace(found, turn_count=len(self._turns[found.id]))

    async def page(self, tenant: str, user_hash: str, *, limit: int = 100, offset: int = 0) -> list[KeptConversation]:
        by_id = sorted(self._kept)
        newest = sorted(by_id, key=lambda key: self._kept[key].updated_at, reverse=True)
        found = [one for key in newest if (one := await self.get(tenant, user_hash, key)) is not None]
        return found[offset : offset + limit]

    async def delete(self, tenant: str, user_hash: str, conversation_id: str | None = None) -> list[str]:
        wanted = sorted(self._kept) if conversation_id is None else [conversation_id]
        gone = [key for key in wanted if await self.get(tenant, user_hash, key) is not None]
        for key in gone:
            del self._kept[key], self._turns[key]
        return gone

    async def turns(self, conversation: KeptConversation) -> list[KeptTurn]:
        if await self._known(conversation) is None:
            return []
        return sorted(self._turns[conversation.id].values(), key=lambda turn: (turn.number, turn.id))

    async def put_turn(self, conversation: KeptConversation, turn: KeptTurn) -> bool:
        if await self._known(conversation) is None:
            return False
        await self.put(conversation)
        self._turns[conversation.id][turn.id] = turn
        return True

    async def delete_turn(self, conversation: KeptConversation, turn_id: str) -> bool:
        if await self._known(conversation) is None:
            return False
        return self._turns[conversation.id].pop(turn_id, None) is not None

    async def sweep(self, before: datetime) -> int:
        old = [key for key, kept in self._kept.items() if kept.updated_at < before]
        for key in old:
            del self._kept[key], self._turns[key]
        return len(old)

    def quoting(self, tenant: str, quotes: Callable[[KeptTurn], bool]) -> list[tuple[str, str]]:
        """(conversation, turn) of the tenant's turns that do."""
        own = [key for key, kept in self._kept.items() if kept.tenant == tenant]
        return [(key, turn.id) for key in own for turn in self._turns[key].values() if quotes(turn)]

    def forget_turns(self, turns: Sequence[tuple[str, str]]) -> None:
        """Forget them wherever they are."""
        for conversation, turn in turns:
            del self._turns[conversation][turn]

    async def _known(self, conversation: KeptConversation) -> KeptConversation | None:
        return await self.get(conversation.tenant, conversation.user_hash, conversation.id)
