"""No regular expression of Kedge takes the square of a text's length: it would hold up everything else meanwhile."""

from __future__ import annotations

import sys
from functools import cache

import pytest

if sys.platform == "win32":
    pytest.skip("clocks of POSIX", allow_module_level=True)

from tests.hostile.patterns import Found, every_pattern, faults

PARTS = (
    "answer",
    "core",
    "engine",
    "evals",
    "ingest",
    "kinds",
    "models",
    "retrieve",
    "stores",
    "surfaces",
    "testing",
    "text",
)
"""All folders of Kedge. `python -m tests.hostile.patterns kedge.text.` tries the patterns of one."""
FEWEST = 500
"""Patterns that are found at least: the search itself must not go blind."""


@cache
def found() -> tuple[Found, ...]:
    return tuple(every_pattern())


def test_the_patterns_are_found() -> None:
    assert len(found()) >= FEWEST
    parts = {one.where.split(".")[1].split(":")[0] for one in found()}
    assert parts <= {*PARTS}


@pytest.mark.slow
@pytest.mark.parametrize("part", PARTS)
def test_every_pattern_takes_about_the_length_of_its_text(part: str) -> None:
    slow = [told for one in found() if one.where.startswith(f"kedge.{part}.") for told in faults(one)]
    assert slow == []
