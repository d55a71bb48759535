"""Keeps what each query cost and found: hashes, times and counts, never words (D-16, D-17)."""

from __future__ import annotations

import hashlib
import hmac
import logging
from datetime import UTC, datetime

from kedge.core.errors import StoreError
from kedge.core.stages import note
from kedge.core.values import Answer, Query, SearchHit, SearchResult
from kedge.stores.catalog.ports import Analytics, QueryRecord

log = logging.getLogger(__name__)


class Recorder:
    """Writes one row per query. The key makes hashes useless to anyone who has the tables alone."""

    def __init__(self, analytics: Analytics, key: bytes, threshold: float, *, keep_words: bool = False) -> None:
        """`keep_words`: the setting `keep_questions`, which keeps questions beside their hashes."""
        self._keep_words = keep_words
        self._analytics = analytics
        self._key = key
        self._threshold = threshold

    async def record(self, query: Query, result: SearchResult, answer: Answer, elapsed_ms: float) -> None:
        """Keep the query. An answer is not withheld because its statistics could not be written: that is logged."""
        record = QueryRecord(
            query_id=answer.query_id,
            tenant=query.scope.tenant,
            session_id=query.session_id,
            user_hash=self.hashed(query.user),
            query_hash=self.hashed(query.text.strip()),
            strategy_used=result.strategy,
            execution_time_ms=elapsed_ms,
            vector_hits=result.counts.get("vector", 0),
            graph_hits=result.counts.get("graph", 0),
            metrics=self._metrics(result, answer),
            created_at=datetime.now(UTC),
            words=query.text.strip() if self._keep_words else None,
        )
        note(query_id=record.query_id)
        try:
            await self._analytics.record(record)
        except StoreError as error:
            log.warning("the query's metrics could not be kept: %s", error)

    def hashed(self, text: str) -> str:
        """What stands for a user or a question."""
        return hmac.new(self._key, text.encode(), hashlib.sha256).hexdigest()

    def _metrics(self, result: SearchResult, answer: Answer) -> dict[str, float | int | bool | None]:
        measured = result.measures
        return {
            "vector_search_ms": result.timings_ms.get("vector"),
            "vector_result_count": result.counts.get("vector"),
            "vector_top_score": measured.get("vector_top"),
            "vector_avg_score": measured.get("vector_avg"),
            "graph_traversal_ms": result.timings_ms.get("graph"),
            "graph_result_count": result.counts.get("graph"),
            "graph_max_depth": max((_depth(hit) for hit in result.hits), default=0),
            "concepts_found": result.counts.get("concepts"),
            "fusion_ms": result.timings_ms.get("fuse"),
            "overlap_count": result.counts.get("overlap"),
            "rrf_top_score": measured.get("fused_top"),
            "rerank_ms": result.timings_ms.get("rerank"),
            "rerank_top_score": measured.get("reranked_top"),
            "confidence_threshold_met": answer.evidence_probability >= self._threshold,
            "final_context_tokens": answer.context_tokens,
            "citation_count": len(answer.citations),
        }


def _depth(hit: SearchHit) -> int:
    return max(0, len(hit.path) - 1)
