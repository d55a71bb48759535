"""Many items in lists that a store takes at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TypeVar

T = TypeVar("T")

IN_LIST = 500
"""Bound parameters per statement: well below SQLite's limit, large enough to be fast."""


def batches(items: Iterable[T], size: int = IN_LIST) -> Iterator[list[T]]:
    """The items in lists short enough for one statement.

    >>> list(batches("abcde", 2))
    [['a', 'b'], ['c', 'd'], ['e']]
    """
    iterator = iter(items)
    while batch := list(islice(iterator, size)):
        yield batch
