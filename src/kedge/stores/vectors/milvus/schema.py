"""A collection as the server holds it (D-04, G-03).

| field | holds |
|---|---|
| `id` | key of the point: its UUID, followed by the tenant's hash unless that is the default tenant |
| `vector` | of norm 1; COSINE |
| `content_text` | the text, for people and other tools; cut at 65,535 bytes |
| `metadata` | the payload |
| `topic_tag` and other payload fields that the index names as keywords | the value, if it is a text; else empty |
| `tenant`, `tenant_key` | name of the tenant, and the hash of it that filters use |
| `facets`, `numbers` | the payload as filters see it (`where.py`) |
| `term_ids`, `term_weights`, `term_count` | BM25 weights of the text: ids to filter by, and all of them packed |
| `terms` | the same as a sparse vector, where the server has such (Milvus 2.4 and later) |
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from pymilvus import DataType, MilvusClient

from kedge.core.errors import StoreError, UsageError
from kedge.core.values import Json
from kedge.stores.ports import IndexSpec, Point
from kedge.stores.vectors.milvus.address import TEXT_FIELDS, VectorIndex
from kedge.stores.vectors.milvus.names import clipped, hashed, inner_id
from kedge.stores.vectors.milvus.where import facets_of, numbers_of
from kedge.stores.vectors.rules import unit
from kedge.text.analyze import SparseTerms

_LONGEST_TEXT = 65_535
_LONGEST_METADATA = 65_536
_LONGEST_COLUMN = 1024
_LONGEST_ID = 64
_MOST_ITEMS = 4096
_OWN = frozenset("id vector metadata tenant tenant_key facets numbers term_ids term_weights term_count terms".split())
_PACKED = np.dtype([("term", "<u4"), ("weight", "<f4")])
_LAST_DIMENSION = 2**32 - 2
_NO_TERMS = {_LAST_DIMENSION: 1e-30}
"""A sparse vector must hold something."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")


NOT_INDEXED = VectorIndex("FLAT", {})


@dataclass(frozen=True, slots=True)
class MilvusShape:
    """What the store must know of a collection to write to it."""

    dimension: int
    text: str
    """Field of the text."""
    columns: tuple[str, ...]
    """Payload fields that have a field of their own."""
    sparse: bool
    """Whether terms are sparse vectors too."""
    index: VectorIndex = NOT_INDEXED
    """How the vectors are indexed."""


def has_sparse_vectors(version: str) -> bool:
    """Whether a server of this version does: `v2.3.5`, `2.6.1`, `milvus_lite-3.2.2`."""
    found = re.search(r"(?<!\d)(\d+)\.(\d+)", version)
    return found is not None and (int(found[1]), int(found[2])) >= (2, 4)


def schema_of(spec: IndexSpec, text: str, *, sparse: bool) -> Any:
    """The driver's schema for a new collection."""
    schema = MilvusClient.create_schema(auto_id=False, enable_dynamic_field=False)
    schema.add_field("id", DataType.VARCHAR, is_primary=True, max_length=_LONGEST_ID)
    schema.add_field("vector", DataType.FLOAT_VECTOR, dim=spec.dimension)
    schema.add_field(text, DataType.VARCHAR, max_length=_LONGEST_TEXT)
    schema.add_field("metadata", DataType.JSON)
    for name in _columns(spec.payload_indexes, text):
        schema.add_field(name, DataType.VARCHAR, max_length=_LONGEST_COLUMN)
    schema.add_field("tenant", DataType.VARCHAR, max_length=_LONGEST_COLUMN)
    schema.add_field("tenant_key", DataType.INT64)
    schema.add_field("facets", DataType.ARRAY, element_type=DataType.INT64, max_capacity=_MOST_ITEMS)
    schema.add_field("numbers", DataType.JSON)
    schema.add_field("term_ids", DataType.ARRAY, element_type=DataType.INT64, max_capacity=_MOST_ITEMS)
    schema.add_field("term_weights", DataType.VARCHAR, max_length=_LONGEST_TEXT)
    schema.add_field("term_count", DataType.INT64)
    if sparse:
        schema.add_field("terms", DataType.SPARSE_FLOAT_VECTOR)
    return schema


