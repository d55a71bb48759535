"""`make bench`: the benchmarks that judge a change, one after the other."""

from __future__ import annotations

import subprocess
import sys

BENCHMARKS = ("ingest_rate", "search_latency", "quality")

for name in BENCHMARKS:
    print(f"== {name}", flush=True)
    subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=True)
