"""When a question names a time, what speaks of that time comes before what speaks of another.

Only documents that state a time of their own take part: reports, minutes, releases. The order changes softly and
nothing is dropped; a question that names no time is answered as if this were not here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from kedge.core.values import Passage
from kedge.core.values.identity import (
    DATED,
    DOCUMENT_TYPE,
    FILE_NAME,
    ORGANISATION,
    PERIOD,
    PERIOD_END,
    said_in,
)
from kedge.retrieve.fuse import Fused
from kedge.text.periods import Period, agreement, periods, without_lengths

_REPORT = re.compile(r"\s+(?:[\w-]+\s+)?(?:filing|report|10-[qk]|statements?|results|figures|numbers|minutes)\b", re.I)
WEIGHT = 0.25
"""What a full agreement adds to a hit's score, and a contradiction takes from it, as a share of the best score."""


def own_periods(passage: Passage) -> tuple[Period, ...]:
    """The time that the passage's document says it is about, in each way that it says it; empty: it does not.

    A quarter that title or file name number is the document's own count, be it of the calendar or of a fiscal year.
    """
    metadata = passage.metadata
    stated = said_in(metadata, PERIOD)
    type = said_in(metadata, DOCUMENT_TYPE)
    end = periods(said_in(metadata, PERIOD_END))
    if not (stated or end or type):
        return ()
    found = periods(stated) + (() if periods(stated) else end)
    named = [*periods(passage.title), *periods(said_in(metadata, FILE_NAME).rpartition(".")[0].replace("_", " "))]
    found += tuple(one for one in named if one.quarter is not None or (type and not found))
    if not found and type:
        found = periods(said_in(metadata, DATED))
    return tuple(dict.fromkeys(one for one in found if one.year is not None and not one.latest))


def by_time(question: str, ranked: Sequence[Fused], passages: Mapping[str, Passage]) -> list[Fused]:
    """The hits in their new order; `passages` are those of the hits that can move, the others follow as they are."""
    asked = periods(question)
    moving = [item for item in ranked if item.passage_id in passages]
    if not asked or len(moving) < 2:
        return list(ranked)
    stated = {passage.document_id: own_periods(passage) for passage in passages.values()}
    ends = without_lengths(asked)
    fits = {document: agreement(ends, without_lengths(own)) for document, own in stated.items()}
    if any(one.latest for one in asked):
        for document, value in _newest(passages.values(), stated).items():
            fits[document] += value
    if len(set(fits.values())) < 2:
        return list(ranked)  # nothing to tell them apart by
    share = WEIGHT * max(0.0, moving[0].score)
    moved = [replace(item, score=item.score + share * fits[passages[item.passage_id].document_id]) for item in moving]
    moved.sort(key=lambda item: (-item.score, item.passage_id))
    rest = [item for item in ranked if item.passage_id not in passages]
    return [*moved, *(replace(item, score=min(item.score, moved[-1].score)) for item in rest)]


def with_newest_time(question: str, passages: Iterable[Passage]) -> str:
    """The question with `latest quarter` or `most recent report` said by the time of the newest report among the
    passages; the same where it asks for nothing of the kind, or none of them states a time of that length."""
    stated = [one for passage in passages for one in own_periods(passage) if one.month is not None]
    for asked in reversed([one for one in periods(question) if one.latest]):
        fitting = [one for one in stated if asked.months is None or one.months in (None, asked.months)]
        if not fitting:
            continue
        words = str(max(fitting, key=last_day))
        if asked.months is not None:
            question = f"{question[: asked.start]}{words}{question[asked.end :]}"
        elif report := _REPORT.match(question, asked.end):
            question = f"{question[: report.end()]} ({words}){question[report.end() :]}"
    return question


def _newest(passages: Iterable[Passage], stated: Mapping[str, tuple[Period, ...]]) -> dict[str, float]:
    """1 for the newest of documents of one series, -1 for those before it; nothing for what stands alone."""
    series: dict[tuple[str, str], dict[str, tuple[int, int, int]]] = {}
    for passage in passages:
        own = stated[passage.document_id]
        if own:
            series.setdefault(_series(passage), {})[passage.document_id] = max(last_day(one) for one in own)
    found: dict[str, float] = {}
    for ends in series.values():
        last = max(ends.values())
        if len(set(ends.values())) > 1:
            found |= {document: 1.0 if end == last else -1.0 for document, end in ends.items()}
    return found


def _series(passage: Passage) -> tuple[str, str]:
    """What reports of one kind by one organisation have in common; of others it is the title without its time."""
    organisation, type = said_in(passage.metadata, ORGANISATION), said_in(passage.metadata, DOCUMENT_TYPE)
    if organisation:
        return organisation.casefold(), type.casefold()
    title = passage.title
    for one in reversed(periods(title)):
        title = title[: one.start] + title[one.end :]
    return " ".join(title.casefold().split()), type.casefold()


def last_day(one: Period) -> tuple[int, int, int]:
    """Year, month and day that a period ends on at the latest, for comparing."""
    month = one.month if one.month is not None else 3 * one.quarter if one.quarter is not None else 12
    return one.year or 0, month, one.day or 31
