"""The vector store on Qdrant Edge.

One thread writes, so writes are in order and never meet; a few threads read beside it. The engine lets go of Python's
global lock in searches and writes, but not in `optimize()`, which therefore runs in a process of its own on a copy of
the shard (`optimizer.py`); `EdgeIndex.adopt_copy` brings the copy up to date and switches.
"""

from __future__ import annotations

import asyncio
import math
import shutil
import struct
import subprocess
import sys
import threading
import uuid
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import quote
from weakref import WeakValueDictionary

import numpy as np
import qdrant_edge as engine

from kedge.core.errors import ConfigError, StoreError
from kedge.core.settings import Settings
from kedge.core.values import Scored
from kedge.core.values.filters import Filter, all_of
from kedge.stores.ports import IndexSpec, Point, StoredPoint, Vector
from kedge.stores.vectors.edge.encode import NOTHING, filter_of
from kedge.stores.vectors.edge.faults import translated
from kedge.stores.vectors.edge.index import RESERVE, EdgeIndex
from kedge.stores.vectors.edge.remembered import Part, RememberedPoints, RememberedRarity
from kedge.stores.vectors.ids import id_of, inner_id, outer_id, outer_number
from kedge.stores.vectors.payloads import DENSE, TERMS, payload_of
from kedge.stores.vectors.rules import (
    COSINE_DIGITS,
    KEYWORD_DIGITS,
    SPARE,
    check_dimension,
    check_limit,
    check_points,
    check_query,
    closed_store,
    is_id,
    tied,
    unknown_index,
    wider_fetch,
)
from kedge.text.analyze import SparseTerms

OPTIMIZE_AFTER = 20_000
"""Points added since the last optimisation that make the next one due; until then search is exact. A setting too."""
MOST_OPEN = 128
"""Indexes that are kept open: each takes about 90 of the 65,530 memory maps that Linux gives a process, and the engine
ends the process when there are none left."""
_READERS = 4
_PAGE = 1000
_GONE = ".gone-"
"""How the folder of a dropped index is called until it is removed."""
_T = TypeVar("_T")


def open_vectors(url: str, settings: Settings) -> EdgeVectors:
    """`edge:///absolute/folder` or `edge://relative/folder`."""
    folder = url.partition("://")[2]
    if not folder:
        raise ConfigError(f"The vector store {url!r} names no folder.", hint="Write edge:///path/to/folder.")
    return EdgeVectors(Path(folder), optimize_after=settings.optimize_after)