def index_of(index: VectorIndex, *, sparse: bool) -> Any:
    """The driver's parameters of the indexes."""
    wanted = MilvusClient.prepare_index_params()
    wanted.add_index("vector", index_type=index.kind, metric_type="COSINE", params=index.build())
    if sparse:
        wanted.add_index("terms", index_type="SPARSE_INVERTED_INDEX", metric_type="IP")
    return wanted


def shape_of(described: Mapping[str, Any], text: str) -> MilvusShape:
    """Read back what `schema_of` made, from the server's description; its text may be under another usual name."""
    fields = {str(field["name"]): field for field in described["fields"]}
    text = next((name for name in (text, *TEXT_FIELDS) if name in fields), text)
    if not {text, "vector", "facets", "term_weights"} <= fields.keys():
        raise StoreError(
            f"The Milvus collection {described['collection_name']} was not made by Kedge with text={text}.",
            hint="Name another database in vector_url, or the text field that it was made with.",
        )
    others = [name for name, field in fields.items() if field["type"] == DataType.VARCHAR]
    columns = tuple(name for name in others if name not in _OWN and name != text)
    return MilvusShape(int(fields["vector"]["params"]["dim"]), text, columns, "terms" in fields)


def row_of(tenant: str, point: Point, shape: MilvusShape, terms: SparseTerms) -> dict[str, Any]:
    """A point as the server stores it."""
    weights = terms.term_weights(point.text)
    heaviest = sorted(weights, key=lambda term: (-weights[term], term))[:_MOST_ITEMS]
    facets = facets_of(point.payload)
    if len(facets) > _MOST_ITEMS:
        raise UsageError(
            f"The payload of {point.id} holds {len(facets)} values; Milvus takes {_MOST_ITEMS}.",
            hint="Shorten the lists in its metadata.",
        )
    return {
        "id": inner_id(point.id, tenant),
        "vector": unit(point.vector).astype(np.float32),
        shape.text: clipped(point.text, _LONGEST_TEXT),
        "metadata": _metadata(point),
        **{name: _column(point.payload.get(name)) for name in shape.columns},
        "tenant": clipped(tenant, _LONGEST_COLUMN),
        "tenant_key": hashed(tenant),
        "facets": facets,
        "numbers": numbers_of(point.payload),
        "term_ids": heaviest,
        "term_weights": _packed({term: weights[term] for term in heaviest}),
        "term_count": len(heaviest),
        **({"terms": sparse_vector(weights) or _NO_TERMS} if shape.sparse else {}),
    }


def sparse_vector(weights: Mapping[int, float]) -> dict[int, float]:
    """Weights by term as the server takes them; it has one dimension less than there are term ids."""
    return {min(term, _LAST_DIMENSION): weight for term, weight in weights.items()}


def unpacked(term_weights: str) -> dict[int, float]:
    """Weights by term, as `term_weights` holds them."""
    pairs = np.frombuffer(base64.b64decode(term_weights), dtype=_PACKED)
    return dict(zip(pairs["term"].tolist(), pairs["weight"].tolist(), strict=True))


def _packed(weights: Mapping[int, float]) -> str:
    pairs = np.array(list(weights.items()), dtype=_PACKED)
    return base64.b64encode(pairs.tobytes()).decode()


def _columns(payload_indexes: Mapping[str, str], text: str) -> list[str]:
    named = [name for name, kind in payload_indexes.items() if kind in ("keyword", "tenant")]
    return [name for name in named if _NAME.fullmatch(name) and name not in _OWN and name != text]


def _column(value: Json) -> str:
    return clipped(value, _LONGEST_COLUMN) if isinstance(value, str) else ""


def _metadata(point: Point) -> dict[str, Json]:
    size = len(json.dumps(dict(point.payload), ensure_ascii=False).encode())
    if size > _LONGEST_METADATA:
        raise UsageError(
            f"The payload of {point.id} takes {size} bytes; Milvus takes {_LONGEST_METADATA}.",
            hint="Shorten its metadata.",
        )
    return dict(point.payload)
