"""A table of a document laid out so that a question can be read over it: things in rows, what is measured in columns.

Reports write one column for each period and name parts of the table by lines of their own. Of columns that are told
apart by their periods only those that are asked for are kept: one is called by what it measures, several by their
years. Parts that all have the same rows become the rows themselves.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from kedge.answer.computed.tables import DocumentRow, DocumentTable
from kedge.retrieve.when import own_periods
from kedge.text.analyze import terms
from kedge.text.periods import Period, agreement, dated, periods

TOTAL = re.compile(r"(?:sub|grand )?totals?\b", re.I)
_BEFORE_PERIOD = re.compile(
    r"(?<![\s,])[\s,]*+\b(?:(?:in|for|during|over|of|at|as of|on|within|through|by|to|from)\s+)?"
    r"(?:the\s+|its\s+|their\s+)?$",
    re.I,
)
_BEHIND_PERIOD = re.compile(r"(?<!\s)\s*+(?:period|report|filing|10-[qk]|quarterly report)s?\b(?:'s)?,?", re.I)
_BY = re.compile(r"(?<!\s)\s++by\s++(?:reportable\s+|each\s+)?", re.I)
_NEGATIVE = re.compile(r"[$€£¥]?\s?\(\s?[$€£¥]?\s?(\d[\d,]*(?:\.\d+)?)\s?\)\s?(%?)|[$€£¥]\s?\((\d[\d,.]*)\)")
_ARTICLE = re.compile(r"\b(?:the|its|their)\s+$", re.I)
_INITIALS = re.compile(r"(?<![\w&])[A-Z](?:&?[A-Z]){1,5}(?![\w&])")
_WORD = re.compile(r"[^\W\d_]+|&")
HALF = 0.5


@dataclass(frozen=True, slots=True)
class LaidCell:
    """A cell and the row of the document that it comes from."""

    text: str
    row: int = -1
    """Of the table's rows; -1 where it stands for the name of a part."""
    cell: int = -1
    """Of that row's cells."""


@dataclass(frozen=True, slots=True)
class LaidTable:
    """What a question is read over."""

    question: str
    """Without what was used to choose the columns."""
    names: tuple[str, ...]
    rows: tuple[tuple[LaidCell, ...], ...]
    period: str = ""
    """Heading of the one column of a period that was kept."""
    assumed: bool = False
    """Whether the question does not say that period."""


def laid_out(question: str, table: DocumentTable) -> LaidTable | None:
    """The table for this question; None where it asks for periods that the table does not tell apart."""
    question = _spelt_out(question, table)
    headers = _headers(table)
    times = [periods(header) for header in headers]
    periodic = sum(map(bool, times[1:])) > HALF * len(headers[1:])
    rows = [row for row in enumerate(table.rows) if not TOTAL.match(row[1].statement.cells[0].text)]
    if not periodic:
        return _as_it_is(question, headers, rows if len(rows) > 1 else list(enumerate(table.rows)))
    own = own_periods(table.passage)
    asked = periods(question)
    if len(asked) > 1:
        return _compared(question, headers, times, rows, (asked, dated(asked, own)))
    wanted = dated(asked, own) if asked else own[:1]
    kept = _agreeing(wanted, times) if wanted else []
    if len(kept) != 1:
        return None
    words = _without(question, asked[0]) if asked else question
    return _measured(words, table, rows, kept[0], headers[kept[0]], assumed=not asked)


def _headers(table: DocumentTable) -> list[str]:
    widest = max(table.rows, key=lambda row: len(row.statement.cells))
    return [cell.header for cell in widest.statement.cells]


def _as_it_is(question: str, headers: Sequence[str], rows: Sequence[tuple[int, DocumentRow]]) -> LaidTable:
    grouped = len({row.statement.group for _, row in rows}) > 1
    made = []
    for number, row in rows:
        cells = [LaidCell(_signed(cell.text), number, place) for place, cell in enumerate(row.statement.cells)]
        cells += [LaidCell("")] * (len(headers) - len(cells))
        made.append((*cells, LaidCell(row.statement.group)) if grouped else tuple(cells))
    return LaidTable(question, (*headers, "") if grouped else tuple(headers), tuple(made))


