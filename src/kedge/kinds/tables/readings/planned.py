"""A reading as a plan, so that it can be run over all rows of a large table."""

from __future__ import annotations

from datetime import date

from kedge.answer.sheets.candidates import Candidate
from kedge.answer.sheets.rowsets import Condition, RowSet
from kedge.answer.sheets.sheet import Sheet, rows_of
from kedge.answer.sheets.words import folded, tokens
from kedge.kinds.tables.plans.plan import (
    DatePart,
    Filter,
    Func,
    Group,
    Having,
    Measure,
    Op,
    Order,
    Scalar,
    Side,
    TablePlan,
    Task,
)
from kedge.kinds.tables.schema import Column, ColumnType, Table

_SIGNS = {">": Op.MORE, ">=": Op.AT_LEAST, "<": Op.LESS, "<=": Op.AT_MOST, "=": Op.IS}
_FIGURES = {"sum": Func.SUM, "mean": Func.AVERAGE, "median": Func.MEDIAN}
_TWO = {
    "larger count": (Func.COUNT, True),
    "smaller count": (Func.COUNT, False),
    "larger sum": (Func.SUM, True),
    "smaller sum": (Func.SUM, False),
}
_APART = {"difference of counts": Func.COUNT, "difference of sums": Func.SUM}
_OFTEN = {
    "more often than": (Op.MORE, False),
    "at least so often": (Op.AT_LEAST, False),
    "count more often than": (Op.MORE, True),
    "count at least so often": (Op.AT_LEAST, True),
}
MOST_CELLS = 8
"""Different cells that one condition may mean."""


class NoPlanError(Exception):
    """The reading has no plan: it speaks of the order of rows, or of parts of cells."""


