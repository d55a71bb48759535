"""The answer path: retrieve → judge → quote → cite, or say that the evidence is not enough."""

from __future__ import annotations

import re
import time
from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass, replace

from kedge.answer.beside import join_before
from kedge.answer.cite import cite
from kedge.answer.extract import ExtractedAnswer, extract_answer
from kedge.answer.shown import NEAREST, evidence_json, nearest_json, source_json
from kedge.config import Settings
from kedge.errors import NotFoundError
from kedge.ids import new_id
from kedge.retrieve.judge import Evidence, confidence, default_judge, judge_features
from kedge.retrieve.pipeline import Retriever
from kedge.retrieve.ports import CollectionSource
from kedge.retrieve.rarity import as_idf, term_weights
from kedge.retrieve.record import Recorder
from kedge.text.evidence import Passage as EvidencePassage
from kedge.text.evidence import Sentence, candidate_sentences, rank_sentences
from kedge.text.question import Question, parse_question
from kedge.types import Answer, Collection, Json, Query, SearchHit, SearchResult, StreamEvent

REFUSAL = "There is not enough evidence in this collection to answer that."
_PIECE = re.compile(r"\S+\s*|\s+")


@dataclass(frozen=True, slots=True)
class _Judged:
    probability: float
    extracted: ExtractedAnswer | None
    joined: tuple[SearchHit, ...] = ()
    """Passages beside the hits that the answer quotes too."""


class Answerer:
    """Answers from one collection. Makes no call to a language model."""

    def __init__(
        self, settings: Settings, retriever: Retriever, collections: CollectionSource, recorder: Recorder
    ) -> None:
        self._settings = settings
        self._retriever = retriever
        self._collections = collections
        self._recorder = recorder

    async def ask(self, query: Query) -> Answer:
        """The answer as a whole, recorded in the analytics tables by hashes and numbers."""
        started = time.perf_counter()
        try:
            result, judged = await self._found(query)
        except NotFoundError:  # the collection was re-indexed under our feet: all of it again, from one index
            result, judged = await self._found(query)
        answer = self._compose(result, judged)
        elapsed = 1000 * (time.perf_counter() - started)
        answer = _with_times(answer, result, elapsed)
        await self._recorder.record(query, result, answer, elapsed)
        return answer

    async def _found(self, query: Query) -> tuple[SearchResult, _Judged]:
        collection = await self._collections.get(query.scope)
        result = await self._retriever.search(query, collection)
        return result, await self._judge(query, collection, result.hits)

    async def stream(self, query: Query) -> AsyncGenerator[StreamEvent, None]:
        """Words as they stand in the answer, each citation after the sentence it belongs to, then the metadata."""
        answer = await self.ask(query)
        waiting = {citation.id: citation for citation in answer.citations}
        for piece in _PIECE.findall(answer.answer):
            yield StreamEvent("token", content=piece)
            citation = waiting.pop(piece.strip(), None)
            if citation is not None:
                yield StreamEvent("citation", citation=citation)
        yield StreamEvent("metadata", metadata=_stream_metadata(answer))
        yield StreamEvent("done")

    async def _judge(self, query: Query, collection: Collection, hits: Sequence[SearchHit]) -> _Judged:
        if not hits:
            return _Judged(0.0, None)
        question = await self._question(query, collection)
        passages = [EvidencePassage(hit.passage.text, _heading(hit)) for hit in hits]
        ranked = await self._sentences(question, collection, passages)
        probability = default_judge().probability(judge_features(question, [_evidence(hit) for hit in hits], ranked))
        extracted = extract_answer(question, passages, ranked)
        if extracted is None or probability < self._settings.threshold:
            return _Judged(probability, extracted)
        known = self._retriever.stores.catalog.passages
        return _Judged(probability, *await join_before(known, query, hits, extracted))

    async def _question(self, query: Query, collection: Collection) -> Question:
        weights = await term_weights(self._retriever.stores.vectors, collection, query.text)
        return parse_question(query.text, as_idf(weights, collection))

    async def _sentences(
        self, question: Question, collection: Collection, passages: Sequence[EvidencePassage]
    ) -> list[Sentence]:
        candidates = candidate_sentences(question, passages)
        if not candidates:
            return []
        embedder = await self._collections.embedder_of(collection)
        vectors = await embedder.embed([sentence.text for sentence in candidates])
        return rank_sentences(candidates, await embedder.embed_query(question.text), vectors)

    def _compose(self, result: SearchResult, judged: _Judged) -> Answer:
        query_id = new_id()
        hits = _weighed((*result.hits, *judged.joined), judged.probability, self._settings.threshold)
        level = confidence(judged.probability, self._settings.threshold)
        if level == "insufficient" or judged.extracted is None:
            return Answer(query_id, REFUSAL, (), "insufficient", judged.probability, hits=hits)
        text, citations = cite(judged.extracted, hits)
        short = judged.extracted.short
        return Answer(
            query_id=query_id,
            answer=text,
            citations=citations,
            confidence=level,
            evidence_probability=judged.probability,
            short_answer=short.text if short else None,
            hits=hits,
        )


def _weighed(hits: Sequence[SearchHit], probability: float, threshold: float) -> tuple[SearchHit, ...]:
    """Relevance of each hit: the judge's probability for the best, the others as a share of it."""
    best = hits[0].score if hits else 0.0
    shares = [hit.score / best if best else 0.0 for hit in hits]
    return tuple(
        replace(hit, score=probability * share, above_threshold=probability * share >= threshold)
        for hit, share in zip(hits, shares, strict=True)
    )


def _heading(hit: SearchHit) -> str:
    """Title and section path: a sentence is read under its headings."""
    return " › ".join(dict.fromkeys(part for part in (hit.passage.title, *hit.passage.section_path) if part))


def _evidence(hit: SearchHit) -> Evidence:
    return Evidence(
        passage=EvidencePassage(hit.passage.text, _heading(hit)),
        cosine=hit.vector_score,
        keyword_score=hit.keyword_score,
        vector_rank=hit.vector_rank,
        keyword_rank=hit.keyword_rank,
        graph_rank=hit.graph_rank,
    )


def _with_times(answer: Answer, result: SearchResult, elapsed: float) -> Answer:
    metadata: dict[str, Json] = {
        "latency_ms": round(elapsed, 2),
        "timings_ms": {stage: round(ms, 2) for stage, ms in result.timings_ms.items()},
        "vector_result_count": result.counts.get("vector", 0),
        "keyword_result_count": result.counts.get("keyword", 0),
        "graph_result_count": result.counts.get("graph", 0),
        "citation_count": len(answer.citations),
        "total_tokens": sum(hit.passage.token_count for hit in result.hits),
        "warnings": list(result.warnings),
        "sources": [source_json(citation) for citation in answer.citations],
        "evidence": evidence_json(result.query, answer.hits, answer.citations),
    }
    if answer.refused:
        metadata["nearest"] = [nearest_json(hit) for hit in answer.hits[:NEAREST]]
    return replace(answer, metadata=metadata)


def _stream_metadata(answer: Answer) -> dict[str, Json]:
    return {
        "query_id": answer.query_id,
        "confidence": answer.confidence,
        "evidence_probability": answer.evidence_probability,
        "short_answer": answer.short_answer,
        **answer.metadata,
    }
