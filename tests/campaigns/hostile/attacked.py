"""Honest questions while somebody attacks: slow connections without a key, and an upload made to take for ever.

One run without the attacker, one with it, on the same server: every answer must be that of the quiet run, every job
must end as it should, and the time of the slow end (p95) is compared. The attacker has a key of another tenant for the
upload and none for the connections.

    python -m benchmarks.attacked [--clients 32] [--rounds 10] [--sockets 300] [--bytes 10485760] [--times 2]
        [--asks 2000] [--growth 64]

After that so many questions of unlike words are asked, and the server's memory is compared after a quarter of them and
after the last. Exit 1 when an answer is wrong or missing, a job is lost, the server says that it cannot work, the slow
end takes more than `--times` as long as in the quiet run, or memory grew by more than `--growth` MB. It runs from a
plain checkout: a home of its own with embedded stores, no network, none of the servers of the tests.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import httpx

from tests.support.forked import piped, said_first

DRIP_SECONDS = 5.0
PATIENCE = 600.0
"""Seconds that a client waits: how long it took is measured, not bounded."""
NAMES = ("kedge", "warp", "tide", "sail", "mast", "keel", "jib", "boom", "helm", "bilge", "cleat", "hawse")
HOSTILE = (" ", "# a\n", "=\n", "```\n", "[a](", "a. ")
"""What the hostile upload is made of, a stretch of each."""


@dataclass(slots=True)
class Outcome:
    """What one run showed."""

    seconds: list[float] = field(default_factory=list)
    """Of each honest question."""
    answers: dict[str, str] = field(default_factory=dict)
    failed: list[str] = field(default_factory=list)

    @property
    def p95(self) -> float:
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(0.95 * len(ordered)))] if ordered else 0.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the campaign found."""

    questions: int
    sockets: int
    upload_bytes: int
    quiet_p95: float
    attacked_p95: float
    ratio: float
    wrong: int
    """Answers that are not those of the quiet run."""
    refused: int
    """Honest requests that were not answered."""
    jobs_lost: int
    ready: bool
    """Whether the server says that it can work, at the end of the attack."""

    asks: int = 0
    """Questions after the attack."""
    grown_mb: float = 0.0
    """Memory of the server after the last of them, above that after a quarter."""

    def findings(self, times: float, growth: float = 64.0) -> list[str]:
        """What is not as it should be: the slow end may take so many times as long as in the quiet run, and memory may
        grow by so many MB."""
        said = {
            "wrong answers": self.wrong,
            "questions not answered": self.refused,
            "jobs lost": self.jobs_lost,
            "not ready": not self.ready,
            f"{self.grown_mb:g} MB more memory after {self.asks} questions": self.grown_mb > growth,
            f"p95 {self.ratio:g} times that of the quiet run": self.ratio > times or not self.quiet_p95,
        }
        return [f"{count} {what}" if count is not True else what for what, count in said.items() if count]


def write_library(folder: Path) -> Path:
    """A document for each name."""
    folder.mkdir(parents=True)
    for number, name in enumerate(NAMES):
        said = f"The {name} of the ship was made in {1800 + 7 * number} by the yard of {name.title()}ton."
        (folder / f"{name}.md").write_text(f"# The {name}\n\n{said}\n", "utf-8")
    return folder


