"""Tables: CSV, JSONL and Parquet files in sessions; questions are computed, or answered from rows (requirements T)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from dataclasses import replace

from kedge.answer.compose.events import streamed
from kedge.answer.compose.refusal import NEAREST, refusal_of
from kedge.answer.record import Recorder
from kedge.core.errors import QueryError
from kedge.core.settings import Settings
from kedge.core.stages import stage
from kedge.core.threads import in_thread
from kedge.core.values import Answer, Json, Query, SearchResult, StreamEvent
from kedge.kinds.tables.asking.answer import Computed, compute, run
from kedge.kinds.tables.asking.understand import SURE, UnderstoodTable
from kedge.kinds.tables.choosing import Offers, choose
from kedge.kinds.tables.finding.retrieval import MOST_K, NOTHING, FoundRow, Retrieved, adaptive_k, retrieve
from kedge.kinds.tables.generation import Generation
from kedge.kinds.tables.plans.execute import execute
from kedge.kinds.tables.plans.narrow import plan_filters
from kedge.kinds.tables.plans.plan_json import plan_from_json
from kedge.kinds.tables.proposing import PROPOSED, Proposer
from kedge.kinds.tables.proposing import SURE as PROPOSED_SURE
from kedge.kinds.tables.readings.asked import asks
from kedge.kinds.tables.readings.model import shipped_model
from kedge.kinds.tables.readings.read import read_question
from kedge.kinds.tables.respond import (
    SAMPLED,
    from_plan,
    from_reading,
    from_rows,
    hits,
    unsure,
    with_readings,
    with_times,
)
from kedge.kinds.tables.sessions import Sessions
from kedge.models.ports import Embedder
from kedge.retrieve.ports import CollectionSource
from kedge.text.question import parse_question

TENTATIVE = 0.25
"""From here on a plan is run, to be shown as one of the readings; from `SURE` on it is the answer."""
BY_BOTH = "by meaning and by words"
BY_WORDS = "by words alone: the session has no vectors"


class TablesWayOut:
    """The way out of tables: a plan that is computed over all rows, else the rows nearest to the question."""

    most = MOST_K
    """Largest top_k."""

    def __init__(
        self,
        settings: Settings,
        sessions: Sessions,
        collections: CollectionSource,
        recorder: Recorder,
        proposer: Proposer | None = None,
    ) -> None:
        self._settings = settings
        self._sessions = sessions
        self._collections = collections
        self._recorder = recorder
        self._proposer = proposer

    async def search(self, query: Query) -> SearchResult:
        """Rows by meaning and by words, best first, all at or above the threshold."""
        async with self._sessions.reading(query.scope) as generation:
            found = await self._retrieve(generation, query, query.top_k)
            return self._result(generation, query, found)

    async def ask(self, query: Query) -> Answer:
        """The computed answer, or the nearest rows; says which."""
        started = time.perf_counter()
        async with self._sessions.reading(query.scope) as generation:
            with stage("plan"):
                computed = await in_thread(_compute, generation, query)
            proposal: dict[str, Json] | None = None
            if computed.understood.sure < SURE and self._proposer is not None:
                computed, proposal = await self._proposed(self._proposer, generation, query, computed)
            offers = await in_thread(_offers, generation, query, computed)
            planned = time.perf_counter()
            timings = {"plan": 1000 * (planned - started)}
            if offers.worth_showing or query.reading is not None:
                answer = await asyncio.to_thread(_answered, generation, query, offers)
                result = SearchResult(query.text, (), timings)
            else:
                k = query.rows or adaptive_k(query.text)
                found = await self._retrieve(generation, query, k)
                by = BY_BOTH if generation.state.index and generation.state.index.embedder else BY_WORDS
                answer = from_rows(generation, found, computed.understood.why, by)
                if answer.refused:
                    answer = await self._refused(generation, query, answer)
                result = self._result(generation, query, found)
                timings |= found.timings_ms
            answer = with_readings(answer, offers)
        if proposal is not None:
            answer = replace(answer, metadata={**answer.metadata, "proposal": proposal})
        elapsed = 1000 * (time.perf_counter() - started)
        answer = with_times(answer, timings, elapsed)
        await self._recorder.record(query, result, answer, elapsed)
        return answer

    async def stream(self, query: Query) -> AsyncGenerator[StreamEvent, None]:
        """Words as they stand in the answer, each citation after its mark, then the metadata."""
        for event in streamed(await self.ask(query)):
            yield event

    async def _proposed(
        self, proposer: Proposer, generation: Generation, query: Query, own: Computed
    ) -> tuple[Computed, dict[str, Json] | None]:
        """What a model's plan gives, and what is told of it; `own` where there is none or it matches nothing."""
        extra = plan_filters(query.where, generation.table)
        if extra is None:
            return own, None
        vocabulary = await asyncio.to_thread(generation.vocabulary)
        proposal = await proposer.propose(query.text, vocabulary)
        if proposal.plan is None:
            return own, proposal.as_json(used=False)
        plan = replace(proposal.plan, filters=(*proposal.plan.filters, *extra))
        try:
            result = await asyncio.to_thread(execute, generation.connection, generation.table, plan)
        except QueryError as error:
            return own, {**proposal.as_json(used=False), "why": f"the proposed plan could not be run: {error.message}"}
        if not result.row_count:
            return own, {**proposal.as_json(used=False), "why": "the proposed plan matches no row"}
        understood = UnderstoodTable(query.text, plan, PROPOSED_SURE, PROPOSED, ambiguities=(PROPOSED,))
        return await asyncio.to_thread(run, vocabulary, understood, result), proposal.as_json(used=True)

    async def _refused(self, generation: Generation, query: Query, answer: Answer) -> Answer:
        """The refusal with what was looked for and the rows below the threshold that are nearest."""
        found = await self._retrieve(generation, replace(query, threshold=0.0), NEAREST)
        question = parse_question(query.text, lambda _term: 1.0)
        near = [row for row in found.rows if row.score > 0]
        told = refusal_of(question, hits(generation, near, 0.0), answer.evidence_probability, whole=True)
        return replace(answer, answer=told.text(answer.answer), metadata={**answer.metadata, "refusal": told.as_json()})

    async def _retrieve(self, generation: Generation, query: Query, k: int) -> Retrieved:
        threshold = self._settings.threshold if query.threshold is None else query.threshold
        embedder = await self._embedder(generation)
        return await retrieve(generation, embedder, query.text, k=k, threshold=threshold, where=query.where)

    async def _embedder(self, generation: Generation) -> Embedder | None:
        index = generation.state.index
        if index is None or not index.embedder:
            return None
        return await self._collections.embedder_of(await self._collections.get(generation.state.scope))

    def _result(self, generation: Generation, query: Query, found: Retrieved) -> SearchResult:
        warnings = () if found.rows else (f"{NOTHING}: no row reaches a score of {found.threshold:g}.",)
        counts = {
            "vector": sum(row.semantic > 0 for row in found.rows),
            "keyword": sum(row.keyword > 0 for row in found.rows),
        }
        return SearchResult(
            query.text, hits(generation, found.rows, found.threshold), found.timings_ms, counts, warnings
        )


