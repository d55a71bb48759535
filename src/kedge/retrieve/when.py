"""When a question names a time, what speaks of that time comes before what speaks of another; when it asks how things
are now, what is newer comes before what is older.

Only documents that state a time of their own take part: reports, minutes, releases, dated policies. The order changes
softly and nothing is dropped; a question that asks neither is answered as if this were not here.
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
_NOW = re.compile(
    r"\b(?:currently|nowadays|presently|at\s(?:present|the\smoment|this\stime)|these\sdays|as\sof\s(?:now|today)|right\snow|"
    r"up[\s-]to[\s-]date|any\s?more|any\slonger|today(?!['’]s\b)|"
    r"(?<!every\s)now(?!\s(?:that|and\s(?:then|again)))|still(?!\s(?:life|lifes|water|waters|image|images|frame|birth)\b)|"
    r"(?:the|our|your|their|its|my|his|her|this|what|which|is|are|s)\scurrent(?=\s(?!in\b|of\b|flow|through|densit|meter|"
    r"source|and\b|or\b|is\b|at\b)\w))\b",
    re.I,
)
WEIGHT = 0.25
"""What a full agreement adds to a hit's score, and a contradiction takes from it, as a share of the best score."""
LEANING = 0.2
"""Part of that which the newest of documents that have nothing else in common gains, and the oldest loses."""


def asks_for_now(question: str) -> bool:
    """Whether it asks how things are at present.

    >>> [asks_for_now(text) for text in ("What is the current limit?", "Is it still open?", "How does current flow?")]
    [True, True, False]
    """
    return _NOW.search(question) is not None


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
    return _moved(ranked, moving, passages, fits)


def newest_first(ranked: Sequence[Fused], passages: Mapping[str, Passage]) -> list[Fused]:
    """The hits for a question about the present: of documents that follow each other the newest gains and the others
    lose; between those that have only their dates in common, the newer gains a little."""
    moving = [item for item in ranked if item.passage_id in passages]
    days: dict[str, tuple[int, int, int]] = {}
    series: dict[tuple[str, ...], dict[str, tuple[int, int, int]]] = {}
    for item in moving:
        passage = passages[item.passage_id]
        if passage.document_id not in days and (day := _day(passage)) is not None:
            days[passage.document_id] = day
            series.setdefault(_sequence(passage), {})[passage.document_id] = day
    if len(set(days.values())) < 2:
        return list(ranked)
    fits = dict.fromkeys((passages[item.passage_id].document_id for item in moving), 0.0)
    order = {day: place for place, day in enumerate(sorted(set(days.values())))}
    for document, day in days.items():
        fits[document] = LEANING * (2 * order[day] / (len(order) - 1) - 1)
    for members in series.values():
        newest = max(members.values())
        if len(set(members.values())) > 1:
            fits |= {document: 1.0 if day == newest else -1.0 for document, day in members.items()}
    return _moved(ranked, moving, passages, fits)


def _moved(
    ranked: Sequence[Fused], moving: Sequence[Fused], passages: Mapping[str, Passage], fits: Mapping[str, float]
) -> list[Fused]:
    """Each hit that can move by how well its document fits; what nothing tells apart stays in its order."""
    if len(set(fits.values())) < 2:
        return list(ranked)
    share = WEIGHT * max(0.0, moving[0].score)
    moved = [replace(item, score=item.score + share * fits[passages[item.passage_id].document_id]) for item in moving]
    moved.sort(key=lambda item: (-item.score, item.passage_id))
    rest = [item for item in ranked if item.passage_id not in passages]
    return [*moved, *(replace(item, score=min(item.score, moved[-1].score)) for item in rest)]


def _day(passage: Passage) -> tuple[int, int, int] | None:
    """The day that its document is from: when it was written, else the end of what it is about, else by its title."""
    said = periods(said_in(passage.metadata, DATED)) or own_periods(passage) or periods(passage.title)
    return max((last_day(one) for one in said if one.year is not None), default=None)


def _sequence(passage: Passage) -> tuple[str, ...]:
    """What documents that replace one another have in common."""
    organisation, type = (said_in(passage.metadata, key).casefold() for key in (ORGANISATION, DOCUMENT_TYPE))
    return (organisation, type) if organisation and type else (organisation, _untimed(passage.title), type)


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
    return _untimed(passage.title), type.casefold()


def _untimed(title: str) -> str:
    for one in reversed(periods(title)):
        title = title[: one.start] + title[one.end :]
    return " ".join(title.casefold().split())


def last_day(one: Period) -> tuple[int, int, int]:
    """Year, month and day that a period ends on at the latest, for comparing."""
    month = one.month if one.month is not None else 3 * one.quarter if one.quarter is not None else 12
    return one.year or 0, month, one.day or 31
