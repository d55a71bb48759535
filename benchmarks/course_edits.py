"""Random edits of a course: `python -m benchmarks.course_edits --help`.

The campaign itself is `tests.campaigns.courses.edits`.
"""

from __future__ import annotations

from tests.campaigns.courses.edits import main

if __name__ == "__main__":
    main()
