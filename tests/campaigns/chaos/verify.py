"""After a round: open again as a user would, repair, and hold what is there against what must be."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence

import numpy as np

from kedge.core.settings import Settings
from kedge.core.values import Collection, IngestRequest, JobStatus, Passage, Query
from kedge.engine.engine import Engine
from kedge.ingest.check import CheckReport
from kedge.models.registry import open_embedder
from kedge.stores.ports import CanReadPoints
from kedge.text.analyze import SparseTerms
from tests.campaigns.chaos.leaks import leaked
from tests.campaigns.chaos.ledger import Ledger, Violation
from tests.campaigns.chaos.readers import TOP_K, read_document
from tests.campaigns.chaos.spoil import spoil
from tests.campaigns.chaos.world import Corner, Place, State, read_marks

SPOILED = 3
"""Every so many rounds somebody writes past Kedge into its indexes before the repair."""
SEARCHED = 6
"""Documents looked for by their mark after each round."""


class Verifier:
    """Repairs and looks; every fault is a line in `found`."""

    def __init__(self, corners: Sequence[Corner], ledger: Ledger, settings: Settings, *, shared: bool) -> None:
        """`shared`: jobs of a dead process are not resumed where other processes could be on other machines."""
        self._corners = corners
        self._ledger = ledger
        self._settings = settings
        self._shared = shared
        self.found: list[str] = []
        self.repaired = 0
        self.resumed = 0
        self.spoiled = 0

    async def recover(self, wanted: Mapping[Place, State], *, calm: bool, number: int) -> None:
        """All of it. `wanted` is what the files say; `calm`: no store was away, so no job may have failed."""
        async with Engine.open(self._settings) as engine:
            await self._look(engine, "before any repair")
            await self._resume(engine, wanted, calm=calm)
            if number % SPOILED == 0:
                for corner in self._corners:
                    self.spoiled += await spoil(engine, corner.scope, random.Random(f"{corner.letter}/{number}"))
            await self._repair_and_compare(engine, number)

    async def finish(self, wanted: Mapping[Place, State]) -> None:
        """The user runs every ingest once more: then all is as the files say."""
        async with Engine.open(self._settings) as engine:
            for corner in self._corners:
                await engine.ingest(IngestRequest(corner.scope, (str(corner.folder),)))
                for place in corner.places():
                    self._ledger.set(place, [wanted[place]])
                if await engine.stores.catalog.passages.staged(corner.scope):
                    self.found.append(f"{corner.letter}: something is still staged after everything was taken in")
            await self._repair_and_compare(engine, 0)

    async def _repair_and_compare(self, engine: Engine, number: int) -> None:
        self._note_repairs(await engine.check(repair=True))
        for problem in (await engine.check()).problems:
            self.found.append(f"check after repair: {problem.kind} {problem.count}: {problem.detail} {problem.ids}")
        await self._look(engine, "after repair", settle=True)
        for corner in self._corners:
            await self._compare(engine, corner)
        spare = await leaked(engine, self._settings)
        if spare:
            self.found.append(f"{spare} vector indexes belong to no collection")
        await self._search(engine, number)

    async def _look(self, engine: Engine, when: str, *, settle: bool = False) -> None:
        for corner in self._corners:
            for place in corner.places():
                try:
                    state = await read_document(engine, self._ledger, corner, place)
                except Violation as seen:
                    self.found.append(f"{when}: {seen}")
                else:
                    if settle:
                        self._ledger.set(place, [state])

    async def _resume(self, engine: Engine, wanted: Mapping[Place, State], *, calm: bool) -> None:
        """Unfinished jobs go on, with the files as they are now."""
        left = await engine.stores.catalog.jobs.unfinished()
        for corner in self._corners:
            if any(job.scope == corner.scope for job in left):
                for place in corner.places():
                    self._ledger.add(place, wanted[place])
        self.resumed = await engine.drain()
        for job in left if not self._shared else ():
            ended = await engine.job(job.scope.tenant, job.id)
            if not ended.status.ended or (calm and ended.status is not JobStatus.COMPLETE):
                self.found.append(f"a resumed job is {ended.status}: {ended.error_message}")

    def _note_repairs(self, report: CheckReport) -> None:
        self.repaired += report.repaired
        if report.repaired < self.spoiled:
            self.found.append(f"{self.spoiled} were spoiled, but the check repaired {report.repaired}")
        self.spoiled = 0
        for problem in report.problems:
            if not problem.repaired:
                self.found.append(f"not repaired: {problem.kind}: {problem.detail}")

    async def _compare(self, engine: Engine, corner: Corner) -> None:
        """Ids in catalog, vectors and graph are the same, and each vector is that of its text by the pinned model."""
        stores, scope = engine.stores, corner.scope
        live: dict[str, Passage] = {}
        async for batch in stores.catalog.passages.scan(scope):
            live.update((passage.id, passage) for passage in batch)
        waiting = any(job.scope == scope for job in await stores.catalog.jobs.unfinished())
        staged = set(await stores.catalog.passages.staged(scope)) if waiting else set()
        in_graph = await _all(stores.graph.passage_ids(scope)) - (staged - live.keys())
        self._same(live.keys(), in_graph, f"{corner.letter}: graph")
        collection = await stores.catalog.collections.get(scope)
        if collection is None:
            return
        in_vectors = await _all(stores.vectors.ids(collection.index_name, scope.tenant)) - (staged - live.keys())
        self._same(live.keys(), in_vectors, f"{corner.letter}: vectors")
        if collection.passages != len(live):
            self.found.append(f"{corner.letter}: the collection counts {collection.passages} of {len(live)} passages")
        if isinstance(stores.vectors, CanReadPoints) and live:
            await self._compare_points(stores.vectors, collection, live)

    def _same(self, live: Iterable[str], held: set[str], where: str) -> None:
        expected = set(live)
        if expected != held:
            self.found.append(f"{where}: {len(expected - held)} missing, {len(held - expected)} orphans")

    async def _compare_points(self, points: CanReadPoints, collection: Collection, live: Mapping[str, Passage]) -> None:
        stored = await points.read(collection.index_name, collection.scope.tenant, list(live))
        embedder = open_embedder(collection.embedder, self._settings)
        texts = {key: live[key].embed_text for key in stored}
        vectors = await embedder.embed(list(texts.values()))
        for (key, text), vector in zip(texts.items(), vectors, strict=True):
            point = stored[key]
            if len(point.vector) != len(vector) or float(np.dot(point.vector, vector)) < 0.999:
                self.found.append(f"passage {key} has a vector of another text or model")
            if point.terms.keys() != SparseTerms().term_weights(text).keys():
                self.found.append(f"passage {key} has other words than its text")

    async def _search(self, engine: Engine, number: int) -> None:
        """Documents that are there are found, by a word that only they have."""
        present = [
            (corner, place)
            for corner in self._corners
            for place in corner.places()
            if self._ledger.possible(place) != {None}
        ]
        for corner, place in present[number % 3 :: 3][:SEARCHED]:
            (version,) = self._ledger.possible(place)
            mark = f"z{place.letter}d{place.number:02d}v{version}s11"
            found = await engine.search(Query(mark, corner.scope, top_k=TOP_K))
            texts = [hit.passage.text for hit in found.hits]
            if not any(each.place == place and each.version == version for each in read_marks(texts)):
                self.found.append(f"{place.title} version {version} is live but not found")


async def _all(batches: AsyncIterator[list[str]]) -> set[str]:
    return {key async for batch in batches for key in batch}
