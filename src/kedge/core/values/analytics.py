"""What is kept of queries, and what is forgotten."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kedge.core.outside import outside

PERIOD_DAYS = 7.0
"""Days that the most frequent questions are told of, where nothing else is said."""


@outside()
@dataclass(frozen=True, slots=True)
class TopQuery:
    """A question that was asked often."""

    query_hash: str
    """Stands for its words, the same for the same words."""
    count: int
    refusal_share: float
    """Of those whose verdict is known."""
    mean_execution_time_ms: float
    words: str | None = None
    """Where the setting `keep_questions` kept them."""


@outside()
@dataclass(frozen=True, slots=True)
class AnalyticsSummary:
    """Counts and means over the queries that are kept."""

    queries: int
    sessions: int
    refusals: int
    strategies: Mapping[str, int]
    mean_execution_time_ms: float | None
    mean_vector_search_ms: float | None
    mean_graph_traversal_ms: float | None
    mean_fusion_ms: float | None
    mean_rerank_ms: float | None
    feedback: int
    mean_rating: float | None
    """Of those from 1 to 5."""
    yes_share: float | None
    """Of those that say yes or no."""
    queries_per_minute: float = 0.0
    """Over the period that was asked for."""
    top_queries: tuple[TopQuery, ...] = ()
    """Of that period, the most frequent first."""


@outside()
@dataclass(frozen=True, slots=True)
class Erased:
    """What was forgotten of a user."""

    queries: int
    """With their metrics and feedback."""
    sessions: int
    """Conversations, with what was said in them where it was still remembered."""
    conversations: int = 0
    """That were kept for the user, with their questions and answers."""


@outside()
@dataclass(frozen=True, slots=True)
class Swept:
    """What was forgotten because its time was over."""

    queries: int
