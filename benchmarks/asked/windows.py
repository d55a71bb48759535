"""Windows of statements for the reader: what Kedge finds for each question, with what is known of it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from benchmarks.asked.questions import NONE, Evidence, WrittenQuestion
from kedge.answer.evidence import cut, readable, worth_reading
from kedge.core.values import DEFAULT_TENANT, Collection, Passage, Query, Scope
from kedge.engine.engine import Engine
from kedge.text.periods import periods
from kedge.text.question import Question
from kedge.text.statements.statement import Statement

MOST_OTHERS = 4
"""Passages that were found beside those that answer, by question."""
_LETTERS = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class PassageIndex:
    """The passages of a collection, found again by their document and a statement."""

    passages: Sequence[tuple[str, Passage]]
    """Path of the document, and the passage."""
    ids: frozenset[str] = field(init=False)
    """Of the passages."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "ids", frozenset(passage.id for _, passage in self.passages))

    def find(self, wanted: Evidence) -> tuple[Passage, list[int]] | None:
        """The passage with these statements, and their places among its own; None where it is not there any more."""
        keys = [letters(text) for text in wanted.statements]
        for path, passage in self.passages:
            if path != wanted.document:
                continue
            own = [letters(passage.text[one.start : one.end]) for one in cut(passage)]
            places = [next((at for at, text in enumerate(own) if text.startswith(key)), -1) for key in keys]
            if min(places, default=-1) >= 0:
                return passage, places
        return None


def letters(text: str) -> str:
    """Letters and digits alone: what stays the same whatever the markup."""
    return _LETTERS.sub("", text.casefold())


async def windows(
    engine: Engine, collection: str, index: PassageIndex, asked: Iterable[WrittenQuestion]
) -> AsyncIterator[dict[str, Any]]:
    """Examples for the reader: passages that answer, those that look like it, and others that were `found`.

    Among the last may be one that answers too: whoever trains leaves out those that a trained reader takes for such.
    """
    scope = Scope(DEFAULT_TENANT, collection)
    pinned = await engine.collection(scope)
    for one in asked:
        async for window in _of(engine, pinned, index, one):
            yield window


async def _of(
    engine: Engine, collection: Collection, index: PassageIndex, one: WrittenQuestion
) -> AsyncIterator[dict[str, Any]]:
    query = Query(one.text, collection.scope)
    question = await engine.judging.question(query, collection)
    known: set[str] = set()
    for evidence in (one.evidence, *one.also):
        found = index.find(evidence)
        if found is None:
            continue
        passage, places = found
        known.add(passage.id)
        yield _window(question, one, passage, () if one.type == NONE else places, first=evidence is one.evidence)
    for evidence in one.unlike:
        found = index.find(evidence)
        if found is not None and found[0].id not in known:
            known.add(found[0].id)
            yield _window(question, one, found[0], (), first=False)
    result = await engine.search(replace(query, top_k=MOST_OTHERS + len(known)))
    others = [hit.passage for hit in result.hits if hit.passage.id in index.ids - known and cut(hit.passage)]
    for passage in others[:MOST_OTHERS]:
        yield {**_window(question, one, passage, (), first=False), "found": True}


def _window(
    question: Question, one: WrittenQuestion, passage: Passage, places: Sequence[int], *, first: bool
) -> dict[str, Any]:
    """One passage as it is read for the question, with all statements that answer."""
    made = cut(passage)
    wanted = [made[place] for place in places]
    chosen = sorted({*worth_reading(question, periods(question.text), made), *wanted}, key=lambda it: it.start)
    text = readable(passage, chosen)
    said = list(text.statements)
    support = [chosen.index(statement) for statement in wanted]
    short = one.short if wanted and first and one.short not in (None, "yes", "no") else None
    return {
        "question": one.text,
        "identity": text.identity,
        "statements": said,
        "support": support,
        "span": _span(chosen, said, support[0], short) if short and support else None,
        "yes": {"yes": 1, "no": 0}.get(one.short or "", -1) if wanted else -1,
        "about": int(bool(wanted)),
        "trick": int(one.type == NONE) if first else -1,
        "type": one.type,
    }


def _span(chosen: Sequence[Statement], said: Sequence[str], place: int, short: str) -> list[int] | None:
    """Where the short answer stands, as statement, first and last character; the last place for the cell of a row."""
    words = r"\s+".join(map(re.escape, short.split()))
    found = list(re.finditer(words, said[place]))
    if not found:
        return None
    match = found[-1] if chosen[place].kind == "row" else found[0]
    return [place, match.start(), match.end()]
