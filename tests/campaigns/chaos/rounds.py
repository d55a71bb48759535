"""Rounds one after the other: a process is started, disturbed and watched; then its stores are looked at."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from kedge.engine.engine import Engine
from tests.campaigns.chaos import victim
from tests.campaigns.chaos.ledger import Ledger
from tests.campaigns.chaos.places import Places, opened
from tests.campaigns.chaos.plan import Kind, Operation, Planner, Round
from tests.campaigns.chaos.readers import Reader
from tests.campaigns.chaos.verify import Verifier
from tests.campaigns.chaos.world import Corner, corners, write_file
from tests.support.forked import PROCESSES

PATIENCE = 240.0
"""Seconds after which a round hangs."""


@dataclass
class Report:
    """What became of a run."""

    stores: str
    seed: int
    rounds: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    """killed, faults, operations, acknowledged, cut, failed, reads, resumed, repaired …"""
    violations: list[str] = field(default_factory=list)
    seconds: float = 0.0


@dataclass
class _Watched:
    """What the process of a round said."""

    begun: list[int] = field(default_factory=list)
    done: set[int] = field(default_factory=set)
    violations: list[str] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)
    reads: int = 0
    ended: bool = False


OnRound = Callable[[int, Round, Report], None]


async def run(stores: str, rounds: int, seed: int, root: Path, on_round: OnRound | None = None) -> Report:
    """Do the rounds; stops at the first that violates anything."""
    report = Report(stores, seed)
    started = time.monotonic()
    name = f"{os.getpid()}x{os.urandom(3).hex()}"
    async with opened(stores, root, name) as places:
        made = corners(root / "sources", name)
        for corner in made:
            corner.folder.mkdir(parents=True)
        chaos = _Chaos(places, made, seed, report)
        async with chaos.watching():
            for number in range(1, rounds + 1):
                plan = await chaos.round(number, last=number == rounds)
                report.rounds = number
                report.seconds = time.monotonic() - started
                if on_round is not None:
                    on_round(number, plan, report)
                if report.violations:
                    break
        await chaos.clear()
    return report


class _Chaos:
    def __init__(self, stores: Places, made: list[Corner], seed: int, report: Report) -> None:
        self._stores = stores
        self._corners = made
        self._seed = seed
        self._report = report
        self._planner = Planner(seed, made, len(stores.proxies))
        self._ledger = Ledger()
        self._outside = Ledger()
        """For readers in this process, who hear late of what was done: all states of a round are possible to them."""
        self._now = 0

    @asynccontextmanager
    async def watching(self) -> AsyncIterator[None]:
        """Read all the time from a second engine, where stores can be shared."""
        if not self._stores.shared:
            yield
            return
        stop = asyncio.Event()
        async with Engine.open(self._stores.settings("reader")) as engine:
            reader = Reader(engine, self._corners, self._outside, self._seen_outside, seed=f"{self._seed}")
            task = asyncio.create_task(reader.run(stop))
            try:
                yield
            finally:
                stop.set()
                await task
            self._report.counts["outside reads"] = reader.reads
            if reader.errors:
                self._violated(f"a reader on a sound network failed: {reader.errors} {reader.last_error}")

    async def round(self, number: int, *, last: bool) -> Round:
        """One process, and then usually a repair."""
        self._now = number
        plan = self._planner.round(number)
        operations = [operation for group in plan.groups for operation in group]
        for operation in operations:
            self._outside.begin(operation)
            self._widen_for_repair(operation)
        seen = await self._live_and_die(plan, number)
        self._account(plan, operations, seen)
        for corner in self._corners:
            for place in corner.places():
                write_file(corner, place, self._planner.wanted[place])
        if plan.recover or last or plan.calm:
            await self._recover(plan, number, last=last)
        return plan

    def _widen_for_repair(self, operation: Operation) -> None:
        """A repair takes up jobs of earlier rounds: what the files say may become visible anywhere."""
        if operation.kind is Kind.REPAIR:
            for ledger in (self._ledger, self._outside):
                for place, state in self._planner.wanted.items():
                    ledger.add(place, state)

    async def _live_and_die(self, plan: Round, number: int) -> _Watched:
        ours, theirs = PROCESSES.Pipe(duplex=False)
        orders = victim.Orders(
            self._stores.settings("main", through=True),
            self._corners,
            deepcopy(self._ledger),
            plan,
            f"{self._seed}/{number}",
            self._stores.root / "victim.log",
        )
        process = PROCESSES.Process(target=victim.main, args=(orders, theirs))
        await asyncio.to_thread(process.start)
        theirs.close()
        seen = _Watched()
        try:
            async with AsyncExitStack() as faults:
                await asyncio.wait_for(self._listen(ours, plan, seen, faults), PATIENCE)
        except TimeoutError:
            os.kill(process.pid or 0, signal.SIGUSR1)
            await asyncio.sleep(1)
            process.kill()
            self._violated(f"the process hung for {PATIENCE:.0f} s:\n{self._log()[-6000:]}")
        await asyncio.to_thread(process.join)
        if process.exitcode not in (0, -signal.SIGKILL):
            self._violated(f"the process ended with status {process.exitcode}:\n{self._log()[-6000:]}")
        self._report.counts["killed"] += process.exitcode == -signal.SIGKILL
        return seen

    def _log(self) -> str:
        return (self._stores.root / "victim.log").read_text("utf-8")

    async def _listen(self, pipe: Connection, plan: Round, seen: _Watched, faults: AsyncExitStack) -> None:
        """Hear the process out; break the network when it has come so far."""
        with suppress(EOFError):
            while True:
                what, *more = await asyncio.to_thread(pipe.recv)
                if what == "step":
                    for fault in plan.faults:
                        if fault.after == more[0]:
                            proxy = self._stores.proxies[fault.proxy]
                            task = asyncio.create_task(proxy.break_for(fault.how, fault.seconds))
                            faults.push_async_callback(_ended, task)
                            self._report.counts["faults"] += 1
                else:
                    self._note(what, more, seen)

    def _note(self, what: str, more: list[Any], seen: _Watched) -> None:
        if what == "begin":
            seen.begun.append(more[0])
        elif what == "done":
            seen.done.add(more[0])
        elif what in ("failed", "unopened"):
            seen.failures.append(f"{what}: {more}")
        elif what == "violation":
            seen.violations.append(more[0])
        elif what == "read":
            seen.reads += 1
        elif what == "unread":
            seen.failures.append(f"reader: {more}")
        elif what == "end":
            seen.ended = True

    def _account(self, plan: Round, operations: list[Operation], seen: _Watched) -> None:
        """Enter what was said into the ledger and the counts, in the order in which it happened."""
        for number in seen.begun:
            self._ledger.begin(operations[number])
            if number in seen.done:
                self._ledger.done(operations[number])
        self._ledger.settle()
        for place, known in self._ledger.history.items():
            self._outside.set(place, self._outside.possible(place) | known[-1])
        counts = self._report.counts
        counts["operations"] += len(seen.begun)
        counts["acknowledged"] += len(seen.done)
        counts["reads"] += seen.reads
        counts["failed"] += len([line for line in seen.failures if not line.startswith("reader")])
        for line in seen.violations:
            self._violated(line)
        if not plan.faults and seen.failures:
            self._violated(f"failures although every store was there: {seen.failures}")

    async def _recover(self, plan: Round, number: int, *, last: bool) -> None:
        for place, state in self._planner.wanted.items():
            self._outside.add(place, state)  # by a job that goes on
        settings, shared = self._stores.settings("main"), self._stores.shared
        verifier = Verifier(self._corners, self._ledger, settings, shared=shared)
        await verifier.recover(self._planner.wanted, calm=not plan.faults, number=number)
        if last:
            await verifier.finish(self._planner.wanted)
        for line in verifier.found:
            self._violated(line)
        self._report.counts["recoveries"] += 1
        self._report.counts["resumed jobs"] += verifier.resumed
        self._report.counts["repaired passages"] += verifier.repaired
        self._ledger.settle()
        for place in self._planner.wanted:
            self._outside.set(place, self._ledger.possible(place))

    async def clear(self) -> None:
        """Take everything out again: a graph server is shared by all runs."""
        async with Engine.open(self._stores.settings("main")) as engine:
            for corner in self._corners:
                if await engine.stores.catalog.collections.get(corner.scope) is not None:
                    await engine.delete_collection(corner.scope)
                await engine.stores.graph.drop(corner.scope)

    def _seen_outside(self, what: str) -> None:
        self._violated(f"outside reader: {what}")

    def _violated(self, what: str) -> None:
        self._report.violations.append(f"round {self._now}: {what}")


async def _ended(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
