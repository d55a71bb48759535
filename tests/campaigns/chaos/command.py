"""`python -m benchmarks.chaos [--rounds 200] [--stores embedded] [--seed 1]`: exit 1 when anything was violated.

`--stores` may be given several times: `embedded`, or servers joined by `+`, such as `postgresql`, `milvus+postgresql`,
`qdrant`, `neo4j+postgresql`. The catalog is in PostgreSQL if that is named, else in SQLite; vectors in Milvus or Qdrant
if named, else in PostgreSQL, else in Qdrant Edge; the graph in Neo4j if named, else with the catalog. With `embedded`,
the default, it runs from a plain checkout: no network, none of the servers of the tests. Syncs of connected sources
are among the operations.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import random
import sys
import tempfile
import time
from pathlib import Path

from tests.campaigns.chaos.plan import Round
from tests.campaigns.chaos.rounds import Report, run
from tests.campaigns.places import NotRunning

COLUMNS = (
    "operations",
    "acknowledged",
    "failed",
    "killed",
    "faults",
    "recoveries",
    "resumed jobs",
    "repaired passages",
    "reads",
    "outside reads",
)


def progress(number: int, plan: Round, report: Report) -> None:
    """One line for each round."""
    kinds = " | ".join(" & ".join(f"{each.kind} {each.letter}" for each in group) for group in plan.groups)
    kill = f" kill@{plan.kill_after}" if plan.kill_after else ""
    faults = "".join(f" {fault.how}#{fault.proxy}@{fault.after}" for fault in plan.faults)
    print(f"{report.stores} {number:4} {report.seconds:7.1f} s  {kinds}{kill}{faults}", file=sys.stderr, flush=True)


def table(reports: list[Report]) -> str:
    """Markdown: a row for each kind of stores."""
    heads = ("stores", "rounds", *COLUMNS, "violations", "s")
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for one in reports:
        counts = [f"{one.counts[name]:,}" for name in COLUMNS]
        cells = (one.stores, str(one.rounds), *counts, str(len(one.violations)), f"{one.seconds:.0f}")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--stores", action="append", default=None)
    parser.add_argument("--seed", type=int, default=None)
    options = parser.parse_args()
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(1 << 30)
    logging.disable(logging.WARNING)
    print(f"seed {seed}, {time.strftime('%Y-%m-%d %H:%M')}", flush=True)
    reports = []
    for stores in options.stores or ["embedded"]:
        with tempfile.TemporaryDirectory(prefix="chaos-") as folder:
            try:
                reports.append(asyncio.run(run(stores, options.rounds, seed, Path(folder) / "run", progress)))
            except NotRunning as missing:
                print(f"{stores}: {missing}")
                continue
        for line in reports[-1].violations:
            print(f"VIOLATED {line}")
        if reports[-1].violations:
            again = f"python -m benchmarks.chaos --stores {stores} --seed {seed} --rounds {reports[-1].rounds}"
            print(f"again: {again}")
    print(table(reports))
    return int(any(one.violations for one in reports) or not reports)
