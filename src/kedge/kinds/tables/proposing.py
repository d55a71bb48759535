"""A language model may propose a plan where the question itself gave none; it is checked like any plan from outside.

The model sees the columns and a few values, which are data. What it writes is no answer: a plan that names what the
table has not, filters by something nobody asked for, or matches no row is not used.
"""

from __future__ import annotations

import asyncio
import json
import logging
import re
from collections.abc import Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace

from kedge.answer.write.prompts import PLAN_TOKENS, plan_overhead, plan_prompt
from kedge.core.errors import ModelError, PlanError
from kedge.core.values import Json
from kedge.kinds.tables.asking.vocabulary import Vocabulary
from kedge.kinds.tables.finding.rowtext import as_json
from kedge.kinds.tables.plans.plan import Filter, Side, TablePlan, Task
from kedge.kinds.tables.plans.plan_json import plan_from_json, plan_to_json
from kedge.kinds.tables.schema import Column, ColumnType, Table
from kedge.models.ports import LanguageModel
from kedge.retrieve.soft import open_vectors, soft_match
from kedge.text.analyze import terms
from kedge.text.hidden import without_hidden
from kedge.text.orders import gives_orders

log = logging.getLogger(__name__)
SURE = 0.65
"""Of a proposed plan: it was checked, but nobody can say that it is what was asked."""
PROPOSED = "a language model proposed the plan; it was checked against the table"
MOST_CHARS = 12_000
"""Of a model's reply; a plan is short."""
MOST_COLUMNS = 60
EXAMPLES = (6, 3, 0)
"""Values shown of a column: as many as the window allows."""
NAMED = 4
"""Values shown of a column because the question has a word of theirs."""
VALUE_CHARS = 60
NEAR = 0.65
"""Least similarity of a value to the question that shares no word with it."""
_DIGITS = re.compile(r"\d+(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Proposal:
    """What came of asking a model."""

    model: str
    plan: TablePlan | None
    why: str
    """Why there is none, or that there is one."""

    def as_json(self, *, used: bool) -> dict[str, Json]:
        """For `Answer.metadata`."""
        return {"model": self.model, "used": used, "why": self.why}


class Proposer:
    """Asks one model for plans."""

    def __init__(self, model: LanguageModel) -> None:
        self._model = model

    async def propose(self, question: str, vocabulary: Vocabulary) -> Proposal:
        """A plan that fits the table and the question, or why there is none. Never raises for what a model says."""
        described = await asyncio.to_thread(self._described, question, vocabulary)
        if not described:
            return self._none("the table has too many columns for the model's window")
        try:
            said = await self._said(question, described)
            plan = read_plan(said, vocabulary.table)
        except ModelError as error:
            log.warning("no plan was proposed: %s", error)
            return self._none(f"the language model failed: {error.message}")
        except PlanError as error:
            return self._none(f"the proposed plan does not fit: {error.message}")
        if plan is None:
            return self._none("the language model proposed no plan")
        strange = ungrounded(plan, question, vocabulary.table)
        if strange:
            return self._none(f"the proposed plan does not fit the question: {strange}")
        return Proposal(self._model.name, plan, PROPOSED)

    async def _said(self, question: str, table: str) -> str:
        parts: list[str] = []
        length = 0
        async with aclosing(self._model.stream(plan_prompt(question, table))) as pieces:
            async for piece in pieces:
                parts.append(piece.text)
                length += len(piece.text)
                if length > MOST_CHARS:
                    break
        return "".join(parts)

    def _described(self, question: str, vocabulary: Vocabulary) -> str:
        """The table in lines, with as many examples as fit."""
        frame = sum(self._model.count_tokens(plan_overhead(question)))
        for examples in EXAMPLES:
            text = describe(vocabulary, question, examples)
            if self._model.count_tokens([text])[0] + frame + PLAN_TOKENS <= self._model.window:
                return text
        return ""

    def _none(self, why: str) -> Proposal:
        return Proposal(self._model.name, None, why)


def describe(vocabulary: Vocabulary, question: str, examples: int) -> str:
    """Columns, one a line: name, type, range, how many values, and some of them. Orders to a reader are left out."""
    table = vocabulary.table
    asked = frozenset(terms(question))
    named: dict[str, list[str]] = {}
    first: dict[str, list[str]] = {}
    for entry in vocabulary.values.entries:
        shown = _short(entry.value)
        if shown and len(named.setdefault(entry.column, [])) < NAMED and asked.intersection(terms(entry.value)):
            named[entry.column].append(shown)
        elif shown and len(first.setdefault(entry.column, [])) < examples:
            first[entry.column].append(shown)
    lines = [f"Table of {table.rows} rows. Columns:"]
    for column in table.columns[:MOST_COLUMNS]:
        values = [*named.get(column.field, ()), *first.get(column.field, ())]
        lines.append(_line(column, values))
    return "\n".join(lines)


def _line(column: Column, values: Sequence[str]) -> str:
    parts = [f"- {json.dumps(_short(column.name) or column.field, ensure_ascii=False)}: {column.type.value}"]
    if column.lowest is not None:
        parts.append(f"from {as_json(column.lowest)} to {as_json(column.highest)}")
    parts.append(f"{column.distinct} different values")
    if values and column.type is not ColumnType.BOOLEAN:
        parts.append("such as " + ", ".join(json.dumps(value, ensure_ascii=False) for value in values))
    return ", ".join(parts)


def _short(text: str) -> str:
    """A name or value as the model may see it; nothing of one that gives orders."""
    line = " ".join(without_hidden(text).split())
    return "" if gives_orders(line) or len(line) > VALUE_CHARS else line


def read_plan(text: str, table: Table) -> TablePlan | None:
    """The first JSON object of a reply as a plan; None where there is none, or it is empty. Raises PlanError."""
    value = _object(text)
    if not value or "task" not in value:
        return None
    plan = plan_from_json(value, table)
    if plan.task is Task.DESCRIBE:
        return None
    return replace(plan, sides=tuple(Side(_label(side, table), side.filters) for side in plan.sides))


def _object(text: str) -> dict[str, Json] | None:
    decoder = json.JSONDecoder()
    behind = text.partition("</think>")[2] or text
    for match in re.finditer(r"\{", behind):
        try:
            found, _ = decoder.raw_decode(behind, match.start())
        except (ValueError, RecursionError):
            continue
        return found if isinstance(found, dict) else None
    return None


def _label(side: Side, table: Table) -> str:
    """What a side is called: its values. What a model calls it is not shown."""
    values = [str(as_json(value)) for item in side.filters for value in item.values]
    return ", ".join(values) or " and ".join(table.column(item.column).name for item in side.filters)


def ungrounded(plan: TablePlan, question: str, table: Table) -> str:
    """What the plan has that the question does not speak of, or the other way round; empty if all is well."""
    text = json.dumps(plan_to_json(plan), ensure_ascii=False)
    missing = [number for number in _DIGITS.findall(question.replace(",", "")) if number not in text]
    if missing:
        return f"it does not use {', '.join(missing)}"
    for item in _filters(plan):
        column = table.column(item.column)
        for value in item.values:
            if isinstance(value, str) and not _spoken_of(value, column, question):
                return f"nobody asked for {_short(value) or 'a value'!r} in {column.name!r}"
    return ""


def _filters(plan: TablePlan) -> Iterator[Filter]:
    yield from plan.filters
    yield from plan.part
    for side in plan.sides:
        yield from side.filters


def _spoken_of(value: str, column: Column, question: str) -> bool:
    """Whether the question has a word of the value or one near to it, or asks for a yes or no by the column's name."""
    asked = frozenset(terms(question))
    own = frozenset(terms(value))
    if own & asked or (not own and value.casefold() in question.casefold()):
        return True
    if column.distinct <= 2 and asked.intersection(terms(column.name)):
        return True
    near = open_vectors()
    return near is not None and any(soft_match(near, word, [question])[0] >= NEAR for word in value.split())
