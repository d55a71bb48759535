"""The short answer is said first, on every surface, and once."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from io import StringIO
from typing import Any

import pytest
from rich.console import Console

from kedge.answer.compose.events import streamed
from kedge.core.values import Answer, StreamEvent
from kedge.surfaces.cli.common import CommandRun, Globals
from kedge.surfaces.cli.render import show_answer
from kedge.surfaces.lead import lead, led, led_events

TEXT = "A night in Zurich may cost 190 euros."


def answer(short: str | None = "190 euros", text: str = TEXT, **more: Any) -> Answer:
    return Answer("q", text, (), more.pop("confidence", "high"), 0.9, short_answer=short, **more)


def shown(given: Answer, **console: Any) -> str:
    out = StringIO()
    show_answer(CommandRun(Globals(), out=Console(file=out, width=80, **console)), given)
    return out.getvalue()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (answer(), "190 euros"),
        (answer("190\n euros"), "190 euros"),
        (answer(None), None),
        (answer("a night"), None),
        (answer("A", TEXT), None),
        (answer("A", "**A**, not B."), None),
        (answer("No", "Nobody pays."), "No"),
        (answer(confidence="insufficient"), None),
        (answer(metadata={"generation": {}}), None),
    ],
)
def test_it_leads_unless_the_text_begins_with_it(given: Answer, said: str | None) -> None:
    assert lead(given) == said
    assert led(given) == (f"**{said}**\n\n{given.answer}" if said else given.answer)


@pytest.mark.parametrize("given", [answer(), answer("A night"), answer(None), answer(confidence="insufficient")])
def test_a_stream_begins_with_it_too(given: Answer) -> None:
    async def events() -> AsyncGenerator[StreamEvent, None]:
        for event in streamed(given):
            yield event

    async def text() -> str:
        return "".join([event.content or "" async for event in led_events(events())])

    assert asyncio.run(text()) == led(given)


def test_in_a_terminal_it_is_bold_on_a_line_of_its_own() -> None:
    text = shown(answer(), force_terminal=True, no_color=False, color_system="standard")
    assert text.startswith(f"\x1b[1m190 euros\x1b[0m\n\n{TEXT}\n")
    assert "short answer" not in text


@pytest.mark.parametrize("console", [{}, {"force_terminal": True, "no_color": True}])
def test_without_colours_it_is_plain(console: dict[str, Any]) -> None:
    assert shown(answer(), **console).startswith(f"190 euros\n\n{TEXT}\n")


def test_a_text_that_begins_with_it_stands_alone() -> None:
    text = shown(answer("A night"))
    assert text.startswith(f"{TEXT}\n")
    assert "short answer: A night" in text
