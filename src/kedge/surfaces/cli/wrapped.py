"""Text in a terminal: broken between words at its width, but never inside code or a table."""

from __future__ import annotations

import re

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

MARK = re.compile(r"\[(?:Node )?\d+\]")
MARK_STYLE = "bold cyan"
_PART = re.compile(r"\[(?:Node )?\d+\]|\n|[^\S\n]+|[^\s\[]+|\[")
_FENCES = ("```", "~~~")
_BOLD = re.compile(r"(?<![\w*])\*\*(?=\S)|(?<=[^\s*])\*\*(?![\w*])")
"""Where bold begins or ends: not inside `x**2`."""
_CODE_INDENT = 4


class Flow:
    """Writes text piece by piece, broken between words at the terminal's width."""

    def __init__(self, out: Console) -> None:
        self._out = out
        self._column = 0
        self._space = ""
        self._fenced = False
        self._kept = False
        """Whether this line stays as it is: a row of a table, or code."""
        self._bold = False

    def write(self, text: str) -> None:
        """Show it now. Space is held back until a word follows it."""
        for part in _PART.findall(text):
            if part == "\n":
                self._break()
            elif part.isspace():
                self._space += part
            else:
                self._word(part)

    def end(self) -> None:
        """Close the line."""
        self._break()

    def _word(self, word: str) -> None:
        if self._column == 0:
            self._begin(word)
        pieces = [word] if self._fenced else _BOLD.split(word)
        width = cell_len("".join(pieces))
        if self._space and not self._kept and self._column + len(self._space) + width > self._out.width:
            self._put("\n")
            self._column, self._space = 0, ""
        self._put(self._space)
        for place, piece in enumerate(pieces):
            self._bold ^= place > 0
            self._put(piece, MARK_STYLE if MARK.fullmatch(piece) else "bold" if self._bold else "")
        self._column += len(self._space) + width
        self._space = ""

    def _begin(self, word: str) -> None:
        """A line begins with this word: is it one that must not be broken?"""
        fence = word.startswith(_FENCES)
        self._kept = fence or self._fenced or word.startswith("|") or len(self._space.expandtabs(4)) >= _CODE_INDENT
        self._fenced ^= fence

    def _break(self) -> None:
        self._bold = False
        self._put("\n")
        self._column, self._space, self._kept = 0, "", False

    def _put(self, text: str, style: str = "") -> None:
        self._out.print(Text(text, style=style), end="", soft_wrap=True)
