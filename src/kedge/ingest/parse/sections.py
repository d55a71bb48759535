"""The path of headings above a place in a document."""

from __future__ import annotations


class Sections:
    """Enter headings as they come; `path` is where you are, outermost first."""

    def __init__(self) -> None:
        self._open: list[tuple[int, str]] = []

    def enter(self, level: int, title: str) -> None:
        """A heading of this level begins; it closes all of the same or a deeper level."""
        while self._open and self._open[-1][0] >= level:
            self._open.pop()
        self._open.append((level, title))

    @property
    def path(self) -> tuple[str, ...]:
        """Titles of the open sections; empty headings do not count."""
        return tuple(title for _, title in self._open if title)
