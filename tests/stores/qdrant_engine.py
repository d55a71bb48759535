"""Qdrant's requests, read strictly and carried out by Qdrant's engine in the process."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import qdrant_edge as engine
from pydantic import TypeAdapter, ValidationError
from qdrant_client import models


class Refused(Exception):
    """Answered with a status and Qdrant's error shape."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass
class Collection:
    """A shard of the engine with the config it was asked for."""

    shard: Any
    config: models.CreateCollection
    schema: dict[str, models.PayloadSchemaParams] = field(default_factory=dict)

    def info(self) -> dict[str, Any]:
        params = self.config.model_dump(mode="json", exclude_unset=True, include={"vectors", "sparse_vectors"})
        kinds = {path: self.shard_type(held) for path, held in self.schema.items()}
        return {
            "status": "green",
            "optimizer_status": "ok",
            "segments_count": 1,
            "points_count": self.shard.info().points_count,
            "config": {
                "params": params,
                "hnsw_config": {"m": 16, "ef_construct": 200, "full_scan_threshold": 10000},
                "optimizer_config": {"default_segment_number": 0, "flush_interval_sec": 5},
            },
            "payload_schema": {path: {"data_type": kind, "points": 0} for path, kind in kinds.items()},
        }

    @staticmethod
    def shard_type(params: models.PayloadSchemaParams) -> str:
        return str(params.type.value)


@lru_cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def read(kind: Any, raw: bytes) -> Any:
    """The body as the model, strictly: nothing unknown, nothing converted, nothing lost."""
    adapter = _adapter(kind)
    try:
        found = adapter.validate_json(raw, strict=True)
    except ValidationError as error:
        raise Refused(400, f"Format error in JSON body: {error}") from error
    written = adapter.dump_python(found, mode="json", exclude_unset=True)
    if written != json.loads(raw):
        raise Refused(400, f"lost on the way: {raw[:200]!r} became {str(written)[:200]}")
    return found


def config_of(asked: models.CreateCollection) -> Any:
    dense = {
        name: engine.EdgeVectorParams(size=params.size, distance=getattr(engine.Distance, params.distance.value))
        for name, params in asked.vectors.items()
    }
    sparse = {
        name: engine.EdgeSparseVectorParams(modifier=getattr(engine.Modifier, params.modifier.value.capitalize()))
        for name, params in asked.sparse_vectors.items()
    }
    return engine.EdgeConfig(vectors=dense, sparse_vectors=sparse)


def _index(held: Collection, raw: bytes) -> Any:
    asked = read(models.CreateFieldIndex, raw)
    kinds = {"keyword": engine.KeywordIndexParams, "float": engine.FloatIndexParams}
    given = asked.field_schema.model_dump(mode="json", exclude_unset=True, exclude={"type"})
    params = kinds[asked.field_schema.type.value](**given)
    held.shard.update(engine.UpdateOperation.create_field_index(asked.field_name, params))
    held.schema[asked.field_name.strip('"')] = asked.field_schema
    return {"operation_id": 0, "status": "completed"}


def _upsert(held: Collection, raw: bytes) -> Any:
    points = read(models.PointsList, raw).points
    made = [
        engine.Point(
            uuid.UUID(str(point.id)), {name: _vector(held) for name, held in point.vector.items()}, point.payload
        )
        for point in points
    ]
    held.shard.update(engine.UpdateOperation.upsert_points(made))
    return {"operation_id": 0, "status": "completed"}


def _delete(held: Collection, raw: bytes) -> Any:
    ids = [uuid.UUID(str(id)) for id in read(models.PointIdsList, raw).points]
    held.shard.update(engine.UpdateOperation.delete_points(ids))
    return {"operation_id": 0, "status": "completed"}


def _retrieve(held: Collection, raw: bytes) -> Any:
    asked = read(models.PointRequest, raw)
    ids = [uuid.UUID(str(id)) for id in asked.ids]
    records = held.shard.retrieve(ids, with_payload=asked.with_payload, with_vector=asked.with_vector)
    return [_record(record) for record in records]


