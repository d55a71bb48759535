"""Killed processes, broken networks and readers at every moment: `python -m benchmarks.chaos --help`.

The campaign itself is `tests.campaigns.chaos.command`.
"""

from __future__ import annotations

import sys

from tests.campaigns.chaos.command import main

if __name__ == "__main__":
    sys.exit(main())
