"""Attempts to reach another tenant's knowledge, on every surface and in every store; exit 1 when one succeeds.

    python -m benchmarks.tenants [--attempts 10000] [--stores embedded] [--stores milvus+postgresql] [--seed N]

An owner's knowledge is full of marks that stand nowhere else. Others, a stranger with nothing and a twin with the same
names, ask for it with the owner's ids, names, filters, sessions and cursors over HTTP, MCP, the engine, the façade and
the command line, and at the ports of the stores. A leak is a mark that comes back, an answer that differs from the one
for made-up ids, a failure of the server, or a change in what the owner sees. Control: the owner's own requests, which
must bring marks back.

With `embedded`, the default, it runs from a plain checkout: no network, none of the servers of the tests.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
import time
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.campaigns.places import NotRunning, own_places, parts_of
from tests.campaigns.tenants.campaign import Plan, campaign
from tests.campaigns.tenants.crossing import Report
from tests.campaigns.tenants.ports import CatalogPort, GraphPort, NodePort, Port, VectorPort
from tests.campaigns.tenants.recipes import RECIPES

from kedge.core.settings import Settings, load_settings
from kedge.stores import registry

EMBEDDER = "hash:64"
MEMORY: dict[str, Any] = {"catalog_url": "memory:", "vector_url": "memory:", "graph_url": "memory:"}
PORTS: Mapping[str, tuple[type[Port[Any]], Any]] = {
    "vectors": (VectorPort, registry.open_vectors),
    "graph": (GraphPort, registry.open_graph),
    "nodes": (NodePort, registry.open_nodes),
    "catalog": (CatalogPort, registry.open_catalog),
}


async def cross_ports(settings: Settings, attempts: int, seed: int, report: Report) -> None:
    """A quarter of the attempts at each port."""
    for name, (port, opened) in PORTS.items():
        store, alone = opened(settings), opened(load_settings(environ={}, **MEMORY))
        try:
            wrong = await port(store, alone, seed).run(attempts // len(PORTS))
        finally:
            await store.close()
            await alone.close()
        report.attempts[f"port {name}"] += attempts // len(PORTS)
        report.leaks.extend(wrong)


def measure(stores: str, attempts: int, seed: int) -> tuple[Report, float]:
    """All attempts on one set of stores; a fifth of them at the ports."""
    begun = time.monotonic()
    embedded = stores == "embedded"
    with tempfile.TemporaryDirectory() as folder, own_places(parts_of(stores), uuid.uuid4().hex[:8]) as urls:
        places: dict[str, Any] = MEMORY if stores == "memory" else dict(urls)
        settings = load_settings(environ={}, home=Path(folder) / "home", embedder=EMBEDDER, **places)
        ports = attempts // 5
        report = campaign(settings, Plan.of(attempts - ports, local=embedded), seed, lambda line: _tell(stores, line))
        beside = load_settings(environ={}, home=Path(folder) / "ports", embedder=EMBEDDER, **places)
        asyncio.run(cross_ports(beside, ports, seed, report))
    return report, time.monotonic() - begun


def _tell(stores: str, line: str) -> None:
    print(f"{stores}: {line}", file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attempts", type=int, default=10_000, help="on each set of stores")
    parser.add_argument("--stores", action="append", help="embedded (default), memory, or servers joined by +")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    leaks = 0
    for stores in options.stores or ["embedded"]:
        try:
            report, seconds = measure(stores, options.attempts, options.seed)
        except (NotRunning, ValueError) as error:
            print(f"{stores}: {error}", file=sys.stderr)
            return 2
        leaks += len(report.leaks)
        _print(stores, report, seconds)
    return 1 if leaks else 0


def _print(stores: str, report: Report, seconds: float) -> None:
    print(f"\n{stores}: {report.total} attempts in {seconds:.0f} s, {len(report.leaks)} leaks")
    print(f"control: {report.control} of the {len(RECIPES)} addresses bring marks back to the owner, who only reads")
    print("answers over HTTP: " + ", ".join(f"{status} × {count}" for status, count in sorted(report.statuses.items())))
    print("\n| surface | attempts |\n|---|---|")
    for surface, count in sorted(report.attempts.items()):
        print(f"| {surface} | {count} |")
    for leak in report.leaks:
        print(f"LEAK {leak}")


if __name__ == "__main__":
    sys.exit(main())
