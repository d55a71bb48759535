"""What ingestion works with, handed from step to step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from kedge.core.settings import Settings
from kedge.core.values import Collection, Document, Passage, Readers
from kedge.ingest.ports import Discovered
from kedge.models.ports import Embedder, Vectors
from kedge.stores.bundle import Stores
from kedge.stores.narrowing import with_readers
from kedge.stores.ports import Point, Vector

OnStep = Callable[[str], None]
"""Called at every step boundary with the step's name: progress, traces, and the tests that kill the process there."""


def no_step(_name: str) -> None:
    """The default: nobody listens."""


@dataclass(frozen=True, slots=True)
class Target:
    """Where an ingestion writes to and what it embeds with."""

    stores: Stores
    collection: Collection
    embedder: Embedder
    settings: Settings
    on_step: OnStep = no_step
    shared: bool = False
    """Others may write other documents of the collection at the same time."""
    discovered: Discovered | None = None
    """What is taken in, where it is not what the request itself names: a connected source."""


def as_points(
    passages: Sequence[Passage], vectors: Vectors | Sequence[Vector], readers: Mapping[str, Readers]
) -> list[Point]:
    """Passages with their vectors as the vector store takes them; `readers` by document, where anybody is named."""
    return [
        Point(one.id, vector, one.keyword_text, with_readers(one.payload(), readers.get(one.document_id)))
        for one, vector in zip(passages, vectors, strict=True)
    ]


@dataclass(slots=True)
class Batch:
    """Passages on their way through the pipeline together. A long document goes in several batches."""

    documents: dict[str, Document] = field(default_factory=dict)
    """By id: those whose passages are in this batch."""
    versions: dict[str, str] = field(default_factory=dict)
    """Document id → version being built."""
    passages: list[Passage] = field(default_factory=list)
    complete: list[str] = field(default_factory=list)
    """Versions whose last passage is in this batch: they become visible with it."""
    pending: list[Passage] = field(default_factory=list)
    """Passages that have no vector yet."""
    refreshed: list[Passage] = field(default_factory=list)
    """Passages that keep the vector they have under another payload (`ingest.moving`)."""
    moving: set[str] = field(default_factory=set)
    """Ids that are live with another payload than they will have."""
    vectors: Vectors = field(default_factory=lambda: np.empty((0, 0), dtype=np.float32))
    """One row per pending passage."""
    source_bytes: int = 0
    """Bytes of sources that this batch finishes, for the progress shown."""
    files: int = 0
    """Sources that this batch finishes."""
    embedded: int = 0
    """Pending passages whose vectors were made, and not taken over from an equal document."""
    new: int = 0
    """Those of them of which nothing was visible before."""
