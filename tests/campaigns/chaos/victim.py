"""The process that writes, with readers in it, until it is done or killed."""

from __future__ import annotations

import asyncio
import faulthandler
import os
import signal
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from kedge.core.errors import KedgeError, NotFoundError
from kedge.core.settings import Settings
from kedge.core.values import IngestMode, IngestRequest, Job, JobStatus
from kedge.engine.connected import Wanted
from kedge.engine.engine import Engine
from tests.campaigns.chaos.ledger import Ledger
from tests.campaigns.chaos.plan import Kind, Operation, Round
from tests.campaigns.chaos.readers import Reader, id_of
from tests.campaigns.chaos.world import Corner, write_file

READERS = 2
_MODES = {Kind.INGEST: IngestMode.INCREMENTAL, Kind.FULL: IngestMode.FULL, Kind.RECREATE: IngestMode.RECREATE}


@dataclass(frozen=True)
class Orders:
    """All that the process is told."""

    settings: Settings
    corners: Sequence[Corner]
    ledger: Ledger
    round: Round
    seed: str
    log: Path
    """Where its error output goes."""


def main(orders: Orders, tell: Connection) -> None:
    """Do the round; called in the new process. What happens is sent as (what, …) tuples."""
    with orders.log.open("a") as log:
        os.dup2(log.fileno(), sys.stderr.fileno())
        faulthandler.register(signal.SIGUSR1)
        asyncio.run(Victim(orders, tell).run())


class Victim:
    """One round in one engine."""

    def __init__(self, orders: Orders, tell: Connection) -> None:
        self._orders = orders
        self._round = orders.round
        self._ledger = orders.ledger
        self._corners = {corner.letter: corner for corner in orders.corners}
        self._tell = tell
        self._steps = 0

    async def run(self) -> None:
        try:
            async with Engine.open(self._orders.settings, on_step=self._step) as engine:
                await self._work(engine)
        except KedgeError as error:
            self._send("unopened", repr(error))
        self._send("end")

    async def _work(self, engine: Engine) -> None:
        stop = asyncio.Event()
        readers = [
            Reader(
                engine,
                self._orders.corners,
                self._ledger,
                self._violated,
                seed=f"{self._orders.seed}/{number}",
                on_read=self._read,
            )
            for number in range(READERS)
        ]
        async with asyncio.TaskGroup() as tasks:
            for reader in readers:
                tasks.create_task(reader.run(stop))
            for group in numbered(self._round):
                await asyncio.gather(*(self._operate(engine, *each) for each in group))
            stop.set()
        for reader in readers:
            if reader.errors:
                self._send("unread", reader.errors, reader.last_error)

    async def _operate(self, engine: Engine, number: int, operation: Operation) -> None:
        self._ledger.begin(operation)
        self._send("begin", number)
        for place, state in operation.changes.items():
            write_file(self._corners[operation.letter], place, state)
        self._step("begun")
        try:
            await self._call(engine, operation)
        except KedgeError as error:
            self._send("failed", number, error.code, str(error))
            return
        self._ledger.done(operation)
        self._send("done", number)

    async def _call(self, engine: Engine, operation: Operation) -> None:
        corner = self._corners[operation.letter]
        if operation.kind in _MODES:
            mode = _MODES[operation.kind]
            self._judge(await engine.ingest(IngestRequest(corner.scope, (str(corner.folder),), mode=mode)))
        elif operation.kind is Kind.SYNC:
            self._judge(await _synced(engine, corner))
        elif operation.kind is Kind.DELETE:
            for place in operation.changes:
                await _if_there(engine.delete_document(corner.scope.tenant, id_of(corner, place)))
        elif operation.kind is Kind.DROP:
            await _if_there(engine.delete_collection(corner.scope))
        elif operation.kind is Kind.REINDEX:
            await _if_there(engine.reindex(corner.scope, operation.embedder))
        elif operation.kind is Kind.SWEEP:
            await engine.sweep()
        else:
            await engine.drain()
            await engine.check(repair=True)

    def _judge(self, job: Job) -> None:
        if job.errors or job.status is not JobStatus.COMPLETE:
            self._violated(f"an acknowledged ingest has errors: {job.errors} ({job.status})")

    def _step(self, _name: str) -> None:
        self._steps += 1
        self._send("step", self._steps)
        if self._steps == self._round.kill_after:
            if self._round.kill_delay:
                threading.Timer(self._round.kill_delay, _die).start()
            else:
                _die()

    def _read(self) -> None:
        self._send("read")

    def _violated(self, what: str) -> None:
        self._send("violation", what)

    def _send(self, *message: Any) -> None:
        self._tell.send(message)


def numbered(plan: Round) -> list[list[tuple[int, Operation]]]:
    """The groups with each operation's place in the round."""
    counter = count()
    return [[(next(counter), operation) for operation in group] for group in plan.groups]


async def _synced(engine: Engine, corner: Corner) -> Job:
    """The job of a source over the folder, connected if it is not: a dropped collection took it along."""
    tenant, name = corner.scope.tenant, f"chaos-{corner.letter}"
    try:
        await engine.source(tenant, name)
    except NotFoundError:
        await engine.sources.add(Wanted(corner.scope, str(corner.folder), name))
    return await engine.sync_source(tenant, name, confirm=True)


async def _if_there(call: Any) -> None:
    """An operation that was cut may have left nothing to do."""
    with suppress(NotFoundError):
        await call


def _die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)
