"""What starting costs: CPU seconds and modules of `import kedge…` and of commands that need no model.

    python -m benchmarks.start_up [--before DIR] [--runs N]

Each is a process of its own; user and system time of the child are taken, not the clock, and the median of N runs that
take turns, so that a busy machine moves all alike. Control: `python -c pass`, and with `--before` the same commands of
an older checkout in the same run (goal: `kedge --help` <= 0.35 of what it was before commands were loaded on demand).
Bytecode and an empty home are made before the clock starts.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

ROOT = Path(__file__).parents[1]
RUNS = 11
STARTS = ("pass", "import kedge", "import kedge.client")
COMMANDS = ("--help", "ask --help", "collection list", "job list", "key list", "doctor")
COUNTED = "; import sys; print(len(sys.modules))"


@dataclass(frozen=True)
class Checkout:
    """One state of the project, with a home of its own."""

    root: Path
    home: Path

    @property
    def main(self) -> str:
        """The module of the command line, which has moved."""
        moved = (self.root / "src/kedge/surfaces/cli/main.py").exists()
        return "kedge.surfaces.cli.main" if moved else "kedge.cli.main"

    def environment(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if not name.startswith("KEDGE_")}
        return {**kept, "PYTHONPATH": str(self.root / "src"), "KEDGE_HOME": str(self.home)}

    def python(self, what: str) -> list[str]:
        """The process that does it."""
        return ["-c", what] if what in STARTS else ["-m", self.main, *what.split()]

    def counting(self, what: str) -> str:
        """The same as code that prints in the end how many modules are loaded."""
        code = what if what in STARTS else f"from {self.main} import run; run({what.split()!r})"
        return code + COUNTED


def cpu_seconds(checkout: Checkout, what: str) -> float:
    """User and system time of one process."""
    child = subprocess.Popen(
        [sys.executable, *checkout.python(what)],
        env=checkout.environment(),
        cwd=checkout.home.parent,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    return used.ru_utime + used.ru_stime


def modules(checkout: Checkout, what: str) -> int:
    """How many are loaded in the end."""
    done = subprocess.run(
        [sys.executable, "-c", checkout.counting(what)],
        env=checkout.environment(),
        cwd=checkout.home.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    return int(done.stdout.splitlines()[-1])


def measure(checkouts: Sequence[Checkout], runs: int) -> dict[str, list[tuple[float, int]]]:
    """For each start and command, by checkout: median CPU seconds, and modules."""
    asked = (*STARTS, *COMMANDS)
    times: dict[tuple[str, Checkout], list[float]] = {(what, one): [] for what in asked for one in checkouts}
    for what, one in times:
        cpu_seconds(one, what)  # makes the bytecode and the home
    counts = {(what, one): modules(one, what) for what, one in times}
    for run in range(runs):
        for (what, one), taken in times.items():
            taken.append(cpu_seconds(one, what))
        print(f"\r{run + 1}/{runs}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    return {what: [(median(times[what, one]), counts[what, one]) for one in checkouts] for what in asked}


def table(figures: dict[str, list[tuple[float, int]]], names: Sequence[str]) -> str:
    """As markdown; the last column is the ratio of the first checkout to the second, if there is one."""
    heads = [*(f"{name} CPU s" for name in names), *(["ratio"] if len(names) > 1 else [])]
    lines = ["| | " + " | ".join([*heads, *(f"{name} modules" for name in names)]) + " |"]
    lines.append("|---" * (1 + len(heads) + len(names)) + "|")
    for what, found in figures.items():
        seconds = [f"{cpu:.3f}" for cpu, _ in found]
        ratio = [f"{found[0][0] / found[1][0]:.2f}"] if len(found) > 1 else []
        name = f"`python -c '{what}'`" if what in STARTS else f"`kedge {what}`"
        lines.append(f"| {name} | " + " | ".join([*seconds, *ratio, *(str(count) for _, count in found)]) + " |")
    return "\n".join(lines)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--before", type=Path, metavar="DIR", help="root of an older checkout")
    options.add_argument("--runs", type=int, default=RUNS)
    given = options.parse_args()
    roots = {"now": ROOT} | ({"before": given.before.resolve()} if given.before else {})
    with tempfile.TemporaryDirectory() as folder:
        checkouts = [Checkout(root, Path(folder) / name) for name, root in roots.items()]
        print(table(measure(checkouts, given.runs), list(roots)))


if __name__ == "__main__":
    main()