class EdgeVectors:
    """Vectors and keywords in folders below `root`, one per index, each used by one process at a time."""

    def __init__(self, root: Path, *, optimize_after: int = OPTIMIZE_AFTER, reserve: int = RESERVE) -> None:
        self._root = root
        for left in root.glob(f"{_GONE}*"):  # by a process that was killed while it removed them
            shutil.rmtree(left, ignore_errors=True)
        self._reserve = reserve
        self._optimize_after = optimize_after
        self._terms = SparseTerms()
        self._open: dict[str, EdgeIndex] = {}
        self._remembered = RememberedPoints()
        self._rare = RememberedRarity()
        self._weighing: WeakValueDictionary[Part, asyncio.Lock] = WeakValueDictionary()
        self._pinning = threading.RLock()
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="kedge-edge-write")
        self._readers = ThreadPoolExecutor(_READERS, thread_name_prefix="kedge-edge-read")
        self._optimizers: set[subprocess.Popen[bytes]] = set()
        self._closed = False

    async def create(self, spec: IndexSpec) -> None:
        await self._write(self._create, spec)

    async def drop(self, index: str) -> None:
        await self._write(self._drop, index)

    async def upsert(self, index: str, tenant: str, points: Sequence[Point]) -> None:
        await self._write(self._upsert, index, tenant, points)

    async def delete(self, index: str, tenant: str, ids: Sequence[str]) -> None:
        await self._write(self._delete, index, tenant, ids)

    async def search(
        self, index: str, tenant: str, vector: Vector, limit: int, where: Filter | None = None
    ) -> list[Scored]:
        check_limit(limit)
        async with self._using(index) as found:
            check_query(vector, found.meta.dimension, index)
            query = engine.Query.Nearest(np.asarray(vector, dtype=np.float32).tolist(), DENSE)
            return await self._read(_best, found, _EdgeSearch(tenant, query, limit, where, COSINE_DIGITS))

    async def keyword_search(
        self, index: str, tenant: str, query: str, limit: int, where: Filter | None = None
    ) -> list[Scored]:
        return await self._by_words(index, tenant, query, limit, where, within=None)

    async def keyword_search_within(
        self, index: str, tenant: str, query: str, limit: int, where: Filter | None, *, within: Filter
    ) -> list[Scored]:
        return await self._by_words(index, tenant, query, limit, all_of(where, within), within=within)

    async def _by_words(
        self, index: str, tenant: str, query: str, limit: int, where: Filter | None, *, within: Filter | None
    ) -> list[Scored]:
        check_limit(limit)
        async with self._using(index) as found:
            weights = self._terms.query_weights(query)
            corpus = _corpus_of(tenant, None)
            if within is not None and weights:
                rare = await self._rarity(found, tenant, list(weights), within)
                weights = {term: weights[term] * idf / EVEN for term, idf in rare.items() if idf}
                corpus = _NO_CORPUS
            if not weights:
                return []
            nearest = engine.Query.Nearest(_sparse(weights), TERMS)
            asked = _EdgeSearch(tenant, nearest, limit, where, KEYWORD_DIGITS, corpus)
            return await self._read(_best, found, asked)

    async def _rarity(
        self, found: EdgeIndex, tenant: str, term_ids: Sequence[int], within: Filter
    ) -> Mapping[int, float]:
        """By term, how rare it is in a part: read once for the searches of one question, and kept while it is so."""
        part = (found.meta.name, tenant, within)
        async with self._weighing.setdefault(part, asyncio.Lock()):
            known, moment = self._rare.known(part)
            unknown = [term for term in dict.fromkeys(term_ids) if term not in known]
            if unknown:
                accept, corpus = filter_of(tenant, within), _corpus_of(tenant, within)
                fresh = dict(zip(unknown, await self._read(_idf, found, unknown, accept, corpus), strict=True))
                self._rare.keep(part, fresh, moment)
                known |= fresh
        return {term: known[term] for term in term_ids}

    async def read(self, index: str, tenant: str, ids: Sequence[str]) -> dict[str, StoredPoint]:
        async with self._using(index) as found:
            return await self._read(_stored, found, self._remembered, tenant, ids)

    async def term_idf(self, index: str, term_ids: Sequence[int]) -> list[float]:
        async with self._using(index) as found:
            return await self._read(_idf, found, term_ids, None, None)

    async def term_idf_within(self, index: str, tenant: str, term_ids: Sequence[int], within: Filter) -> list[float]:
        async with self._using(index) as found:
            rare = await self._rarity(found, tenant, term_ids, within)
            return [rare[term] for term in term_ids]

    async def ids(self, index: str, tenant: str) -> AsyncIterator[list[str]]:
        offset: uuid.UUID | None = None
        while True:
            async with self._using(index) as found:
                page, offset = await self._read(_page, found, tenant, offset)
            if page:
                yield page
            if offset is None:
                return

    async def count(self, index: str, tenant: str, where: Filter | None = None) -> int:
        async with self._using(index) as found:
            return await self._read(_count, found, tenant, where)

    async def optimize(self, index: str) -> bool:
        """Build HNSW when enough points were added since the last time; else do nothing."""
        async with self._using(index) as found:
            return await self._optimize(found)

    async def _optimize(self, found: EdgeIndex) -> bool:
        if await self._read(found.count) - found.meta.optimized < self._optimize_after:
            return False
        copy = await self._write(found.start_copy)
        if copy is None:
            return False
        adopted = False
        try:
            await self._run_optimizer(copy)
            if not self._closed:
                await self._write(found.adopt_copy, copy)
                adopted = True
        finally:
            if not adopted:
                await asyncio.to_thread(found.abandon_copy, copy)
        return adopted

    async def optimized(self, index: str) -> int:
        """Points that there were at the last optimisation: 0 while search is exact."""
        async with self._using(index) as found:
            return found.meta.optimized

    async def close(self) -> None:
        if self._closed:
            return
        self._closed = True
        for process in tuple(self._optimizers):
            process.terminate()
        await asyncio.get_running_loop().run_in_executor(self._writer, self._close_all)
        self._readers.shutdown(wait=False)
        self._writer.shutdown(wait=False)

    # ------------------------------------------------------------ on the writing thread

    def _create(self, spec: IndexSpec) -> None:
        folder = self._folder(spec.name)
        if not EdgeIndex.exists(folder):
            self._remembered.forget_all()
            self._rare.forget(spec.name)
            self._admit(spec.name, EdgeIndex.create(folder, spec, self._optimize_after // 2, self._reserve))
            return
        index = self._load(spec.name)
        check_dimension(spec, index.meta.dimension)
        index.add_payload_indexes(spec.payload_indexes)

    def _drop(self, name: str) -> None:
        folder = self._folder(name)
        if not EdgeIndex.exists(folder):
            shutil.rmtree(folder, ignore_errors=True)  # what a killed `create` left
            return
        self._remembered.forget_all()
        self._rare.forget(name)
        with suppress(StoreError):  # a damaged index can be dropped too; one in use by another process cannot
            self._load(name).close()
        with self._pinning:
            self._open.pop(name, None)
        with translated(folder):
            gone = folder.rename(folder.with_name(f"{_GONE}{uuid.uuid4().hex}"))
        shutil.rmtree(gone, ignore_errors=True)

    def _upsert(self, name: str, tenant: str, points: Sequence[Point]) -> None:
        index = self._load(name)
        check_points(points, index.meta.dimension, name)
        latest = {point.id: point for point in points}
        try:
            index.upsert([self._point(tenant, point) for point in latest.values()])
        finally:
            self._remembered.forget(name, tenant, latest)
            self._rare.forget(name)

    def _point(self, tenant: str, point: Point) -> Any:
        vectors: dict[str, Any] = {DENSE: np.asarray(point.vector, dtype=np.float32).tolist()}
        weights = self._terms.term_weights(point.text)
        if weights:
            vectors[TERMS] = _sparse(weights)
        return engine.Point(inner_id(point.id, tenant), vectors, payload_of(tenant, point.payload, point.text))

    def _delete(self, name: str, tenant: str, ids: Sequence[str]) -> None:
        index = self._load(name)
        known = [inner_id(id, tenant) for id in ids if is_id(id)]
        if known:
            try:
                index.delete(known)
            finally:
                self._remembered.forget(name, tenant, ids)
                self._rare.forget(name)

    def _load(self, name: str) -> EdgeIndex:
        index = self._last_used(name)
        if index is None:
            folder = self._folder(name)
            if not EdgeIndex.exists(folder):
                raise unknown_index(name)
            index = self._admit(name, EdgeIndex.load(folder, self._reserve))
        return index

    def _admit(self, name: str, index: EdgeIndex) -> EdgeIndex:
        """Keep the index open; those that nobody uses and that were used longest ago give way to it."""
        with self._pinning:
            idle = [(one, opened) for one, opened in self._open.items() if not opened.users]
            surplus = idle[: max(0, len(self._open) + 1 - MOST_OPEN)]
            for one, _ in surplus:
                del self._open[one]
            self._open[name] = index
        for _, opened in surplus:
            opened.close()
        return index

    def _close_all(self) -> None:
        while self._open:
            self._open.popitem()[1].close()

    # ------------------------------------------------------------ plumbing

    @asynccontextmanager
    async def _using(self, name: str) -> AsyncIterator[EdgeIndex]:
        """The index, which stays open meanwhile; opened by the writing thread when it is not."""
        while (index := self._pinned(name)) is None:
            await self._write(self._load, name)
        try:
            yield index
        finally:
            with self._pinning:
                index.users -= 1

    def _pinned(self, name: str) -> EdgeIndex | None:
        with self._pinning:
            index = self._last_used(name)
            if index is not None:
                index.users += 1
            return index

    def _last_used(self, name: str) -> EdgeIndex | None:
        """The index if it is open, from now on the last in order."""
        with self._pinning:
            index = self._open.pop(name, None)
            if index is not None:
                self._open[name] = index
            return index

    async def _write(self, work: Callable[..., _T], *arguments: Any) -> _T:
        return await self._submit(self._writer, work, *arguments)

    async def _read(self, work: Callable[..., _T], *arguments: Any) -> _T:
        return await self._submit(self._readers, work, *arguments)

    async def _submit(self, pool: ThreadPoolExecutor, work: Callable[..., _T], *arguments: Any) -> _T:
        if self._closed:
            raise closed_store()
        return await asyncio.get_running_loop().run_in_executor(pool, work, *arguments)

    async def _run_optimizer(self, shard: Path) -> None:
        command = [sys.executable, "-m", "kedge.stores.vectors.edge.optimizer", str(shard)]
        # In a session of its own, so that Ctrl-C in a terminal reaches this process alone, which ends it in order.
        process = subprocess.Popen(  # noqa: S603, ASYNC220
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True
        )
        self._optimizers.add(process)
        try:
            _, complaint = await asyncio.to_thread(process.communicate)
        finally:
            process.terminate()
            self._optimizers.discard(process)
        if process.returncode and not self._closed:
            last = complaint.decode(errors="replace").strip().rpartition("\n")[2]
            raise StoreError(f"Optimising {shard.parent} failed: {last or process.returncode}.", hint="Try again.")

    def _folder(self, name: str) -> Path:
        return self._root / f"{quote(name, safe='')}.index"


@dataclass(frozen=True, slots=True)
class _EdgeSearch:
    """One search of either kind, as the engine wants it."""

    tenant: str
    query: Any
    limit: int
    where: Filter | None
    digits: int
    """Decimals within which scores tie."""
    params: Any = None


def _best(index: EdgeIndex, asked: _EdgeSearch) -> list[Scored]:
    """The best hits. Fetches on for as long as the last one fetched ties with the last one wanted."""
    accept = filter_of(asked.tenant, asked.where)
    with index.reading() as shard:
        fetch = asked.limit + SPARE
        while True:
            request = engine.QueryRequest(limit=fetch, query=asked.query, filter=accept, params=asked.params)
            hits = shard.query(request)
            if len(hits) < fetch or not tied(hits[-1].score, hits[asked.limit - 1].score, asked.digits):
                break
            wider = wider_fetch(fetch, asked.limit)
            if wider is None:
                break
            fetch = wider
    # As `ranked`, but what ties with the last one is told by name only where it is among the best.
    best = sorted((-round(hit.score, asked.digits), outer_number(hit.id, asked.tenant)) for hit in hits)
    return [Scored(id_of(number), 0.0 - score) for score, number in best[: asked.limit]]


def _page(index: EdgeIndex, tenant: str, offset: uuid.UUID | None) -> tuple[list[str], uuid.UUID | None]:
    request = engine.ScrollRequest(offset=offset, limit=_PAGE, filter=filter_of(tenant, None), with_payload=False)
    with index.reading() as shard:
        records, following = shard.scroll(request)
    return [outer_id(record.id, tenant) for record in records], following


def _count(index: EdgeIndex, tenant: str, where: Filter | None) -> int:
    with index.reading() as shard:
        return int(shard.count(engine.CountRequest(exact=True, filter=filter_of(tenant, where))))


def _stored(index: EdgeIndex, remembered: RememberedPoints, tenant: str, ids: Sequence[str]) -> dict[str, StoredPoint]:
    """In the order of the ids."""
    known, moment = remembered.known(index.meta.name, tenant, ids)
    wanted = {inner_id(id, tenant): id for id in ids if id not in known and is_id(id)}
    with index.reading() as shard:
        records = shard.retrieve(list(wanted), with_payload=False, with_vector=True) if wanted else []
    fresh = {wanted[record.id]: _stored_point(record.vector) for record in records}
    remembered.keep(index.meta.name, tenant, fresh, moment)
    found = known | fresh
    return {id: found[id] for id in ids if id in found}


def _stored_point(vectors: Mapping[str, Any]) -> StoredPoint:
    """From a record's `vector`, which is converted anew whenever it is read, and slowest if many are held at once."""
    dense = vectors[DENSE]
    packed = struct.pack(f"{len(dense)}f", *dense)  # the quickest way from a list to an array
    return StoredPoint(np.frombuffer(packed, np.float32), _weights(vectors))


def _idf(index: EdgeIndex, term_ids: Sequence[int], accept: Any, corpus: Any) -> list[float]:
    """The engine does not tell its idf, so it is read off the best hit for each term: score / stored weight."""
    requests = [
        engine.QueryRequest(
            limit=1,
            query=engine.Query.Nearest(_sparse({term: 1.0}), TERMS),
            with_vector=[TERMS],
            filter=accept,
            params=corpus,
        )
        for term in term_ids
    ]
    with index.reading() as shard:
        answers = shard.query_batch(engine.QueryBatchRequest(requests)) if requests else []
    return [
        hits[0].score / _weights(hits[0].vector)[term] if hits else 0.0
        for term, hits in zip(term_ids, answers, strict=True)
    ]


def _weights(vectors: Mapping[str, Any]) -> dict[int, float]:
    sparse = vectors.get(TERMS)
    return {} if sparse is None else dict(zip(sparse.indices, sparse.values, strict=True))


def _sparse(weights: Mapping[int, float]) -> Any:
    return engine.SparseVector(list(weights), list(weights.values()))


EVEN = math.log(2)
"""How rare every term is to the engine where it takes its statistics of nothing: `ln(1 + 0.5 / 0.5)`."""
_NO_CORPUS = engine.SearchParams(idf=engine.IdfParams(corpus=NOTHING))
"""So that it weighs terms as it is told: statistics of a part cost a look at each of its points, in every search."""


def _corpus_of(tenant: str, within: Filter | None) -> Any:
    """Rare is what is rare among the tenant's own points, or a part of them."""
    return engine.SearchParams(idf=engine.IdfParams(corpus=filter_of(tenant, within)))