def _compute(generation: Generation, query: Query) -> Computed:
    """Understand the question and run its plan, within the filters of the request; no result where it is a guess."""
    within = plan_filters(query.where, generation.table)
    return compute(generation.connection, generation.vocabulary(), query.text, within=within, sure=TENTATIVE)


def _offers(generation: Generation, query: Query, computed: Computed) -> Offers:
    """What the question may have meant. A filter of the request is kept by plans alone."""
    loaded = generation.sheet() if query.where is None and asks(query.text) else None
    read = read_question(query.text, loaded.sheet, shipped_model()) if loaded else None
    return choose(computed, read, generation.table, proposed=computed.understood.why == PROPOSED)


def _answered(generation: Generation, query: Query, offers: Offers) -> Answer:
    """The likeliest, the one that was picked, or all of them where none is sure."""
    picked = query.reading is not None
    if query.reading is not None and not 1 <= query.reading <= len(offers.all):
        raise QueryError(
            f"There is no reading {query.reading}: the question has {len(offers.all)}.", hint="Leave `reading` out."
        )
    offer = offers.all[(query.reading or 1) - 1]
    if offer.plan is not None:
        answer = from_plan(generation, offer.plan, _samples(generation, offer.plan))
    else:
        assert offer.reading is not None
        loaded = generation.sheet()
        numbers = [loaded.numbers[row] for row in offer.reading.rows[:SAMPLED]] if loaded else []
        answer = from_reading(generation, offer.reading, offer.chance, _rows(generation, numbers, offer.chance))
    return answer if offers.sure or picked else unsure(answer, offers)


def run_given(generation: Generation, given: Json) -> Answer:
    """Check a plan that came as JSON against the table, run it and put it into words."""
    plan = plan_from_json(given, generation.table)
    result = execute(generation.connection, generation.table, plan)
    understood = UnderstoodTable("", plan, 1.0, "the plan was given")
    computed = run(generation.vocabulary(), understood, result)
    return from_plan(generation, computed, _samples(generation, computed))


def _samples(generation: Generation, computed: Computed) -> list[FoundRow]:
    numbers = list(computed.result.row_numbers[:SAMPLED]) if computed.result else []
    return _rows(generation, numbers, computed.understood.sure)


def _rows(generation: Generation, numbers: list[int], score: float) -> list[FoundRow]:
    cursor = generation.cursor()
    try:
        rows = generation.rows(cursor, numbers)
    finally:
        cursor.close()
    return [FoundRow(number, part, values, score, 0.0, 0.0) for number, part, values in rows]
