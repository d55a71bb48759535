"""The hostile file set through a real engine, each file in a process of its own: outcome, seconds and peak memory.

    python -m benchmarks.hostile_files [--only NAME] [--seconds 10] [--memory 768] [--output 64]

Every file must be refused with an error that says why, or be harmless: taken in within the caps. Exit 1 when one is
neither: the engine fails, hangs, crashes, or takes more. Control: an ordinary file after each, which must be taken in.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kedge.core.errors import KedgeError
from kedge.core.settings import Settings, load_settings
from kedge.core.values import IngestRequest, Job, Scope
from kedge.engine.engine import Engine
from tests.campaigns.hostile.files import WORDS, Hostile, hostile_set

SLACK_SECONDS = 20.0
SLACK_MEGABYTES = 700
"""What an engine with its stores takes without any file."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one file."""

    taken: bool
    codes: tuple[str, ...]
    message: str
    seconds: float
    after: bool
    """Whether an ordinary file was taken in afterwards."""


def settings_for(home: Path, seconds: float, memory: int, output: int) -> Settings:
    """Small caps, so that the set does not take hours."""
    return load_settings(
        environ={},
        home=home,
        embedder="hash:256",
        parse_timeout=seconds,
        parse_memory_bytes=memory << 20,
        parse_output_bytes=output << 20,
    )


async def take_in(engine: Engine, case: Hostile, folder: Path) -> Outcome:
    """Make the file and have it taken in, then an ordinary one."""
    path = folder / case.name
    case.make(path)
    started = time.perf_counter()
    codes, message, taken = await _ingest(engine, path, case.kind, case.name)
    seconds = time.perf_counter() - started
    ordinary = folder / f"ordinary-{case.name}.md"
    ordinary.write_text(f"# Anchors\n\n{WORDS}", "utf-8")
    _, _, after = await _ingest(engine, ordinary, "documents", "ordinary")
    return Outcome(taken, codes, message, seconds, after)


async def _ingest(engine: Engine, path: Path, kind: str, collection: str) -> tuple[tuple[str, ...], str, bool]:
    try:
        job: Job = await engine.ingest(IngestRequest(Scope("default", collection), (str(path),), kind=kind))
    except KedgeError as error:
        return (error.code,), str(error), False
    notes = " ".join((*(f"{one.message} {one.hint}" for one in job.errors), *job.warnings))
    return tuple(one.code for one in job.errors), notes, job.files_processed > 0


async def one(case: Hostile, settings: Settings, folder: Path) -> Outcome:
    async with Engine.open(settings) as engine:
        return await take_in(engine, case, folder)


def _alone(name: str, given: argparse.Namespace) -> None:
    case = next(one for one in hostile_set() if one.name == name)
    with tempfile.TemporaryDirectory(prefix="kedge-hostile-") as folder:
        home = Path(folder) / "home"
        files = Path(folder) / "files"
        files.mkdir()
        outcome = asyncio.run(one(case, settings_for(home, given.seconds, given.memory, given.output), files))
    usage = [resource.getrusage(who).ru_maxrss // 1024 for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    print(json.dumps({**{name: getattr(outcome, name) for name in Outcome.__slots__}, "peak": usage}))


def _run(case: Hostile, given: argparse.Namespace) -> dict[str, Any]:
    command = [sys.executable, "-m", "tests.campaigns.hostile.taking", "--alone", case.name]
    for name in ("seconds", "memory", "output"):
        command += [f"--{name}", str(getattr(given, name))]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=given.seconds * 4 + 120, check=False)
        return dict(json.loads(done.stdout.splitlines()[-1]))
    except subprocess.TimeoutExpired:
        return {"error": "it hangs"}
    except (IndexError, ValueError):
        return {"error": f"it crashed: {done.stderr.strip().splitlines()[-1:]}"}


def verdict(case: Hostile, found: dict[str, Any], seconds: float, memory: int) -> str:
    """What is wrong with an outcome: empty when nothing is."""
    if "error" in found:
        return str(found["error"])
    faults = {
        "an ordinary file was not taken in afterwards": not found["after"],
        "it was taken in": found["taken"] and not case.taken,
        "nothing says why it was not taken in": not found["taken"] and not found["message"],
        "an unexpected error": "error" in found["codes"],
        "it took too long": found["seconds"] > seconds + SLACK_SECONDS,
        "it took too much memory": max(found["peak"]) > memory + SLACK_MEGABYTES,
    }
    return "; ".join(fault for fault, there in faults.items() if there)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only")
    parser.add_argument("--alone", help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--memory", type=int, default=768)
    parser.add_argument("--output", type=int, default=64)
    given = parser.parse_args(arguments)
    if given.alone:
        _alone(given.alone, given)
        return
    print("| file | outcome | seconds | peak MB: engine, parser | |\n|---|---|---|---|---|")
    bad = 0
    for case in hostile_set():
        if given.only and given.only not in case.name:
            continue
        found = _run(case, given)
        wrong = verdict(case, found, given.seconds, given.memory)
        bad += bool(wrong)
        outcome = "taken in" if found.get("taken") else ", ".join(sorted(set(found.get("codes", ())))) or "passed over"
        peak = ", ".join(map(str, found.get("peak", ())))
        print(f"| {case.name} | {outcome} | {found.get('seconds', 0):.1f} | {peak} | {wrong} |", flush=True)
        if given.only:
            print(found.get("message", found))
    print(f"\n{bad} of the files are neither refused nor harmless" if bad else "\nall refused or harmless")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
