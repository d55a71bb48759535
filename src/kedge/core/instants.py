"""Instants as people write them."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta

from kedge.core.errors import QueryError


def instant(said: str | date, now: datetime | None = None) -> datetime:
    """The instant that a date or a time in ISO form names, in UTC; without a zone it is one of UTC.

    A date is the end of that day, or now where the day is not over. QueryError for what is neither.

    >>> str(instant("2026-03-01"))
    '2026-03-01 23:59:59.999999+00:00'
    >>> str(instant("2026-03-01T12:00+02:00"))
    '2026-03-01 10:00:00+00:00'
    """
    now = now or datetime.now(UTC)
    found = _read(said) if isinstance(said, str) else said
    if isinstance(found, datetime):
        return (found if found.tzinfo is not None else found.replace(tzinfo=UTC)).astimezone(UTC)
    end = datetime.combine(found, time.max, UTC)
    return min(end, now) if end - now < timedelta(days=1) else end


def _read(said: str) -> date:
    text = said.strip()
    try:
        return date.fromisoformat(text) if len(text) == len("2026-03-01") else datetime.fromisoformat(text)
    except ValueError as error:
        raise QueryError(
            f"{said[:40]!r} is no date.",
            hint="Write 2026-03-01, or 2026-03-01T12:00 (UTC), or with a zone: …T12:00+02:00.",
        ) from error
