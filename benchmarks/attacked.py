"""Honest questions while somebody attacks the server: `python -m benchmarks.attacked --help`.

The campaign itself is `tests.campaigns.hostile.attacked`.
"""

from __future__ import annotations

from tests.campaigns.hostile.attacked import main

if __name__ == "__main__":
    main()
