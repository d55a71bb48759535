"""`python -m tests.services start|stop|status [NAME …]`: the servers that `make services` runs for the tests."""

from __future__ import annotations

import sys
import time

from tests.services import NAMES, ROOT, Unavailable, start, stop


def main(action: str, names: list[str]) -> int:
    for name in names or NAMES:
        if action == "start":
            _start(name)
        elif action == "stop":
            stop(name)
        elif action == "status":
            url = ROOT / name / "url"
            print(f"{name:12} {url.read_text('utf-8') if url.exists() else 'not running'}")
        else:
            print(__doc__)
            return 2
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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "status", sys.argv[2:]))
