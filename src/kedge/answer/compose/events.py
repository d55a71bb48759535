"""Around an answer: what its hits weigh, how it streams, what its metadata say."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import replace

from kedge.answer.compose.evidence_graph import evidence_json
from kedge.answer.judge.calibrated import Evidence
from kedge.answer.write.context import heading
from kedge.answer.write.writer import Shown, WrittenAnswer
from kedge.core.values import NEAREST, Answer, Json, SearchHit, SearchResult, StreamEvent
from kedge.text.evidence import EvidencePassage, EvidenceSentence
from kedge.text.orders import inside, ordering_spans

_PIECE = re.compile(r"\[(?:Node )?\d+\]\s*|[^\s\[]+\s*|\s+|\[")


def without_orders(
    candidates: Sequence[EvidenceSentence], passages: Sequence[EvidencePassage]
) -> list[EvidenceSentence]:
    """The sentences without those that give orders to a reader, unless there are no others."""
    spans = {place: ordering_spans(passages[place].text, surely=True) for place in {one.passage for one in candidates}}
    kept = [one for one in candidates if not inside(spans[one.passage], one.start, one.end)]
    return kept or list(candidates)


def fallback_of(written: WrittenAnswer) -> str | None:
    """Why the sources' own words are needed; None when they are not."""
    if written.error is not None:
        return "failed"
    if written.supported:
        return None
    return "unsupported" if written.sentences else "nothing"


def warnings_of(written: WrittenAnswer, fallback: str | None) -> Iterator[Json]:
    """What the reader should know about how the answer came about."""
    if fallback == "failed" and written.error is not None:
        yield f"The language model failed, so the sources are quoted instead: {written.error.message}"
    elif fallback is not None:
        yield "Nothing that the language model wrote is supported by the evidence, so the sources are quoted instead."
    elif written.finish == "length":
        yield "The answer reached llm_max_tokens and ends there."


def events_of(shown: Shown) -> Iterator[StreamEvent]:
    """Word by word, each new citation behind its mark; at last those whose mark the text does not have."""
    waiting = {citation.id: citation for citation in shown.citations}
    for piece in _PIECE.findall(shown.text):
        yield StreamEvent("token", content=piece)
        citation = waiting.pop(piece.strip(), None)
        if citation is not None:
            yield StreamEvent("citation", citation=citation)
    for citation in waiting.values():
        yield StreamEvent("citation", citation=citation)


async def whole(parts: AsyncGenerator[Shown | Answer, None]) -> Answer:
    """The answer at the end of its parts."""
    async with aclosing(parts):
        last = [part async for part in parts if isinstance(part, Answer)]
    return last[-1]


async def events(parts: AsyncGenerator[Shown | Answer, None]) -> AsyncGenerator[StreamEvent, None]:
    """The parts of an answer as events, as they come."""
    async with aclosing(parts):
        async for part in parts:
            if isinstance(part, Answer):
                yield StreamEvent("metadata", metadata=stream_metadata(part))
            else:
                for event in events_of(part):
                    yield event
    yield StreamEvent("done")


def streamed(answer: Answer) -> Iterator[StreamEvent]:
    """The events of an answer that is there as a whole."""
    yield from events_of(Shown(answer.answer, answer.citations))
    yield StreamEvent("metadata", metadata=stream_metadata(answer))
    yield StreamEvent("done")


def weighed(hits: Sequence[SearchHit], probability: float, threshold: float) -> tuple[SearchHit, ...]:
    """Relevance of each hit: the judge's probability for the best, the others as a share of it."""
    best = hits[0].score if hits else 0.0
    shares = [hit.score / best if best else 0.0 for hit in hits]
    return tuple(
        replace(hit, score=probability * share, above_threshold=probability * share >= threshold)
        for hit, share in zip(hits, shares, strict=True)
    )


def evidence_of(hit: SearchHit) -> Evidence:
    """A hit as the judge sees it."""
    return Evidence(
        passage=EvidencePassage(hit.passage.text, heading(hit.passage)),
        cosine=hit.vector_score,
        keyword_score=hit.keyword_score,
        vector_rank=hit.vector_rank,
        keyword_rank=hit.keyword_rank,
        graph_rank=hit.graph_rank,
    )


def with_times(answer: Answer, result: SearchResult, elapsed: float) -> Answer:
    """The answer with times, counts and warnings in its metadata."""
    metadata: dict[str, Json] = {
        "latency_ms": round(elapsed, 2),
        "timings_ms": {stage: round(ms, 2) for stage, ms in result.timings_ms.items()},
        "vector_result_count": result.counts.get("vector", 0),
        "keyword_result_count": result.counts.get("keyword", 0),
        "graph_result_count": result.counts.get("graph", 0),
        "citation_count": len(answer.citations),
        "total_tokens": answer.context_tokens,
        "sources": [citation.place for citation in answer.citations],
        "evidence": evidence_json(result.query, answer.hits, answer.citations),
    }
    if answer.refused:
        metadata["nearest"] = [hit.near for hit in answer.hits[:NEAREST]]
    own = answer.metadata.get("warnings")
    warnings: list[Json] = [*result.warnings, *(own if isinstance(own, list) else ())]
    return replace(answer, metadata={**metadata, **answer.metadata, "warnings": warnings})


def stream_metadata(answer: Answer) -> dict[str, Json]:
    """What the metadata event carries."""
    return {
        "query_id": answer.query_id,
        "confidence": answer.confidence,
        "evidence_probability": answer.evidence_probability,
        "short_answer": answer.short_answer,
        "form": answer.form,
        **answer.metadata,
    }
