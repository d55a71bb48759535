"""A passage's text cut into statements: sentences, rows of tables, list items with their lead-in, code blocks.

Headings are none: a heading is never an answer, unless it says when (`1.4.0 (2024-07-05)`). Everything is found by
lines, so that time grows with the text.
"""

from __future__ import annotations

import re
from collections.abc import Generator

from kedge.text.sentences import sentences
from kedge.text.statements.markup import plain
from kedge.text.statements.rows import TableLine, is_caption, rows
from kedge.text.statements.statement import Statement

MAX_CODE = 1200
"""Characters of a code block that are read."""
MAX_LEAD = 240
"""Characters of the sentence before an item or a code block that are read with it."""
_FENCE = re.compile(r"\s{0,8}(```+|~~~+)")
_BULLET = re.compile(r"\s{0,12}(?:[-*+•‣▪]|\d{1,3}[.)]|\(?[a-z][.)])\s+(?=\S)")
_FORMULA = re.compile(r"\s{0,8}(?:\$\$|\\\[)")
_FORMULA_ENDS = re.compile(r"\S\s*(?:\$\$|\\\])\W{0,3}\Z|\A\s*(?:\$\$|\\\])[.,;]?\s*\Z")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.?"
_DATE = re.compile(
    rf"\b(?:(?:19|20)\d\d[-/]\d\d?[-/]\d\d?|\d{{1,2}}\.? {_MONTH} (?:19|20)\d\d|{_MONTH} \d{{1,2}},? (?:19|20)\d\d)\b",
    re.IGNORECASE,
)
"""A day with its year."""
_NUMBERED = re.compile(r"\A(?:\d{1,2}(?:\.\d{1,2}){0,3}[.)]|\d{1,2}(?:\.\d{1,2}){1,3})\s+(?=\D)")
_UNDERLINE = re.compile(r"([=~^\"'`#*+.-])\1{2,}\s*")
_DIRECTIVE = re.compile(r"\s{0,12}(?:\.\.\s|:::|\{%|<!--|\[(?!\^)[^\]\n]{1,80}\]:\s|@)")
_FOOTNOTE = re.compile(r"\s{0,3}\[\^[^\]\n]{1,80}\]:\s+(?=\S)")
"""What a footnote begins with; its words follow."""
_NO_COLUMNS = re.compile(r"`[^`\n]{1,400}`|\$[^$\n]{1,400}\$")
"""Code and formulas inside a line: their bars part no columns."""
_CODE_DIRECTIVE = re.compile(r"\s{0,12}\.\.\s+(?:code-block|code|sourcecode|doctest|testcode|ipython|prompt)::")
_PROMPT = re.compile(r"\s{0,8}>>> ")
_OPTION = re.compile(r"\s{1,12}:[a-z-]{1,30}:(?:\s|$)")
_UNIT = re.compile(
    r"\((?=[^()\n]{0,120}\bin (?:millions|thousands|billions)\b)([^()\n]{1,120})\)"
    r"|\b(in (?:millions|thousands|billions)[^.;\n]{0,60})",
    re.I,
)
_LINK_ALONE = re.compile(r"\W{0,4}(?:\[[^\]\n]{1,300}\]\([^)\n]{0,500}\)|:(?:doc|ref):`[^`\n]{1,300}`)\W{0,4}")
"""An entry of a table of contents: it says where something is, and nothing about it."""
_WORD = re.compile(r"[^\W_]{2,}|\d")
_BOX = re.compile(r"\A\[[ xX]\]\s*")
"""What marks an item as done or to be done."""
_COLUMNS = re.compile(r"\S {3,}\S")
_FIELD = re.compile(r"\s{0,8}[*_]{0,2}[A-ZÀ-Þ][^.:!?\n]{0,30}:[*_]{0,2}\s+\S")
"""A line such as `Status: accepted`."""
_WRAPPED = 0.6
"""Least share of the widest line of a line that goes on in the next."""
_TERM = re.compile(r"(?![-*+>|#:`.~=]|\d+[.)])[^\s.!?:;,|](?:[^.!?:;|\n]{0,70}[^\s.!?:;,|])?\s*")
"""A line that may be a term, with its definition below it."""
_TERM_WORDS = 8
_DEFINITION = re.compile(r"(?P<mark>\s{0,3}:\s+|\s{2,8}(?=[\"“A-ZÀ-Þ*`]))(?=\S)")
_DEFINITION_MARK = re.compile(r"\s{0,3}:\s")
_NAMES, _LONGEST_NAME = 4, 90
"""Lines ahead among which a table must go on, and characters of a line that names a part of it."""
_WORDS, _FIGURES = re.compile(r"\b[^\W\d_]{2,}\b|[\u2e80-\u9fff]{2,}"), re.compile(r"\b\d\w*")
_CODE_LINE = re.compile(
    r"""
    \s*(?:(?:[\w.\[\]'"]+,\s)*[\w.\[\]'"]+\s?(?:[-+*/|]?=)\s?\S   # an assignment
    | (?:def|class|with|for|if|elif|else|while|try|except|finally|async|switch|do)\b[^.!?]*[:{]\s*\Z
    | (?:from\s[\w.]+\s)?import\s[\w.*,\s]+\Z
    | (?:await\s|return\s|yield\s|raise\s)?[\w.]+\([^)]*\)?[,;:]?\s*(?:\#.*)?\Z
    | (?:return|raise|yield|await|print)\b\s?[\w.(\["'-]*\S*\Z
    | \#(?:\s\w|!/) | \$\s\w | [\]})]+[,;]?\s*\Z | @\w[\w.]*(?:\(.*\))?\s*\Z)
    """,
    re.VERBOSE,
)
"""A line that is code by its looks: where a passage begins inside a block, nothing announces it."""
_GOES_ON = re.compile(r"(?<![.!?:;])\n(?=[^\S\n]{0,12}(?:[a-z(]|[*_`]{1,2}[a-z]|:[a-z]{2,12}:`))")
"""A line break inside a sentence."""


