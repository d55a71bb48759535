"""Lines of pages to blocks: paragraphs joined, headings, code and tables told apart."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from statistics import median

from kedge.core.values import BlockKind
from kedge.ingest.parse.pdf.cells import segments
from kedge.ingest.parse.pdf.page import Line
from kedge.ingest.parse.typed import typed_parts

_EDGE_LINES = 3
_BULLET = re.compile(r"(?:[•●◦▪■‣∙·–*-]|\(?(?:\d{1,3}|[a-z]|[ivx]{1,4})[.)])\s+\S")
_NUMBERED = re.compile(r"(\d{1,2}(?:\.\d{1,2})*|[A-Z](?:\.\d{1,2})+)\.?\s+[A-Z]\S*")
_SUBSECTION = re.compile(r"(?:\d{1,2}|[A-Z])(?:\.\d{1,2}){1,3}\.?\s+[A-Z]{2}")
_WORD_HYPHEN = re.compile(r"(?<![^\W\d_])[^\W\d_]{2,}+-$")
_OPEN_END = re.compile(r"[^.!?:;”\"]$")
_HEADING_LENGTH = 120
_CODE_GAP, _WIDEST_GAP = 1.7, 200
"""Font sizes between lines of code from which on an empty one is between them, and blanks between two words of one."""
_SAME_LETTER = 0.04
"""Share by which the widths of letters of one font differ from line to line."""
_HEADING_GAP = 2.5
"""White space, in font sizes, that no heading has, but the labels of a drawing have."""
_TABLE_CAPTION = re.compile(r"(?:Table|TABLE|Tab\.)\s{1,3}[A-Z]{0,2}\.?\d{1,3}[a-z]?\s{0,2}[:.|–—]")


@dataclass(frozen=True, slots=True)
class LayoutPart:
    """A block before it has offsets."""

    kind: BlockKind
    text: str
    page: int
    level: int = 0


def body_size(pages: Sequence[Sequence[Line]]) -> float:
    """The font size most letters outside of tables have."""
    sizes: Counter[float] = Counter()
    for lines in pages:
        for line in lines:
            if line.table:
                continue
            sizes[round(line.size * 2) / 2] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def page_parts(lines: Sequence[Line], page: int, body: float) -> Iterator[LayoutPart]:
    """Blocks of one page in reading order; a table's caption stands before it, wherever the page has it."""
    parts: list[LayoutPart] = []
    for (table, _, code, label), group in groupby(
        with_own_edges(lines), key=lambda line: (line.table, line.gapped, line.code, line.label)
    ):
        rows = list(group)
        if table:
            parts.append(LayoutPart(BlockKind.TABLE, "\n".join(line.text for line in rows), page))
        elif label:
            parts.append(LayoutPart(BlockKind.PARAGRAPH, "; ".join(line.text for line in rows), page))
        elif code:
            parts.extend(LayoutPart(kind, text, page) for kind, text in typed_parts(_code(rows)))
        else:
            parts.extend(_part(paragraph, page, body) for paragraph in _paragraphs(rows, body))
    yield from _with_captions(_without_run_in(parts))


def _without_run_in(parts: Sequence[LayoutPart]) -> list[LayoutPart]:
    """The parts, what looks like a heading and goes on in the next line as its paragraph's beginning."""
    made: list[LayoutPart] = []
    for part in parts:
        before = made[-1] if made else None
        goes_on = part.kind is BlockKind.PARAGRAPH and part.text.partition(" ")[0].islower()
        if before is not None and before.kind is BlockKind.HEADING and goes_on and not _NUMBERED.match(before.text):
            made[-1] = replace(part, text=_join(before.text, part.text))
        else:
            made.append(part)
    return made


def with_own_edges(lines: Sequence[Line]) -> list[Line]:
    """The lines, the right edge of each column where several of its lines end: a table may reach further."""
    ends: dict[tuple[float, float], Counter[int]] = {}
    for line in lines:
        if not line.table:
            ends.setdefault(line.column, Counter())[round(line.x1 / 2)] += 1
    edges = {
        column: 2.0 * max((end for end, times in found.items() if times >= _EDGE_LINES), default=column[1] / 2)
        for column, found in ends.items()
    }
    return [
        replace(line, column=(line.column[0], edges[line.column])) if line.column in edges else line for line in lines
    ]


def _code(lines: Sequence[Line]) -> str:
    """Lines of code as they stand, with their indent and the gaps inside them and between them."""
    left = min(line.x0 for line in lines)
    usual = median(map(_letter_width, lines))
    made: list[str] = []
    for before, line in zip([None, *lines], lines, strict=False):
        if before is not None and before.y0 + before.y1 - line.y0 - line.y1 > 2 * _CODE_GAP * line.size:
            made.append("")
        own = _letter_width(line)
        wide = usual if abs(own - usual) < _SAME_LETTER * usual else own  # what is typed may be set in another font
        text = ""
        for word in line.words:
            at = round((word.x0 - left) / wide) if wide > 0 else 0
            text += " " * min(max(at - len(text), 1 if text else 0), _WIDEST_GAP) + word.text
        made.append(text)
    return "\n".join(made)


