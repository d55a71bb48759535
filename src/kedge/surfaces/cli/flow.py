"""An answer in a terminal as it comes: its words at once, its sources when it has ended."""

from __future__ import annotations

import re
from contextlib import aclosing
from typing import TYPE_CHECKING, cast

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from kedge.core.values import Answer, Citation, Confidence, Json, Metadata, Query
from kedge.surfaces.cli.common import CommandRun
from kedge.surfaces.cli.render import COLOURS, MARK, MARK_STYLE, show_answer, show_rest

if TYPE_CHECKING:
    from kedge.engine.engine import Engine

_PART = re.compile(r"\[(?:Node )?\d+\]|\n|[^\S\n]+|[^\s\[]+|\[")


async def answered(session: CommandRun, engine: Engine, query: Query) -> Answer:
    """Ask, and show the answer unless JSON is wanted: word by word to a terminal, as a whole to a pipe."""
    if session.json or not session.out.file.isatty():
        answer = await engine.ask(query)
        if not session.json:
            show_answer(session, answer)
        return answer
    return await _streamed(session, engine, query)


async def _streamed(session: CommandRun, engine: Engine, query: Query) -> Answer:
    flow = Flow(session.out)
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
    show_rest(session, answer)
    return answer


class Flow:
    """Writes text piece by piece, broken between words at the terminal's width."""

    def __init__(self, out: Console) -> None:
        self._out = out
        self._column = 0
        self._space = ""

    def write(self, text: str) -> None:
        """Show it now. Space is held back until a word follows it."""
        for part in _PART.findall(text):
            if part == "\n":
                self._put("\n")
                self._column, self._space = 0, ""
            elif part.isspace():
                self._space = part
            else:
                self._word(part)

    def end(self) -> None:
        """Close the line."""
        self._put("\n")
        self._column, self._space = 0, ""

    def _word(self, word: str) -> None:
        width = cell_len(word)
        if self._space and self._column + len(self._space) + width > self._out.width:
            self._put("\n")
            self._column, self._space = 0, ""
        self._put(f"{self._space}{word}", MARK_STYLE if MARK.fullmatch(word) else "")
        self._column += len(self._space) + width
        self._space = ""

    def _put(self, text: str, style: str = "") -> None:
        self._out.print(Text(text, style=style), end="", soft_wrap=True)


def _answer(text: str, citations: list[Citation], metadata: Metadata) -> Answer:
    """The answer that the events tell of."""
    level, probability = metadata.get("confidence"), metadata.get("evidence_probability")
    short = metadata.get("short_answer")
    return Answer(
        query_id=str(metadata.get("query_id", "")),
        answer=text,
        citations=tuple(citations),
        confidence=cast("Confidence", level) if level in COLOURS else "insufficient",
        evidence_probability=_number(probability),
        short_answer=short if isinstance(short, str) else None,
        metadata=metadata,
    )


def _number(value: Json) -> float:
    return float(value) if isinstance(value, int | float) else 0.0
