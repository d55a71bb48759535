"""The index of what was live before: beside each index in use there can be one for passages of versions that are kept.

An index of its own, so that whoever asks about now neither sees superseded passages nor weighs words by them, and pays
nothing for them. Each point holds from when until when it was live; a passage that came and went several times is held
once, from its first to its last instant; the catalog says what was there between, and who may read it now: points of
the past name no readers.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import numpy as np
import numpy.typing as npt

from kedge.core.values import Collection
from kedge.core.values.filters import And, Filter, Range
from kedge.stores.catalog.ports import PastPassage
from kedge.stores.ports import IndexSpec, Point

SINCE = "kedge_since"
"""Payload field: the first instant at which the passage was live, in seconds since 1970."""
UNTIL = "kedge_until"
"""Payload field: the instant from which on it was not."""
INGESTED = "ingested_at"
"""Payload field of every passage: it cannot have been live before."""


def past_index(index: str) -> str:
    """The index beside this one."""
    return f"{index}_past"


def past_spec(collection: Collection) -> IndexSpec:
    """How it is made."""
    fields = {"document_id": "keyword", SINCE: "float", UNTIL: "float"}
    return IndexSpec(past_index(collection.index_name), collection.dimension, fields)


def past_point(past: PastPassage, vector: npt.NDArray[np.float32]) -> Point:
    """The passage as it was, with its time."""
    passage = past.passage
    span = {SINCE: past.since.timestamp(), UNTIL: past.until.timestamp()}
    return Point(passage.id, vector, passage.keyword_text, {**passage.payload(), **span})


def past_points(found: Sequence[PastPassage], vectors: Sequence[npt.NDArray[np.float32]]) -> list[Point]:
    """Several, in their order."""
    return [past_point(one, vector) for one, vector in zip(found, vectors, strict=True)]


def was_live(at: datetime) -> Filter:
    """Passes what may have been live at that instant, in the index of the past."""
    moment = at.timestamp()
    return And((Range(SINCE, lte=moment), Range(UNTIL, gt=moment)))


def was_there(at: datetime) -> Filter:
    """Passes what may have been live at that instant, in the index in use."""
    return Range(INGESTED, lte=at.timestamp())
