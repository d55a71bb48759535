"""What each stage of the work costs in processor time.

A process has one clock of processor time for all its threads, those of the models' libraries too. What goes by on it
between two events is shared out in equal parts among the stages that run then: with one question at a time that is what
each stage costs, with many at a time it is a fair estimate.
"""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable
from contextvars import ContextVar, Token

WAITS = frozenset({"wait", "llm"})
"""Stages that wait for others and take no part."""


class Running:
    """A stage that runs."""

    def __init__(self, name: str, holder: Running | None) -> None:
        self.name = name
        self.holder = holder
        """The stage that it is a part of."""
        self.parts = 0
        """How many of its parts run: meanwhile it does nothing itself."""
        self.token: Token[Running | None] | None = None


_holder: ContextVar[Running | None] = ContextVar("kedge_running_stage", default=None)


class Shares:
    """Shares the processor's time out among the stages that run, and tells what each gets."""

    def __init__(self, tell: Callable[[str, float], None], clock: Callable[[], float] = time.process_time) -> None:
        """`tell` is called with a stage and seconds; stages may begin and end in any thread."""
        self._tell = tell
        self._clock = clock
        self._lock = threading.Lock()
        self._working: Counter[str] = Counter()
        """How many run of each stage, without those whose parts run."""
        self._last = clock()

    def begin(self, name: str, *, holds: bool) -> Running:
        """A stage begins; `holds`: what begins in this context until its end is a part of it."""
        running = Running(name, _holder.get())
        with self._lock:
            self._share()
            if running.holder is not None:
                running.holder.parts += 1
                if running.holder.parts == 1:
                    self._working[running.holder.name] -= 1
            self._working[name] += 1
        if holds:
            running.token = _holder.set(running)
        return running

    def end(self, running: Running) -> None:
        """It has ended."""
        if running.token is not None:
            _holder.reset(running.token)
        with self._lock:
            self._share()
            self._working[running.name] -= 1
            if running.holder is not None:
                running.holder.parts -= 1
                if running.holder.parts == 0:
                    self._working[running.holder.name] += 1

    def _share(self) -> None:
        now = self._clock()
        spent, self._last = now - self._last, now
        working = {name: count for name, count in self._working.items() if count > 0 and name not in WAITS}
        every = sum(working.values())
        if every and spent > 0:
            for name, count in working.items():
                self._tell(name, spent * count / every)
