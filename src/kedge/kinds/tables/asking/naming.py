"""Which columns tell people what a row is: its name or title, else what is different in nearly every row."""

from __future__ import annotations

from kedge.kinds.tables.asking.words import name_words
from kedge.kinds.tables.schema import Column, ColumnType, Table

_NAMES = frozenset("name names fullname title label rownames".split())
_PARTS = frozenset("first last given family middle sur".split())
_CALLED = frozenset("first last".split())
_MOST = 2
_NEARLY_ALL = 0.7
_SOME = 0.3


def naming(table: Table) -> tuple[str, ...]:
    """Fields of at most two columns, the name of a row; empty when nothing names it."""
    worded = [column for column in table.columns if column.type.worded]
    for column in worded:
        if "".join(name_words(column.name)) == "fullname":
            return (column.field,)
    persons = [column for column in worded if _PARTS & set(name_words(column.name))]
    if len(persons) > _MOST:
        # First, last and given name: the first two are what people are called.
        persons = [column for column in persons if _CALLED & set(name_words(column.name))]
    if len(persons) == _MOST and all("name" in name_words(column.name) for column in persons):
        return tuple(column.field for column in persons)
    named = [c for c in worded if _NAMES & set(name_words(c.name)) and c.distinct >= _SOME * table.rows]
    if named:
        whole = [column for column in named if len(name_words(column.name)) == 1]
        return tuple(column.field for column in (whole[:1] or named[:_MOST]))
    first = table.columns[0] if table.columns else None
    if first and first.type.worded and _differs(first, table):
        return (first.field,)
    for column in (*worded, *(column for column in table.columns if column.type is ColumnType.ID)):
        if _differs(column, table):
            return (column.field,)
    return ()


def _differs(column: Column, table: Table) -> bool:
    return column.distinct >= _NEARLY_ALL * table.rows and column.distinct > 1
