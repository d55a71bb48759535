"""Points and filters as Qdrant's API takes them; ids, payloads and what filters mean come from `edge.encode`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from qdrant_client import models

from kedge.stores.base import Point, StoredPoint, Vector
from kedge.stores.edge.encode import TENANT, compiled, inner_id, payload_of
from kedge.stores.filters import Filter

DENSE = "dense"
TERMS = "terms"


class _Rest:
    """Conditions as the REST API takes them."""

    def group(
        self,
        *,
        must: Sequence[Any] | None = None,
        should: Sequence[Any] | None = None,
        must_not: Sequence[Any] | None = None,
    ) -> Any:
        given: dict[str, Any] = {"must": must, "should": should, "must_not": must_not}
        return models.Filter.model_validate({name: list(parts) for name, parts in given.items() if parts is not None})

    def nothing(self) -> Any:
        return models.Filter(must=[models.HasIdCondition(has_id=[])])

    def tenant(self, tenant: str) -> Any:
        return models.FieldCondition(key=f'"{TENANT}"', match=models.MatchValue(value=tenant))

    def among(self, path: str, texts: Sequence[str]) -> Any:
        return models.FieldCondition(key=path, match=models.MatchAny(any=list(texts)))

    def whole(self, path: str, number: int) -> Any:
        return models.FieldCondition(key=path, match=models.MatchValue(value=number))

    def between(self, path: str, bounds: Mapping[str, float]) -> Any:
        return models.FieldCondition(key=path, range=models.Range(**bounds))

    def missing(self, path: str) -> Sequence[Any]:
        field = models.PayloadField(key=path)
        return [models.IsEmptyCondition(is_empty=field), models.IsNullCondition(is_null=field)]


_REST = _Rest()


def filter_of(tenant: str, where: Filter | None) -> models.Filter:
    """The filter for `where` within one tenant."""
    found: models.Filter = compiled(_REST, tenant, where)
    return found


def point_of(tenant: str, point: Point, weights: Mapping[int, float]) -> models.PointStruct:
    """A point as stored; one without terms has no sparse vector, so it does not count as a text."""
    vectors: dict[str, Any] = {DENSE: unit(point.vector)}
    if weights:
        vectors[TERMS] = sparse(weights)
    return models.PointStruct(
        id=str(inner_id(point.id, tenant)), vector=vectors, payload=payload_of(tenant, point.payload)
    )


def sparse(weights: Mapping[int, float]) -> models.SparseVector:
    """Terms and their weights."""
    return models.SparseVector(indices=list(weights), values=list(weights.values()))


def unit(vector: Vector) -> list[float]:
    """The vector in length 1; the zero vector stays."""
    wide = np.asarray(vector, dtype=np.float64)
    length = float(np.linalg.norm(wide))
    return [float(value) for value in np.asarray(wide / length if length else wide, dtype=np.float32)]


def terms_of(vector: Any) -> dict[int, float]:
    """Weights in a point's named vectors, as an answer holds them."""
    held = vector.get(TERMS) if isinstance(vector, dict) else None
    return {} if held is None else dict(zip(held.indices, held.values, strict=True))


def stored(vector: Any) -> StoredPoint:
    """A point's named vectors, as an answer holds them."""
    return StoredPoint(np.array(vector[DENSE], dtype=np.float32), terms_of(vector))