def statements(text: str, caption: str = "", before: str = "", table_head: str = "") -> list[Statement]:
    """The statements of a passage in order, not overlapping.

    `caption` is what its tables are called (the section's heading), `before` the end of the passage before it: its last
    sentence may lead in, and say a table's unit. `table_head` are the headers of the table that the text begins inside.
    """
    return list(_Cutter(text, caption, before, table_head).cut())


class _Cutter:
    def __init__(self, text: str, caption: str, before: str, table_head: str) -> None:
        self._text = text
        self._caption = plain(caption)
        self._lines = _lines(text)
        self._table_head = table_head
        self._lead = _last_sentence(before)
        """The sentence said last, which may announce what follows."""
        self._unit = _unit_in(before)
        self._announced = self._lead.rstrip().endswith("::")
        """Whether what was said last announces a block of code."""
        self._headed = ""
        """The heading that stands right above; empty where something was said since."""

    def cut(self) -> Generator[Statement, None, None]:
        at = 0
        while at < len(self._lines):
            line = self._lines[at]
            if self._is_heading(at):
                self._headed = _heading(line.text) or self._headed
                self._caption = self._headed or self._caption
                yield from self._dated(at)
                at += 1
                continue
            if not line.text.strip() or self._is_called(at):
                at += 1
                continue
            if not _BULLET.match(line.text):
                self._headed = ""
            if _FENCE.match(line.text):
                at = yield from self._code(at)
            elif _FORMULA.match(line.text):
                at = yield from self._formula(at)
            elif _PROMPT.match(line.text) or self._is_literal(at) or self._is_bare_code(at):
                at = yield from self._literal(at)
            elif _is_row(line.text):
                at = yield from self._table(at)
            elif _BULLET.match(line.text):
                at = yield from self._item(at)
            elif self._is_term(at):
                at = yield from self._definition(at)
            elif _DIRECTIVE.match(line.text) or _OPTION.match(line.text):
                self._announced = self._announced or _CODE_DIRECTIVE.match(line.text) is not None
                at += 1
            else:
                at = yield from self._prose(at)

    def _is_called(self, at: int) -> bool:
        """Whether a line is what the table below it is called: it is read with every row."""
        if not is_caption(self._lines[at].text):
            return False
        below = next((line.text for line in self._lines[at + 1 : at + 3] if line.text.strip()), "")
        return _is_row(below)

    def _dated(self, at: int) -> Generator[Statement, None, None]:
        """A heading that says when something was."""
        line = self._lines[at]
        if is_dated(line.text):
            start = line.start + len(line.text) - len(_HEADING.sub("", line.text).lstrip())
            end = line.start + len(line.text.rstrip())
            yield Statement("sentence", start, end, plain(self._text[start:end]))

    def _is_heading(self, at: int) -> bool:
        text = self._lines[at].text
        if _HEADING.match(text) or self._is_underline(at):
            return True
        return self._is_underline(at + 1) and not _is_row(text) and not _FENCE.match(text)

    def _is_underline(self, at: int) -> bool:
        """Whether a line stands below (or above) a heading; one of ``` or ~~~ is a fence unless it is as long."""
        text = self._lines[at].text if at < len(self._lines) else ""
        if _UNDERLINE.fullmatch(text) is None:
            return False
        above = self._lines[at - 1].text.strip() if at else ""
        return text[0] not in "`~" or (len(text.rstrip()) > 3 and 0 < len(above) <= len(text.rstrip()) + 2)

    def _code(self, at: int) -> Generator[Statement, None, int]:
        fence = _FENCE.match(self._lines[at].text)
        assert fence is not None
        last = at + 1
        while last < len(self._lines) and not self._lines[last].text.strip().startswith(fence[1]):
            last += 1
        end = min(last, len(self._lines) - 1)
        start, stop = self._lines[at].start, self._lines[end].start + len(self._lines[end].text)
        inside = self._text[self._lines[at].start + len(self._lines[at].text) : self._lines[end].start].strip("\n")
        lead = f"{_end_of(self._lead)} " if self._lead else ""
        if inside.strip():
            yield Statement("code", start, stop, lead + inside[:MAX_CODE], (), lead)
        return last + 1

    def _formula(self, at: int) -> Generator[Statement, None, int]:
        """A formula on lines of its own, with the sentence that announces it."""
        last = at
        while last + 1 < len(self._lines) and not _FORMULA_ENDS.search(self._lines[last].text):
            last += 1
        start, stop = self._lines[at].start, self._lines[last].start + len(self._lines[last].text.rstrip())
        lead = f"{_end_of(self._lead)} " if self._lead else ""
        yield Statement("formula", start, stop, lead + self._text[start:stop][:MAX_CODE], (), lead)
        return last + 1

    def _is_literal(self, at: int) -> bool:
        """Whether an indented block begins that `::` or a code directive announced."""
        return self._announced and self._lines[at].text[:1] in " \t" and not _OPTION.match(self._lines[at].text)

    def _is_bare_code(self, at: int) -> bool:
        """Whether a passage begins with lines most of which are code."""
        if at or self._announced:
            return False
        block = self._block(at)
        lines = [line.text for line in self._lines[at:block] if line.text.strip()]
        return sum(_CODE_LINE.match(text) is not None for text in lines) * 3 > 2 * len(lines)

    def _block(self, at: int) -> int:
        """Behind the last line before an empty one."""
        while at < len(self._lines) and self._lines[at].text.strip():
            at += 1
        return at

    def _literal(self, at: int) -> Generator[Statement, None, int]:
        """An indented block of code, or what was typed at a prompt with what came back."""
        indented = self._is_literal(at)
        self._announced = False
        last = at
        while last < len(self._lines):
            text = self._lines[last].text
            blank = not text.strip()
            following = self._lines[last + 1].text if last + 1 < len(self._lines) else ""
            if (indented and not blank and text[:1] not in " \t") or (blank and not indented):
                break
            if blank and following[:1] not in " \t":
                break
            last += 1
        start, stop = self._lines[at].start, self._lines[last - 1].start + len(self._lines[last - 1].text)
        lead = f"{_end_of(self._lead)} " if self._lead else ""
        yield Statement("code", start, stop, lead + self._text[start:stop].strip("\n")[:MAX_CODE], (), lead)
        return max(last, at + 1)

    def _table(self, at: int) -> Generator[Statement, None, int]:
        last = at
        while last < len(self._lines) and self._goes_on(last):
            last += 1
        unit = _unit_in(self._text[max(0, self._lines[at].start - 400) : self._lines[at].start]) or self._unit
        before = [line.text for line in self._lines[max(0, at - 2) : at] if line.text.strip()]
        above = before[-1] if before and is_caption(before[-1]) else ""
        if not before and not any(line.text.strip() for line in self._lines[:at]):
            above = self._table_head
        yield from rows(self._lines[at:last], self._caption, unit, above)
        return max(last, at + 1)

    def _goes_on(self, at: int) -> bool:
        """Whether a line belongs to a table: a row, or a few short lines between rows, such as `Net sales:`."""
        text = self._lines[at].text
        if _is_row(text) or (text.strip() and set(text.strip()) <= set("|-:=+ ")):
            return True
        for line in self._lines[at : at + _NAMES]:
            if _is_row(line.text):
                return True
            if not line.text.strip() or len(line.text) >= _LONGEST_NAME or _HEADING.match(line.text):
                break
        return False

    def _item(self, at: int) -> Generator[Statement, None, int]:
        last = at + 1
        while last < len(self._lines) and self._continues_item(last):
            last += 1
        bullet = _BULLET.match(self._lines[at].text)
        assert bullet is not None
        start = self._lines[at].start + bullet.end()
        stop = self._lines[last - 1].start + len(self._lines[last - 1].text.rstrip())
        lead = f"{_end_of(self._lead)} " if self._lead.rstrip("*_ ").endswith((":", "：")) else ""
        if self._headed:
            lead = f"{self._headed}: "
        said = _BOX.sub("", plain(self._text[start:stop]))
        if _WORD.search(said) and not _LINK_ALONE.fullmatch(self._text[start:stop]):
            yield Statement("item", start, stop, lead + said, (), lead)
        return last

    def _is_term(self, at: int) -> bool:
        """Whether a line is a term whose definition stands below it, indented or behind a colon."""
        text = self._lines[at].text
        if not _TERM.fullmatch(text) or len(text.split()) > _TERM_WORDS or at + 1 >= len(self._lines):
            return False
        if at and self._lines[at - 1].text.strip() and not _DIRECTIVE.match(self._lines[at - 1].text):
            return False
        below = self._lines[at + 1].text
        return _DEFINITION.match(below) is not None and not _CODE_LINE.match(below) and _WORD.search(text) is not None

    def _definition(self, at: int) -> Generator[Statement, None, int]:
        """The first paragraph of a definition, with its term."""
        mark = _DEFINITION.match(self._lines[at + 1].text)
        assert mark is not None
        last = at + 2
        while (
            last < len(self._lines)
            and self._continues_item(last)
            and not _DEFINITION_MARK.match(self._lines[last].text)
        ):
            last += 1
        start = self._lines[at + 1].start + mark.end()
        stop = self._lines[last - 1].start + len(self._lines[last - 1].text.rstrip())
        lead = f"{plain(self._lines[at].text)}: "
        said = plain(self._text[start:stop])
        if _says_something(said):
            self._lead = said
            yield Statement("item", start, stop, lead + said, (), lead)
        return last

    def _continues_item(self, at: int) -> bool:
        text = self._lines[at].text
        return bool(text.strip()) and not _BULLET.match(text) and not _FENCE.match(text) and text[:1] in " \t"

    def _prose(self, at: int) -> Generator[Statement, None, int]:
        last = at
        while last < len(self._lines) and self._is_prose(last):
            last += 1
        last = max(last, at + 1)
        start, stop = self._lines[at].start, self._lines[last - 1].start + len(self._lines[last - 1].text)
        for begin, end in self._runs(at, last):
            footnote = _FOOTNOTE.match(self._text, begin)
            begin = footnote.end() if footnote else begin  # noqa: PLW2901 (the mark is none of its words)
            for left, right in sentences(_GOES_ON.sub(" ", self._text[begin:end])):
                said = plain(self._text[begin + left : begin + right]).lstrip(":> ")
                if _says_something(said):
                    self._lead = said
                    yield Statement("sentence", begin + left, begin + right, said)
        self._unit = _unit_in(self._text[start:stop]) or self._unit
        self._announced = self._text[start:stop].rstrip().endswith("::")
        return last

    def _runs(self, at: int, last: int) -> Generator[tuple[int, int], None, None]:
        """The block in parts that sentences do not cross: lines that are wrapped go on, lines of a list stand alone."""
        widest = max(len(line.text) for line in self._lines[at:last])
        start = at
        for place in range(at + 1, last + 1):
            if place == last or self._stands_alone(place, widest):
                end = self._lines[place - 1]
                yield self._lines[start].start, end.start + len(end.text)
                start = place

    def _stands_alone(self, at: int, widest: int) -> bool:
        """Whether a line begins something new."""
        before, text = self._lines[at - 1].text.rstrip(), self._lines[at].text
        if _COLUMNS.search(text.strip()) and _COLUMNS.search(before.strip()):
            return True
        if text.lstrip()[:1].islower() or before.endswith((",", "-")):
            return False
        begins = _FIELD.match(text) or _FOOTNOTE.match(text)
        return begins is not None or len(before) < _WRAPPED * widest

    def _is_prose(self, at: int) -> bool:
        text = self._lines[at].text
        special = (
            _PROMPT.match(text)
            or _FENCE.match(text)
            or _FORMULA.match(text)
            or _is_row(text)
            or _BULLET.match(text)
            or _DIRECTIVE.match(text)
        )
        return bool(text.strip()) and not special and not self._is_heading(at)


