"""Conditions and payload indexes as the engine in the process takes them; what they mean is in `payloads`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import qdrant_edge as engine

from kedge.core.values.filters import Filter
from kedge.stores.vectors.payloads import TENANT, Joined, compiled


def filter_of(tenant: str, where: Filter | None) -> Any:
    """The engine's filter for `where` within one tenant."""
    return compiled(_ENGINE, tenant, where)


def index_params(kind: str) -> Any:
    """The payload index for a kind of field; without HNSW links, which would multiply the time to build."""
    if kind == "tenant":
        return tenant_index()
    if kind in ("integer", "float"):
        return engine.FloatIndexParams(enable_hnsw=False)  # an integer index would not see 1.5
    return engine.KeywordIndexParams(enable_hnsw=False)  # booleans and times are matched as strings


def tenant_index() -> Any:
    """The index that keeps tenants apart and makes searching one of them fast."""
    return engine.KeywordIndexParams(is_tenant=True)


class _Engine:
    """Conditions of the engine in the process."""

    def group(self, joined: Joined, conditions: Sequence[Any]) -> Any:
        given: dict[str, Any] = {joined: list(conditions)}
        return engine.Filter(**given)

    def all_and_one_of(self, every: Sequence[Any], some: Sequence[Any]) -> Any:
        return engine.Filter(must=list(every), should=list(some))

    def nothing(self) -> Any:
        return engine.Filter(must_not=[engine.Filter()])

    def tenant(self, tenant: str) -> Any:
        return engine.FieldCondition(f'"{TENANT}"', match=engine.MatchValue(tenant))

    def among(self, path: str, texts: Sequence[str]) -> Any:
        """Never `MatchValue`: with that, a text that looks like a UUID is not found in a field with a number index."""
        return engine.FieldCondition(path, match=engine.MatchAny(list(texts)))

    def whole(self, path: str, number: int) -> Any:
        return engine.FieldCondition(path, match=engine.MatchValue(number))

    def between(self, path: str, bounds: Mapping[str, float]) -> Any:
        return engine.FieldCondition(path, range=engine.RangeFloat(**bounds))

    def missing(self, path: str) -> Sequence[Any]:
        return [engine.IsEmptyCondition(path), engine.IsNullCondition(path)]


_ENGINE = _Engine()
NOTHING = _ENGINE.nothing()
"""The engine's filter that no point passes."""