def hostile_text(size: int) -> str:
    """About so many bytes."""
    share = size // len(HOSTILE)
    return "\n\n".join(unit * (share // len(unit)) for unit in HOSTILE)


def kedge(home: Path, *arguments: str) -> str:
    """What a command says."""
    command = [sys.executable, "-m", "kedge.surfaces.cli.main", *arguments, "--home", str(home)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


async def asked(url: str, key: str, number: int, rounds: int, outcome: Outcome) -> None:
    """One honest client that asks one question after the other."""
    async with httpx.AsyncClient(base_url=url, headers={"authorization": f"Bearer {key}"}, timeout=PATIENCE) as client:
        for turn in range(rounds):
            name = NAMES[(number + turn) % len(NAMES)]
            question = f"When was the {name} of the ship made?"
            started = time.perf_counter()
            try:
                answer = await client.post("/api/query", json={"query": question})
            except httpx.HTTPError as error:
                outcome.failed.append(type(error).__name__)
                continue
            if answer.status_code != 200:
                outcome.failed.append(str(answer.status_code))
                continue
            outcome.seconds.append(time.perf_counter() - started)
            said = str(answer.json()["answer"])
            if outcome.answers.setdefault(question, said) != said:
                outcome.answers[question] = f"{outcome.answers[question]} / {said}"


async def dripping(port: int, stop: asyncio.Event) -> None:
    """One connection without a key that sends a byte now and then, and comes again when it is cut."""
    while not stop.is_set():
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            await asyncio.sleep(DRIP_SECONDS)
            continue
        try:
            head = f"POST /api/query HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\ncontent-type: application/json\r\n"
            writer.write(f"{head}content-length: 100000\r\n\r\n".encode())
            while not stop.is_set() and not reader.at_eof():
                writer.write(b" ")
                await writer.drain()
                try:
                    await asyncio.wait_for(stop.wait(), DRIP_SECONDS)
                except TimeoutError:
                    continue
        except OSError:
            continue
        finally:
            writer.close()


async def asked_on(url: str, key: str, pid: int, asks: int, clients: int) -> tuple[float, int]:
    """By how many MB the server grew from a quarter of so many questions on, and how many were not answered."""
    headers, failed = {"authorization": f"Bearer {key}"}, 0
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=PATIENCE) as client:

        async def one(number: int) -> None:
            nonlocal failed
            question = f"Asked for the {number}th time: when was the {NAMES[number % len(NAMES)]} of the ship made?"
            try:
                failed += (await client.post("/api/query", json={"query": question})).status_code != 200
            except httpx.HTTPError:
                failed += 1

        async def some(first: int, last: int) -> None:
            for start in range(first, last, clients):
                await asyncio.gather(*(one(number) for number in range(start, min(last, start + clients))))

        await some(0, asks // 4)
        before = resident_mb(pid)
        await some(asks // 4, asks)
    return round(resident_mb(pid) - before, 1), failed


def resident_mb(pid: int) -> float:
    """Memory of a process now; 0 where the machine does not tell."""
    told = Path(f"/proc/{pid}/statm")
    return int(told.read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6 if told.exists() else 0.0


async def honest(url: str, key: str, clients: int, rounds: int) -> Outcome:
    """So many clients at once."""
    outcome = Outcome()
    await asyncio.gather(*(asked(url, key, number, rounds, outcome) for number in range(clients)))
    return outcome


async def sent(url: str, key: str, name: str, text: str) -> str:
    """Id of the job of an upload."""
    async with httpx.AsyncClient(base_url=url, headers={"authorization": f"Bearer {key}"}, timeout=PATIENCE) as client:
        answer = await client.post("/api/ingest", files={"file": (name, text.encode())})
        return str(answer.raise_for_status().json()["job_id"])


async def ended(url: str, key: str, job: str, seconds: float) -> str:
    """The status of a job, waited for."""
    async with httpx.AsyncClient(base_url=url, headers={"authorization": f"Bearer {key}"}, timeout=PATIENCE) as client:
        until = time.monotonic() + seconds
        while time.monotonic() < until:
            status = str((await client.get(f"/api/ingest/{job}")).raise_for_status().json()["status"])
            if status in ("complete", "failed"):
                return status
            await asyncio.sleep(1)
    return "lost"


async def attacked(
    url: str, keys: Sequence[str], *, clients: int, rounds: int, sockets: int, size: int, wait: float
) -> Verdict:
    """Quiet, then under attack."""
    mine, theirs = keys
    await honest(url, mine, clients, 1)  # models are loaded
    quiet = await honest(url, mine, clients, rounds)
    stop = asyncio.Event()
    port = int(url.rsplit(":", 1)[1])
    drips = [asyncio.create_task(dripping(port, stop)) for _ in range(sockets)]
    jobs = [(theirs, await sent(url, theirs, "hostile.md", hostile_text(size)))]
    jobs.append((mine, await sent(url, mine, "honest.md", "# Anchor light\n\nThe anchor light is white.\n")))
    loud = await honest(url, mine, clients, rounds)
    async with httpx.AsyncClient(base_url=url, timeout=PATIENCE) as client:
        ready = (await client.get("/ready")).status_code == 200
    states = [await ended(url, key, job, wait) for key, job in jobs]
    stop.set()
    await asyncio.gather(*drips, return_exceptions=True)
    wrong = sum(loud.answers.get(question) != said for question, said in quiet.answers.items())
    return Verdict(
        questions=clients * rounds,
        sockets=sockets,
        upload_bytes=size,
        quiet_p95=round(quiet.p95, 3),
        attacked_p95=round(loud.p95, 3),
        ratio=round(loud.p95 / quiet.p95, 2) if quiet.p95 else 0.0,
        wrong=wrong,
        refused=len(quiet.failed) + len(loud.failed),
        jobs_lost=(states[0] == "lost") + (states[1] != "complete"),
        ready=ready,
    )


@contextmanager
def served(home: Path, **environment: str) -> Iterator[tuple[str, int]]:
    """`kedge serve` on a free port: its address and process id."""
    variables = {**os.environ, "KEDGE_HOME": str(home), "KEDGE_RATE_READS": "0", **environment}
    with piped(["serve", "--port", "0"], variables) as running:
        yield said_first(running).split(" at ")[1].split()[0], running.pid


def campaign(
    scratch: Path, *, clients: int, rounds: int, sockets: int, size: int, asks: int = 0, wait: float = 600
) -> Verdict:
    """All of it, on a home of its own."""
    home = scratch / "home"
    kedge(home, "ingest", str(write_library(scratch / "library")))
    keys = [kedge(home, "key", "create", "mine", "--right", "write")]
    keys.append(kedge(home, "key", "create", "theirs", "--right", "write", "--tenant", "theirs"))
    with served(home) as (url, pid):
        found = asyncio.run(attacked(url, keys, clients=clients, rounds=rounds, sockets=sockets, size=size, wait=wait))
        grown, failed = asyncio.run(asked_on(url, keys[0], pid, asks, clients)) if asks else (0.0, 0)
    return replace(found, asks=asks, grown_mb=grown, refused=found.refused + failed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=32, help="honest clients at once")
    parser.add_argument("--rounds", type=int, default=10, help="questions of each")
    parser.add_argument("--sockets", type=int, default=300, help="slow connections without a key")
    parser.add_argument("--bytes", type=int, default=10 << 20, help="of the hostile upload")
    parser.add_argument("--times", type=float, default=2.0, help="how much longer the slow end may take")
    parser.add_argument("--asks", type=int, default=2000, help="questions after the attack; 0: none")
    parser.add_argument("--growth", type=float, default=64.0, help="MB by which the server may grow meanwhile")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        found = campaign(
            Path(name),
            clients=options.clients,
            rounds=options.rounds,
            sockets=options.sockets,
            size=options.bytes,
            asks=options.asks,
        )
    print(json.dumps(asdict(found), indent=2))
    findings = found.findings(options.times, options.growth)
    for line in findings:
        print(f"FOUND {line}")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