def _letter_width(line: Line) -> float:
    return sum(word.x1 - word.x0 for word in line.words) / max(sum(len(word.text) for word in line.words), 1)


def _with_captions(parts: Sequence[LayoutPart]) -> Iterator[LayoutPart]:
    """Tables with the captions that stand right above or, where there is none, right below them."""
    captions: dict[int, int] = {}
    for at, part in enumerate(parts):
        if part.kind is BlockKind.TABLE:
            near = [other for other in (at - 1, at + 1) if 0 <= other < len(parts) and other not in captions.values()]
            found = next((other for other in near if _TABLE_CAPTION.match(parts[other].text)), None)
            if found is not None and parts[found].kind is not BlockKind.TABLE:
                captions[at] = found
    for at, part in enumerate(parts):
        if at in captions:
            yield replace(part, text=f"{parts[captions[at]].text}\n{part.text}")
        elif at not in captions.values():
            yield part


def join_broken(parts: Sequence[LayoutPart]) -> list[LayoutPart]:
    """Put paragraphs together that a column or page border tore apart."""
    joined: list[LayoutPart] = []
    for part in parts:
        before = joined[-1] if joined else None
        torn = (
            before is not None
            and before.kind is part.kind is BlockKind.PARAGRAPH
            and part.page - before.page <= 1
            and part.text[:1].islower()
            and bool(_OPEN_END.search(before.text))
            and len(before.text) > 60
        )
        if torn and before is not None:
            joined[-1] = replace(before, text=_join(before.text, part.text))
        else:
            joined.append(part)
    return joined


def _paragraphs(lines: Sequence[Line], body: float) -> Iterator[list[Line]]:
    paragraph: list[Line] = []
    for line in lines:
        if paragraph and _starts_new(paragraph, line, body):
            yield paragraph
            paragraph = []
        paragraph.append(line)
    if paragraph:
        yield paragraph


def _starts_new(paragraph: Sequence[Line], line: Line, body: float) -> bool:
    before, size = paragraph[-1], paragraph[-1].size
    drop = (before.y0 + before.y1) / 2 - (line.y0 + line.y1) / 2
    if line.column != before.column or drop < -size or drop > 2.0 * size:
        return True
    if len(paragraph) > 1:
        usual = (paragraph[-2].y0 + paragraph[-2].y1) / 2 - (before.y0 + before.y1) / 2
        if drop > 1.35 * usual > 0:
            return True
    if abs(line.size - size) > 0.12 * body or before.bold != line.bold:
        return True
    if _BULLET.match(line.text) or (line.bold and _broke_early(before, line)):
        return True
    ended_short = before.x1 < line.column[1] - 4 * size and before.text[-1:] in '.:!?”"'
    width = line.column[1] - line.column[0]
    if size < 1.12 * body and before.x1 < line.column[1] - 0.25 * width and line.text[:1].isupper():
        return True
    indented = line.x0 > before.x0 + 0.7 * size and len(paragraph) > 1 and not _BULLET.match(paragraph[0].text)
    return ended_short or (indented and before.text[-1:] in '.:!?”")')


def _broke_early(before: Line, line: Line) -> bool:
    """Whether a line at the left begins anew though its first word would have fitted into the one above."""
    first = line.words[0]
    fitted = before.x1 + first.x1 - first.x0 + 1.5 * line.size < line.column[1]
    return fitted and abs(line.x0 - before.x0) < 0.5 * line.size and abs(line.x0 - line.column[0]) < 2 * line.size


def _part(lines: Sequence[Line], page: int, body: float) -> LayoutPart:
    text = lines[0].text
    for line in lines[1:]:
        text = _join(text, line.text)
    level = _heading_level(lines, text, body)
    if level:
        return LayoutPart(BlockKind.HEADING, text, page, level)
    return LayoutPart(BlockKind.LIST if _BULLET.match(text) else BlockKind.PARAGRAPH, text, page)


def _heading_level(lines: Sequence[Line], text: str, body: float) -> int:
    """1–4 for a heading, 0 for text. Numbers say the depth, else the font does."""
    size = max(line.size for line in lines)
    large = size >= 1.12 * body
    bold = all(line.bold for line in lines) and size > 0.9 * body
    letters = sum(letter.isalpha() for letter in text)
    apart = any(len(segments(line, _HEADING_GAP)) > 1 for line in lines)
    fits = len(lines) <= 3 and not apart and len(text) <= _HEADING_LENGTH and letters >= max(3, 0.5 * len(text))
    capitals = len(lines) == 1 and text.isupper() and _SUBSECTION.match(text) is not None
    if (
        not fits
        or not (large or bold or capitals)
        or text[-1:] in ".,;-"
        or (_BULLET.match(text) and not _NUMBERED.match(text))
    ):
        return 0
    numbered = _NUMBERED.match(text)
    if numbered:
        return min(2 + numbered[1].count("."), 6)
    return 1 if size >= 1.6 * body else 2 if large else 3


def _join(text: str, following: str) -> str:
    """Two lines as one; a word divided at the line's end is put together again."""
    if _WORD_HYPHEN.search(text) and following[:1].islower():
        return text[:-1] + following
    return f"{text} {following}"