def _scroll(held: Collection, raw: bytes) -> Any:
    asked = read(models.ScrollRequest, raw)
    request = engine.ScrollRequest(
        offset=uuid.UUID(str(asked.offset)) if asked.offset else None,
        limit=asked.limit,
        filter=_filter(asked.filter),
        with_payload=asked.with_payload,
    )
    records, following = held.shard.scroll(request)
    return {
        "points": [_record(record) for record in records],
        "next_page_offset": None if following is None else str(following),
    }


def _count(held: Collection, raw: bytes) -> Any:
    asked = read(models.CountRequest, raw)
    return {"count": held.shard.count(engine.CountRequest(exact=asked.exact, filter=_filter(asked.filter)))}


def _query(held: Collection, raw: bytes) -> Any:
    hits = held.shard.query(_question(read(models.QueryRequest, raw)))
    return {"points": [_hit(hit) for hit in hits]}


def _query_batch(held: Collection, raw: bytes) -> Any:
    asked = read(models.QueryRequestBatch, raw)
    answers = held.shard.query_batch(engine.QueryBatchRequest([_question(one) for one in asked.searches]))
    return [{"points": [_hit(hit) for hit in hits]} for hits in answers]


ROUTES: dict[tuple[str, str], Callable[[Collection, bytes], Any]] = {
    ("PUT", "/index"): _index,
    ("PUT", "/points"): _upsert,
    ("POST", "/points"): _retrieve,
    ("POST", "/points/delete"): _delete,
    ("POST", "/points/scroll"): _scroll,
    ("POST", "/points/count"): _count,
    ("POST", "/points/query"): _query,
    ("POST", "/points/query/batch"): _query_batch,
}


def _question(asked: models.QueryRequest) -> Any:
    if asked.limit < 1:
        raise Refused(422, "limit: must be at least 1")
    idf = asked.params.idf if asked.params else None
    corpus = engine.IdfParams(corpus=_filter(idf.corpus)) if idf else None
    return engine.QueryRequest(
        limit=asked.limit,
        query=engine.Query.Nearest(_vector(asked.query.nearest), asked.using),
        filter=_filter(asked.filter),
        params=engine.SearchParams(idf=corpus) if corpus else None,
        with_vector=asked.with_vector,
        with_payload=asked.with_payload,
    )


def _vector(held: Any) -> Any:
    return engine.SparseVector(held.indices, held.values) if isinstance(held, models.SparseVector) else held


def _filter(asked: models.Filter | None) -> Any:
    if asked is None:
        return None
    groups = {name: getattr(asked, name) for name in ("must", "should", "must_not")}
    return engine.Filter(
        **{name: [_condition(one) for one in group] for name, group in groups.items() if group is not None}
    )


def _condition(asked: Any) -> Any:
    match asked:
        case models.Filter():
            return _filter(asked)
        case models.HasIdCondition():
            return engine.HasIdCondition({uuid.UUID(str(id)) for id in asked.has_id})
        case models.IsEmptyCondition():
            return engine.IsEmptyCondition(asked.is_empty.key)
        case models.IsNullCondition():
            return engine.IsNullCondition(asked.is_null.key)
        case models.FieldCondition():
            return _field(asked)
    raise Refused(400, f"a condition that this server does not know: {asked}")


def _field(asked: models.FieldCondition) -> Any:
    match asked:
        case models.FieldCondition(match=models.MatchAny(any=several)):
            return engine.FieldCondition(asked.key, match=engine.MatchAny(several))
        case models.FieldCondition(match=models.MatchValue(value=value)):
            return engine.FieldCondition(asked.key, match=engine.MatchValue(value))
        case models.FieldCondition(range=models.Range()):
            return engine.FieldCondition(asked.key, range=engine.RangeFloat(**asked.range.model_dump()))
    raise Refused(400, f"a condition that this server does not know: {asked}")


def _named(vector: Any) -> Any:
    def plain(held: Any) -> Any:
        if isinstance(held, engine.SparseVector):
            return {"indices": list(held.indices), "values": list(held.values)}
        return held

    return {name: plain(held) for name, held in vector.items()} if vector else None


def _record(record: Any) -> dict[str, Any]:
    return {"id": str(record.id), "payload": record.payload, "vector": _named(record.vector)}


def _hit(hit: Any) -> dict[str, Any]:
    return {**_record(hit), "version": 0, "score": hit.score}
