"""A page of a document as it looks, and where cited words stand on it."""

from __future__ import annotations

from dataclasses import dataclass

from kedge.core.outside import outside


@outside()
@dataclass(frozen=True, slots=True)
class PagePlace:
    """A stretch of a line on a page, in shares of the page's width and height, from its upper left corner."""

    left: float
    top: float
    width: float
    height: float
    answers: bool = False
    """Whether it is the cell that answers; else it is a part of what is cited."""


@outside()
@dataclass(frozen=True, slots=True)
class PageView:
    """A page of a document: its size, and the places of the words that were asked for."""

    document_id: str
    page: int
    """Its number, from 1 on."""
    pages: int
    """Of the whole document."""
    width: float
    """In points."""
    height: float
    places: tuple[PagePlace, ...] = ()
    """In the order of the page; empty where the words were not found on it."""