def is_dated(heading: str) -> bool:
    """Whether a heading says of something on which day it was: `1.4.0 (2024-07-05)`; a day alone says nothing."""
    return _DATE.search(heading) is not None and _WORD.search(_DATE.sub(" ", heading)) is not None


def _end_of(lead: str) -> str:
    """The end of a sentence that leads in, from the beginning of a word."""
    said = plain(lead)
    return said if len(said) <= MAX_LEAD else said[-MAX_LEAD:].partition(" ")[2] or said[-MAX_LEAD:]


def _heading(line: str) -> str:
    """The words of a heading; empty for the line below one."""
    said = _NUMBERED.sub("", plain(_HEADING.sub("", line)).strip("#:： "))[-MAX_LEAD:]
    return said if _WORD.search(said) else ""


def _says_something(said: str) -> bool:
    """Whether it is more than a number or the labels of a drawing."""
    words, figures = len(_WORDS.findall(said)), len(_FIGURES.findall(said))
    return words > 1 and (words > figures or said.rstrip().endswith((".", ":", "!", "?")))


def _lines(text: str) -> list[TableLine]:
    found: list[TableLine] = []
    at = 0
    for line in text.split("\n"):
        found.append(TableLine(at, line))
        at += len(line) + 1
    return found


def _is_row(text: str) -> bool:
    return " | " in _NO_COLUMNS.sub("", text) or (text.lstrip().startswith("|") and text.count("|") > 1)


def _last_sentence(text: str) -> str:
    tail = text[-600:]
    spans = sentences(tail)
    return tail[slice(*spans[-1])] if spans else ""


def _unit_in(text: str) -> str:
    found = list(_UNIT.finditer(text))
    return " ".join((found[-1][1] or found[-1][2]).partition(",")[0].split()).lower() if found else ""
