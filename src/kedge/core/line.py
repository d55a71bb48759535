"""A line for work that fills a processor: so many at once, the others tenant by tenant, and none waits for too long."""

from __future__ import annotations

import asyncio
import math
import os
import time
from collections import OrderedDict, deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from kedge.core.errors import OverloadedError
from kedge.core.stages import stage

SHARE = 0.2
"""How much the newest counts in what one is expected to take."""
PATIENCE = 2.0
"""How many times the longest wait one that was let in may take."""


class WaitingLine:
    """Places for work, given to the tenants that wait in turn. Used from one event loop.

    With `longest`, whoever is expected to wait longer than so many seconds is refused at once. Whoever was let in
    and did wait `PATIENCE` times as long is refused then: what was expected is a guess.
    """

    def __init__(self, places: int = 0, longest: float = 0.0, clock: Callable[[], float] = time.monotonic) -> None:
        """`places`: how many work at once; 0: two for each core. `longest`: 0 for no limit."""
        self.longest = longest
        self._places = places or 2 * (os.cpu_count() or 1)
        self._clock = clock
        self._taken = 0
        self._seconds = 0.0
        """What one took of late."""
        self._waiting: OrderedDict[str, deque[asyncio.Future[None]]] = OrderedDict()
        """By tenant, whose turn is next first; each in the order of its coming."""

    @asynccontextmanager
    async def place(self, tenant: str) -> AsyncIterator[None]:
        """Do the block when it is its turn. OverloadedError."""
        if self._taken < self._places and not self._waiting:
            self._taken += 1
        else:
            await self._wait(tenant)
        started = self._clock()
        try:
            yield
        finally:
            took = self._clock() - started
            self._seconds = took if not self._seconds else (1 - SHARE) * self._seconds + SHARE * took
            self._leave()

    def expected(self, tenant: str) -> float:
        """Seconds that one more of this tenant would wait, as far as the last ones tell."""
        ahead = len(self._waiting.get(tenant, ()))
        before = sum(min(len(queue), ahead + 1) for name, queue in self._waiting.items() if name != tenant) + ahead
        return (before + 1) * self._seconds / self._places

    async def _wait(self, tenant: str) -> None:
        expected = self.expected(tenant)
        if self.longest and expected > self.longest:
            raise self._full(expected)
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(tenant, deque()).append(turn)
        with stage("wait"):
            try:
                async with asyncio.timeout(PATIENCE * self.longest or None):
                    await turn
            except BaseException as error:
                if turn.done() and not turn.cancelled():
                    self._leave()  # its turn came as it gave up
                else:
                    self._forget(tenant, turn)
                if isinstance(error, TimeoutError):
                    raise self._full(self.expected(tenant)) from error
                raise

    def _leave(self) -> None:
        """A place is free: it goes to the first, of the tenant whose turn it is, who has not given up."""
        while self._waiting:
            tenant, queue = next(iter(self._waiting.items()))
            turn = queue.popleft()
            self._waiting.move_to_end(tenant)
            if not queue:
                del self._waiting[tenant]
            if not turn.done():
                turn.set_result(None)
                return
        self._taken -= 1

    def _forget(self, tenant: str, turn: asyncio.Future[None]) -> None:
        """It has given up, and may have been passed over already."""
        queue = self._waiting.get(tenant)
        if queue is not None and turn in queue:
            queue.remove(turn)
            if not queue:
                del self._waiting[tenant]

    def _full(self, expected: float) -> OverloadedError:
        after = max(1, math.ceil(expected - self.longest))
        return OverloadedError(
            f"So many questions wait that this one would wait for more than {self.longest:g} s.",
            hint=f"Try again in {after} s. answer_wait sets how long a question may wait.",
            details={"retry_after": after, "limit": "answers", "most": self._places},
        )
