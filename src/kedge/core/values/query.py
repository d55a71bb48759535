"""What is asked."""

from __future__ import annotations

from dataclasses import dataclass

from kedge.core.values.base import Scope
from kedge.core.values.filters import Filter

MAX_QUERY_CHARS = 2000
MAX_TOP_K = 20


@dataclass(frozen=True, slots=True)
class Query:
    """A question or a search, validated where it enters (`kedge.retrieve.pipeline.validate`)."""

    text: str
    scope: Scope
    top_k: int = 5
    include_graph: bool = True
    topic_filter: str | None = None
    where: Filter | None = None
    """Further conditions on passages."""
    session_id: str | None = None
    """Session the question belongs to: for analytics, and for the questions that follow it."""
    user: str = "local"
    """Who asks; stored as a hash only."""
    threshold: float | None = None
    """Least score of a row (tables); None: the setting."""
    rows: int | None = None
    """Most rows that an answer over a table is made from; None: by the question."""
    reading: int | None = None
    """Which of the readings that an answer over a table showed is meant, from 1; None: the likeliest."""
