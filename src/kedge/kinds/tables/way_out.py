"""Tables: CSV, JSONL and Parquet files in sessions; questions are computed, or answered from rows (requirements T)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from kedge.answer.compose.events import events, whole
from kedge.answer.compose.refusal import NEAREST, refusal_of
from kedge.answer.read import is_english
from kedge.answer.record import Recorder
from kedge.answer.sheets.asked import asks, is_sentence
from kedge.answer.sheets.model import shipped_model
from kedge.answer.sheets.read import read_question
from kedge.answer.sheets.support import PlanReader, ReaderOfPlans
from kedge.answer.write.context import FRAME
from kedge.answer.write.writer import Shown, Writer
from kedge.core.errors import QueryError
from kedge.core.settings import Settings
from kedge.core.stages import stage
from kedge.core.threads import in_thread
from kedge.core.values import Answer, Json, Query, SearchResult, StreamEvent
from kedge.kinds.tables.asking.answer import Computed, compute, run
from kedge.kinds.tables.asking.understand import SURE, UnderstoodTable
from kedge.kinds.tables.choosing import Offer, Offers, beyond, choose
from kedge.kinds.tables.finding.amount import MOST_K, amount_of
from kedge.kinds.tables.finding.finder import RowFinder
from kedge.kinds.tables.finding.retrieval import NOTHING, FoundRow, Retrieved
from kedge.kinds.tables.generation import Generation
from kedge.kinds.tables.plans.execute import execute
from kedge.kinds.tables.plans.narrow import plan_filters
from kedge.kinds.tables.plans.plan_json import plan_from_json
from kedge.kinds.tables.proposing import PROPOSED, Proposer
from kedge.kinds.tables.proposing import SURE as PROPOSED_SURE
from kedge.kinds.tables.readings.large import read_large
from kedge.kinds.tables.respond import (
    SAMPLED,
    citations_of,
    from_plan,
    from_reading,
    from_rows,
    hits,
    unsure,
    with_readings,
    with_times,
)
from kedge.kinds.tables.seconding import choose_large, unsaid
from kedge.kinds.tables.sessions import Sessions
from kedge.kinds.tables.writing import RowEvidence, RowWriter, all_rows
from kedge.retrieve.ports import CollectionSource
from kedge.text.form import shape_of
from kedge.text.question import parse_question

PLANNED = ("number", "yes-no", "comparison")
"""Forms of questions that a plan may answer."""
TENTATIVE = 0.25
"""From here on a plan is run, to be shown as one of the readings; from `SURE` on it is the answer."""
READ = "read from the headings and some rows, computed over all of them"
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
        writer: Writer | None = None,
    ) -> None:
        self._settings = settings
        self._sessions = sessions
        self._recorder = recorder
        self._finder = RowFinder(settings, collections)
        self._proposer = Proposer(writer.model) if writer is not None else None
        self._rows = RowWriter(writer, settings) if writer is not None else None

    async def search(self, query: Query) -> SearchResult:
        """Rows by meaning and by words, best first, all at or above the threshold."""
        async with self._sessions.reading(query.scope) as generation:
            return self._result(generation, query, await self._finder.find(generation, query, query.wanted))

    async def ask(self, query: Query) -> Answer:
        """The computed answer, one in a model's words from rows, or the nearest rows; says which."""
        return await whole(self._run(query))

    def stream(self, query: Query) -> AsyncGenerator[StreamEvent, None]:
        """Words as they are written, each citation after its mark, then the metadata."""
        return events(self._run(query))

    async def _run(self, query: Query) -> AsyncGenerator[Shown | Answer, None]:
        """What is shown, piece by piece, and at last the answer that it makes."""
        started = time.perf_counter()
        async with self._sessions.reading(query.scope) as generation:
            with stage("plan"):
                computed = await in_thread(_compute, generation, query)
            proposal: dict[str, Json] | None = None
            computes = _computes(query.text)
            if self._proposer is not None and computes and computed.understood.sure < SURE:
                computed, proposal = await self._proposed(self._proposer, generation, query, computed)
            offers = await in_thread(_offers, generation, query, computed, self._plan_reader(query.text))
            timings = {"plan": 1000 * (time.perf_counter() - started)}
            result = SearchResult(query.text, (), timings)
            answer: Answer | None = None
            told = self._rows is not None and not computes and not offers.sure  # a model tells it from rows instead
            if query.reading is not None or (offers.worth_showing and not told):
                answer = with_readings(await asyncio.to_thread(_answered, generation, query, offers), offers)
                yield Shown(answer.answer, answer.citations)
            else:
                found = await self._finder.find(generation, query, query.rows or query.wanted)
                result = self._result(generation, query, found)
                timings |= found.timings_ms
                async with aclosing(self._from_rows(generation, query, computed, found, offers)) as parts:
                    async for part in parts:
                        if isinstance(part, Answer):
                            answer = part
                        else:
                            yield part
        assert answer is not None
        if proposal is not None:
            answer = replace(answer, metadata={**answer.metadata, "proposal": proposal})
        elapsed = 1000 * (time.perf_counter() - started)
        answer = with_times(answer, timings, elapsed)
        await self._recorder.record(query, result, answer, elapsed)
        yield answer

    async def _from_rows(
        self, generation: Generation, query: Query, computed: Computed, found: Retrieved, offers: Offers
    ) -> AsyncGenerator[Shown | Answer, None]:
        """In a model's words where there is one and rows for it, else the rows themselves or that there are none."""
        index = generation.state.index
        by_meaning = index is not None and bool(index.embedder)
        draft = from_rows(generation, found, computed.understood.why, BY_BOTH if by_meaning else BY_WORDS)
        draft = _retrieval(draft, query, found)
        if draft.refused:
            draft = await self._refused(generation, query, draft)
        draft = with_readings(draft, offers)
        evidence = None if self._rows is None else await self._evidence(generation, query, found, all_of=not by_meaning)
        if self._rows is None or evidence is None or not evidence.hits:
            yield Shown(draft.answer, draft.citations)
            yield draft
            return
        embedder = await self._finder.model_of(generation.state.scope)
        async with aclosing(self._rows.write(query.text, evidence, draft, embedder)) as parts:
            async for part in parts:
                yield part

    async def _evidence(self, generation: Generation, query: Query, found: Retrieved, *, all_of: bool) -> RowEvidence:
        """What a model gets to read: the rows that were found; without vectors all that fit, those found first."""
        rows, beyond_them = list(found.rows), 0
        if all_of and self._rows is not None:
            most = self._rows.room(query.text) // FRAME
            near = await self._finder.find(generation, replace(query, threshold=0.0), min(MOST_K, max(1, most)))
            first = [row for row in near.rows if row.score > 0]
            rows, beyond_them = await all_rows(generation, query.where, first, most)
        return RowEvidence(hits(generation, rows, found.threshold), citations_of(generation, rows), beyond_them)

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

    def _plan_reader(self, question: str) -> PlanReader | None:
        """Who reads the wording of plans: the reader of the settings, if it knows the question's language."""
        if self._settings.reader == "none" or not is_english(question):
            return None
        return ReaderOfPlans(self._settings)

    async def _refused(self, generation: Generation, query: Query, answer: Answer) -> Answer:
        """The refusal with what was looked for and the rows below the threshold that are nearest."""
        found = await self._finder.find(generation, replace(query, threshold=0.0), NEAREST)
        question = parse_question(query.text, lambda _term: 1.0)
        near = [row for row in found.rows if row.score > 0]
        told = refusal_of(question, hits(generation, near, 0.0), answer.evidence_probability, whole=True)
        return replace(answer, answer=told.text(answer.answer), metadata={**answer.metadata, "refusal": told.as_json()})

    def _result(self, generation: Generation, query: Query, found: Retrieved) -> SearchResult:
        none = () if found.rows else (f"{NOTHING}: no row reaches a score of {found.threshold:g}.",)
        warnings = (*found.warnings, *none)
        counts = {
            "vector": sum(row.semantic > 0 for row in found.rows),
            "keyword": sum(row.keyword > 0 for row in found.rows),
        }
        return SearchResult(
            query.text, hits(generation, found.rows, found.threshold), found.timings_ms, counts, warnings
        )


