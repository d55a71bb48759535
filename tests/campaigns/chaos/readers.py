"""Readers: they read all the time and say what they must not see."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from kedge.core.errors import KedgeError, NotFoundError
from kedge.core.ids import document_id
from kedge.core.values import Passage, Query
from kedge.engine.engine import Engine
from tests.campaigns.chaos.ledger import Ledger, Violation
from tests.campaigns.chaos.world import Corner, Place, State

TOP_K = 20


def id_of(corner: Corner, place: Place) -> str:
    """The document's id, as everybody can compute it."""
    return document_id(corner.scope, str(corner.folder / place.name))


class Reader:
    """Reads documents, searches and asks, in turn, until told to stop."""

    def __init__(
        self,
        engine: Engine,
        corners: Sequence[Corner],
        ledger: Ledger,
        report: Callable[[str], None],
        *,
        seed: str,
        on_read: Callable[[], None] = lambda: None,
    ) -> None:
        self._engine = engine
        self._corners = corners
        self._ledger = ledger
        self._report = report
        self._rng = random.Random(seed)
        self._on_read = on_read
        self.reads = 0
        self.errors: dict[str, int] = {}

    async def run(self, stop: asyncio.Event) -> None:
        """One read after the other; what must not be is reported, a store that is away is counted."""
        kinds = (self._read, self._search, self._search, self._ask)
        while not stop.is_set():
            corner = self._rng.choice(self._corners)
            place = self._rng.choice(corner.places())
            since = self._ledger.moment()
            try:
                await self._rng.choice(kinds)(corner, place, since)
                self.reads += 1
                self._on_read()
            except Violation as seen:
                self._report(str(seen))
            except NotFoundError as error:
                if self._is_there(corner, since):
                    self._report(f"collection {corner.letter} is there, but a reader was told: {error}")
                await asyncio.sleep(0)
            except KedgeError as error:
                self.errors[error.code] = self.errors.get(error.code, 0) + 1
                self._last = error
                await asyncio.sleep(0.01)

    def _is_there(self, corner: Corner, since: Mapping[Place, int]) -> bool:
        """Whether something was to be found all the time: not before the first ingest, nor during a deletion."""
        return any(None not in self._ledger.possible(place, since.get(place, 0)) for place in corner.places())

    @property
    def last_error(self) -> str:
        return repr(getattr(self, "_last", None))

    async def _read(self, corner: Corner, place: Place, since: Mapping[Place, int]) -> None:
        await read_document(self._engine, self._ledger, corner, place, since.get(place, 0))

    async def _search(self, corner: Corner, place: Place, since: Mapping[Place, int]) -> None:
        words = f"{place.title} near {self._word()} and {self._word()}"
        found = await self._engine.search(Query(words, corner.scope, top_k=TOP_K))
        self._judge([hit.passage for hit in found.hits], corner, since)

    async def _ask(self, corner: Corner, place: Place, since: Mapping[Place, int]) -> None:
        answer = await self._engine.ask(Query(f"What lies near {place.title}?", corner.scope, top_k=10))
        self._judge([hit.passage for hit in answer.hits], corner, since)
        self._ledger.judge_hits({"answer": answer.answer}, corner.letter, since)

    def _judge(self, passages: Sequence[Passage], corner: Corner, since: Mapping[Place, int]) -> None:
        self._ledger.judge_hits({passage.id: passage.text for passage in passages}, corner.letter, since)
        one_version_each(passages)

    def _word(self) -> str:
        return self._rng.choice(("anchor", "keel", "mast", "quay", "tiller", "wharf", "knot", "fathom"))


async def read_document(engine: Engine, ledger: Ledger, corner: Corner, place: Place, since: int = -1) -> State:
    """The version that a reader sees of a document. Violation."""
    try:
        document, passages = await engine.document(corner.scope.tenant, id_of(corner, place))
    except NotFoundError:
        return ledger.judge_document(place, (), since)
    one_version_each(passages)
    if passages and (document.live_version, document.chunk_count) != (passages[0].version_id, len(passages)):
        raise Violation(f"{place.title}: the document says one version, its passages are of another")
    return ledger.judge_document(place, [passage.text for passage in passages], since)


def one_version_each(passages: Sequence[Passage]) -> None:
    """All passages of one document are of one version."""
    versions: dict[str, set[str]] = {}
    for passage in passages:
        versions.setdefault(passage.document_id, set()).add(passage.version_id)
    for passage in passages:
        if len(versions[passage.document_id]) > 1:
            raise Violation(f"{Path(passage.url).name}: one answer mixes passages of {versions[passage.document_id]}")
