"""Whether an answer is computed from the tables of what was found, instead of quoted."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kedge.answer.compose.quote import ExtractedAnswer
from kedge.answer.computed.wanted import COUNTS, asks_computation
from kedge.answer.judge.verdict import AnswerVerdict
from kedge.answer.read import is_english
from kedge.core.settings import Settings
from kedge.core.stages import stage
from kedge.core.values import Passage, Query, SearchHit
from kedge.stores.catalog.ports import ReadPassages

if TYPE_CHECKING:
    from kedge.answer.computed.answering import TableComputation


@dataclass(frozen=True, slots=True)
class FiguredAnswer:
    """What was computed, and how likely it is what was asked."""

    extracted: ExtractedAnswer
    """Its quotes refer to the hits, and behind them to what was joined."""
    probability: float
    joined: tuple[SearchHit, ...]
    """ReadPassages with other rows of the table, beside those that were found."""


class Computing:
    """Reads computed questions over whole tables of documents."""

    def __init__(self, settings: Settings, passages: ReadPassages) -> None:
        self._settings = settings
        self._passages = passages

    def asked(self, question: str) -> bool:
        """Whether a question asks for something that may be computed."""
        return is_english(question) and asks_computation(question)

    async def over(
        self, query: Query, hits: Sequence[SearchHit], beside: Sequence[SearchHit], verdict: AnswerVerdict
    ) -> FiguredAnswer | None:
        """The answer where one reading over one table of the hits or of what was found beside them is sure; else None.

        Rows are counted only where the reader found no sentence that answers: prose says numbers of things that no
        table lists in full. ModelError.
        """
        from kedge.answer.computed.answering import computed  # for few questions, and it loads how tables are read
        from kedge.answer.computed.tables import tables_of
        from kedge.answer.sheets.model import shipped_model
        from kedge.answer.sheets.support import ReaderOfPlans

        tables = await tables_of(self._passages, query, [hit.passage for hit in (*hits, *beside)])
        if not tables:
            return None
        reader = None if self._settings.reader == "none" else ReaderOfPlans(self._settings)
        with stage("compute", tables=len(tables)):
            found = await asyncio.to_thread(computed, query.text, tables, shipped_model(), reader)
        if found is None or found.reading.chance < self._settings.threshold:
            return None
        if found.reading.op in COUNTS and verdict.probability >= self._settings.threshold and _in_prose(verdict):
            return None
        return _figured(found, hits, beside, verdict)


def _in_prose(verdict: AnswerVerdict) -> bool:
    """Whether what the reader found first is no row of a table."""
    return verdict.extracted is not None and not verdict.extracted.quotes[0].cells


def _figured(
    found: TableComputation, hits: Sequence[SearchHit], beside: Sequence[SearchHit], verdict: AnswerVerdict
) -> FiguredAnswer:
    from kedge.answer.computed.composing import composed_of

    known: dict[str, Passage] = {hit.passage.id: hit.passage for hit in hits}
    others = {hit.passage.id: hit for hit in beside}
    score = min(hit.score for hit in hits)
    joined: list[SearchHit] = []
    for row in found.table.rows:
        passage = row.passage
        if passage.id not in known:
            known[passage.id] = passage
            hit = others.get(passage.id, SearchHit(rank=0, passage=passage, score=score))
            joined.append(replace(hit, rank=len(known)))
    extracted = composed_of(found, list(known.values()), verdict.question)
    return FiguredAnswer(extracted, round(found.reading.chance, 4), tuple(joined))
