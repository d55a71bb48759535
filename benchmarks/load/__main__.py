"""64 streams that ask and two that upload, for minutes, against a real `kedge serve` on loopback.

Before and after, the same streams go to a plain Starlette app that sends the same number of events of the same size
from memory: the ratio says what Kedge does beside HTTP, and both move with the machine. Clients ask again as soon as
they are answered (closed loop), so with N streams the median latency is about N divided by the throughput: read both.
Every stream asks other questions than its neighbours, and none of the last ones again soon, so that the cache of
questions helps only as it would in use. Memory is the server's resident set once a second; its slope is a straight line
through the second half, with its standard error.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import math
import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx

from benchmarks.data import folder
from benchmarks.load.client import Seen, ask, upload
from kedge.evals.dataset import load

SETS = ("squad2", "hotpotqa_train100", "scifact")
CONTROL_SHARE = 0.1
"""Of the time, before and after each."""
UPLOAD_PAUSE = 1.0
"""Seconds between two uploads of one client."""
PASSAGES = 3000
"""Documents that are there from the beginning."""
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_seconds(pid: int) -> float:
    """Processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def resident_mb(pid: int) -> float:
    """Memory of a process now."""
    return int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def slope(points: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Of a straight line by least squares, and its standard error; in units of y per unit of x."""
    if len(points) < 3:
        return 0.0, math.inf
    mean_x, mean_y = (sum(values) / len(points) for values in zip(*points, strict=True))
    spread = sum((x - mean_x) ** 2 for x, _ in points)
    found = sum((x - mean_x) * (y - mean_y) for x, y in points) / spread
    rest = sum((y - mean_y - found * (x - mean_x)) ** 2 for x, y in points)
    return found, math.sqrt(rest / (len(points) - 2) / spread)


def quantile(values: Sequence[float], share: float) -> float:
    """The value that so large a share does not exceed."""
    return sorted(values)[min(len(values) - 1, math.ceil(share * len(values)) - 1)] if values else math.nan


def distribution(values: Sequence[float]) -> dict[str, float]:
    """As it goes into the report."""
    return {f"p{round(100 * share)}": round(quantile(values, share), 1) for share in (0.5, 0.95, 0.99, 1.0)}


@contextmanager
def running(command: Sequence[str], environment: dict[str, str]) -> Iterator[subprocess.Popen[str]]:
    """A process that is told to stop at the end."""
    process = subprocess.Popen(command, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()


def texts() -> tuple[list[dict[str, Any]], list[str]]:
    """Documents and questions of the open sets, in turn."""
    documents: list[dict[str, Any]] = []
    questions: list[str] = []
    for name in SETS:
        with (folder(name) / "corpus.jsonl").open(encoding="utf-8") as lines:
            documents += [json.loads(line) for _, line in zip(range(2000), lines, strict=False)]
        questions += [query.text for query in load(folder(name)).queries]
    return documents, list(dict.fromkeys(questions))


async def streams(port: int, count: int, questions: Sequence[str], until: float, seen: Seen) -> None:
    """So many clients that ask one question after the other until the time is over."""

    async def one(number: int) -> None:
        own = cycle(questions[number::count] or questions)
        while time.monotonic() < until:
            await ask(port, next(own), seen)

    await asyncio.gather(*(one(number) for number in range(count)))


async def uploads(port: int, documents: Sequence[dict[str, Any]], until: float, seen: Seen) -> None:
    """One client that sends a document every second; a name comes again, so that documents are also replaced."""
    number = 0
    while time.monotonic() < until:
        row = documents[number % len(documents)]
        await upload(port, f"load-{number % 200}.md", f"# {row.get('title', '')}\n\n{row['text']}\n", seen)
        number += 1
        await asyncio.sleep(UPLOAD_PAUSE)


async def watch(until: float, look: Callable[[], tuple[float, float]], kept: list[tuple[float, float]]) -> None:
    """Look once a second."""
    while time.monotonic() < until:
        kept.append(look())
        await asyncio.sleep(1)


async def phase(
    port: int, pid: int, options: argparse.Namespace, seconds: float, work: dict[str, Any]
) -> dict[str, Any]:
    """One stretch of load against one server."""
    seen = Seen()
    memory: list[tuple[float, float]] = []
    begun, cpu = time.monotonic(), cpu_seconds(pid)
    until = begun + seconds
    jobs = [streams(port, options.streams, work["questions"], until, seen)]
    jobs += [uploads(port, part, until, seen) for part in work.get("uploads", ())]
    jobs.append(watch(until, lambda: (time.monotonic() - begun, resident_mb(pid)), memory))
    await asyncio.gather(*jobs)
    elapsed, used = time.monotonic() - begun, cpu_seconds(pid) - cpu
    return {
        "seconds": round(elapsed, 1),
        "answers": len(seen.whole_ms),
        "answers_per_second": round(len(seen.whole_ms) / elapsed, 2),
        "cpu_ms_per_answer": round(1000 * used / max(1, len(seen.whole_ms)), 2),
        "answers_per_core_second": round(len(seen.whole_ms) / used, 2) if used else None,
        "cores_used": round(used / elapsed, 2),
        "first_event_ms": distribution(seen.first_ms),
        "answer_ms": distribution(seen.whole_ms),
        "events_per_answer": round(seen.events / max(1, len(seen.whole_ms)), 1),
        "bytes_per_event": round(seen.bytes / max(1, seen.events)),
        "uploads": len(seen.uploads_ms),
        "upload_ms": distribution(seen.uploads_ms),
        "refused": seen.refused,
        "errors": dict(seen.errors),
        "_memory": memory,
    }


def free_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return int(bound.getsockname()[1])


def merged(parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The control before and after, as one: the better half of each figure would flatter, so the mean."""
    found = dict(parts[0])
    for key in ("answers_per_second", "cpu_ms_per_answer", "answers_per_core_second", "cores_used"):
        found[key] = round(sum(part[key] for part in parts) / len(parts), 2)
    for key in ("first_event_ms", "answer_ms"):
        found[key] = {name: round(sum(part[key][name] for part in parts) / len(parts), 1) for name in parts[0][key]}
    found["answers"] = sum(part["answers"] for part in parts)
    return found


def control(options: argparse.Namespace, seconds: float, like: dict[str, Any], questions: list[str]) -> dict[str, Any]:
    """The plain app, started for this."""
    port = free_port()
    events, size = round(like["events_per_answer"]) - 1, like["bytes_per_event"]
    command = [sys.executable, "-m", "benchmarks.load.control", "--port", str(port)]
    with running([*command, "--events", str(events), "--size", str(size)], {}) as process:
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except OSError:
                time.sleep(0.1)
        return asyncio.run(phase(port, process.pid, options, seconds, {"questions": questions}))


def measure(options: argparse.Namespace, scratch: Path) -> dict[str, Any]:
    """All of it."""
    documents, questions = texts()
    corpus = scratch / "corpus.jsonl"
    first = documents[: options.documents]
    corpus.write_text("".join(json.dumps(row) + "\n" for row in first), "utf-8")
    environment = {"KEDGE_HOME": str(scratch / "home"), "KEDGE_LOG_LEVEL": "error", "KEDGE_MAX_QUEUED": "100000"}
    kedge = [sys.executable, "-m", "kedge.surfaces.cli.main"]
    subprocess.run([*kedge, "ingest", str(corpus)], env={**os.environ, **environment}, check=True, capture_output=True)
    seconds = 60 * options.minutes
    with running([*kedge, "serve", "--port", "0", "--json"], environment) as process:
        assert process.stdout is not None
        head = "".join(iter(process.stdout.readline, "}\n"))
        port = int(re.findall(r'"url": "http://[^"]*:(\d+)"', head)[0])
        while httpx.get(f"http://127.0.0.1:{port}/ready", timeout=60).status_code != 200:
            time.sleep(0.2)
        asked = {"questions": questions}
        warm = asyncio.run(phase(port, process.pid, options, min(10.0, 0.1 * seconds), asked))
        before = control(options, CONTROL_SHARE * seconds, warm, questions)
        rest = documents[options.documents :]
        work = {
            "questions": questions,
            "uploads": [rest[number :: options.uploads] for number in range(options.uploads)],
        }
        loaded = asyncio.run(phase(port, process.pid, options, seconds, work))
        after = control(options, CONTROL_SHARE * seconds, warm, questions)
        shown = httpx.get(f"http://127.0.0.1:{port}/metrics", timeout=60).text
    half = [point for point in loaded["_memory"] if point[0] > seconds / 2]
    rise, doubt = slope(half)
    stages = dict(re.findall(r'kedge_stage_seconds_sum\{stage="([^"]+)"\} (\S+)', shown))
    counts = dict(re.findall(r'kedge_stage_seconds_count\{stage="([^"]+)"\} (\S+)', shown))
    reference = merged([before, after])
    clean = {name: value for name, value in loaded.items() if name != "_memory"}
    return {
        "streams": options.streams,
        "minutes": options.minutes,
        "documents": options.documents,
        "machine": f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the end",
        "kedge": clean,
        "control": {name: value for name, value in reference.items() if name != "_memory"},
        "ratio_p95": round(clean["answer_ms"]["p95"] / max(reference["answer_ms"]["p95"], 0.1), 1),
        "memory_mb": {
            "first": round(loaded["_memory"][0][1], 1),
            "last": round(loaded["_memory"][-1][1], 1),
            "most": round(max(value for _, value in loaded["_memory"]), 1),
            "slope_per_hour": round(3600 * rise, 1),
            "slope_error_per_hour": round(3600 * doubt, 1) if math.isfinite(doubt) else None,
        },
        "stage_ms": {name: round(1000 * float(stages[name]) / float(counts[name]), 2) for name in stages},
    }


def table(found: dict[str, Any]) -> str:
    """Markdown: Kedge and the control side by side."""
    rows = [
        ("answers in all", "answers", None),
        ("answers per second", "answers_per_second", None),
        ("answers per second and core", "answers_per_core_second", None),
        ("CPU ms per answer", "cpu_ms_per_answer", None),
        *((f"first event {name}, ms", "first_event_ms", name) for name in ("p50", "p95", "p99")),
        *((f"answer {name}, ms", "answer_ms", name) for name in ("p50", "p95", "p99", "p100")),
        ("events per answer", "events_per_answer", None),
        ("errors", "errors", None),
    ]
    lines = ["| | kedge | plain Starlette |", "|---|---|---|"]
    for label, key, part in rows:
        values = (found[side][key] for side in ("kedge", "control"))
        lines.append(f"| {label} | " + " | ".join(str(value[part] if part else value or 0) for value in values) + " |")
    memory = found["memory_mb"]
    lines.append("")
    lines.append(
        f"{found['kedge']['uploads']} uploads meanwhile. Memory {memory['first']} → {memory['last']} MB, most "
        f"{memory['most']}; slope of the second half {memory['slope_per_hour']} ± {memory['slope_error_per_hour']} MB "
        f"an hour. p95 is {found['ratio_p95']} times the control's. {found['machine']}."
    )
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--streams", type=int, default=64)
    parser.add_argument("--uploads", type=int, default=2, help="clients that upload meanwhile")
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--documents", type=int, default=PASSAGES, help="documents in the collection before")
    parser.add_argument("--out", type=Path, default=Path("artefacts"))
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        found = measure(options, Path(name))
    options.out.mkdir(exist_ok=True)
    (options.out / "load.json").write_text(json.dumps(found, indent=2), "utf-8")
    print(json.dumps(found, indent=2), file=sys.stderr)
    print(table(found))
    if found["kedge"]["errors"]:
        sys.exit(1)


if __name__ == "__main__":
    main()
