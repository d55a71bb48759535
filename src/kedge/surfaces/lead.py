"""The short answer, said first: what stands before the text of an answer, wherever it is shown."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing

from kedge.core.values import Answer, StreamEvent
from kedge.core.values.base import Metadata

EXTRACTIVE = "extractive"
"""The setting `llm` when no model writes: then an answer is there as a whole at once."""
_MARKS = "*_`\"'“‘ \n"


def lead(answer: Answer) -> str | None:
    """The short answer in one line; None for a refusal, and where the text begins with it already."""
    return None if answer.refused else _lead(answer.short_answer, answer.answer, answer.metadata)


def led(answer: Answer) -> str:
    """The text in Markdown, the short answer before it in bold."""
    return _bold(lead(answer)) + answer.answer


async def led_events(events: AsyncGenerator[StreamEvent, None]) -> AsyncGenerator[StreamEvent, None]:
    """The same for a stream. It is held back until its end, so it is for answers that are there as a whole."""
    async with aclosing(events):
        held = [event async for event in events]
    told: Metadata = next((event.metadata for event in reversed(held) if event.metadata), {})
    text = "".join(event.content or "" for event in held)
    short = told.get("short_answer")
    if isinstance(short, str) and told.get("confidence") != "insufficient":
        first = _bold(_lead(short, text, told))
        if first:
            yield StreamEvent("token", content=first)
    for event in held:
        yield event


def _lead(short: str | None, text: str, told: Metadata) -> str | None:
    if "generation" in told:  # what a model writes begins with its answer, and is shown before the short one is known
        return None
    line = " ".join((short or "").split())
    rest = " ".join(text.lstrip(_MARKS).split())
    begins = rest.casefold().startswith(line.casefold()) and not rest[len(line) : len(line) + 1].isalnum()
    return line if line and not begins else None


def _bold(line: str | None) -> str:
    return "**" + line.replace("*", r"\*") + "**\n\n" if line else ""
