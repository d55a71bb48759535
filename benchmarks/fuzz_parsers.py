"""Random bytes to every parser: `python -m benchmarks.fuzz_parsers --help`.

The campaign itself is `tests.campaigns.hostile.fuzz_parsers`.
"""

from __future__ import annotations

from tests.campaigns.hostile.fuzz_parsers import main

if __name__ == "__main__":
    main()
