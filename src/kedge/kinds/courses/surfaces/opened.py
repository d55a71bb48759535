"""From an engine to what the surfaces of courses work with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kedge.kinds.courses.kind import KIND

if TYPE_CHECKING:
    from kedge.engine.engine import Engine
    from kedge.kinds.courses.courses import Courses


def courses_of(engine: Engine) -> Courses:
    """Lessons, chains and prerequisites."""
    return engine.kinds.opened(KIND)
