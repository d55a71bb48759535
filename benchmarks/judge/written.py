"""The written questions that no reader was taught with, asked as users ask them, and when their answer is right."""

from __future__ import annotations

import re
import tempfile
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from random import Random

from benchmarks.asked.questions import HELD_OUT, NONE, PARTLY_HELD_OUT, WrittenQuestion, held_out_questions
from benchmarks.asked.windows import letters
from kedge.answer.cite.spans import cite
from kedge.answer.compose.quote import ExtractedAnswer
from kedge.answer.evidence import ReadPassage
from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Query, Scope, SearchHit
from kedge.engine.engine import Engine

SEED = 11
OPENING = 60
"""Letters by which a statement is known again."""
_BETWEEN = re.compile(r"\W+")
_SEVERAL = frozenset({"summary", "list", "compare", "how"})
"""Types of questions that more than one statement answers: two of them are enough."""

About = tuple[str, str, bool, WrittenQuestion]


async def asked(sources: Path, most: int) -> AsyncIterator[tuple[Engine, Query, About]]:
    """A draw of the questions, each with the engine that holds its collection: id, collection, whether there is an
    answer, and the question as it was written."""
    names = sorted((*HELD_OUT, *PARTLY_HELD_OUT))
    drawn = drawn_from(names, most)
    with tempfile.TemporaryDirectory(prefix="kedge-judge-") as home:
        async with Engine.open(load_settings(home=Path(home))) as engine:
            for name in names:
                await engine.ingest(IngestRequest(Scope(DEFAULT_TENANT, name), (str(sources / name),)))
            for number, one in enumerate(drawn):
                about = (f"{one.collection} {number}", one.collection, one.type != NONE, one)
                yield engine, Query(one.text, Scope(DEFAULT_TENANT, one.collection)), about


def drawn_from(names: Sequence[str], most: int) -> list[WrittenQuestion]:
    """So many questions, from each collection as its share is, at least twenty."""
    random, found = Random(SEED), []
    every = {name: held_out_questions(name) for name in names}
    count = sum(map(len, every.values()))
    for own in every.values():
        random.shuffle(own)
        found += own[: max(20, most * len(own) // count)]
    random.shuffle(found)
    return found[:most]


def is_right(one: WrittenQuestion, answer: ExtractedAnswer, hits: Sequence[SearchHit]) -> bool:
    """Whether an answer says the few words that are right, or quotes a statement that was named as the answer."""
    if one.type == NONE:
        return False
    quoted = [f"{letters(quote.shown)}{letters(quote.block)}#{letters(quote.text)}" for quote in answer.quotes]
    named = [[letters(text)[:OPENING] for text in evidence.statements] for evidence in (one.evidence, *one.also)]
    first = any(statements[0] in text for statements in named for text in quoted)
    if one.short in ("yes", "no"):
        return first and answer.verdict.lower() in ("", one.short)
    if one.short:
        short = answer.short.text if answer.short else answer.verdict
        return f" {_plain(one.short)} " in f" {_plain(f'{short} {cite(answer, hits)[0]}')} "
    told = {text for statements in named for text in statements if any(text in quote for quote in quoted)}
    return first or (one.type in _SEVERAL and len(told) > 1)


def holds(one: WrittenQuestion) -> Callable[[ReadPassage], bool]:
    """Whether a passage that was read has a statement that answers."""
    first = [letters(evidence.statements[0])[:OPENING] for evidence in (one.evidence, *one.also)]
    return lambda passage: one.type != NONE and any(text in letters(passage.passage.text) for text in first)


def _plain(text: str) -> str:
    return _BETWEEN.sub(" ", text.replace("**", "")).casefold().strip()
