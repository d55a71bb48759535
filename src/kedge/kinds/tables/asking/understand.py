"""A question in natural language becomes a plan over a table, without any language model, or honestly none.

Every word of the question must be accounted for by the plan: what is left over lowers `sure`, so that a question that
is no computation ("snacks for a party") gives no plan or an unsure one, and the caller falls back to retrieval.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import Stemmer

from kedge.core.errors import PlanError
from kedge.kinds.tables.asking.assemble import Assembly
from kedge.kinds.tables.asking.frame import Alternative
from kedge.kinds.tables.asking.mentions import MOST_TOKENS, TableMention, TableReading
from kedge.kinds.tables.asking.vocabulary import Vocabulary
from kedge.kinds.tables.plans.plan import Func, Measure, Op, TablePlan, Task, used
from kedge.kinds.tables.plans.plan_json import check_plan
from kedge.kinds.tables.schema import ColumnType

_stem = Stemmer.Stemmer("english").stemWord
SURE = 0.6
"""From here on a plan is worth running."""
_READINGS = 3
_CONDITION = ("in", "of", "with", "for", "at", "under", "within")
"""A column after one of these narrows the rows: salaries in discipline X."""
_NARROWING = ("column", "condition", "measure", "thing", "date", "value")
_NOT_NARROWED = 0.5
"""What remains where all rows are counted although the question names something that they could have."""
_LOOSE_VALUE = 0.85
_MOST_NAMES = 12
_MANY_NAMES, _BY_CHANCE = 1000, 0.55
"""With so many different names nearly every word is one; what remains of `sure` for each that may be one by chance."""
_OTHER_COLUMN = 0.5
"""A value that fits another column as well, with another answer, is not worth a guess."""
_LEFT_OVER = {
    "word": 0.5,
    "value": 0.3,
    "period": 0.3,
    "number": 0.4,
    "measure": 0.5,
    "hint": 0.7,
    "thing": 0.85,
    "column": 0.85,
    "condition": 0.55,
    "date": 0.5,
    "cue": 0.55,
}
"""What each kind of mention that the plan does not use leaves of `sure`."""


_ASKED_TWICE = re.compile(r"\band (?:where|when|who)\b", re.IGNORECASE)
"""A second thing asked for, which no plan gives."""
_COMPARING = tuple(
    f"compared.{name}" for name in "more less at_least at_most before after until or_more or_less".split()
)


@dataclass(frozen=True, slots=True)
class UnderstoodTable:
    """What was understood of a question."""

    question: str
    plan: TablePlan | None
    sure: float
    """How sure the plan is the one asked for, 0 to 1; below SURE use retrieval."""
    why: str
    """In words: what was taken for what, or why there is no plan."""
    ambiguities: Sequence[str] = ()
    """What could also have been meant."""
    unmatched: Sequence[str] = ()
    """Words of the question that the plan does not use."""
    loose: bool = False
    """Whether some value was not named exactly."""
    alternatives: Sequence[TablePlan] = ()
    """Other readings; where one gives another answer, `settle` says so."""
    leaves: Sequence[float] = ()
    """For each of them, what remains of `sure` when its answer is another one."""


def understand(question: str, vocabulary: Vocabulary) -> UnderstoodTable:
    """Read a question over a table. Never raises for any text."""
    reading = TableReading(question, vocabulary)
    first, assembly = _read(reading, 0)
    if first.plan is None:
        return first
    others = list(assembly.alternatives)
    for choice in range(1, min(_READINGS, assembly.readings)):
        for mention in reading.mentions:
            mention.role = ""
        other = _read(reading, choice)[0].plan
        if other is not None and other != first.plan:
            others.append(Alternative(other, _OTHER_COLUMN))
    return replace(
        first, alternatives=tuple(other.plan for other in others), leaves=tuple(other.leaves for other in others)
    )


def _read(reading: TableReading, choice: int) -> tuple[UnderstoodTable, Assembly]:
    """One reading, and how it came about."""
    question, vocabulary = reading.text, reading.vocabulary
    assembly = Assembly(reading, choice)
    plan = _without_one_counted(assembly.plan())
    taken = set(used(plan)) if plan else set()
    left = [mention for mention in reading.content if not mention.role and not _named_again(mention, reading, taken)]
    unmatched = tuple(mention.text for mention in left if _kind(mention))
    if plan is None:
        return UnderstoodTable(
            question,
            None,
            0.0,
            _asked_again(assembly.refusal, unmatched, reading),
            tuple(assembly.ambiguous),
            unmatched,
        ), assembly
    try:
        check_plan(plan, vocabulary.table)
    except PlanError as error:
        return UnderstoodTable(question, None, 0.0, error.message, tuple(assembly.ambiguous), unmatched), assembly
    sure = assembly.score
    for mention in left:
        kind = _kind(mention)
        if kind == "column" and mention.start and reading.tokens[mention.start - 1].folded in _CONDITION:
            kind = "condition"
        sure *= _LEFT_OVER.get(kind, 1.0)
    if _counts_all(plan) and any(_kind(mention) in _NARROWING for mention in left):
        sure *= _NOT_NARROWED
    if _ASKED_TWICE.search(question):
        sure *= _LEFT_OVER["word"]
    sure *= _BY_CHANCE ** sum(_by_chance(mention, reading) for mention in reading.content)
    if len(reading.tokens) >= MOST_TOKENS:
        sure *= 0.5
    notes = list(assembly.notes)
    if unmatched:
        notes.append("not understood: " + ", ".join(unmatched))
    understood = UnderstoodTable(
        question,
        plan,
        round(max(0.0, min(1.0, sure)), 3),
        _asked_again("; ".join(dict.fromkeys(notes)), (), reading) if sure < SURE else "; ".join(dict.fromkeys(notes)),
        tuple(assembly.ambiguous),
        unmatched,
        assembly.loose,
    )
    return understood, assembly


def _counts_all(plan: TablePlan) -> bool:
    """Whether a plan gives the number of all rows there are."""
    plain = plan.measures == (Measure(Func.COUNT),) and not (plan.groups or plan.sides or plan.part)
    return plan.task is Task.AGGREGATE and plain and not plan.filters


def _without_one_counted(plan: TablePlan | None) -> TablePlan | None:
    """Rows are counted where different values of a column would be that a filter leaves one value of: gold medals."""
    if plan is None:
        return None
    single = {item.column for item in plan.filters if item.op is Op.IS}
    measures = tuple(
        Measure(Func.COUNT) if one.func is Func.DISTINCT and one.column in single and one.per is None else one
        for one in plan.measures
    )
    return replace(plan, measures=measures) if measures != plan.measures else plan


def _by_chance(mention: TableMention, reading: TableReading) -> bool:
    """Whether a word in small letters was taken for one name of very many: league, where somebody is called League."""
    if not mention.values or mention.role != "filter" or mention.end - mention.start > 1:
        return False
    found, written = mention.values[0], reading.tokens[mention.start].text
    column = reading.vocabulary.table.column(found.column)
    titled = all(value.istitle() for value in found.values)
    if found.score < _LOOSE_VALUE and len(found.values) == 1:
        beside = any(
            other.values and other is not mention and other.end >= mention.start - 1 for other in reading.content
        )
        return written.islower() and (column.distinct >= _MANY_NAMES or beside)
    return column.distinct >= _MANY_NAMES and written.islower() and titled


def _asked_again(why: str, unmatched: Sequence[str], reading: TableReading) -> str:
    """Why there is no answer, with the columns that one could ask about instead."""
    names = [column.name.strip() for column in reading.vocabulary.table.columns if column.name.strip()]
    more = " …" if len(names) > _MOST_NAMES else ""
    said = f"not understood: {', '.join(unmatched)}" if unmatched else ""
    told = "; ".join(filter(None, (why, said))) or "the question can be read in more than one way"
    return f"{told}. Columns: {', '.join(names[:_MOST_NAMES])}{more}"


def _named_again(mention: TableMention, reading: TableReading, taken: set[str]) -> bool:
    """Whether a mention only repeats a column that the plan uses already, perhaps as a verb: hired, of HireDate."""
    if mention.columns:
        return len(mention.columns.columns) == 1 and mention.columns.columns[0].field in taken
    stems = {_stem(token.folded) for token in reading.tokens[mention.start : mention.end]}
    columns = reading.vocabulary.columns
    return mention.unknown and any(columns.named_like(stems, field) for field in taken)


def _kind(mention: TableMention) -> str:
    """What an unused mention is, empty when it does not matter."""
    column = mention.column()
    kinds = (
        (mention.unknown, "word"),
        (bool(mention.values), "value"),
        (mention.period is not None, "period"),
        (mention.amount is not None, "number"),
        (column is not None and column.type.measured, "measure"),
        (column is not None and column.type.dated, "date"),
        (column is not None and column.type is ColumnType.ID, "thing"),
        (column is not None, "column"),
        (mention.has("concept.") and not mention.has("concept.sold"), "hint"),
        (
            mention.has(
                "func.",
                "super.",
                "logic.share",
                "logic.loss",
                "logic.not",
                "logic.empty",
                "logic.difference",
                "logic.growth",
            ),
            "cue",
        ),
        (mention.has("time.", "logic.open", "logic.undone", "logic.compare"), "cue"),
        (mention.has(*_COMPARING), "cue"),
    )
    return next((name for holds, name in kinds if holds), "")
