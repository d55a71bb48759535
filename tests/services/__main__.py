"""`python -m tests.services start|stop|status [NAME …]`: the servers that `make services` runs for the tests."""

from __future__ import annotations

import sys
import time
from concurrent.futures import ThreadPoolExecutor

from tests.services import NAMES, ROOT, Unavailable, start, stop


def main(action: str, names: list[str]) -> int:
    """Servers start and stop beside each other: most of their time is spent waiting for a network or a disk."""
    if action not in ACTIONS:
        print(__doc__)
        return 2
    with ThreadPoolExecutor(len(NAMES)) as pool:
        list(pool.map(ACTIONS[action], names or NAMES))
    return 0


def _start(name: str) -> None:
    begun = time.monotonic()
    try:
        url = start(name)
    except Unavailable as error:
        folder = ROOT / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "reason").write_text(str(error), encoding="utf-8")
        print(f"{name:12} not available: {error}", flush=True)
    else:
        print(f"{name:12} {url}  ({time.monotonic() - begun:.1f} s)", flush=True)


def _status(name: str) -> None:
    url = ROOT / name / "url"
    print(f"{name:12} {url.read_text('utf-8') if url.exists() else 'not running'}", flush=True)


ACTIONS = {"start": _start, "stop": stop, "status": _status}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "status", sys.argv[2:]))
