"""What an answer costs: milliseconds of processor time over all threads, by stage, and what becomes of the answers.

    python -m benchmarks.answer_cost --squad2 HOME --real HOME [--before DIR] [--questions N] [--out FILE]

A home holds the set's collections (`kedge ingest` of `squad2/corpus.jsonl` as `squad2`; what
`python -m benchmarks.real_questions --home HOME` took in); copies are asked, so that nothing of it changes. With
`--before` the same questions go to another checkout of the project in a process of its own, turn by turn, so that a
busy machine moves both. Control: one bare reading of one window, after every question, in the same process.
Each question is asked once; what the first ones load is not counted.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, median
from typing import Any

from benchmarks.data import folder
from benchmarks.real_questions import program

ROOT = Path(__file__).parents[2]
WORKER = Path(__file__).with_name("worker.py")
STATES = ("now", "before")
SEED = 7
WARM = 3
"""Questions that are asked before it counts."""
SAME_EVERYWHERE = {"OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0"}
"""One thread for products of arrays, as `kedge` has it; sets in the same order in both states."""
_PLAIN = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Asked:
    """One question of a set."""

    set: str
    known: dict[str, Any]
    unanswerable: bool

    def line(self) -> str:
        """As the worker reads it."""
        before = self.known.get("previous") or []
        return json.dumps(
            {
                "question": self.known.get("question") or self.known["text"],
                "collection": self.known.get("collection", "squad2"),
                "previous": [before] if isinstance(before, str) else before,
            }
        )

    def outcome(self, said: dict[str, Any]) -> str:
        """right, wrong, refused; false or rightly refused for what has no answer."""
        if self.unanswerable:
            return "rightly refused" if said["refused"] else "false"
        if said["refused"]:
            return "refused"
        text = f"{said['short_answer'] or ''}\n{said['answer']}".replace("**", "")
        return "right" if self._is_right(text) else "wrong"

    def _is_right(self, text: str) -> bool:
        if self.set == "real_questions":
            return bool(program(folder("real_questions") / "score.py").is_right(self.known, text))
        return any(_words(answer) in _words(text) for answer in self.known["answers"] if answer.strip())


def _words(text: str) -> str:
    return f" {_PLAIN.sub(' ', text).casefold().strip()} "


def questions_of(name: str, most: int) -> list[Asked]:
    """A random draw of a set's questions, always the same."""
    file = folder(name) / ("questions.jsonl" if name == "real_questions" else "queries.jsonl")
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    random.Random(SEED).shuffle(rows)
    return [Asked(name, row, bool(row["unanswerable"])) for row in rows[:most]]


