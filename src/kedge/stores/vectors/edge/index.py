"""One index on disk: a folder with `index.json` and the shard that it names.

```
<root>/<index>.index/index.json      dimension, payload indexes, name of the shard folder
<root>/<index>.index/shard-1f0c…/    the engine's files
```

`index.json` is replaced atomically, so an optimised copy of the shard takes over in one step; folders that it does
not name are left-overs of a killed process and are removed on opening. Writing methods are called by one thread.
"""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import qdrant_edge as engine

from kedge.core.errors import NotFoundError, StoreError
from kedge.stores.ports import IndexSpec
from kedge.stores.vectors.edge.encode import index_params, tenant_index
from kedge.stores.vectors.edge.faults import require_space, translated
from kedge.stores.vectors.edge.gate import Gate
from kedge.stores.vectors.payloads import DENSE, TENANT, TERMS, field_path

_LAYOUT = 1
_META = "index.json"
_SHARD = "shard-"
_FLUSH_AFTER = 20_000
"""Points written between flushes: bounds the log that is replayed on opening."""
_BATCH = 500
RESERVE = 96 << 20
"""Bytes that must stay free on the disk. The engine writes through memory maps and would be killed by a full disk."""


@dataclass(frozen=True, slots=True)
class Meta:
    """What `index.json` holds."""

    name: str
    dimension: int
    shard: str
    """Folder of the shard in use."""
    payload_indexes: Mapping[str, str] = field(default_factory=dict)
    optimized: int = 0
    """Points at the last optimisation."""
    layout: int = _LAYOUT


class EdgeIndex:
    """An open index. Reads go through `reading()`; everything else is for the store's one writing thread."""

    def __init__(self, folder: Path, meta: Meta, shard: Any, reserve: int) -> None:
        self.folder = folder
        self._reserve = reserve
        self.meta = meta
        self._shard = shard
        self._gate = Gate()
        self._closed = False
        self.users = 0
        """Readers that must not find it closed; counted by the store."""
        self._unflushed = 0
        self._changed: set[uuid.UUID] | None = None

    @staticmethod
    def exists(folder: Path) -> bool:
        """Whether an index was created here."""
        return (folder / _META).is_file()

    @classmethod
    def create(cls, folder: Path, spec: IndexSpec, indexing_from: int, reserve: int = RESERVE) -> EdgeIndex:
        """Build the shard, then write `index.json`, which makes it an index: a kill leaves all or nothing."""
        meta = Meta(spec.name, spec.dimension, _new_shard_name(), dict(spec.payload_indexes))
        with translated(folder):
            shutil.rmtree(folder, ignore_errors=True)
            (folder / meta.shard).mkdir(parents=True)
            require_space(folder, reserve)
            shard = engine.EdgeShard.create(str(folder / meta.shard), _config(spec.dimension, indexing_from))
            shard.update(engine.UpdateOperation.create_field_index(f'"{TENANT}"', tenant_index()))
            _index_fields(shard, meta.payload_indexes)
            _write_meta(folder, meta)
        return cls(folder, meta, shard, reserve)

    @classmethod
    def load(cls, folder: Path, reserve: int = RESERVE) -> EdgeIndex:
        """Open what `create` made, in this process or an earlier one."""
        meta = _read_meta(folder)
        with translated(folder):
            shard = engine.EdgeShard.load(str(folder / meta.shard))
            _sweep(folder, meta.shard)
        return cls(folder, meta, shard, reserve)

    @contextmanager
    def reading(self) -> Iterator[Any]:
        """The shard, for as long as the block runs."""
        with self._gate.shared(), translated(self.folder):
            if self._closed:
                raise NotFoundError(
                    f"The vector index {self.meta.name!r} was closed or dropped meanwhile.", hint="Ask again."
                )
            yield self._shard

    def count(self) -> int:
        """All points, of all tenants."""
        with self.reading() as shard:
            return int(shard.info().points_count)

    def upsert(self, points: Sequence[Any]) -> None:
        """Write the engine's points; durable when it returns."""
        with translated(self.folder):
            for start in range(0, len(points), _BATCH):
                batch = list(points[start : start + _BATCH])
                require_space(self.folder, self._reserve)
                self._note([point.id for point in batch])
                self._shard.update(engine.UpdateOperation.upsert_points(batch))
            self._flush_when_due(len(points))

    def delete(self, ids: Sequence[uuid.UUID]) -> None:
        """Remove points by the engine's ids."""
        with translated(self.folder):
            require_space(self.folder, self._reserve)
            self._note(ids)
            self._shard.update(engine.UpdateOperation.delete_points(list(ids)))
            self._flush_when_due(len(ids))

    def add_payload_indexes(self, wanted: Mapping[str, str]) -> None:
        """Index the fields that were not indexed yet."""
        missing = {name: kind for name, kind in wanted.items() if name not in self.meta.payload_indexes}
        if missing:
            with translated(self.folder):
                _index_fields(self._shard, missing)
                self._save(replace(self.meta, payload_indexes={**self.meta.payload_indexes, **missing}))

    def close(self) -> None:
        """Flush and release the files."""
        with self._gate.exclusive(), translated(self.folder):
            if not self._closed:
                self._closed = True
                self._shard.close()

    # ------------------------------------------------------------ optimising: copy, let a process work on it, adopt

    def start_copy(self) -> Path | None:
        """Copy the shard as it is now and remember what changes from here on; None when a copy is in work."""
        if self._changed is not None:
            return None
        shard, copy = self.folder / self.meta.shard, self.folder / _new_shard_name()
        with translated(self.folder):
            require_space(self.folder, self._reserve + 2 * _size(shard))
            self._shard.flush()
            shutil.copytree(shard, copy)
        self._changed = set()
        return copy

    def abandon_copy(self, copy: Path) -> None:
        """Forget the copy."""
        self._changed = None
        shutil.rmtree(copy, ignore_errors=True)

    def adopt_copy(self, copy: Path) -> None:
        """Bring the copy up to date and switch over to it."""
        old, old_folder = self._shard, self.folder / self.meta.shard
        with translated(self.folder):
            new = engine.EdgeShard.load(str(copy))
            _index_fields(new, self.meta.payload_indexes)
            _catch_up(old, new, sorted(self._changed or ()))
            new.flush()
            with self._gate.exclusive():
                self._save(replace(self.meta, shard=copy.name, optimized=int(new.info().points_count)))
                self._shard = new
                old.close()
        self._changed = None
        shutil.rmtree(old_folder, ignore_errors=True)

    def _note(self, ids: Sequence[uuid.UUID]) -> None:
        changed = self._changed
        if changed is not None:
            changed.update(ids)

    def _flush_when_due(self, written: int) -> None:
        self._unflushed += written
        if self._unflushed >= _FLUSH_AFTER:
            self._shard.flush()
            self._unflushed = 0

    def _save(self, meta: Meta) -> None:
        _write_meta(self.folder, meta)
        self.meta = meta


