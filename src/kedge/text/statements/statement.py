"""What a statement is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

StatementKind = Literal["sentence", "row", "item", "code", "formula"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell of a row."""

    header: str
    """What stands above it: all header rows that reach over its column, joined; empty where there is none."""
    start: int
    """Offset of its first character in the passage's text."""
    end: int
    """Offset behind its last character."""
    text: str = ""
    """What stands in it, without markup."""
    read: str = ""
    """How it stands in what is read of its row: behind what stands above it, as far as that is not said for all."""


@dataclass(frozen=True, slots=True)
class Statement:
    """A stretch of a passage that says one thing: `passage.text[start:end]`."""

    kind: StatementKind
    start: int
    end: int
    read: str
    """What is read of it: a row with its caption, unit and headers, an item with the sentence that leads in; without
    markup."""
    cells: tuple[Cell, ...] = ()
    """Of a row, in order; its label is the first, without a header where the column has none."""
    lead: str = ""
    """What `read` begins with and the passage does not say at this place."""
    group: str = ""
    """Of a row, what the rows of its part of the table are called, such as `Net sales`; empty where they are not."""
    caption: str = ""
    """Of a row, what its table is called, with its unit; `lead` has the beginning of it."""
    table: int = -1
    """Of a row, offset of the first line of its table in the passage's text."""