@contextmanager
def answering(checkout: Path, home: Path) -> Iterator[subprocess.Popen[str]]:
    """A process of a checkout that answers from a copy of the home."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("KEDGE_")}
    with tempfile.TemporaryDirectory(prefix="kedge-answer-cost-") as made:
        copy = shutil.copytree(home, Path(made) / "home")
        with subprocess.Popen(
            [sys.executable, str(WORKER), str(copy)],
            env={**kept, **SAME_EVERYWHERE, "PYTHONPATH": str(checkout / "src")},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process:
            assert process.stdout is not None
            assert process.stdin is not None
            if not process.stdout.readline():
                sys.exit(f"The worker of {checkout} did not start.")
            yield process
            process.stdin.close()


def ask(process: subprocess.Popen[str], asked: Asked) -> dict[str, Any]:
    """What the process says."""
    assert process.stdout is not None
    assert process.stdin is not None
    process.stdin.write(asked.line() + "\n")
    process.stdin.flush()
    line = process.stdout.readline()
    if not line:
        sys.exit(f"The worker ended at {asked.known}.")
    said: dict[str, Any] = json.loads(line)
    return said


def measure(name: str, checkouts: dict[str, Path], home: Path, most: int) -> list[dict[str, Any]]:
    """One row for each question and checkout."""
    asked = questions_of(name, most)
    rows: list[dict[str, Any]] = []
    with answering(next(iter(checkouts.values())), home) as first:
        if len(checkouts) == 1:
            return _rows(name, asked, {next(iter(checkouts)): first})
        with answering(list(checkouts.values())[1], home) as second:
            rows = _rows(name, asked, dict(zip(checkouts, (first, second), strict=True)))
    return rows


def _rows(name: str, asked: Sequence[Asked], processes: dict[str, subprocess.Popen[str]]) -> list[dict[str, Any]]:
    for one in asked[:WARM]:
        for process in processes.values():
            ask(process, one)
    rows: list[dict[str, Any]] = []
    for number, one in enumerate(asked, 1):
        for state, process in sorted(processes.items(), key=lambda item: (item[0] == "now") == bool(number % 2)):
            said = ask(process, one)
            key = str(one.known.get("id") or one.known["_id"])
            rows.append({"set": name, "state": state, "id": key, "outcome": one.outcome(said), **said})
        print(f"\r{name}: {number} of {len(asked)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return rows


def table(rows: Sequence[dict[str, Any]]) -> str:
    """As markdown: what an answer costs, beside the control, and what the answers are."""
    heads = ("set", "state", "CPU ms mean", "p50", "p95", "wall p50", "control", "right", "wrong", "refused", "false")
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for name, state in dict.fromkeys((row["set"], row["state"]) for row in rows):
        own = [row for row in rows if (row["set"], row["state"]) == (name, state)]
        cpu, told = sorted(row["cpu_ms"] for row in own), Counter(row["outcome"] for row in own)
        none = told["false"] + told["rightly refused"]
        cells = [mean(cpu), median(cpu), cpu[int(0.95 * len(cpu))], median(row["wall_ms"] for row in own)]
        cells.append(median(row["control_ms"] for row in own))
        figures = [f"{cell:.0f}" for cell in cells] + [str(told[kind]) for kind in ("right", "wrong", "refused")]
        lines.append("| " + " | ".join((name, state, *figures, f"{told['false']} of {none}")) + " |")
    return "\n".join(lines)


def stages(rows: Sequence[dict[str, Any]]) -> str:
    """As markdown: the mean of each stage, in milliseconds of processor time, by set and state."""
    columns = list(dict.fromkeys((row["set"], row["state"]) for row in rows))
    sums = {column: Counter[str]() for column in columns}
    for row in rows:
        sums[row["set"], row["state"]].update(row["stages"])
    counts = Counter((row["set"], row["state"]) for row in rows)
    names = sorted({name for found in sums.values() for name in found}, key=lambda one: -sums[columns[0]][one])
    lines = ["| stage | " + " | ".join(" ".join(column) for column in columns) + " |"]
    lines.append("|---" * (1 + len(columns)) + "|")
    for name in names:
        lines.append(f"| {name} | " + " | ".join(f"{sums[one][name] / counts[one]:.1f}" for one in columns) + " |")
    return "\n".join(lines)


def same(rows: Sequence[dict[str, Any]]) -> str:
    """By set, how many answers are the same in both states to the last sign: words, probability, citations and hits."""
    lines: list[str] = []
    for name in dict.fromkeys(row["set"] for row in rows):
        now, before = ({row["id"]: row for row in rows if row["set"] == name and row["state"] == s} for s in STATES)
        if before:
            alike = [key for key, row in now.items() if row["digest"] == before[key]["digest"]]
            others = ", ".join(sorted(now.keys() - alike)) or "none"
            lines.append(f"{name}: {len(alike)} of {len(now)} answers are the same in both states; others: {others}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.answer_cost", description=__doc__)
    parser.add_argument("--squad2", type=Path, metavar="HOME", help="a home with the collection squad2")
    parser.add_argument("--real", type=Path, metavar="HOME", help="a home with the collections of real_questions")
    parser.add_argument("--before", type=Path, metavar="DIR", help="root of another checkout")
    parser.add_argument("--questions", type=int, default=168, help="most questions of each set")
    parser.add_argument("--out", type=Path, help="write every answer as a line of JSON")
    given = parser.parse_args()
    homes = {name: home for name, home in (("squad2", given.squad2), ("real_questions", given.real)) if home}
    if not homes:
        parser.error("name a home: --squad2 HOME, --real HOME or both")
    checkouts = {STATES[0]: ROOT} | ({STATES[1]: given.before.resolve()} if given.before else {})
    rows = [row for name, home in homes.items() for row in measure(name, checkouts, home, given.questions)]
    if given.out:
        given.out.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    print(table(rows), stages(rows), same(rows), sep="\n\n")


if __name__ == "__main__":
    main()
