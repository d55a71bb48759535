"""A bound on the time that cutting a text may take, kept by whoever cuts: a thread cannot be ended from outside."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeVar

from kedge.core.errors import TooCostlyError

S = TypeVar("S")


class CutClock:
    """Counts tokens, which whoever cuts does all the time, and stops it when a segment takes too long.

    What is measured is the processor's time of the thread that cuts, so that a busy machine stops nothing.
    """

    def __init__(self, count_tokens: Callable[[Sequence[str]], list[int]], seconds: float, name: str) -> None:
        self._count = count_tokens
        self._seconds = seconds
        self._name = name
        self._until = float("inf")

    def each(self, segments: Iterable[S]) -> Iterator[S]:
        """The same segments; with each the time begins anew."""
        for segment in segments:
            self._until = time.thread_time() + self._seconds
            yield segment

    def __call__(self, texts: Sequence[str]) -> list[int]:
        """Tokens of each text. TooCostlyError."""
        if time.thread_time() > self._until:
            raise TooCostlyError(
                f"Cutting {self._name} was stopped: it took longer than {self._seconds:g} s.",
                hint="Split the file, or raise parse_timeout if you trust it.",
                details={"exceeded": "time"},
            )
        return self._count(texts)
