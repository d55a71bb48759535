"""Plain text to blocks: paragraphs between empty lines, underlined headings, indented code after `::`."""

from __future__ import annotations

import re

from kedge.core.values import Block, BlockKind, ParsedDocument
from kedge.ingest.parse.sections import Sections

_PARAGRAPH = re.compile(r"^[^\S\n]*+\S(?:.|\n(?![^\S\n]*+(?:\n|\Z)))*+", re.MULTILINE)
_UNDERLINED = re.compile(
    r"(?:([=\-~^\"'`#*+.:_])\1{2,}\r?\n)?"  # a line above, which some styles have
    r"[^\S\r\n]*(\S[^\n]{0,119}?)\r?\n"
    r"([=\-~^\"'`#*+])\3{2,}[^\S\n]*(?=\n|\Z)"
)
_LIST = re.compile(r"[^\S\n]*(?:[-*+•]|\d{1,3}[.)])\s+\S")
_TITLE_LENGTH = 100


class TextParser:
    """Parses a file, or one window of it after the other; sections go on from window to window."""

    def __init__(self) -> None:
        self._sections = Sections()
        self._levels: dict[str, int] = {}
        self._after_colons = False

    def parse(self, text: str) -> ParsedDocument:
        """Blocks of the next window."""
        blocks: list[Block] = []
        title: str | None = None
        for match in _PARAGRAPH.finditer(text):
            start, end = match.start(), match.start() + len(match.group().rstrip())
            heading = _UNDERLINED.match(text, start, end)
            if heading and self._is_heading(heading):
                title = title or heading[2].strip()
                blocks.append(self._heading(heading))
                start = heading.end()
            self._body(blocks, text, start, end)
        return ParsedDocument(text=text, blocks=tuple(blocks), title=title or _first_line(text))

    def _is_heading(self, match: re.Match[str]) -> bool:
        underline = match.end() - match.start(3)
        return underline >= min(len(match[2]), 40) and any(letter.isalnum() for letter in match[2])

    def _heading(self, match: re.Match[str]) -> Block:
        style = f"{match[1] or ''}{match[3]}"
        level = self._levels.setdefault(style, min(len(self._levels) + 1, 6))
        self._sections.enter(level, match[2].strip())
        return Block(BlockKind.HEADING, match.start(), match.end(), self._sections.path, level=level)

    def _body(self, blocks: list[Block], text: str, start: int, end: int) -> None:
        piece = text[start:end]
        indented = piece.lstrip("\r\n")[:1] in (" ", "\t")
        lead = len(piece) - len(piece.lstrip())
        if lead == len(piece):
            return
        kind = BlockKind.PARAGRAPH
        if self._after_colons and indented:
            kind, lead = BlockKind.CODE, len(piece) - len(piece.lstrip("\r\n"))
        elif _LIST.match(text, start + lead, end):
            kind = BlockKind.LIST
        if kind is not BlockKind.CODE:
            self._after_colons = piece.endswith("::")
        blocks.append(Block(kind, start + lead, end, self._sections.path))


def _first_line(text: str) -> str | None:
    """The first line, when it is short, stands alone and does not end like a sentence."""
    line, _, rest = text.lstrip().partition("\n")
    line = line.strip()
    alone = not rest.strip() or not rest.split("\n", 1)[0].strip()
    if not rest.strip() or not alone or len(line) > _TITLE_LENGTH or line[-1:] in ".,;:?!":
        return None
    return line if any(letter.isalpha() for letter in line) else None
