"""Answers in a language model's words from rows and from nothing else, each sentence checked and cited (T-11, T-13)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

import numpy as np

from kedge.answer.compose.events import fallback_of, warnings_of
from kedge.answer.write.context import FRAME, Context, PromptSource
from kedge.answer.write.prompts import overhead
from kedge.answer.write.support import Support
from kedge.answer.write.writer import Shown, Writer, WrittenAnswer
from kedge.core.settings import Settings
from kedge.core.values import Answer, Citation, Json, SearchHit
from kedge.core.values.filters import Filter
from kedge.kinds.tables.finding.retrieval import FoundRow
from kedge.kinds.tables.finding.where import condition
from kedge.kinds.tables.generation import Generation
from kedge.models.ports import Embedder, LanguageModel, Vectors
from kedge.text.question import parse_question

BROKE_OFF = "\n\n(The language model broke off here.)"
BATCH = 100
"""Rows that are read at a time, as long as they fit."""


@dataclass(frozen=True, slots=True)
class RowEvidence:
    """Rows that a model may read, as hits with the citations that they will have."""

    hits: tuple[SearchHit, ...]
    citations: tuple[Citation, ...]
    left_out: int = 0
    """Rows of the table that do not fit."""


class RowWriter:
    """Has a model write from rows."""

    def __init__(self, writer: Writer, settings: Settings) -> None:
        self.writer = writer
        self._settings = settings

    def room(self, question: str) -> int:
        """Tokens for rows in one prompt."""
        model = self.writer.model
        frame = sum(model.count_tokens(overhead(question)))
        return max(0, min(self._settings.context_tokens, model.window - self._settings.llm_max_tokens - frame))

    async def write(
        self, question: str, evidence: RowEvidence, draft: Answer, embedder: Embedder | None
    ) -> AsyncGenerator[Shown | Answer, None]:
        """Sentences as soon as they are checked, at last the answer; `draft` where nothing of the model holds.

        Raises ModelError where the setting `llm_failure` wants it.
        """
        hits = evidence.hits
        embed, model = (_nothing_known, "") if embedder is None else (embedder.embed, embedder.name)
        asked = parse_question(question, lambda _term: 1.0)
        support = await asyncio.to_thread(Support, asked, hits, embed, model)
        context = await asyncio.to_thread(_context, hits, self.writer.model, self.room(question))
        written = WrittenAnswer(self.writer.model.name, context)
        known = [replace(citation, id="") for citation in evidence.citations]
        async with aclosing(self.writer.write(question, hits, support, written, known)) as shown:
            async for part in shown:
                yield part
        if written.error is not None and self._settings.llm_failure == "error":
            raise written.error
        fallback = fallback_of(written)
        if fallback is not None and not written.text:
            yield Shown(draft.answer, draft.citations)
        elif fallback is not None:
            written.text += BROKE_OFF
            yield Shown(BROKE_OFF)
        yield _answer(draft, written, hits, fallback, evidence.left_out + context.dropped)


def _answer(
    draft: Answer, written: WrittenAnswer, hits: tuple[SearchHit, ...], fallback: str | None, left_out: int
) -> Answer:
    given = draft.metadata.get("warnings")
    warnings: list[Json] = [*(given if isinstance(given, list) else ()), *warnings_of(written, fallback)]
    if left_out:
        warnings.append(
            f"{left_out:,} rows did not fit the window of the language model and were left out: it has not seen them."
        )
    metadata: dict[str, Json] = {
        **draft.metadata,
        "generation": {**written.as_json(), "fallback": fallback, "rows_left_out": left_out},
        "warnings": warnings,
    }
    if not written.text:
        return replace(draft, metadata=metadata)
    metadata.pop("refusal", None)
    level = draft.confidence if draft.confidence != "insufficient" else "low"
    return replace(
        draft, answer=written.text, citations=tuple(written.citations), confidence=level, hits=hits, metadata=metadata
    )


def _context(hits: Sequence[SearchHit], model: LanguageModel, room: int) -> Context:
    """Each row a source of its own, best first, as many as there is room for; rows that read alike once."""
    sources: list[PromptSource] = []
    seen: set[str] = set()
    for start in range(0, len(hits), BATCH):
        part = hits[start : start + BATCH]
        for place, tokens in enumerate(model.count_tokens([hit.passage.text for hit in part]), start):
            text = hits[place].passage.text
            if text in seen:
                continue
            if tokens + FRAME > room:
                return Context(tuple(sources), len(seen) - len(sources), len(hits) - place)
            seen.add(text)
            room -= tokens + FRAME
            sources.append(PromptSource((place,), hits[place].passage.title, text, tokens))
    return Context(tuple(sources), len(hits) - len(sources))


async def all_rows(
    generation: Generation, where: Filter | None, first: Sequence[FoundRow], most: int
) -> tuple[list[FoundRow], int]:
    """The rows of a table, those in `first` before all others, at most `most`; and how many there are beyond."""
    return await asyncio.to_thread(_all_rows, generation, where, first, most)


def _all_rows(
    generation: Generation, where: Filter | None, first: Sequence[FoundRow], most: int
) -> tuple[list[FoundRow], int]:
    cursor = generation.cursor()
    try:
        passing = ("true", []) if where is None else condition(where, generation.table)
        numbers = generation.matching(cursor, *passing).tolist()
        known = {row.number for row in first}
        others = [number for number in numbers if number not in known][: max(0, most - len(first))]
        rows = [FoundRow(*one, 0.0, 0.0, 0.0) for one in generation.rows(cursor, others)]
    finally:
        cursor.close()
    chosen = [*first, *rows][:most]
    return chosen, len(numbers) - len(chosen)


async def _nothing_known(texts: Sequence[str]) -> Vectors:
    """Stands where a model would embed: then words alone are compared."""
    return np.zeros((len(texts), 1), dtype=np.float32)
