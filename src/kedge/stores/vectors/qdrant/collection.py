"""How an index is laid out as a Qdrant collection: its name, vectors and payload indexes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from qdrant_client import models

from kedge.core.errors import StoreError
from kedge.stores.vectors.payloads import DENSE, TENANT, TERMS, field_name

_FORBIDDEN = re.compile(r'[%<>:"/\\|?*\x00-\x1f]|^\.+$')
_PLAIN = re.compile(r"[A-Za-z0-9_-]+")


def collection_name(index: str) -> str:
    """A name that Qdrant takes, different for every index; characters that it forbids are percent-encoded."""
    return _FORBIDDEN.sub(lambda found: "".join(f"%{ord(char):02X}" for char in found.group()), index)


def layout(dimension: int) -> dict[str, Any]:
    """Arguments of `create_collection`: cosine with HNSW as in D-04, and BM25 terms with the server's idf."""
    hnsw = models.HnswConfigDiff(m=16, ef_construct=200)
    return {
        "vectors_config": {DENSE: models.VectorParams(size=dimension, distance=models.Distance.COSINE)},
        "sparse_vectors_config": {TERMS: models.SparseVectorParams(modifier=models.Modifier.IDF)},
        "hnsw_config": hnsw,
    }


def dimension_of(info: models.CollectionInfo, index: str) -> int:
    """Length of the vectors in a collection, or an error if it was not made by Kedge."""
    vectors = info.config.params.vectors
    held = vectors.get(DENSE) if isinstance(vectors, dict) else None
    if held is None:
        raise StoreError(
            f"The Qdrant collection {collection_name(index)!r} is not laid out by Kedge: it has no vector {DENSE!r}.",
            hint="Give the collection in Kedge another name.",
        )
    return held.size


def missing_indexes(wanted: Mapping[str, str], present: Iterable[str]) -> dict[str, models.PayloadSchemaParams]:
    """Path → payload index, for the tenant's field and those wanted that are not there yet."""
    known = {path.strip('"') for path in present}
    every = {TENANT: "tenant", **{field_name(name): kind for name, kind in wanted.items()}}
    return {_path(name): _params(kind) for name, kind in every.items() if name not in known}


def _path(name: str) -> str:
    return name if _PLAIN.fullmatch(name) else f'"{name}"'


def _params(kind: str) -> models.PayloadSchemaParams:
    if kind == "tenant":
        return models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)
    if kind in ("integer", "float"):  # an integer index would not see 1.5; links for ranges would multiply build time
        return models.FloatIndexParams(type=models.FloatIndexType.FLOAT, enable_hnsw=False)
    return models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD)
