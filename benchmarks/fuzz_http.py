"""Thousands of random requests to a real server: `python -m benchmarks.fuzz_http --help`.

The campaign itself is `tests.campaigns.hostile.fuzz_http`.
"""

from __future__ import annotations

from tests.campaigns.hostile.fuzz_http import main

if __name__ == "__main__":
    main()
