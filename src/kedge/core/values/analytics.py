"""What is kept of queries, and what is forgotten."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kedge.core.outside import outside


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


@outside()
@dataclass(frozen=True, slots=True)
class Erased:
    """What was forgotten of a user."""

    queries: int
    """With their metrics and feedback."""
    sessions: int
    """Conversations, with what was said in them where it was still remembered."""
