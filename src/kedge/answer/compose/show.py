"""How a statement is shown: clean words, the code it announces, a slice of its table with the cell marked."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import replace

from kedge.answer.compose.between import change_asked
from kedge.answer.compose.choose import Choice
from kedge.answer.compose.company import STEP, Pick
from kedge.answer.compose.extract import separate
from kedge.answer.compose.quote import ExtractedAnswer, Quote, ShortAnswer
from kedge.answer.compose.worth import says_what_it_is
from kedge.core.values import Passage
from kedge.retrieve.when import own_periods
from kedge.text.form import ShapeKind
from kedge.text.question import Question
from kedge.text.sentences import sentences
from kedge.text.statements.markup import plain
from kedge.text.statements.statement import Statement

LIKELY = -4.0
"""Logarithm of the probability from which on a span is taken for the short answer."""
SURE = -1.0
"""The same where more than a few words may be meant."""
DECIDED = 3.0
"""Log-odds from which on the evidence decides between yes and no; below, it is right no more often than a coin."""
LONGEST_SHORT = 90
"""Characters of a short answer."""
COLUMNS = 4
"""Columns of a table that are shown beside the label."""
_WITH_SHORT: dict[ShapeKind, float] = {"fact": LIKELY, "number": LIKELY, "list": SURE, "why": SURE}
"""Forms that have a short answer, and how likely it must be: a list or a reason in few words must be sure."""
_DIGIT = re.compile(r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve|twice|once|half|none|no)\b", re.I)
_POINTS_BACK = re.compile(
    r"(?:This|That|These|Those|It|They|He|She|Its|Their|His|Her|Such|Thus|Therefore|Hence|So|Otherwise|Then|But|And|However|Also)\b"
)
_BULLET_ALONE = re.compile(r"\s*(?:[-*+•‣▪]|\d{1,3}[.)]|\(?[a-z][.)])\s*")
_LINE_OF_LIST = re.compile(r"^(?:-|\d{1,3}\.) \S", re.MULTILINE)
_WORD_END = re.compile(r"\w\Z")
_GOES_ON = re.compile(r"(?:\w|\.(?=\w)){1,60}")
"""What a word that was cut goes on with."""
_PARAGRAPH = re.compile(r"\n\s*\n")
_FENCES = re.compile(r"\A\s{0,8}(?:```+|~~~+)[^\n]{0,100}\n|\n\s{0,8}(?:```+|~~~+)\s*\Z")


def shown(question: Question, form: ShapeKind, choice: Choice, passages: Mapping[int, Passage]) -> ExtractedAnswer:
    """The answer that the chosen statements make."""
    short = _short(question, form, choice, passages[choice.first.passage])
    quotes: list[Quote] = []
    told: list[Pick] = []
    for pick in choice.picks:
        span = short[1] if short and pick.statement == choice.first.statement else None
        quote = quote_of(pick, passages[pick.passage].text, span, quotes)
        quotes.append(_dated(pick, _without_lead(quote, pick, told)))
        told.append(pick)
        change = change_asked(question.text, pick.statement, own_periods(passages[pick.passage]))
        if change is not None:
            quotes[-1] = replace(quotes[-1], shown=change.text, marked=None)
            short = None
        if len(quotes) > 1 and _same_table(quotes[-2], quotes[-1], passages[pick.passage].text):
            quotes[-2:] = [_rows(quotes[-2], quotes[-1], passages[pick.passage].text)]
        if len(quotes) > 1 and pick.in_list and _announces(quotes[-2], quotes[-1], passages[pick.passage].text):
            quotes[-2:] = [_listed(quotes[-2], quotes[-1], passages[pick.passage].text)]
    verdict = ""
    if form == "yes-no" and abs(choice.first.yes) >= DECIDED:
        verdict = "Yes" if choice.first.yes > 0 else "No"
    return ExtractedAnswer(separate(quotes), short[0] if short else None, verdict)


def _without_lead(quote: Quote, pick: Pick, before: Sequence[Pick]) -> Quote:
    """An item without what leads in to its list, where another item said that before."""
    lead = pick.statement.lead
    said = any(one.passage == pick.passage and one.statement.lead == lead for one in before)
    if pick.statement.kind != "item" or not lead or not said or not quote.shown.startswith(lead):
        return quote
    return replace(quote, shown=quote.shown[len(lead) :])


def _dated(pick: Pick, quote: Quote) -> Quote:
    """What an older document said, with its time."""
    if not pick.of_before:
        return quote
    words = quote.shown if quote.shown else " ".join(quote.text.split())
    return replace(quote, shown=f"Before that ({pick.of_before}): {words}")


def _same_table(before: Quote, row: Quote, text: str) -> bool:
    """Whether two quotes are rows that stand below each other under the same headers."""
    if not (before.cells and row.cells and before.block and before.passage == row.passage and before.end <= row.start):
        return False
    between = text[before.end : row.start].strip(" |\t\r\n")
    return not between and before.block.split("\n")[:2] == row.block.split("\n")[:2]


def _rows(before: Quote, row: Quote, text: str) -> Quote:
    """Both as one slice of the table."""
    marked = before.marked if row.marked is None else len(before.cells) + row.marked
    line = row.block.rpartition("\n")[2]
    return replace(
        before,
        end=row.end,
        text=text[before.start : row.end],
        block=f"{before.block}\n{line}",
        cells=(*before.cells, *row.cells),
        marked=marked,
    )


def _announces(before: Quote, item: Quote, text: str) -> bool:
    """Whether an item goes on what was quoted before it: what announces its list, or that and its items."""
    if before.passage != item.passage or before.bullet or before.end > item.start:
        return False
    between = text[before.end : item.start]
    return before.shown.rstrip().endswith((":", "：")) and _BULLET_ALONE.fullmatch(between) is not None


def _listed(before: Quote, item: Quote, text: str) -> Quote:
    """Both as one quote: the list stands below the sentence that announces it."""
    line = f"{item.bullet} {item.shown}" + (f"\n\n{item.block}\n" if item.block else "")
    block = f"{before.block}\n{line}" if before.block else line
    return replace(before, end=item.end, text=text[before.start : item.end], block=block)


def _short(
    question: Question, form: ShapeKind, choice: Choice, passage: Passage
) -> tuple[ShortAnswer, tuple[int, int]] | None:
    """The short answer, and where it stands in what is read of its statement."""
    first = choice.first
    statement = first.statement
    if form not in _WITH_SHORT or choice.led or not any(pick.statement == statement for pick in choice.picks):
        return None
    if statement.kind == "row":
        if first.cell is None or form not in ("fact", "number"):
            return None
        cell = statement.cells[first.cell]
        return ShortAnswer(question.kind, cell.start, cell.end, cell.text), (0, 0)
    span = first.reading.span
    if (
        span is None
        or span.score < _WITH_SHORT[form]
        or statement.kind in ("code", "formula")
        or span.start < len(statement.lead)
        or not says_what_it_is(first)
    ):
        return None
    text = statement.read[slice(*_whole(statement.read, span.start, span.end))].strip(" ,;:")
    if not text or len(text) > LONGEST_SHORT or (form == "number" and not _DIGIT.search(text)):
        return None
    at = passage.text.find(text, statement.start, statement.end)
    start, end = (at, at + len(text)) if at >= 0 else (statement.start, statement.end)
    place = statement.read.find(text, span.start)
    return ShortAnswer(question.kind, start, end, text), (place, place + len(text))


def _whole(read: str, start: int, end: int) -> tuple[int, int]:
    """A span that ends where words do: `object` grows to `object.__dict__`, an open bracket takes the closing one."""
    goes_on = _GOES_ON.match(read, end) if _WORD_END.search(read[start:end]) else None
    end = goes_on.end() if goes_on else end
    inside = read[start:end]
    if inside.count("(") == inside.count(")") + 1 and read[end : end + 1] == ")":
        end += 1
    return start, end


def items_in(quote: Quote) -> int:
    """How many items of a list a quote tells: one that stands alone, those below the sentence that announces them."""
    return 1 if quote.bullet else len(_LINE_OF_LIST.findall(quote.block))


def quote_of(pick: Pick, text: str, span: tuple[int, int] | None = None, quoted: Sequence[Quote] = ()) -> Quote:
    """What is quoted of a passage's text, and how it is shown; `span`: the short answer in what is read of it.

    What points back to a sentence brings it along, unless it is among what is `quoted` before it.
    """
    statement = pick.statement
    if statement.kind == "row":
        marked = pick.cell if span is not None else None
        words, block = _slice(statement, marked)
        place = (pick.passage, statement.start, statement.end, text[statement.start : statement.end])
        return Quote(*place, words, block, cells=statement.cells, marked=marked)
    if statement.kind in ("code", "formula"):
        block = _block(statement, text[statement.start : statement.end])
        lead = statement.lead.strip() or ("In code:" if statement.kind == "code" else "The formula:")
        return Quote(pick.passage, statement.start, statement.end, text[statement.start : statement.end], lead, block)
    words = _bold(statement.read, span)
    if statement.kind == "item":
        words = words[len(statement.lead) :] if pick.in_list else words
        number = STEP.search(text[max(0, statement.start - 6) : statement.start])
        bullet = "" if not pick.in_list else f"{number[1]}." if number else "-"
        end = pick.with_code.end if pick.with_code else statement.end
        block = _block(pick.with_code, text[pick.with_code.start : end]) if pick.with_code else ""
        return Quote(pick.passage, statement.start, end, text[statement.start : end], words, block, bullet)
    start, end = statement.start, statement.end
    if _POINTS_BACK.match(statement.read):
        before = [left for left, right in sentences(text[:start]) if text[left:right].strip()]
        if before and _belongs(text, before[-1], start) and not _is_quoted(pick.passage, before[-1], quoted):
            start = before[-1]
            words = f"{plain(text[start : statement.start])} {words}"
    if pick.with_code is not None:
        end = pick.with_code.end
        return Quote(
            pick.passage, start, end, text[start:end], words, _block(pick.with_code, text[pick.with_code.start : end])
        )
    return Quote(pick.passage, start, end, text[start:end], words)


def _belongs(text: str, before: int, start: int) -> bool:
    """Whether the sentence before stands in the same paragraph, and in no table."""
    return not _PARAGRAPH.search(text, before, start) and "|" not in text[before:start]


def _is_quoted(passage: int, place: int, quoted: Sequence[Quote]) -> bool:
    return any(one.passage == passage and one.start <= place < one.end for one in quoted)


def _bold(words: str, span: tuple[int, int] | None) -> str:
    if span is None or span[0] < 0 or span[0] == span[1]:
        return words
    return f"{words[: span[0]]}**{words[span[0] : span[1]]}**{words[span[1] :]}"


def _block(statement: Statement, text: str) -> str:
    """Code between fences; a formula as it is."""
    if statement.kind == "formula":
        return text.strip()
    inside = textwrap.dedent(_FENCES.sub("", text).strip("\n"))
    fence = "````" if "```" in inside else "```"
    return f"{fence}\n{inside}\n{fence}"


def _slice(statement: Statement, marked: int | None) -> tuple[str, str]:
    """What the table is called, and its header and this row, with the cell marked."""
    label = statement.read[len(statement.lead) :].partition(" — ")[0]
    values = [place for place in range(1, len(statement.cells)) if statement.cells[place].text]
    if marked in values and len(values) > COLUMNS:
        at = values.index(marked)
        low = max(0, min(at - 1, len(values) - COLUMNS))
        values = values[low : low + COLUMNS]
    kept = values[:COLUMNS] if len(values) > COLUMNS else values
    words = statement.caption.rstrip(".")
    if not any(statement.cells[place].header for place in kept):
        said = ", ".join(_marked(statement, place, marked) for place in kept)
        return f"{label}: {said}" if said else label, ""
    rows = [
        ["", *(statement.cells[place].header for place in kept)],
        ["---"] * (1 + len(kept)),
        [label, *(_marked(statement, place, marked) for place in kept)],
    ]
    return words or label, "\n".join(f"| {' | '.join(_safe(row))} |" for row in rows)


def _marked(statement: Statement, place: int, marked: int | None) -> str:
    text = statement.cells[place].text
    return f"**{text}**" if place == marked else text


def _safe(row: Sequence[str]) -> list[str]:
    return [cell.replace("|", "\\|") for cell in row]
