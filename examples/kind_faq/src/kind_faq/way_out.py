"""The way out: entries are found as passages are, and the one whose question is most like the asked one answers."""

from __future__ import annotations

import time
from collections.abc import AsyncGenerator, Sequence

from kedge.answer.compose.events import streamed, weighed, with_times
from kedge.answer.judge.calibrated import confidence
from kedge.core.ids import new_id
from kedge.core.values import Answer, Citation, Query, SearchHit, SearchResult, StreamEvent
from kedge.kinds.ports import Parts

REFUSAL = "No entry of this collection answers that."


class FaqWayOut:
    """Gives the whole pair, verbatim, or refuses. No language model is asked."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    async def search(self, query: Query) -> SearchResult:
        return await self._parts.retriever.search(query)

    async def ask(self, query: Query) -> Answer:
        started = time.perf_counter()
        found = await self._parts.retriever.search(query)
        answer = self._answer(found.hits, await self._likeness(query, found.hits))
        elapsed = 1000 * (time.perf_counter() - started)
        answer = with_times(answer, found, elapsed)
        await self._parts.recorder.record(query, found, answer, elapsed)
        return answer

    async def stream(self, query: Query) -> AsyncGenerator[StreamEvent, None]:
        for event in streamed(await self.ask(query)):
            yield event

    async def _likeness(self, query: Query, hits: Sequence[SearchHit]) -> list[float]:
        """How like the asked question each entry's own is, 0–1: this kind's measure of the evidence."""
        embedder = await self._parts.collections.embedder_of(await self._parts.collections.get(query.scope))
        own = await embedder.embed([hit.passage.section_path[-1] for hit in hits])
        return [max(0.0, float(score)) for score in own @ await embedder.embed_query(query.text)]

    def _answer(self, hits: Sequence[SearchHit], likeness: Sequence[float]) -> Answer:
        threshold = self._parts.settings.threshold
        probability = max(likeness, default=0.0)
        weights = weighed(hits, probability, threshold)
        if probability < threshold:
            return Answer(new_id(), REFUSAL, (), "insufficient", probability, hits=weights)
        entry = hits[likeness.index(probability)].passage
        citation = Citation(
            id="[1]",
            passage_id=entry.id,
            document_id=entry.document_id,
            title=entry.title,
            url=entry.url,
            snippet=entry.text,
            start=entry.start,
            end=entry.end,
            relevance_score=probability,
            page=entry.page,
            section_path=entry.section_path,
        )
        return Answer(
            query_id=new_id(),
            answer=f"{entry.text} [1]",
            citations=(citation,),
            confidence=confidence(probability, threshold),
            evidence_probability=probability,
            hits=weights,
            metadata={"kind": "faq", "question": entry.section_path[-1]},
        )
