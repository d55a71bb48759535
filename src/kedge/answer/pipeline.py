"""The answer path: retrieve → judge → quote, or write and check → cite; or say that the evidence is not enough."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass

from kedge.answer.cite.beside import around, join_before
from kedge.answer.cite.spans import cite
from kedge.answer.compose.events import events, fallback_of, warnings_of, weighed, whole, with_times
from kedge.answer.compose.extract import ExtractedAnswer
from kedge.answer.compose.refusal import Refusal, refusal_of
from kedge.answer.judge.calibrated import confidence
from kedge.answer.judge.verdict import Judging
from kedge.answer.record import Recorder
from kedge.answer.write.support import Support
from kedge.answer.write.writer import Shown, Writer, WrittenAnswer
from kedge.core.errors import NotFoundError
from kedge.core.ids import new_id
from kedge.core.settings import Settings
from kedge.core.stages import apart, stage
from kedge.core.values import Answer, Collection, Json, Query, SearchHit, SearchResult, StreamEvent
from kedge.retrieve.pipeline import Retriever
from kedge.retrieve.ports import CollectionSource
from kedge.text.question import Question

REFUSAL = "There is not enough evidence in this collection to answer that."
BROKE_OFF = "(The language model broke off here. The sources themselves say:)"
SEVERAL = 24
"""Sentences that are looked at for a comparison, a list or a summary."""
AROUND = 2
"""Best hits whose neighbours a language model may read too."""


@dataclass(frozen=True, slots=True)
class _Judged:
    probability: float
    extracted: ExtractedAnswer | None
    joined: tuple[SearchHit, ...]
    """Passages beside the hits that the answer quotes too."""
    question: Question
    collection: Collection


class Answerer:
    """Answers from one collection: in the sources' own words, or by a language model whose sentences are checked."""

    def __init__(
        self,
        settings: Settings,
        retriever: Retriever,
        collections: CollectionSource,
        recorder: Recorder,
        *,
        judging: Judging,
        writer: Writer | None = None,
    ) -> None:
        self._settings = settings
        self._retriever = retriever
        self._collections = collections
        self._recorder = recorder
        self.judging = judging
        """How the evidence is measured and judged."""
        self._writer = writer

    async def ask(self, query: Query) -> Answer:
        """The answer as a whole, recorded in the analytics tables by hashes and numbers."""
        return await whole(self._run(query))

    def stream(self, query: Query) -> AsyncGenerator[StreamEvent, None]:
        """Words as they stand in the answer, each citation after the sentence it belongs to, then the metadata."""
        return events(self._run(query))

    async def _run(self, query: Query) -> AsyncGenerator[Shown | Answer, None]:
        """What is shown, piece by piece, and at last the answer that it makes."""
        started = time.perf_counter()
        try:
            result, judged = await self._found(query)
        except NotFoundError:  # the collection was re-indexed under our feet: all of it again, from one index
            result, judged = await self._found(query)
        answer: Answer | None = None
        with apart("answer"):
            async with aclosing(self._answered(query, result, judged)) as parts:
                async for part in parts:
                    if isinstance(part, Shown):
                        yield part
                    else:
                        answer = part
        assert answer is not None
        elapsed = 1000 * (time.perf_counter() - started)
        answer = with_times(answer, result, elapsed)
        await self._recorder.record(query, result, answer, elapsed)
        yield answer

    async def _answered(
        self, query: Query, result: SearchResult, judged: _Judged
    ) -> AsyncGenerator[Shown | Answer, None]:
        """The model is asked only where the judge finds the evidence enough."""
        if self._writer is None or judged.probability < self._settings.threshold or not result.hits:
            answer = self._compose(result, judged)
            yield Shown(answer.answer, answer.citations)
            yield answer
            return
        async with aclosing(self._generated(query, result, judged, self._writer)) as parts:
            async for part in parts:
                yield part

    async def _found(self, query: Query) -> tuple[SearchResult, _Judged]:
        collection = await self._collections.get(query.scope)
        result = await self._retriever.search(query, collection)
        with stage("judge", hits=len(result.hits)):
            return result, await self._judge(query, collection, result.hits)

    async def _judge(self, query: Query, collection: Collection, hits: Sequence[SearchHit]) -> _Judged:
        seen = await self.judging.look(query, collection, hits)
        if not hits:
            return _Judged(0.0, None, (), seen.question, collection)
        probability = await self.judging.probability(seen)
        extracted = await self.judging.extracted(seen)
        if extracted is None or probability < self._settings.threshold:
            return _Judged(probability, extracted, (), seen.question, collection)
        known = self._retriever.stores.catalog.passages
        return _Judged(probability, *await join_before(known, query, hits, extracted), seen.question, collection)

    async def _generated(
        self, query: Query, result: SearchResult, judged: _Judged, writer: Writer
    ) -> AsyncGenerator[Shown | Answer, None]:
        """Checked sentences of the model; the sources' own words where it failed or nothing of it was supported."""
        catalog = self._retriever.stores.catalog.passages
        beside = await around(catalog, query, (*result.hits, *judged.joined), AROUND)
        hits = weighed((*result.hits, *judged.joined, *beside), judged.probability, self._settings.threshold)
        embedder = await self._collections.embedder_of(judged.collection)
        support = await asyncio.to_thread(Support, judged.question, hits, embedder.embed)
        written = WrittenAnswer(writer.model.name, await writer.context(query.text, hits))
        async with aclosing(writer.write(query.text, hits, support, written)) as shown:
            async for part in shown:
                yield part
        if written.error is not None and self._settings.llm_failure == "error":
            raise written.error
        fallback = fallback_of(written)
        if fallback is None:
            yield self._whole(written, judged, hits)
            return
        quoted = self._instead(written, judged, hits)
        if quoted is not None:
            yield quoted
        yield self._whole(written, judged, hits, fallback=fallback, quoted=quoted)

    def _instead(self, written: WrittenAnswer, judged: _Judged, hits: Sequence[SearchHit]) -> Shown | None:
        """The sources' own words, with a note where something of the model was shown before."""
        if judged.extracted is None:
            return None if written.text else Shown(_refusal(judged, hits).text(REFUSAL))
        text, citations = cite(judged.extracted, hits, written.citations)
        if not written.text:
            return Shown(text, citations)
        return Shown(f"\n\n{BROKE_OFF} {text}".rstrip(), citations)

    def _whole(
        self,
        written: WrittenAnswer,
        judged: _Judged,
        hits: tuple[SearchHit, ...],
        *,
        fallback: str | None = None,
        quoted: Shown | None = None,
    ) -> Answer:
        text = written.text + (quoted.text if quoted else "")
        citations = (*written.citations, *(quoted.citations if quoted else ()))
        short = judged.extracted.short if judged.extracted else None
        named = short is not None and bool(citations) and short.text in citations[0].snippet and short.text in text
        metadata: dict[str, Json] = {
            "generation": {**written.as_json(), "fallback": fallback},
            "warnings": [*warnings_of(written, fallback)],
        }
        if not citations:
            metadata["refusal"] = _refusal(judged, hits).as_json()
        return Answer(
            query_id=new_id(),
            answer=text,
            citations=citations,
            confidence=confidence(judged.probability, self._settings.threshold) if citations else "insufficient",
            evidence_probability=judged.probability,
            short_answer=short.text if short and named else None,
            hits=hits,
            metadata=metadata,
        )

    def _compose(self, result: SearchResult, judged: _Judged) -> Answer:
        query_id = new_id()
        hits = weighed((*result.hits, *judged.joined), judged.probability, self._settings.threshold)
        level = confidence(judged.probability, self._settings.threshold)
        if level == "insufficient" or judged.extracted is None:
            told = _refusal(judged, hits)
            return Answer(
                query_id=query_id,
                answer=told.text(REFUSAL),
                citations=(),
                confidence="insufficient",
                evidence_probability=judged.probability,
                hits=hits,
                metadata={"refusal": told.as_json()},
            )
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


def _refusal(judged: _Judged, hits: Sequence[SearchHit]) -> Refusal:
    return refusal_of(judged.question, hits, judged.probability)
