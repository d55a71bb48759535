"""Answers as they come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from kedge.core.outside import outside
from kedge.core.values.answer import Citation
from kedge.core.values.base import Metadata

EventType: TypeAlias = Literal["token", "citation", "metadata", "done", "error"]


@outside(sparse=True)
@dataclass(frozen=True, slots=True)
class StreamEvent:
    """One server-sent event of a streamed answer: its type and the one field that the type has."""

    type: EventType
    content: str | None = None
    citation: Citation | None = None
    metadata: Metadata | None = None
    error: Metadata | None = None
