"""Token buckets: so many requests in a minute for each caller, a few seconds' worth of them at once."""

from __future__ import annotations

import math
import time
from collections import OrderedDict
from collections.abc import Callable

BURST_SECONDS = 10.0
"""A caller that was quiet may send so many seconds' worth at once."""
MOST_CALLERS = 10_000
"""Callers that are remembered; those that were quiet longest go first."""


class Buckets:
    """One bucket for each caller. A caller that is forgotten starts with a full one."""

    def __init__(
        self, per_minute: int, *, most: int = MOST_CALLERS, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._rate = per_minute / 60
        self.size = max(1.0, self._rate * BURST_SECONDS)
        self._most = most
        self._clock = clock
        self._kept: OrderedDict[str, tuple[float, float]] = OrderedDict()
        """By caller: tokens left, and when that was."""

    def take(self, caller: str) -> float:
        """Take one token. 0 if there was one, else the seconds until there is."""
        left = self.left(caller)
        taken = left >= 1
        self._kept[caller] = (left - 1 if taken else left, self._clock())
        self._kept.move_to_end(caller)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return 0.0 if taken else self._wait(left)

    def left(self, caller: str) -> float:
        """Tokens in the caller's bucket now."""
        if not self._rate:
            return math.inf
        tokens, since = self._kept.get(caller, (self.size, self._clock()))
        return min(self.size, tokens + (self._clock() - since) * self._rate)

    def _wait(self, left: float) -> float:
        return 0.0 if left >= 1 else (1 - left) / self._rate
