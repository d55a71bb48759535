"""What is asked."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from kedge.core.values.base import Scope
from kedge.core.values.filters import Filter

MAX_QUERY_CHARS = 2000
MAX_TOP_K = 20
"""Most passages of one query, where the settings say nothing else."""
MAX_OFFSET = 1_000_000_000
"""Most entries of a list that can be left out; more than any list has, and less than any store counts to."""
ANSWER_TOP_K = 5
"""Passages that an answer is made of, where the question says nothing else (D-15)."""


@dataclass(frozen=True, slots=True)
class Query:
    """A question or a search, validated where it enters (`kedge.retrieve.query.validate`)."""

    text: str
    scope: Scope
    top_k: int = ANSWER_TOP_K
    top_k_given: bool | None = None
    """False where nobody said how many, so that a kind may take its own number; None: said if it is not the usual."""
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
    as_of: datetime | None = None
    """Asks the versions that were live at that instant, without the graph; None: those that are live now."""
    embedding: bool = False
    """Whether an answer over a table tells the question's vector (`query_embedding`)."""

    @property
    def wanted(self) -> int | None:
        """How many somebody asked for; None where nobody did."""
        given = self.top_k != ANSWER_TOP_K if self.top_k_given is None else self.top_k_given
        return self.top_k if given else None
