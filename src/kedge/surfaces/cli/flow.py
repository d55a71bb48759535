"""An answer in a terminal as it comes: its words at once, its sources when it has ended."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, cast

from kedge.core.values import Answer, Citation, Confidence, Json, Metadata, Query
from kedge.surfaces.cli.common import CommandRun
from kedge.surfaces.cli.render import COLOURS, show_answer, show_rest
from kedge.surfaces.cli.wrapped import Flow
from kedge.surfaces.lead import EXTRACTIVE

if TYPE_CHECKING:
    from kedge.surfaces.cli.beside import Answers


async def answered(run: CommandRun, engine: Answers, query: Query) -> Answer:
    """Ask, and show the answer unless JSON is wanted: a terminal gets what a model writes word by word."""
    if run.json or engine.settings.llm == EXTRACTIVE or not run.out.file.isatty():
        answer = await engine.ask(query)
        if not run.json:
            show_answer(run, answer)
        return answer
    return await _streamed(run, engine, query)


async def _streamed(run: CommandRun, engine: Answers, query: Query) -> Answer:
    flow = Flow(run.out)
    words: list[str] = []
    citations: list[Citation] = []
    metadata: Metadata = {}
    async with aclosing(engine.stream(query)) as events:
        async for event in events:
            if event.content:
                words.append(event.content)
                flow.write(event.content)
            if event.citation is not None:
                citations.append(event.citation)
            metadata = event.metadata or metadata
    flow.end()
    answer = _answer("".join(words), citations, metadata)
    show_rest(run, answer)
    return answer


def _answer(text: str, citations: list[Citation], metadata: Metadata) -> Answer:
    """The answer that the events tell of."""
    level, probability = metadata.get("confidence"), metadata.get("evidence_probability")
    short, form = metadata.get("short_answer"), metadata.get("form")
    return Answer(
        query_id=str(metadata.get("query_id", "")),
        answer=text,
        citations=tuple(citations),
        confidence=cast("Confidence", level) if level in COLOURS else "insufficient",
        evidence_probability=_number(probability),
        short_answer=short if isinstance(short, str) else None,
        form=form if isinstance(form, str) else None,
        metadata=metadata,
    )


def _number(value: Json) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
