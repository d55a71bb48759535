"""The hostile file set with memory measured: `python -m benchmarks.hostile_files --help`.

The campaign itself is `tests.campaigns.hostile.taking`.
"""

from __future__ import annotations

from tests.campaigns.hostile.taking import main

if __name__ == "__main__":
    main()