def _size(folder: Path) -> int:
    return sum(file.stat().st_blocks * 512 for file in folder.rglob("*") if file.is_file())


def _sweep(folder: Path, keep: str) -> None:
    for shard in folder.glob(f"{_SHARD}*"):
        if shard.name != keep:
            shutil.rmtree(shard, ignore_errors=True)


def _config(dimension: int, indexing_from: int) -> Any:
    hnsw = engine.HnswIndexConfig(m=16, ef_construct=200, full_scan_threshold=10_000)
    return engine.EdgeConfig(
        vectors={DENSE: engine.EdgeVectorParams(size=dimension, distance=engine.Distance.Cosine, hnsw_config=hnsw)},
        sparse_vectors={TERMS: engine.EdgeSparseVectorParams(modifier=engine.Modifier.Idf)},
        hnsw_config=hnsw,
        optimizers=engine.EdgeOptimizersConfig(indexing_threshold=max(1, indexing_from * dimension * 4 // 1024)),
    )


def _index_fields(shard: Any, wanted: Mapping[str, str]) -> None:
    for name, kind in wanted.items():
        shard.update(engine.UpdateOperation.create_field_index(field_path(name), index_params(kind)))


def _catch_up(old: Any, new: Any, ids: Sequence[uuid.UUID]) -> None:
    """Make the points with these ids in `new` what they are in `old`."""
    for start in range(0, len(ids), _BATCH):
        batch = list(ids[start : start + _BATCH])
        records = old.retrieve(batch, with_payload=True, with_vector=True)
        present = {record.id for record in records}
        points = [engine.Point(record.id, record.vector, record.payload) for record in records]
        new.update(engine.UpdateOperation.upsert_points(points))
        new.update(engine.UpdateOperation.delete_points([id for id in batch if id not in present]))


def _new_shard_name() -> str:
    return f"{_SHARD}{uuid.uuid4().hex[:12]}"


def _read_meta(folder: Path) -> Meta:
    try:
        meta = Meta(**json.loads((folder / _META).read_text("utf-8")))
    except (OSError, ValueError, TypeError) as error:
        raise StoreError(
            f"The index in {folder} cannot be read: {error}.",
            hint="`kedge check --repair` rebuilds the vectors from the catalog.",
        ) from error
    if meta.layout != _LAYOUT:
        raise StoreError(
            f"The index in {folder} was written in layout {meta.layout}, this version reads {_LAYOUT}.",
            hint="Run `kedge collection reindex`, or use the version of Kedge that wrote it.",
        )
    return meta


def _write_meta(folder: Path, meta: Meta) -> None:
    draft = folder / f"{_META}.new"
    with draft.open("w", encoding="utf-8") as file:
        json.dump(asdict(meta), file, ensure_ascii=False, indent=1)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(folder / _META)
