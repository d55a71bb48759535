"""What the demonstration shows."""

from __future__ import annotations

from dataclasses import dataclass

from kedge.core.outside import outside
from kedge.core.values.answer import Answer
from kedge.core.values.job import Job


@outside()
@dataclass(frozen=True, slots=True)
class Demonstration:
    """The handbook that was taken in, and what was asked of it."""

    job: Job
    answers: tuple[Answer, ...]
    """In the order of the questions."""