class Planner:
    """Makes plans of the readings over the sheet of a table's rows."""

    def __init__(self, sheet: Sheet, table: Table) -> None:
        self._sheet = sheet
        self._table = table
        self._known: dict[int, tuple[RowSet, tuple[Filter, ...] | None]] = {}

    def plan(self, one: Candidate) -> TablePlan | None:
        """What computes the reading over the whole table; None where nothing does."""
        try:
            return self._plan(one)
        except NoPlanError:
            return None

    def _plan(self, one: Candidate) -> TablePlan:  # noqa: PLR0911 (one line per operation)
        filters = self._filters(one.rows)
        if one.op in ("count", "share of rows"):
            return self._share(filters, Measure(Func.COUNT)) if one.op != "count" else TablePlan(filters=filters)
        if one.op == "select":
            return TablePlan(Task.LIST, filters, (), columns=(self._field(one.column),), distinct=True)
        if one.op == "distinct":
            return TablePlan(filters=filters, measures=(Measure(Func.DISTINCT, self._field(one.sight)),))
        if one.op in _FIGURES:
            return TablePlan(filters=filters, measures=(Measure(_FIGURES[one.op], self._measured(one)),))
        if one.op == "share of total":
            return self._share(filters, Measure(Func.SUM, self._measured(one)))
        if one.op == "most":
            return self._most(one, filters)
        return self._grouped(one, filters)

    def _grouped(self, one: Candidate, filters: tuple[Filter, ...]) -> TablePlan:
        if one.op in ("most frequent", "least frequent"):
            return self._first(one.column, filters, Measure(Func.COUNT), one.op == "most frequent")
        if one.op in ("most by total", "most by mean"):
            func = Func.SUM if one.op == "most by total" else Func.AVERAGE
            return self._first(one.column, filters, Measure(func, self._measured(one)), one.sign > 0)
        if one.op in _TWO and one.other is not None:
            func, descending = _TWO[one.op]
            both = self._both(one.rows, one.other)
            measure = Measure(func, self._measured(one) if func is Func.SUM else None)
            return self._first(one.column, both, measure, descending)
        if one.op in _APART and one.other is not None:
            func = _APART[one.op]
            measure = Measure(func, self._measured(one) if func is Func.SUM else None)
            sides = (Side(self._label(one.rows), filters), Side(self._label(one.other), self._filters(one.other)))
            return TablePlan(Task.COMPARE, measures=(measure,), sides=sides)
        if one.op in _OFTEN and one.number is not None:
            op, tally = _OFTEN[one.op]
            group = (Group(self._field(one.sight if tally else one.column)),)
            return TablePlan(filters=filters, groups=group, having=(Having(op, (one.number,)),), tally=tally)
        raise NoPlanError

    def _most(self, one: Candidate, filters: tuple[Filter, ...]) -> TablePlan:
        sight = self._field(one.sight)
        self._compared(one.sight, one.kind)
        if one.column == one.sight:
            return TablePlan(filters=filters, measures=(Measure(Func.MAX if one.sign > 0 else Func.MIN, sight),))
        columns = (self._field(one.column), sight)
        return TablePlan(Task.LIST, filters, (), order=Order(sight, one.sign > 0), limit=1, columns=columns)

    def _first(self, column: int, filters: tuple[Filter, ...], measure: Measure, descending: bool) -> TablePlan:
        group = (Group(self._field(column)),)
        return TablePlan(filters=filters, measures=(measure,), groups=group, order=Order(None, descending), limit=1)

    def _share(self, part: tuple[Filter, ...], measure: Measure) -> TablePlan:
        if not part:
            raise NoPlanError
        return TablePlan(Task.SHARE, measures=(measure,), part=part)

    def _measured(self, one: Candidate) -> str:
        """The column that is added up."""
        column = self._column(one.sight)
        if one.kind != "num" or not column.type.measured:
            raise NoPlanError
        return column.field

    def _compared(self, place: int, kind: str) -> Column:
        column = self._column(place)
        fits = kind == "num" and column.type.compared
        if not fits and not (kind in ("date", "year") and (column.type.dated or column.yearly)):
            raise NoPlanError
        return column

    def _column(self, place: int) -> Column:
        if not 0 <= place < self._sheet.whole:
            raise NoPlanError
        return self._table.columns[place]

    def _field(self, place: int) -> str:
        return self._column(place).field

    def _label(self, rows: RowSet) -> str:
        return " and ".join(condition.text for condition in rows.conditions)

    def _filters(self, rows: RowSet) -> tuple[Filter, ...]:
        known = self._known.get(id(rows))
        if known is None:
            try:
                found = tuple(item for condition in rows.conditions for item in self._condition(condition))
                known = self._known[id(rows)] = (rows, found)
            except NoPlanError:
                known = self._known[id(rows)] = (rows, None)
        if known[1] is None:
            raise NoPlanError
        return known[1]

    def _condition(self, one: Condition) -> tuple[Filter, ...]:
        match one.kind:
            case "is" | "not":
                return self._named(one)
            case "either":
                return (self._any_of(one.others),)
            case "compare":
                return (self._ordered(one, _SIGNS[one.sign], one.values),)
            case "between":
                return (self._ordered(one, Op.BETWEEN, one.values),)
            case "blank" | "filled":
                return (Filter(self._field(one.column), Op.EMPTY if one.kind == "blank" else Op.FILLED),)
            case "zero" | "above zero" if self._column(one.column).type.measured:
                return (Filter(self._field(one.column), Op.IS if one.kind == "zero" else Op.MORE, (0,)),)
        raise NoPlanError

    def _named(self, one: Condition) -> tuple[Filter, ...]:
        """The cells that were found; where there may be more of them than the sheet has, their words."""
        column, values = self._column(one.column), self._cells(one)
        negated = one.kind == "not"
        cells = self._sheet.columns[one.column]
        if one.text in cells.exact or not column.type.worded:
            op = (Op.NOT if negated else Op.IS) if len(values) == 1 else Op.NOT_IN if negated else Op.IN
            return (Filter(column.field, op, values),)
        words = tokens(one.text)
        spoken = all(all(word in folded(str(value)).lower() for word in words) for value in values)
        if spoken and not negated:
            return tuple(Filter(column.field, Op.CONTAINS, (word,)) for word in words)
        if column.distinct > len(cells.equal):
            raise NoPlanError
        return (Filter(column.field, Op.NOT_IN if negated else Op.IN, values),)

    def _cells(self, one: Condition) -> tuple[Scalar, ...]:
        cells = self._sheet.columns[one.column].texts
        texts = list(dict.fromkeys(cells[row] for row in rows_of(one.rows)))
        if not texts or len(texts) > MOST_CELLS:
            raise NoPlanError
        return tuple(_scalar(text, self._column(one.column)) for text in texts)

    def _any_of(self, conditions: tuple[Condition, ...]) -> Filter:
        columns = {one.column for one in conditions}
        if len(columns) != 1 or any(one.kind != "is" for one in conditions):
            raise NoPlanError
        values = tuple(dict.fromkeys(value for one in conditions for value in self._cells(one)))
        return Filter(self._field(columns.pop()), Op.IN, values)

    def _both(self, one: RowSet, two: RowSet) -> tuple[Filter, ...]:
        """Rows of either side: what differs joined by or, what both have kept."""
        shared = tuple(condition for condition in one.conditions if condition in two.conditions)
        apart = [[item for item in side.conditions if item not in shared] for side in (one, two)]
        if any(len(side) != 1 for side in apart):
            raise NoPlanError
        kept = tuple(item for condition in shared for item in self._condition(condition))
        return (*kept, self._any_of((apart[0][0], apart[1][0])))

    def _ordered(self, one: Condition, op: Op, numbers: tuple[float, ...]) -> Filter:
        """`text` of such a condition is the kind of number that the column is read as."""
        column = self._compared(one.column, one.text)
        if not column.type.dated:
            return Filter(column.field, op, tuple(_whole(number) for number in numbers))
        if one.text == "year" or all(number < 3000 for number in numbers):
            return Filter(column.field, op, tuple(int(number) for number in numbers), DatePart.YEAR)
        try:
            days = tuple(date(int(number) // 400, int(number) % 400 // 32, int(number) % 32) for number in numbers)
        except ValueError as error:
            raise NoPlanError from error
        return Filter(column.field, op, days)


def _scalar(text: str, column: Column) -> Scalar:
    """A cell's text as its column keeps it."""
    if column.type is ColumnType.BOOLEAN:
        return text == "yes"
    if column.type.dated:
        try:
            return date.fromisoformat(text[:10])
        except ValueError as error:
            raise NoPlanError from error
    if column.type.compared:
        try:
            return _whole(float(text))
        except ValueError as error:
            raise NoPlanError from error
    return text


def _whole(number: float) -> float | int:
    return int(number) if number == int(number) else number
