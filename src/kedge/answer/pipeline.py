"""The answer path: retrieve → read → judge → quote, or write and check → cite; or say that there is not enough."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from kedge.answer.cite.beside import around, join_before
from kedge.answer.cite.spans import cite, only_cited
from kedge.answer.cite.split import join_rest
from kedge.answer.compose.events import events, fallback_of, warnings_of, weighed, whole, with_times
from kedge.answer.compose.quote import ExtractedAnswer
from kedge.answer.compose.refusal import Refusal, refusal_of
from kedge.answer.computed.computing import Computing, FiguredAnswer
from kedge.answer.evidence import best_rows
from kedge.answer.judge.calibrated import confidence
from kedge.answer.judge.verdict import AnswerVerdict, Judging
from kedge.answer.opening import NAMED, OpeningAnswer, opening_of
from kedge.answer.parts import JoinedAnswer, PartAnswer, are_wanted, joined_answer
from kedge.answer.record import Recorder
from kedge.answer.write.support import Support
from kedge.answer.write.writer import Shown, Writer, WrittenAnswer
from kedge.core.errors import NotFoundError
from kedge.core.ids import new_id
from kedge.core.line import WaitingLine
from kedge.core.settings import Settings
from kedge.core.stages import apart, stage
from kedge.core.values import MAX_TOP_K, Answer, Collection, Json, Query, SearchHit, SearchResult, StreamEvent
from kedge.core.values.filters import Eq, all_of
from kedge.retrieve.pipeline import Retriever
from kedge.retrieve.ports import CollectionSource
from kedge.retrieve.rarity import weighed_once
from kedge.retrieve.run import SearchedQuestion
from kedge.retrieve.sharing import QuestionReads
from kedge.text.form import shape_of
from kedge.text.gist import gist_of
from kedge.text.parts import parts_of
from kedge.text.question import Question

REFUSAL = "There is not enough evidence in this collection to answer that."
BROKE_OFF = "(The language model broke off here."
LOOKED_AT = 8
"""Least number of passages that are looked at for an answer."""
POSSIBLE = 0.4
"""Share of the threshold from which on a language model is asked."""
TABLES = 4
"""Passages with tables that are looked at beside them, where a figure is asked for."""
AROUND = 2
"""Best hits whose neighbours a language model may read too."""


@dataclass(frozen=True, slots=True)
class _Judged:
    probability: float
    extracted: ExtractedAnswer | None
    hits: tuple[SearchHit, ...]
    """The hits that were asked for, and further passages that the answer quotes."""
    question: Question
    collection: Collection
    read: int
    """How many passages were read."""


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
        self.line = WaitingLine(settings.answers_at_once)
        """Where questions wait while as many are searched and read for as the processor bears."""
        self._writer = writer
        self._computing = Computing(settings, retriever.passages)

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
            meant, result, judged = await self._found(query)
        except NotFoundError:  # the collection was re-indexed under our feet: all of it again, from one index
            meant, result, judged = await self._found(query)
        answer: Answer | None = None
        with apart("answer"):
            async with aclosing(self._answered(meant, result, judged)) as parts:
                async for part in parts:
                    if isinstance(part, Shown):
                        yield part
                    else:
                        answer = part
        assert answer is not None
        elapsed = 1000 * (time.perf_counter() - started)
        answer = replace(with_times(answer, result, elapsed), form=shape_of(meant.text).kind)
        if meant.text != query.text:
            answer = replace(answer, metadata={**answer.metadata, "resolved_question": meant.text})
        await self._recorder.record(query, result, answer, elapsed)
        yield answer

    async def _answered(
        self, query: Query, result: SearchResult, judged: _Judged
    ) -> AsyncGenerator[Shown | Answer, None]:
        """A model is asked where the evidence may be enough: the check of its sentences decides what stands.

        What was computed over all rows of a table is not left to a model's arithmetic.
        """
        computed = judged.extracted is not None and bool(judged.extracted.steps)
        if (
            self._writer is None
            or computed
            or judged.probability < POSSIBLE * self._settings.threshold
            or not result.hits
        ):
            answer = self._compose(judged)
            yield Shown(answer.answer, answer.citations)
            yield answer
            return
        async with aclosing(self._generated(query, judged, self._writer)) as parts:
            async for part in parts:
                yield part

    async def _found(self, query: Query) -> tuple[Query, SearchResult, _Judged]:
        """The question without slips of the pen, what was found for it, and what that says. OverloadedError."""
        async with self.line.place(query.scope.tenant):
            with weighed_once():
                return await self._found_now(query)

    async def _found_now(self, query: Query) -> tuple[Query, SearchResult, _Judged]:
        collection = await self._collections.get(query.scope)
        query, result, hits, shared = await self._evidence(query, collection)
        with stage("judge", hits=len(hits)):
            judged = await self._judge(query, collection, hits, shared)
        return query, replace(result, hits=result.hits[: query.top_k]), judged

    async def evidence(self, query: Query, collection: Collection) -> tuple[Query, SearchResult, tuple[SearchHit, ...]]:
        """The question without slips of the pen, what was found for it, and all that an answer may be made of."""
        query, result, hits, _ = await self._evidence(query, collection)
        return query, result, hits

    async def _evidence(
        self, query: Query, collection: Collection
    ) -> tuple[Query, SearchResult, tuple[SearchHit, ...], SearchedQuestion]:
        """And what further searches for the question can use of these."""
        shared: SearchedQuestion = QuestionReads()
        result, hits = await self._looked_at(query, collection, shared)
        meant = await self.judging.as_meant(query, collection, hits)
        if meant != query.text:
            query = replace(query, text=meant)
            result, hits = await self._looked_at(query, collection, shared)
        return query, result, hits, shared

    async def _looked_at(
        self, query: Query, collection: Collection, shared: SearchedQuestion
    ) -> tuple[SearchResult, tuple[SearchHit, ...]]:
        """More is looked at than is asked for: the best passage is not always the one that says it."""
        wider = replace(query, top_k=max(query.top_k, LOOKED_AT))
        result = await self._retriever.search(wider, collection, shared=shared)
        return result, (*result.hits, *await self._tables(query, collection, result.hits, shared))

    async def _tables(
        self, query: Query, collection: Collection, hits: Sequence[SearchHit], shared: SearchedQuestion
    ) -> tuple[SearchHit, ...]:
        """Further passages with tables whose rows have most of the question, where a figure is asked for.

        A long table is far from every question as a whole, and one of its rows may be all that is asked.
        """
        if shape_of(query.text).kind != "number" or not hits:
            return ()
        known = {hit.passage.id for hit in hits}
        found = [hit for hit in await self._tabled(query, collection, MAX_TOP_K, shared) if hit.passage.id not in known]
        if not found:
            return ()
        others = best_rows(await self.judging.question(query, collection), found)
        return tuple(replace(hit, rank=len(hits) + place) for place, hit in enumerate(others[:TABLES], 1))

    async def _tabled(
        self, query: Query, collection: Collection, limit: int, shared: SearchedQuestion
    ) -> tuple[SearchHit, ...]:
        """Passages with tables that are found for a question; nothing is searched for where there are none."""
        where = all_of(query.where, Eq("has_table", True))
        asked = replace(query, where=where, top_k=limit)
        if not await self._retriever.holds(asked, collection):
            return ()
        return (await self._retriever.search(asked, collection, warn=False, shared=shared)).hits

    async def _judge(
        self, query: Query, collection: Collection, hits: Sequence[SearchHit], shared: SearchedQuestion
    ) -> _Judged:
        verdict = await self.judging.verdict(query, collection, hits)
        figured = await self._figured(query, collection, hits, verdict, shared)
        if figured is not None:
            extracted, kept = only_cited(figured.extracted, (*hits, *figured.joined), query.top_k)
            return _Judged(figured.probability, extracted, kept, verdict.question, collection, verdict.read)
        opened = await self._opening(query, hits, verdict)
        if opened is not None:
            extracted, kept = only_cited(opened.extracted, (*hits, *opened.joined), query.top_k)
            probability = max(verdict.probability, NAMED)
            return _Judged(probability, extracted, kept, verdict.question, collection, verdict.read)
        several = await self._of_parts(query, collection, hits, verdict)
        if several is not None:
            extracted, kept = only_cited(several.extracted, (*hits, *several.joined), query.top_k)
            return _Judged(several.probability, extracted, kept, verdict.question, collection, verdict.read)
        extracted = verdict.extracted
        joined: tuple[SearchHit, ...] = ()
        if extracted is not None and verdict.probability >= self._settings.threshold:
            join = join_rest if verdict.read else join_before
            extracted, joined = await join(self._retriever.passages, query, hits, extracted)
        extracted, kept = only_cited(extracted, (*hits, *joined), query.top_k)
        return _Judged(verdict.probability, extracted, kept, verdict.question, collection, verdict.read)

    async def _opening(self, query: Query, hits: Sequence[SearchHit], verdict: AnswerVerdict) -> OpeningAnswer | None:
        """What a document opens with whose gist is asked for by its name, unless better sentences of it were found."""
        thing = gist_of(query.text) if verdict.signs is not None else ""
        opened = await opening_of(self._retriever.passages, query, hits, thing) if thing else None
        if opened is None or opened.abstract or verdict.probability < self._settings.threshold:
            return opened
        quotes = verdict.extracted.quotes if verdict.extracted is not None else ()
        own = all(hits[quote.passage].passage.document_id == opened.document_id for quote in quotes)
        return None if own else opened

    async def _of_parts(
        self, query: Query, collection: Collection, hits: Sequence[SearchHit], verdict: AnswerVerdict
    ) -> JoinedAnswer | None:
        """What the parts of a question say, each searched and read by itself; None where it has none, or no answers."""
        parts = parts_of(query.text)
        if not are_wanted(verdict, parts, self._settings.threshold):
            return None
        answers: list[PartAnswer] = []
        for part in parts:
            asked = replace(query, text=part.text)
            _, found = await self._looked_at(asked, collection, QuestionReads())
            told = await self.judging.verdict(asked, collection, found)
            if told.probability < self._settings.threshold:
                return None
            answers.append(PartAnswer(part, found, told))
        return joined_answer(verdict, hits, answers, self._settings.threshold)

    async def _figured(
        self,
        query: Query,
        collection: Collection,
        hits: Sequence[SearchHit],
        verdict: AnswerVerdict,
        shared: SearchedQuestion,
    ) -> FiguredAnswer | None:
        """What the tables of the hits, and of further passages with tables, give where that is asked for."""
        if not self._computing.asked(query.text) or not hits:
            return None
        known = {hit.passage.id for hit in hits}
        found = await self._tabled(query, collection, LOOKED_AT, shared)
        further = [hit for hit in found if hit.passage.id not in known]
        beside = [replace(hit, rank=len(hits) + place) for place, hit in enumerate(further, 1)]
        return await self._computing.over(query, hits, beside, verdict)

    async def _generated(self, query: Query, judged: _Judged, writer: Writer) -> AsyncGenerator[Shown | Answer, None]:
        """Checked sentences of the model; the sources' own words where it failed or nothing of it was supported."""
        catalog = self._retriever.passages
        beside = await around(catalog, query, judged.hits, AROUND)
        hits = weighed((*judged.hits, *beside), judged.probability, self._settings.threshold)
        embedder = await self._collections.embedder_of(judged.collection)
        support = await asyncio.to_thread(Support, judged.question, hits, embedder.embed, embedder.name)
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
        if judged.extracted is None or judged.probability < self._settings.threshold:
            return None if written.text else Shown(_refusal(judged, hits).text(REFUSAL))
        text, citations = cite(judged.extracted, hits, written.citations)
        if not written.text:
            return Shown(text, citations)
        return Shown(f"\n\n{BROKE_OFF} The sources themselves say:) {text}" if text else f"\n\n{BROKE_OFF})", citations)

    def _whole(
        self,
        written: WrittenAnswer,
        judged: _Judged,
        hits: tuple[SearchHit, ...],
        *,
        fallback: str | None = None,
        quoted: Shown | None = None,
    ) -> Answer:
        threshold = self._settings.threshold
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
            confidence=confidence(max(judged.probability, threshold), threshold) if citations else "insufficient",
            evidence_probability=judged.probability,
            short_answer=short.text if short and named else None,
            hits=hits,
            metadata=metadata,
        )

    def _compose(self, judged: _Judged) -> Answer:
        query_id = new_id()
        hits = weighed(judged.hits, judged.probability, self._settings.threshold)
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
            metadata={"plan": _plan(judged.extracted)} if judged.extracted.steps else {},
        )


def _plan(extracted: ExtractedAnswer) -> dict[str, Json]:
    return {"text": "; ".join(extracted.steps), "steps": list(extracted.steps), "exact": True}


def _refusal(judged: _Judged, hits: Sequence[SearchHit]) -> Refusal:
    return refusal_of(judged.question, hits, judged.probability, read=judged.read)
