"""Instants as people write them."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from kedge.core.errors import QueryError
from kedge.core.instants import instant

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("2026-02-27", datetime(2026, 2, 27, 23, 59, 59, 999999, UTC)),
        (date(2026, 2, 27), datetime(2026, 2, 27, 23, 59, 59, 999999, UTC)),
        ("2026-03-01", NOON),
        ("2026-02-27T10:30", datetime(2026, 2, 27, 10, 30, tzinfo=UTC)),
        ("2026-02-27T10:30:00Z", datetime(2026, 2, 27, 10, 30, tzinfo=UTC)),
        ("2026-02-27T10:30+02:00", datetime(2026, 2, 27, 8, 30, tzinfo=UTC)),
        (datetime(2026, 2, 27, 10, 30), datetime(2026, 2, 27, 10, 30, tzinfo=UTC)),
        (datetime(2026, 2, 27, 10, tzinfo=timezone(timedelta(hours=2))), datetime(2026, 2, 27, 8, tzinfo=UTC)),
    ],
)
def test_a_date_is_its_end_and_a_time_is_one_of_utc(said: str | date, expected: datetime) -> None:
    assert instant(said, NOON) == expected


def test_a_day_that_has_not_come_stays_in_the_future() -> None:
    assert instant("2026-03-09", NOON) > NOON


@pytest.mark.parametrize("said", ["", "yesterday", "2026-13-01", "2026-02-30", "1", "2026-03-01T25:00", "\x00" * 10])
def test_what_is_no_date_is_told_with_the_form(said: str) -> None:
    with pytest.raises(QueryError) as refused:
        instant(said)
    assert "2026-03-01" in refused.value.hint
