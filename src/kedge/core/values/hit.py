"""What is found: by each channel, and after all of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias

from kedge.core.excerpt import excerpt
from kedge.core.html import html_of
from kedge.core.outside import outside
from kedge.core.values.base import Json
from kedge.core.values.passage import Passage

_DETAILS = frozenset(
    "document_id external_id title url page chunk_index has_code has_formula has_table language topic_tag section_path "
    "token_count ingested_at document_updated_at start end above_threshold in_both path".split()
)
"""What `SearchHit.details` says beside the passage's free metadata."""


Strategy: TypeAlias = Literal["vector_only", "graph_only", "hybrid"]
"""Without the graph, by the graph alone, or both."""


@dataclass(frozen=True, slots=True)
class Scored:
    """What a store's search returns: an id and a score, best first."""

    id: str
    score: float


@outside(
    {
        "passage_id": "passage.id",
        "document_id": "passage.document_id",
        "external_id": "passage.external_id",
        "title": "passage.title",
        "identity": "passage.identity",
        "text": "passage.text",
        "metadata": "details",
        "vector_score": "cosine",
        "keyword_score": "bm25",
        "relevance_score": "relevance_score",
        "in_both": "in_both",
    },
    hidden=("vector_score", "keyword_score", "model_score", "path", "path_ids", "step"),
)
@dataclass(frozen=True, slots=True)
class SearchHit:
    """A passage that was found, after fusion and reranking."""

    rank: int
    """From 1."""
    passage: Passage
    score: float
    """What the results are ordered by, in [0, 1]: the best hit's nearness to the question, and the others as a share of
    it. In an answer it is the judge's probability instead of the nearness."""
    vector_rank: int | None = None
    keyword_rank: int | None = None
    graph_rank: int | None = None
    vector_score: float | None = None
    """Cosine similarity, where the vector channel found it; the judge wants to know that too."""
    keyword_score: float | None = None
    """BM25 score, where the keyword channel found it."""
    cosine: float | None = None
    """Raw cosine similarity of question and passage, whichever channel found it; None where the store cannot say."""
    bm25: float | None = None
    """Raw BM25 score, whichever channel found it; 0 for a passage without a word of the question."""
    fused_score: float | None = None
    """After fusion and before reranking; comparable within one question only."""
    model_score: float | None = None
    """What the reranking model said of it, where one is set and read it."""
    path: tuple[str, ...] = ()
    path_ids: tuple[str, ...] = ()
    """The same steps, with passages by their id instead of their title."""
    step: float | None = None
    """How surely it is a step of an answer that takes several passages; None where the question was not judged to."""
    above_threshold: bool = False
    """Relevance score at or above the threshold."""

    @property
    def in_both(self) -> bool:
        """Found by vectors and by the graph (D-12)."""
        return self.vector_rank is not None and self.graph_rank is not None

    @property
    def relevance_score(self) -> float:
        """What the reranking model said, where one did; else what it is ordered by. In [0, 1]."""
        return self.score if self.model_score is None else self.model_score

    @property
    def details(self) -> dict[str, Json]:
        """Place, flags and free metadata; `start` and `end` are offsets; times as ISO 8601."""
        return {
            **self.passage.payload(),
            "ingested_at": _iso(self.passage.ingested_at),
            "document_updated_at": _iso(self.passage.document_updated_at),
            "start": self.passage.start,
            "end": self.passage.end,
            "above_threshold": self.above_threshold,
            "in_both": self.in_both,
            "path": list(self.path),
        }

    @property
    def near(self) -> dict[str, Json]:
        """What is told of it where the evidence was not enough."""
        return {
            "passage_id": self.passage.id,
            "document_id": self.passage.document_id,
            "title": self.passage.title,
            "identity": self.passage.identity,
            "url": self.passage.url,
            "excerpt": excerpt(self.passage.text),
            "score": self.score,
            "section_path": list(self.passage.section_path),
            "page": self.passage.page,
        }

    @staticmethod
    def from_outside(found: Mapping[str, Any]) -> Mapping[str, Any]:
        """What `details` put together goes back to its place; the rest is the passage's own metadata."""
        told = {name: found["metadata"][name] for name in _DETAILS}
        free = {name: value for name, value in found["metadata"].items() if name not in _DETAILS}
        passage = {**told, **found, "index": told["chunk_index"], "metadata": free}
        said = found["relevance_score"] if found["relevance_score"] != found["score"] else None
        return {**found, "path": told["path"], "model_score": said, "passage": passage}


@outside({"results": "hits", "timings_ms": "rounded_ms"}, hidden=("timings_ms", "counts", "measures", "strategy"))
@dataclass(frozen=True, slots=True)
class SearchResult:
    """Passages, best first, with the times of each stage and the counts that metrics want."""

    query: str
    hits: tuple[SearchHit, ...]
    timings_ms: Mapping[str, float]
    counts: Mapping[str, int] = field(default_factory=dict)
    """vector, keyword, graph, overlap, concepts, candidates."""
    warnings: tuple[str, ...] = ()
    """What the caller should know, such as why nothing was found although there is something."""
    measures: Mapping[str, float] = field(default_factory=dict)
    """Scores for metrics: `vector_top` and `vector_avg` over the ten best of the vector channel, `fused_top` before and
    `reranked_top` after reranking; each only where there is one."""
    strategy: Strategy = "hybrid"
    """Which channels were searched."""

    @property
    def rounded_ms(self) -> dict[str, float]:
        """Milliseconds of each stage."""
        return {stage: round(ms, 3) for stage, ms in self.timings_ms.items()}

    def _repr_html_(self) -> str | None:
        """For notebooks."""
        return html_of(self)


def _iso(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()
