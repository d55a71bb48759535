"""What every vector store does the same way: checks on the way in, order and rounding on the way out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from uuid import UUID

import numpy as np

from kedge.errors import DimensionMismatchError, QueryError, UsageError
from kedge.stores.base import Point, Vector
from kedge.types import Scored

COSINE_DIGITS = 6
"""Decimals of a cosine that mean something in 32-bit arithmetic; what differs less is a tie."""
KEYWORD_DIGITS = 4
"""The same for BM25 scores, which are larger."""


def check_limit(limit: int) -> None:
    """A search wants at least one hit (Q-03)."""
    if limit < 1:
        raise QueryError(f"The limit of a search must be a positive integer, not {limit}.", hint="Ask for 1 or more.")


def check_query(vector: Vector, dimension: int, index: str) -> None:
    """The query's vector fits the index."""
    if len(vector) != dimension:
        raise DimensionMismatchError(found=len(vector), expected=dimension, collection=index)
    if not np.isfinite(vector).all():
        raise UsageError("The query's vector holds values that are not finite.", hint="Check the embedder.")


def check_points(points: Sequence[Point], dimension: int, index: str) -> None:
    """All points can be written; raised before anything is, so that a bad call writes nothing."""
    for point in points:
        if len(point.vector) != dimension:
            raise DimensionMismatchError(found=len(point.vector), expected=dimension, collection=index)
        if not is_id(point.id):
            raise UsageError(f"{point.id!r} is not a UUID in its usual form.", hint="Make ids with kedge.ids.")
    if points and not np.isfinite([point.vector for point in points]).all():
        raise UsageError("A vector holds values that are not finite.", hint="Check the embedder.")


def is_id(text: str) -> bool:
    """Whether this is a UUID as `str(UUID)` writes it."""
    try:
        return str(UUID(text)) == text
    except ValueError:
        return False


def ranked(found: Iterable[tuple[str, float]], limit: int, digits: int) -> list[Scored]:
    """The best `limit`, best first, ties by id; scores are rounded, so that noise is never an order."""
    rounded = [Scored(id, round(score, digits) + 0.0) for id, score in found]
    rounded.sort(key=lambda hit: (-hit.score, hit.id))
    return rounded[:limit]
