"""One state of the project that answers questions: a line of JSON in, a line of JSON out. Started by `answer_cost`.

It uses nothing of the benchmarks and of Kedge only what earlier states have too, so that it runs in each of them.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import sys
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kedge.core.ids import new_id
from kedge.core.settings import load_settings
from kedge.core.stages import watched
from kedge.core.values import DEFAULT_TENANT, Answer, Query, Scope
from kedge.engine.engine import Engine
from kedge.models.read.reader import Readable, open_reader

CONTROL = 200
"""Words of the one window that is read as the control: about 256 tokens."""


class CpuByStage:
    """A watcher: the processor time between two of its events belongs to the stages that run then, in equal parts.

    A stage that holds another gets nothing while that one runs; `other` is what belongs to no stage.
    """

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()
        self._running: list[_Open] = []
        self._last = time.process_time()

    def begin(self, name: str, facts: Mapping[str, Any], *, holds: bool) -> _Open:  # noqa: ARG002
        self.tick()
        opened = _Open(self, name)
        self._running.append(opened)
        return opened

    def done(self, name: str, seconds: float) -> None:
        """The processor's time is what is asked for, not the clock's."""

    def measured(self, what: str, value: float, kind: str) -> None:
        """Not asked for."""

    def carried(self) -> Mapping[str, str]:
        return {}

    def close(self, opened: _Open) -> None:
        self.tick()
        self._running.remove(opened)

    def tick(self) -> None:
        """Share out what was spent since the last event."""
        now = time.process_time()
        spent, self._last = now - self._last, now
        # `judge` holds `read`, and `answer` holds what is written: the last begun of these is the one that works
        inner = [one.name for one in self._running]
        names = [name for name in inner if not (name == "judge" and {"read", "compute"} & set(inner))] or ["other"]
        for name in names:
            self.seconds[name] += spent / len(names)


class _Open:
    """A stage that runs."""

    def __init__(self, watcher: CpuByStage, name: str) -> None:
        self.name = name
        self._watcher = watcher

    def end(self, error: BaseException | None, facts: Mapping[str, Any]) -> None:  # noqa: ARG002
        self._watcher.close(self)


async def answer(engine: Engine, asked: dict[str, Any]) -> dict[str, Any]:
    """The answer to one question, what it cost, and what one bare reading of a window costs now."""
    scope, session = Scope(DEFAULT_TENANT, asked["collection"]), new_id()
    for before in asked["previous"]:
        await engine.ask(Query(before, scope, session_id=session))
    cpu = CpuByStage()
    clock, started = time.perf_counter(), time.process_time()
    with watched(cpu):
        said = await engine.ask(Query(asked["question"], scope, session_id=session if asked["previous"] else None))
    spent, waited = time.process_time() - started, time.perf_counter() - clock
    cpu.tick()
    return {
        "refused": said.refused,
        "short_answer": said.short_answer,
        "answer": said.answer,
        "probability": said.evidence_probability,
        "digest": digest(said),
        "cpu_ms": 1000 * spent,
        "wall_ms": 1000 * waited,
        "stages": {name: 1000 * seconds for name, seconds in cpu.seconds.items()},
        "control_ms": 1000 * control(engine),
    }


def digest(said: Answer) -> str:
    """Stands for all that an answer says and shows, to the last sign."""
    cited = [(one.passage_id, one.start, one.end, one.snippet, one.relevance_score) for one in said.citations]
    shown = [(hit.passage.id, hit.rank, hit.score) for hit in said.hits]
    told = (said.answer, said.short_answer, said.confidence, said.evidence_probability, cited, shown)
    return hashlib.sha256(repr(told).encode()).hexdigest()


def control(engine: Engine) -> float:
    """Seconds of processor time for one reading of one window, without anything else."""
    reader = open_reader(engine.settings)
    words = [f"The {number} ships of the harbour were counted again." for number in range(CONTROL // 8)]
    started = time.process_time()
    reader.read("How many ships were counted?", [Readable("Harbour", words)])
    return time.process_time() - started


async def main(home: Path) -> None:
    async with Engine.open(load_settings(home=home)) as engine:
        print(json.dumps({"ready": True}), flush=True)
        while line := await asyncio.to_thread(sys.stdin.readline):
            print(json.dumps(await answer(engine, json.loads(line))), flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
