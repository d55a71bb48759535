"""Where the open data sets are: `KEDGE_BENCH_DATA`, else `../shared/data` beside the project."""

from __future__ import annotations

import os
import sys
from pathlib import Path

SETS = ("scifact", "2wikimultihop", "hotpotqa_train100", "cranfield", "cacm", "squad2", "xquad/es", "xquad/zh")


def folder(name: str) -> Path:
    """Folder of one set, or an end with a message."""
    root = Path(os.environ.get("KEDGE_BENCH_DATA", Path(__file__).parents[2] / "shared" / "data"))
    path = root / name
    if not path.is_dir():
        sys.exit(f"{path} is not there: set KEDGE_BENCH_DATA to the folder that holds the data sets.")
    return path
