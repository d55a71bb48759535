"""Points and filters as Qdrant's API takes them; what payloads and filters mean is in `payloads`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from qdrant_client import models

from kedge.core.values.filters import Filter
from kedge.stores.ports import Point, StoredPoint, Vector
from kedge.stores.vectors.ids import inner_id
from kedge.stores.vectors.payloads import DENSE, TENANT, TERMS, Joined, compiled, payload_of
from kedge.stores.vectors.rules import unit


class _Rest:
    """Conditions as the REST API takes them."""

    def group(self, joined: Joined, conditions: Sequence[Any]) -> Any:
        return models.Filter.model_validate({joined: list(conditions)})

    def all_and_one_of(self, every: Sequence[Any], some: Sequence[Any]) -> Any:
        return models.Filter(must=list(every), should=list(some))

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
    vectors: dict[str, Any] = {DENSE: dense(point.vector)}
    if weights:
        vectors[TERMS] = sparse(weights)
    return models.PointStruct(
        id=str(inner_id(point.id, tenant)), vector=vectors, payload=payload_of(tenant, point.payload, point.text)
    )


def sparse(weights: Mapping[int, float]) -> models.SparseVector:
    """Terms and their weights."""
    return models.SparseVector(indices=list(weights), values=list(weights.values()))


def dense(vector: Vector) -> list[float]:
    """The vector in length 1, in single precision."""
    return [float(value) for value in unit(vector).astype(np.float32)]


def terms_of(vector: Any) -> dict[int, float]:
    """Weights in a point's named vectors, as an answer holds them."""
    held = vector.get(TERMS) if isinstance(vector, dict) else None
    return {} if held is None else dict(zip(held.indices, held.values, strict=True))


def stored(vector: Any) -> StoredPoint:
    """A point's named vectors, as an answer holds them."""
    return StoredPoint(np.array(vector[DENSE], dtype=np.float32), terms_of(vector))
