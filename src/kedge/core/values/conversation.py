"""Conversations that the server keeps for a user."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from kedge.core.outside import outside
from kedge.core.values.answer import Citation
from kedge.core.values.base import Metadata

MAX_CONVERSATION_NAME = 120
"""Characters."""


def documents_in(told: Metadata) -> set[str]:
    """Ids of the documents that an answer, as its metadata tells of it, cites or names as nearest."""
    places = [one for name in ("sources", "nearest") if isinstance(held := told.get(name), list) for one in held]
    named = (one.get("document_id") for one in places if isinstance(one, dict))
    return {one for one in named if isinstance(one, str) and one}


@outside({"conversation_id": "id"}, hidden=("tenant", "user_hash"))
@dataclass(frozen=True, slots=True)
class KeptConversation:
    """A conversation of one user: its name and when it was used."""

    id: str
    tenant: str
    user_hash: str
    """Whose it is; nobody else sees it."""
    name: str
    """As the user named it, else its first question; empty before that."""
    created_at: datetime
    updated_at: datetime
    """When it was last asked something."""
    turn_count: int = 0


@outside({"turn_id": "id"})
@dataclass(frozen=True, slots=True)
class KeptTurn:
    """One question of a conversation and what was answered, as it was streamed."""

    id: str
    number: int
    """Its place in the conversation, from 1 on."""
    question: str
    collection: str
    created_at: datetime
    filter: Metadata = field(default_factory=dict)
    """What the question was limited to."""
    content: str = ""
    """The words of the answer or refusal, with their marks; empty where the answer was broken off."""
    citations: tuple[Citation, ...] = ()
    metadata: Metadata = field(default_factory=dict)
    """As in the stream; empty where the answer was broken off."""


@outside()
@dataclass(frozen=True, slots=True)
class ConversationList:
    """One page of a user's conversations, the one used last first."""

    conversations: tuple[KeptConversation, ...]
    limit: int
    offset: int


@outside(spread="conversation")
@dataclass(frozen=True, slots=True)
class ConversationWithTurns:
    """A conversation with its turns, oldest first."""

    conversation: KeptConversation
    turns: tuple[KeptTurn, ...]
