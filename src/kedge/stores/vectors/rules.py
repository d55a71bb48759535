"""What every vector store does the same way: checks and numbers on the way in, order and rounding on the way out."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from kedge.core.errors import DimensionMismatchError, NotFoundError, QueryError, StoreError, UsageError
from kedge.core.values import Scored
from kedge.stores.ports import IndexSpec, Point, Vector

COSINE_DIGITS = 6
"""Decimals of a cosine that mean something in 32-bit arithmetic; what differs less is a tie."""
KEYWORD_DIGITS = 4
"""The same for BM25 scores, which are larger."""
SPARE = 16
"""Hits fetched beyond the limit, to see whether a tie crosses it."""
MOST_TIED = 1_000
"""Hits up to which a tie at the limit is followed. Which of still more equals come first is the engine's choice, as it
would cost more than the search to sort a hundred thousand of them for each question."""
_LARGEST = sys.float_info.max
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def check_limit(limit: int) -> None:
    """A search wants at least one hit (Q-03)."""
    if limit < 1:
        raise QueryError(f"The limit of a search must be a positive integer, not {limit}.", hint="Ask for 1 or more.")


def check_dimension(spec: IndexSpec, present: int) -> None:
    """An index that is there already holds vectors of the length that is asked for."""
    if present != spec.dimension:
        raise DimensionMismatchError(found=spec.dimension, expected=present, collection=spec.name)


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
            raise UsageError(f"{point.id!r} is not a UUID in its usual form.", hint="Make ids with kedge.core.ids.")
    if points and not np.isfinite([point.vector for point in points]).all():
        raise UsageError("A vector holds values that are not finite.", hint="Check the embedder.")


def is_id(text: str) -> bool:
    """Whether this is a UUID as `str(UUID)` writes it."""
    return _UUID.fullmatch(text) is not None


def unknown_index(name: str) -> NotFoundError:
    """The error for an index that was not created."""
    return NotFoundError(f"There is no vector index {name!r}.", hint="Create it first.")


def closed_store() -> StoreError:
    """The error for a call behind `close()`."""
    return StoreError("The vector store is closed.", hint="Open it again.")


def unit(vector: Vector) -> npt.NDArray[np.float64]:
    """The vector in length 1, in double precision; the zero vector stays."""
    wide = np.asarray(vector, dtype=np.float64)
    length = float(np.linalg.norm(wide))
    return wide / length if length else wide


def double(number: int | float) -> float:
    """The number as a double; what is larger than any is the largest."""
    return float(min(max(number, -_LARGEST), _LARGEST))


def idf(texts: int, holding: int) -> float:
    """How rare a term is that `holding` of so many texts have: `ln(1 + (N - n + 0.5) / (n + 0.5))`; 0 if none has."""
    return math.log(1 + (texts - holding + 0.5) / (holding + 0.5)) if holding else 0.0


def tied(last: float, wanted: float, digits: int) -> bool:
    """Whether the last hit fetched is no worse than the last one wanted, so that others may be as good."""
    return round(float(last), digits) >= round(float(wanted), digits)


def wider_fetch(fetch: int, limit: int) -> int | None:
    """How many hits to fetch next where `fetch` of them ended within a tie; None where it is followed no further."""
    most = limit + SPARE + MOST_TIED
    if fetch >= most:
        return None
    return most if 8 * fetch > most else 4 * fetch  # one large step costs less than two


def ranked(found: Iterable[tuple[str, float]], limit: int, digits: int) -> list[Scored]:
    """The best `limit`, best first, ties by id; scores are rounded, so that noise is never an order."""
    rounded = [Scored(id, round(score, digits) + 0.0) for id, score in found]
    rounded.sort(key=lambda hit: (-hit.score, hit.id))
    return rounded[:limit]
