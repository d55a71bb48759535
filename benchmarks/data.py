"""Where the open data sets are: `KEDGE_BENCH_DATA`, else `../shared/data` beside the project."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from benchmarks.composed import write

SETS = ("scifact", "2wikimultihop", "hotpotqa_train100", "cranfield", "cacm", "squad2", "xquad/es", "xquad/zh")


MADE = Path(__file__).parents[1] / ".bench-cache" / "composed"


def folder(name: str) -> Path:
    """Folder of one set, or an end with a message. `composed` is made from the others when it is first asked for."""
    root = Path(os.environ.get("KEDGE_BENCH_DATA", Path(__file__).parents[2] / "shared" / "data"))
    if name == "composed":
        if not (MADE / "qrels.tsv").exists():
            write(root, MADE)
        return MADE
    path = root / name
    if not path.is_dir():
        sys.exit(f"{path} is not there: set KEDGE_BENCH_DATA to the folder that holds the data sets.")
    return path
