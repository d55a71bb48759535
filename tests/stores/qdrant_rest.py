"""A server that speaks the part of Qdrant's REST API which the store uses, with Qdrant's own engine behind it.

Every request is read strictly with the models that qdrant-client generates from Qdrant's OpenAPI: an unknown field, a
wrong type or a value that would be lost is answered with 400. The engine (Qdrant Edge) then does the work, so an answer
is what Qdrant makes of the request. `requests` keeps what came over the wire; `faults` breaks the next answers.
"""

from __future__ import annotations

import json
import re
import shutil
import tempfile
import threading
import uuid
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import qdrant_edge as engine
from pydantic import TypeAdapter, ValidationError
from qdrant_client import models

_IN_MEMORY = Path("/dev/shm")


@dataclass(frozen=True)
class Request:
    """What came over the wire."""

    method: str
    path: str
    query: dict[str, str]
    body: Any
    headers: dict[str, str]


@dataclass(frozen=True)
class Fault:
    """How to break one answer: another status, no answer, or half of one."""

    status: int = 0
    message: str = "made to fail"
    cut: bool = False
    hang: bool = False
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)


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


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


class QdrantRest:
    """The server; use it as a context manager."""

    def __init__(self, version: str = "1.20.0") -> None:
        self.version = version
        self.requests: list[Request] = []
        self.faults: deque[Fault] = deque()
        self._collections: dict[str, Collection] = {}
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._folder = Path(tempfile.mkdtemp(dir=_IN_MEMORY if _IN_MEMORY.is_dir() else None))
        self._http = _Http(("127.0.0.1", 0), _handler(self))

    @property
    def url(self) -> str:
        return f"qdrant://127.0.0.1:{self._http.server_port}"

    def __enter__(self) -> QdrantRest:
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping.set()
        self._http.shutdown()
        self._http.server_close()
        self.clear()
        shutil.rmtree(self._folder, ignore_errors=True)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            for held in self._collections.values():
                held.shard.close()
            self._collections.clear()
            self.requests.clear()
            self.faults.clear()

    def wait_for_the_end(self) -> None:
        self._stopping.wait()

    def answer(self, request: Request, raw: bytes) -> Any:
        """The `result` of the answer."""
        if request.path == "/" and request.method == "GET":
            return None
        found = re.fullmatch(r"/collections/([^/]+)(/.*)?", request.path)
        if found is None:
            raise Refused(404, "")
        name, rest = unquote(found.group(1)), found.group(2) or ""
        with self._lock:
            try:
                if not rest:
                    return self._collection(request, name, raw)
                return self._inside(request, rest, self._held(name), raw)
            except Exception as error:
                if type(error) is Exception:  # the engine's
                    raise Refused(400, f"Wrong input: {error}") from error
                raise

    def _held(self, name: str) -> Collection:
        held = self._collections.get(name)
        if held is None:
            raise Refused(404, f"Not found: Collection `{name}` doesn't exist!")
        return held

    def _collection(self, request: Request, name: str, raw: bytes) -> Any:
        if request.method == "GET":
            return self._held(name).info()
        if request.method == "DELETE":
            held = self._collections.pop(name, None)
            if held is not None:
                held.shard.close()
            return held is not None
        if request.method != "PUT":
            raise Refused(405, "")
        config = read(models.CreateCollection, raw)
        if name in self._collections:
            raise Refused(409, f"Wrong input: Collection `{name}` already exists!")
        folder = self._folder / uuid.uuid4().hex
        folder.mkdir()
        self._collections[name] = Collection(engine.EdgeShard.create(str(folder), _config(config)), config)
        return True

    def _inside(self, request: Request, rest: str, held: Collection, raw: bytes) -> Any:
        work = _ROUTES.get((request.method, rest))
        if work is None:
            raise Refused(404, "")
        if request.method == "PUT" or rest == "/points/delete":
            if request.query != {"wait": "true"}:
                raise Refused(400, f"a write that does not wait: {request.query}")
        elif request.query:
            raise Refused(400, f"unexpected query: {request.query}")
        return work(held, raw)


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


# ---------------------------------------------------------------- from Qdrant's API to the engine's


def _config(asked: models.CreateCollection) -> Any:
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


_ROUTES: dict[tuple[str, str], Callable[[Collection, bytes], Any]] = {
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


# ---------------------------------------------------------------- HTTP


def _handler(server: QdrantRest) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            raw = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            parts = urlsplit(self.path)
            query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
            body = json.loads(raw) if raw else None
            request = Request(self.command, parts.path, query, body, {k.lower(): v for k, v in self.headers.items()})
            server.requests.append(request)
            fault = server.faults.popleft() if server.faults else None
            if fault is not None:
                self._break(fault)
                return
            if parts.path == "/":
                self._send(200, {"title": "qdrant", "version": server.version})
                return
            try:
                self._send(200, {"result": server.answer(request, raw), "status": "ok", "time": 0.0})
            except Refused as error:
                self._send(error.status, {"status": {"error": str(error)}, "time": 0.0})

        do_GET = do_PUT = do_POST = do_DELETE = _serve

        def _break(self, fault: Fault) -> None:
            if fault.hang:
                server.wait_for_the_end()
            elif fault.cut:
                self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
            elif fault.body is not None:
                self._write(fault.status, fault.body, fault.headers)
            else:
                content = {"status": {"error": fault.message}, "time": 0.0}
                self._write(fault.status, json.dumps(content).encode(), fault.headers)
            self.close_connection = True

        def _send(self, status: int, content: Any) -> None:
            self._write(status, json.dumps(content).encode(), {})

        def _write(self, status: int, content: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            """Quiet."""

    return Handler