def _compared(
    question: str,
    headers: Sequence[str],
    times: Sequence[Sequence[Period]],
    rows: Sequence[tuple[int, DocumentRow]],
    asked: tuple[Sequence[Period], Sequence[Period]],
) -> LaidTable | None:
    """Label and one column for each period, called by its year in the question and above the column."""
    columns: dict[int, str] = {}
    years = len({one.year for one in asked[1]}) == len(asked[1])
    words = question
    for said, meant in sorted(zip(*asked, strict=True), key=lambda one: -one[0].start):
        kept = _agreeing([meant], times)
        if len(kept) != 1 or kept[0] in columns:
            return None
        columns[kept[0]] = str(meant.year) if years else str(meant)
        before = _ARTICLE.sub("", words[: said.start])
        words = f"{before}{columns[kept[0]]}{words[said.end :]}"
    ordered = dict(sorted(columns.items(), key=lambda one: one[1]) if years else reversed(columns.items()))
    made = [(LaidCell(row.statement.cells[0].text, number, 0), *_cells(number, row, ordered)) for number, row in rows]
    return LaidTable(words, (headers[0], *ordered.values()), tuple(made))


def _measured(
    question: str,
    table: DocumentTable,
    rows: Sequence[tuple[int, DocumentRow]],
    column: int,
    header: str,
    *,
    assumed: bool,
) -> LaidTable:
    parts: dict[str, dict[str, tuple[int, DocumentRow]]] = {}
    for number, row in rows:
        parts.setdefault(row.statement.group, {}).setdefault(row.statement.cells[0].text, (number, row))
    labels = {tuple(part) for part in parts.values()}
    if len(parts) > 1 and len(labels) == 1 and len(next(iter(labels))) > 1:
        (measures,) = labels
        made = [
            (LaidCell(name), *(cell for one in part.values() for cell in _cells(*one, [column])))
            for name, part in parts.items()
        ]
        return LaidTable(question, (_thing(table), *measures), tuple(made), header, assumed)
    part = _part(question, [name for name in parts if name])
    chosen = [(number, row) for number, row in rows if not part or row.statement.group == part]
    name, _, by = _split(part or table.lead)
    made = [
        (LaidCell(row.statement.cells[0].text, number, 0), *_cells(number, row, [column])) for number, row in chosen
    ]
    return LaidTable(question, (by or _thing(table), name), tuple(made), header, assumed)


def _split(name: str) -> tuple[str, str, str]:
    """`Net sales by segment` measures net sales and lists segments."""
    by = _BY.search(name)
    return (name[: by.start()], "by", name[by.end() :]) if by else (name, "", "")


def _thing(table: DocumentTable) -> str:
    """What the rows of a table may be called: the innermost heading above it."""
    path = table.passage.section_path
    return path[-1] if path else table.passage.title


def _part(question: str, names: Sequence[str]) -> str:
    """The one part of a table that shares most words with the question; empty where none or several do."""
    asked = set(terms(question))
    shared = {name: _shared(asked, set(terms(name))) for name in names}
    best = [name for name, fit in shared.items() if fit[0] and fit == max(shared.values())]
    return best[0] if len(best) == 1 else ""


def _shared(asked: set[str], name: set[str]) -> tuple[int, float]:
    common = len(asked & name)
    return common, common / max(1, len(name))


def _cells(number: int, row: DocumentRow, columns: Sequence[int] | dict[int, str]) -> list[LaidCell]:
    cells = row.statement.cells
    return [LaidCell(_signed(cells[one].text), number, one) if one < len(cells) else LaidCell("") for one in columns]


def _agreeing(wanted: Sequence[Period], times: Sequence[Sequence[Period]]) -> list[int]:
    """The columns that name the period best."""
    fits = [(agreement(wanted, time), place) for place, time in enumerate(times) if place]
    best = max((value for value, _ in fits), default=0.0)
    return [place for value, place in fits if value == best] if best > 0 else []


def _without(question: str, period: Period) -> str:
    """The question without the words for a period, and those that lead up to it."""
    before, behind = question[: period.start], question[period.end :]
    return f"{_BEFORE_PERIOD.sub('', before)} {_BEHIND_PERIOD.sub('', behind, count=1).lstrip()}".strip(" ,")


def _signed(text: str) -> str:
    """A figure in brackets is less than nothing."""
    match = _NEGATIVE.fullmatch(text.strip())
    return f"-{match[1] or match[3]}{match[2] or ''}" if match else text


def _spelt_out(question: str, table: DocumentTable) -> str:
    """The question with initials of a row's label said as that label: `R&D` is `Research and development`."""
    labels = {row.statement.cells[0].text: _initials(row.statement.cells[0].text) for row in table.rows}

    def label(match: re.Match[str]) -> str:
        said = match[0].replace("&", "")
        found = [name for name, own in labels.items() if own == said] or [
            name for name, own in labels.items() if own.startswith(said)
        ]
        return found[0] if len(found) == 1 else match[0]

    return _INITIALS.sub(label, question)


def _initials(label: str) -> str:
    return "".join(word[0].upper() for word in _WORD.findall(label) if word.lower() not in ("and", "&", "of", "the"))
