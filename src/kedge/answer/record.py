"""Keeps what each query cost and found: hashes, times and counts, never words (D-16, D-17)."""

from __future__ import annotations

import hashlib
import hmac
import logging
from collections.abc import Sequence
from datetime import UTC, datetime

from kedge.core.acting import actor, called
from kedge.core.errors import StoreError
from kedge.core.ids import new_id
from kedge.core.stages import note
from kedge.core.values import Answer, AuditEntry, Query, SearchHit, SearchResult
from kedge.stores.catalog.ports import Analytics, AuditLog, QueryRecord

log = logging.getLogger(__name__)


class Recorder:
    """Writes one row per query. The key makes hashes useless to anyone who has the tables alone."""

    def __init__(
        self,
        analytics: Analytics,
        key: bytes,
        threshold: float,
        *,
        keep_words: bool = False,
        audit: AuditLog | None = None,
        audit_words: bool = False,
    ) -> None:
        """`keep_words`: the setting `keep_questions`, which keeps questions beside their hashes; `audit_words` does the
        same in the audit log. Without `audit` none is kept."""
        self._audit = audit
        self._audit_words = audit_words
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
        await self.note("ask", query, [one.document_id for one in answer.citations], answer.query_id)

    async def searched(self, query: Query, result: SearchResult) -> None:
        """Keep in the audit log who searched and what was shown."""
        await self.note("search", query, [hit.passage.document_id for hit in result.hits])

    async def note(self, action: str, query: Query, documents: Sequence[str], query_id: str | None = None) -> None:
        """Keep in the audit log who asked, and which documents were cited or shown.

        StoreError: what must be known to have been read is not shown where that cannot be kept.
        """
        if self._audit is None:
            return
        await self._audit.record(
            AuditEntry(
                id=new_id(),
                tenant=query.scope.tenant,
                at=datetime.now(UTC),
                who=called(actor(), query.user),
                action=action,
                collection=query.scope.collection,
                query_id=query_id,
                words_hash=self.hashed(query.text.strip()),
                documents=tuple(one for one in dict.fromkeys(documents) if one),
                words=query.text.strip() if self._audit_words else None,
            )
        )

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
