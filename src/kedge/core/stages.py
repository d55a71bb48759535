"""What a piece of work is made of: named stages, timed and traced by whoever watches, if anybody does.

The parts say `with stage("fuse"):` and know nothing of metrics or traces. A server or a worker puts a `Watcher` and the
facts of the request into the context of its work; they travel into tasks and threads and need no global state. Facts
are ids, hashes and counts: never the words of a question (D-17), never a secret.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol, TypeAlias

Fact: TypeAlias = str | int | float | bool

STAGES: Mapping[str, str] = {
    "wait": "a question waits for its turn, because as many are answered as the processor bears",
    "embed": "the question becomes a vector",
    "vectors": "search by meaning",
    "keywords": "search by words",
    "graph": "reading the question in the graph and walking along it",
    "fuse": "the channels become one list",
    "rerank": "the best are put in order",
    "live": "the catalog says which of them readers may see",
    "compute": "what a question asks to compute, over the tables of what was found",
    "judge": "the probability that the evidence answers the question",
    "read": "the reader reads question and best passages together",
    "answer": "sentences are quoted or written, and cited",
    "llm": "one call to a language model",
    "plan": "a question over a table becomes a plan and is computed",
    "ingest": "one job, whole",
    "ingest.parse": "sources are opened and read",
    "ingest.chunk": "texts are cut into passages",
    "ingest.embed": "passages become vectors",
    "ingest.store": "passages, vectors and graph are written and made visible",
}
"""Every stage with its doc; `docs/reference/metrics.md` lists the same, and a test checks both ways."""


class Span(Protocol):
    """A stage that runs."""

    def end(self, error: BaseException | None, facts: Mapping[str, Fact]) -> None:
        """It is over, by this error if there was one."""


class Watcher(Protocol):
    """Whoever wants to know of stages."""

    def begin(self, name: str, facts: Mapping[str, Fact], *, holds: bool) -> Span:
        """A stage begins. `holds`: stages begun before its end, in this context, are parts of it."""

    def done(self, name: str, seconds: float) -> None:
        """A stage has ended."""

    def measured(self, what: str, value: float, kind: str) -> None:
        """Something about the work was measured, for this kind of collection."""

    def carried(self) -> Mapping[str, str]:
        """Headers that tell another server which work a request belongs to."""


_watcher: ContextVar[Watcher | None] = ContextVar("kedge_watcher", default=None)
_facts: ContextVar[MutableMapping[str, Fact] | None] = ContextVar("kedge_facts", default=None)
_hears: ContextVar[Callable[[str], None] | None] = ContextVar("kedge_hears", default=None)


@contextmanager
def stage(name: str, **facts: Fact) -> Iterator[None]:
    """Do the block as a stage. Not around a `yield` of an async generator: see `apart`."""
    with _running(name, facts, holds=True):
        yield


@contextmanager
def apart(name: str, **facts: Fact) -> Iterator[MutableMapping[str, Fact]]:
    """Like `stage`, also around a `yield` of a generator: what runs meanwhile is not taken for a part of it.

    What is put into the mapping that it gives is told at the end.
    """
    with _running(name, facts, holds=False) as told:
        yield told


@contextmanager
def _running(name: str, facts: Mapping[str, Fact], *, holds: bool) -> Iterator[MutableMapping[str, Fact]]:
    hears = _hears.get()
    if hears is not None:
        hears(name)
    watcher = _watcher.get()
    told: dict[str, Fact] = {}
    if watcher is None:
        yield told
        return
    started = time.perf_counter()
    span = watcher.begin(name, facts, holds=holds)
    error: BaseException | None = None
    try:
        yield told
    except BaseException as raised:
        error = raised
        raise
    finally:
        span.end(error, told)
        watcher.done(name, time.perf_counter() - started)


@contextmanager
def watched(watcher: Watcher | None, facts: MutableMapping[str, Fact] | None = None) -> Iterator[None]:
    """Have the stages of the block told to the watcher; `facts` is what `note` adds to and logs show."""
    before = _watcher.set(watcher)
    known = _facts.set(facts)
    try:
        yield
    finally:
        _facts.reset(known)
        _watcher.reset(before)


@contextmanager
def heard(hears: Callable[[str], None]) -> Iterator[None]:
    """Call this with the name of each stage of the block as it begins, in whichever thread it does."""
    before = _hears.set(hears)
    try:
        yield
    finally:
        _hears.reset(before)


def measure(what: str, value: float, kind: str) -> None:
    """Tell a figure about the work to whoever watches: `similarity`, the best that vector search found, and
    `similarity_near`, one that it found near the threshold."""
    watcher = _watcher.get()
    if watcher is not None:
        watcher.measured(what, value, kind)


def note(**facts: Fact) -> None:
    """Add to what is known of the request or job that this work belongs to, if it belongs to one."""
    known = _facts.get()
    if known is not None:
        known.update(facts)


def known() -> Mapping[str, Fact]:
    """What is known of it so far."""
    return _facts.get() or {}


def carried() -> dict[str, str]:
    """Headers for a request to another server: W3C `traceparent`, while the work is traced; else nothing."""
    watcher = _watcher.get()
    return dict(watcher.carried()) if watcher is not None else {}
