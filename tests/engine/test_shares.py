"""The processor's time goes to the stages that run, in equal parts, and none of it twice."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.engine.shares import Running, Shares


class Clock:
    """Processor time that a test spends."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def watched() -> tuple[Shares, Clock, Counter[str]]:
    told: Counter[str] = Counter()
    clock = Clock()
    return Shares(lambda name, seconds: told.update({name: seconds}), clock), clock, told


def test_a_stage_that_holds_another_gets_nothing_while_that_one_runs() -> None:
    shares, clock, told = watched()
    judge = shares.begin("judge", holds=True)
    clock.now += 1
    read = shares.begin("read", holds=True)
    clock.now += 10
    shares.end(read)
    clock.now += 2
    shares.end(judge)
    assert told == {"judge": 3, "read": 10}


def test_stages_beside_each_other_share_and_waiting_takes_nothing() -> None:
    shares, clock, told = watched()
    waits = shares.begin("wait", holds=False)
    clock.now += 5  # nobody's
    one, other = shares.begin("vectors", holds=False), shares.begin("keywords", holds=False)
    clock.now += 4
    shares.end(one)
    clock.now += 1
    shares.end(other)
    shares.end(waits)
    assert told == {"vectors": 2, "keywords": 3}


@given(st.lists(st.tuples(st.sampled_from(["embed", "read", "judge"]), st.floats(0, 5)), max_size=20))
def test_what_is_told_is_what_was_spent_while_anything_ran(steps: list[tuple[str, float]]) -> None:
    shares, clock, told = watched()
    running: list[Running] = []
    spent = 0.0
    for name, seconds in steps:
        running.append(shares.begin(name, holds=False))
        clock.now += seconds
        spent += seconds
        if len(running) > 2:
            shares.end(running.pop(0))
    for one in running:
        shares.end(one)
    assert sum(told.values()) == pytest.approx(spent)
