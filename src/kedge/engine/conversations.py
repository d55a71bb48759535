"""Conversations that are kept for a user: named, asked in, read again, deleted."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from kedge.answer.conversation.open_turns import OpenTurns
from kedge.answer.conversation.turns import MOST_TURNS, Turns, key_of
from kedge.core.errors import KedgeError, NotFoundError, UsageError
from kedge.core.ids import new_id
from kedge.core.values import (
    MAX_CONVERSATION_NAME,
    Citation,
    KeptConversation,
    KeptTurn,
    Metadata,
    Query,
    Scope,
    StreamEvent,
)
from kedge.stores.catalog.ports import CanKeepConversations, Catalog, Conversations

if TYPE_CHECKING:
    from kedge.answer.conversation.asking import Conversation

Stream = Callable[[Query], AsyncGenerator[StreamEvent, None]]


class ConversationKeeper:
    """Conversations in the catalog. `user` is whose they are, as `Query.user` has it; only a hash of it is kept."""

    def __init__(
        self, catalog: Catalog, days: float, turns: Turns | None, hashed: Callable[[str], str], stream: Stream
    ) -> None:
        kept = catalog.conversations if isinstance(catalog, CanKeepConversations) else None
        self._kept = kept if days else None
        self._readable = OpenTurns(catalog)
        self._turns = turns
        self._hashed = hashed
        self._stream = stream

    @property
    def keeps(self) -> bool:
        """Whether anything is kept: the setting `conversation_days` and the catalog say so."""
        return self._kept is not None

    async def page(self, tenant: str, user: str, *, limit: int = 100, offset: int = 0) -> list[KeptConversation]:
        """Those of the user, the one used last first; none where none are kept."""
        return await self._kept.page(tenant, self._hashed(user), limit=limit, offset=offset) if self._kept else []

    async def make(self, tenant: str, user: str, name: str = "") -> KeptConversation:
        """A new one. UsageError where none are kept."""
        now = datetime.now(UTC)
        made = KeptConversation(new_id(), tenant, self._hashed(user), _named(name), now, now)
        await self._store.put(made)
        return made

    async def show(self, tenant: str, user: str, conversation_id: str) -> tuple[KeptConversation, list[KeptTurn]]:
        """One with its turns, oldest first. NotFoundError."""
        found = await self._found(tenant, user, conversation_id)
        turns = await self._readable.of_kept(tenant, await self._store.turns(found))
        return replace(found, turn_count=len(turns)), turns

    async def rename(self, tenant: str, user: str, conversation_id: str, name: str) -> KeptConversation:
        """Give it another name. NotFoundError, UsageError for an empty name."""
        named = _named(name)
        if not named:
            raise UsageError("A conversation needs a name.", hint="Give at least one character.")
        found = replace(await self._found(tenant, user, conversation_id), name=named)
        await self._store.put(found)
        return found

    async def delete(self, tenant: str, user: str, conversation_id: str) -> None:
        """Forget it with all that was said in it. NotFoundError."""
        found = await self._found(tenant, user, conversation_id)
        await self._store.delete(tenant, found.user_hash, found.id)
        await self._forget(found)

    async def delete_turn(self, tenant: str, user: str, conversation_id: str, turn_id: str) -> None:
        """Forget one question and its answer. NotFoundError."""
        found = await self._found(tenant, user, conversation_id)
        if not await self._store.delete_turn(found, turn_id):
            raise _no_turn(turn_id)
        await self._forget(found)

    async def ask(
        self, query: Query, conversation_id: str, *, limits: Metadata, replaces: str | None = None
    ) -> tuple[str, AsyncIterator[StreamEvent]]:
        """The id of the turn and the events of the answer; the question is kept before anything is looked for.

        `limits` is what the question was limited to, as it was said; `replaces` names a turn of which this is another
        try: the turn stays where it is. NotFoundError before the first event.
        """
        found = await self._found(query.scope.tenant, query.user, conversation_id)
        turns = await self._store.turns(found)
        old = next((turn for turn in turns if turn.id == replaces), None)
        if replaces is not None and old is None:
            raise _no_turn(replaces)
        number = old.number if old else max((turn.number for turn in turns), default=0) + 1
        before = [turn for turn in turns if turn.number < number]
        await self._remember(found, query.user, before, afresh=old is not None)
        now = datetime.now(UTC)
        turn = KeptTurn(old.id if old else new_id(), number, query.text, query.scope.collection, now, limits)
        found = replace(found, name=found.name or _named(query.text), updated_at=now)
        await self._store.put_turn(found, turn)
        return turn.id, self._answered(replace(query, session_id=found.id), found, turn, old)

    async def _answered(
        self, query: Query, conversation: KeptConversation, turn: KeptTurn, old: KeptTurn | None
    ) -> AsyncIterator[StreamEvent]:
        words: list[str] = []
        cited: list[Citation] = []
        begun = False
        try:
            async with aclosing(self._stream(query)) as events:
                async for event in events:
                    begun = True
                    words.append(event.content or "")
                    cited += [event.citation] if event.citation is not None else []
                    shown = event
                    if event.metadata is not None:
                        told: Metadata = {**event.metadata, "turn_id": turn.id}
                        whole = replace(turn, content="".join(words), citations=tuple(cited), metadata=told)
                        await self._store.put_turn(conversation, whole)
                        shown = replace(event, metadata=told)
                    yield shown
        except KedgeError:
            if not begun:  # it could not be asked at all
                await self._take_back(conversation, turn, old)
            raise

    async def _take_back(self, conversation: KeptConversation, turn: KeptTurn, old: KeptTurn | None) -> None:
        if old is None:
            await self._store.delete_turn(conversation, turn.id)
        else:
            await self._store.put_turn(conversation, old)

    async def _remember(
        self, conversation: KeptConversation, user: str, before: Sequence[KeptTurn], *, afresh: bool
    ) -> None:
        """Let follow-up questions lean on what was said here, also after the process or its memory of it has ended."""
        if self._turns is None:
            return
        if afresh:
            await self._forget(conversation)
        elif await self._turns.last(key_of(conversation.tenant, conversation.id, user)):
            return
        from kedge.answer.conversation.asking import Conversation

        memory = Conversation(self._turns)
        readable = await self._readable.of_kept(conversation.tenant, before)
        for turn in [one for one in readable if one.metadata][-MOST_TURNS:]:
            await _keep(memory, conversation, user, turn)

    async def _forget(self, conversation: KeptConversation) -> None:
        if self._turns is not None:
            await self._turns.forget(conversation.tenant, conversation.id)

    async def _found(self, tenant: str, user: str, conversation_id: str) -> KeptConversation:
        found = await self._store.get(tenant, self._hashed(user), conversation_id)
        if found is None:
            raise NotFoundError(
                f"There is no conversation {conversation_id[:100]}.",
                hint="GET /api/conversations lists those of this user.",
            )
        return found

    @property
    def _store(self) -> Conversations:
        if self._kept is None:
            raise UsageError(
                "This server keeps no conversations.",
                hint="Ask with /api/query, or set conversation_days to more than 0.",
            )
        return self._kept


async def _keep(memory: Conversation, conversation: KeptConversation, user: str, turn: KeptTurn) -> None:
    understood, short = turn.metadata.get("resolved_question"), turn.metadata.get("short_answer")
    query = Query(
        text=understood if isinstance(understood, str) else turn.question,
        scope=Scope(conversation.tenant, turn.collection),
        session_id=conversation.id,
        user=user,
    )
    said = turn.metadata.get("sources")
    places = [one for one in (said if isinstance(said, list) else ()) if isinstance(one, dict)]
    of = {one.get("id"): one.get("document_id") for one in places}
    cited = [replace(one, document_id=str(of.get(one.id) or one.document_id)) for one in turn.citations]
    await memory.keep(query, turn.content, short if isinstance(short, str) else None, cited)


def _named(text: str) -> str:
    """A name of one line, not longer than allowed."""
    line = " ".join(text.split())
    return line if len(line) <= MAX_CONVERSATION_NAME else line[: MAX_CONVERSATION_NAME - 1].rstrip() + "…"


def _no_turn(turn_id: str) -> NotFoundError:
    return NotFoundError(f"The conversation has no turn {turn_id[:100]}.", hint="Its turns are shown with it.")
