"""Kedge beside its peers on the same texts with the same embedder, each in its own process, one after the other.

    python -m benchmarks.peers --setup                    # installs the peers into .bench-venv, once
    python -m benchmarks.peers [--only kedge,txtai] [--set scifact] [--limit 50] [--out artefacts]

Times are comparable within one run only: they depend on the machine and on what else it does. A peer that cannot be
installed or run is listed with the reason.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from benchmarks.peers.catalog import PEERS, Entry
from benchmarks.peers.environments import ROOT, install, last_line, python_of

COLUMNS = {
    "recall@5": "recall@5", "ndcg@10": "nDCG@10", "all_gold@8": "all-gold@8", "ingest_s": "ingest s",
    "ingest_cpu_s": "ingest CPU s", "query_p50_ms": "query p50 ms", "query_p95_ms": "p95 ms",
    "query_cpu_ms": "query CPU ms", "peak_rss_mb": "peak RSS MB",
}  # fmt: skip
SILENCED = {"HF_HUB_OFFLINE": "1", "HAYSTACK_TELEMETRY_ENABLED": "False", "TOKENIZERS_PARALLELISM": "false"}
KEPT = ("KEDGE_BENCH_DATA",)
"""Of Kedge's settings in the environment none reaches a peer: all run with defaults."""
PATIENCE = 3600

Figures = dict[str, Any]


def run(name: str, entry: Entry, set_name: str, limit: int | None) -> Figures:
    """The peer's figures, or why there are none."""
    python = python_of(entry)
    if not python.exists():
        return {"not_run": "not installed: run with --setup"}
    environment = {name: value for name, value in os.environ.items() if name in KEPT or not name.startswith("KEDGE_")}
    command = [str(python), "-m", "benchmarks.peers.worker", name, set_name, *([str(limit)] if limit else [])]
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment | SILENCED, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    except subprocess.TimeoutExpired:
        return {"not_run": f"did not end within {PATIENCE} s"}
    if done.returncode:
        return {"not_run": last_line(done.stderr) or f"ended with {done.returncode}"}
    figures: Figures = json.loads(last_line(done.stdout))
    return figures


def table(results: dict[str, Figures]) -> str:
    """Markdown: one row per peer."""
    heads = ["peer", "passages, questions", *COLUMNS.values(), "LLM calls (ingest + queries)"]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for name, found in results.items():
        if "not_run" in found:
            cells = [f"not run: {found['not_run']}"]
        else:
            size = f"{found['passages']}, {found['queries']}"
            calls = f"{found['llm_calls_ingest']} + {found['llm_calls_query']}"
            cells = [size, *(str(found[column]) for column in COLUMNS), calls]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def conditions(set_name: str) -> str:
    """When and on what the run was made."""
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    when = datetime.now(UTC).date().isoformat()
    return f"{set_name}, {when}, {os.cpu_count()} cores, load average {load} at the start"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--setup", action="store_true", help="install the peers, measure nothing")
    parser.add_argument("--only", default=",".join(PEERS), help="names, comma-separated")
    parser.add_argument("--set", default="hotpotqa_train100")
    parser.add_argument("--limit", type=int, default=None, help="only the first so many questions")
    parser.add_argument("--out", type=Path, default=Path("artefacts"))
    options = parser.parse_args()
    names = options.only.split(",")
    if unknown := [name for name in names if name not in PEERS]:
        parser.error(f"no such peer: {', '.join(unknown)}; known: {', '.join(PEERS)}")
    if options.setup:
        for name in names:
            print(f"{name}: {install(PEERS[name]) or 'installed'}", flush=True)
        return
    about = conditions(options.set)
    results = {}
    for name in names:
        results[name] = run(name, PEERS[name], options.set, options.limit)
        print(f"{name}: {json.dumps(results[name])}", flush=True)
    options.out.mkdir(exist_ok=True)
    (options.out / "peers.json").write_text(json.dumps({"about": about, "results": results}, indent=2), "utf-8")
    print(f"\n{about}. Times are comparable within this run only.\n\n{table(results)}\n")
    for name in names:
        print("- " + "; ".join(filter(None, (f"{name}: {PEERS[name].configuration}", results[name].get("note")))))


if __name__ == "__main__":
    main()