def _retrieval(answer: Answer, query: Query, found: Retrieved) -> Answer:
    """The answer with all that is known of the retrieval (T-19)."""
    told: dict[str, Json] = {
        "query": query.text,
        "retrieval_count": len(found.rows),
        "relevance_threshold": found.threshold,
        "retrieved_at": found.at.isoformat(),
        "warnings": list(found.warnings),
    }
    if query.embedding and found.embedding is not None:
        told["query_embedding"] = list(found.embedding)
    return replace(answer, metadata={**answer.metadata, **told})


def _computes(question: str) -> bool:
    """Whether a figure, an order, a comparison or a yes or no is asked for, which a plan may give."""
    return amount_of(question).computes or shape_of(question).kind in PLANNED


def _compute(generation: Generation, query: Query) -> Computed:
    """Understand the question and run its plan, within the filters of the request; no result where it is a guess."""
    within = plan_filters(query.where, generation.table)
    return compute(generation.connection, generation.vocabulary(), query.text, within=within, sure=TENTATIVE)


def _offers(generation: Generation, query: Query, computed: Computed, reader: PlanReader | None) -> Offers:
    """What the question may have meant. A filter of the request is kept by plans alone."""
    proposed = computed.understood.why == PROPOSED
    if query.where is not None or not asks(query.text):
        return choose(computed, None, generation.table, proposed=proposed)
    loaded = generation.sheet()
    if loaded is not None:
        read = read_question(query.text, loaded.sheet, shipped_model(), reader)
        return choose(computed, read, generation.table, proposed=proposed)
    said = computed.understood.sure >= SURE and beyond(computed.understood.plan, generation.table)
    if proposed or said or not is_sentence(query.text):
        offers = choose(computed, None, generation.table, proposed=proposed)
        return offers if proposed else unsaid(offers, computed, generation.table)
    large = read_large(query.text, generation.sampled(), shipped_model(), reader)
    vocabulary = generation.vocabulary()
    readings = [
        Offer(one.chance, run(vocabulary, UnderstoodTable(query.text, one.plan, one.chance, READ), one.result))
        for one in large.readings
    ]
    return choose_large(computed, readings, large.sure, large.left, generation.table)


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
