"""What the campaign under attack calls a finding."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.campaigns.hostile.attacked import Verdict

GOOD = Verdict(
    questions=8,
    sockets=60,
    upload_bytes=200_000,
    quiet_p95=0.6,
    attacked_p95=1.1,
    ratio=1.83,
    wrong=0,
    refused=0,
    jobs_lost=0,
    ready=True,
)


def test_nothing_is_found_where_all_is_well() -> None:
    assert GOOD.findings(times=2.0) == []


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (replace(GOOD, wrong=1), "1 wrong answers"),
        (replace(GOOD, refused=2), "2 questions not answered"),
        (replace(GOOD, jobs_lost=1), "1 jobs lost"),
        (replace(GOOD, ready=False), "not ready"),
        (replace(GOOD, asks=2000, grown_mb=90.0), "90 MB more memory after 2000 questions"),
        (replace(GOOD, ratio=2.5), "p95 2.5 times that of the quiet run"),
    ],
)
def test_each_fault_is_a_finding(bad: Verdict, said: str) -> None:
    assert bad.findings(times=2.0) == [said]


def test_a_run_without_answers_proves_nothing() -> None:
    assert replace(GOOD, quiet_p95=0.0, ratio=0.0).findings(times=2.0) != []
