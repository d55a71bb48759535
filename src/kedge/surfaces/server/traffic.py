"""Everything that goes on in a server at the moment: requests in flight with their clocks, and the limits on them."""

from __future__ import annotations

import asyncio
import math
import time
from collections import Counter
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from kedge.core import telemetry
from kedge.core.errors import OverloadedError, RateError
from kedge.core.settings import Settings
from kedge.core.stages import Fact
from kedge.core.telemetry import Metrics
from kedge.surfaces.server.rates import Buckets

RETRY_SECONDS = 1
"""What is said to callers that a full server refuses."""
REFUSING_SECONDS = 5.0
"""For so long after it refused a request a server says that it is full."""
Late: TypeAlias = Literal["request", "stream", "wait"]


class Traffic:
    """Counts requests and streams and refuses those beyond the limits, at once: nobody waits in line."""

    def __init__(self, settings: Settings, metrics: Metrics) -> None:
        self.settings = settings
        self.metrics = metrics
        self.requests = 0
        self.streams = 0
        self.draining = False
        """The server stops: it ends what it has begun."""
        self._callers: Counter[str] = Counter()
        """By caller, requests in work."""
        self._refused_at = -math.inf
        self._reads = Buckets(settings.rate_reads)
        self._writes = Buckets(settings.rate_writes)

    def enter(self) -> None:
        """One request more. OverloadedError."""
        if self.requests >= self.settings.max_requests:
            self._refused_at = time.monotonic()
            raise self._full("requests", self.settings.max_requests, "max_requests")
        self.requests += 1

    def leave(self) -> None:
        """It has ended."""
        self.requests -= 1

    @property
    def refuses(self) -> bool:
        """Requests are refused now, or were a moment ago, because too many are in work."""
        full = self.requests >= self.settings.max_requests
        return full or time.monotonic() - self._refused_at < REFUSING_SECONDS

    def enter_as(self, caller: str) -> None:
        """The request is this caller's. RateError when as many of its requests are in work as may be."""
        if self._callers[caller] >= self.settings.max_caller:
            self.metrics.add(telemetry.REJECTED, "caller")
            raise RateError(
                f"{self.settings.max_caller} of your requests are in work already.",
                hint=f"Wait for them, or try again in {RETRY_SECONDS} s. max_caller sets how many may be.",
                details={"retry_after": RETRY_SECONDS, "limit": "caller", "most": self.settings.max_caller},
            )
        self._callers[caller] += 1

    def leave_as(self, caller: str) -> None:
        """It has ended."""
        self._callers[caller] -= 1
        if not self._callers[caller]:
            del self._callers[caller]

    def enter_stream(self) -> None:
        """One stream more. OverloadedError."""
        if self.streams >= self.settings.max_streams:
            raise self._full("streams", self.settings.max_streams, "max_streams")
        self.streams += 1

    def leave_stream(self) -> None:
        """It has ended."""
        self.streams -= 1

    def spend(self, caller: str, *, writes: bool) -> None:
        """Count a request of this caller. RateError when it has sent too many."""
        wait = (self._writes if writes else self._reads).take(caller)
        if wait:
            per_minute = self.settings.rate_writes if writes else self.settings.rate_reads
            raise self._too_many("writes" if writes else "reads", per_minute, wait)

    def _too_many(self, limit: str, per_minute: int, wait: float) -> RateError:
        self.metrics.add(telemetry.REJECTED, limit)
        seconds = max(1, math.ceil(wait))
        return RateError(
            f"Too many requests: {per_minute} {limit} in a minute are allowed.",
            hint=f"Wait {seconds} s, then send them more slowly.",
            details={"retry_after": seconds, "limit": limit, "per_minute": per_minute},
        )

    def _full(self, limit: str, most: int, setting: str) -> OverloadedError:
        self.metrics.add(telemetry.REJECTED, limit)
        return OverloadedError(
            f"The server works on {most} {limit} already.",
            hint=f"Try again in {RETRY_SECONDS} s. {setting} sets how many it takes.",
            details={"retry_after": RETRY_SECONDS, "limit": limit, "most": most},
        )


@dataclass(slots=True)
class Flight:
    """One request from its first byte to its last."""

    traffic: Traffic
    request_id: str
    clock: asyncio.Timeout
    """Breaks the work off: when it is late, or when its client has left."""
    facts: MutableMapping[str, Fact] = field(default_factory=dict)
    """For the log: ids and hashes."""
    started: float = field(default_factory=time.perf_counter)
    late: Late = "request"
    """What the clock stands for now."""
    streams: bool = False
    breaks: bool = False
    """The work ends when its client leaves."""
    left: bool = False
    over: bool = False
    caller: str = ""
    """Whose it is, once that is known: its place is counted there."""
    placed: bool = False
    """It has one of the places of the server."""

    def take_place(self) -> None:
        """It is worked on from now on. OverloadedError."""
        self.traffic.enter()
        self.placed = True

    def leave_place(self) -> None:
        """It has ended."""
        if self.placed:
            self.traffic.leave()
            self.placed = False

    def belongs_to(self, caller: str) -> None:
        """Count it among the requests of a caller, instead of where it was counted before. RateError."""
        if caller != self.caller:
            self.forget_caller()
            self.traffic.enter_as(caller)
            self.caller = caller

    def forget_caller(self) -> None:
        """It has ended, or is somebody else's."""
        if self.caller:
            self.traffic.leave_as(self.caller)
            self.caller = ""

    def waits(self, begins: bool) -> None:
        """A write waits for its turn: nothing is changed yet, so it ends with its time or with its client."""
        if begins:
            self.breaks = True
            self._set("wait", self.traffic.settings.wait_timeout)
            if self.left:
                self.leave()
        elif not self.clock.expired():
            self.breaks = False
            if self.clock.when() is not None and not self.left:
                self.clock.reschedule(None)

    def reads(self) -> None:
        """It changes nothing, so it is broken off when it takes too long or its client leaves."""
        self.breaks = True
        self._set("request", self.traffic.settings.request_timeout)
        if self.left:
            self.leave()

    def begin_stream(self) -> None:
        """It will be answered by a stream, whose time begins anew with every event. OverloadedError."""
        self.traffic.enter_stream()
        self.streams = True
        self.moved()

    def moved(self) -> None:
        """The stream has gone on."""
        if self.streams:
            self._set("stream", self.traffic.settings.stream_timeout)

    def leave(self) -> None:
        """The client has left."""
        self.left = True
        if self.breaks and not self.over:
            self.clock.reschedule(asyncio.get_running_loop().time())

    def seconds(self) -> float:
        """Since it began."""
        return time.perf_counter() - self.started

    def _set(self, late: Late, seconds: float) -> None:
        self.late = late
        if not (self.left or self.over or self.clock.expired()):
            self.clock.reschedule(asyncio.get_running_loop().time() + seconds if seconds else None)
