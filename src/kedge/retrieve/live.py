"""What of the hits the catalog shows to readers: the indexes are never believed."""

from __future__ import annotations

from collections.abc import Sequence

from kedge.core.values import Passage
from kedge.core.values.filters import evaluate
from kedge.retrieve.fuse import Fused
from kedge.retrieve.run import QueryRun
from kedge.stores.bundle import Stores
from kedge.stores.catalog.ports import ReadPassages
from kedge.stores.ports import CanReadPoints


class LiveHits:
    """Looks hits up in the catalog."""

    def __init__(self, stores: Stores, passages: ReadPassages) -> None:
        """`passages`: what readers see."""
        self._stores = stores
        self._passages = passages

    async def kept(self, run: QueryRun, ranked: Sequence[Fused], limit: int) -> tuple[list[Fused], dict[str, Passage]]:
        """The first `limit` that the catalog shows to readers and that pass the filter there, and their passages."""
        kept: list[Fused] = []
        passages: dict[str, Passage] = {}
        at_once = limit + limit // 2 + 2
        for start in range(0, len(ranked), at_once):
            part = ranked[start : start + at_once]
            found = await self.visible(run, [item.passage_id for item in part])
            passages |= found
            kept += [item for item in part if item.passage_id in found]
            if len(kept) >= limit:
                break
        kept = kept[:limit]
        if run.reads > 1:  # at different moments: a document may have been switched in between
            run.passages.clear()
            passages = await self.visible(run, [item.passage_id for item in kept])
            kept = [item for item in kept if item.passage_id in passages]
        paths = run.paths()
        steps = {step for item in kept for step in paths.get(item.passage_id, ()) if step in run.graph.base}
        passages |= await self.visible(run, sorted(steps - passages.keys()))
        return kept, passages

    async def measure(self, run: QueryRun, kept: Sequence[Fused]) -> None:
        """Read the points of hits, where they were not read before: for raw scores."""
        points = self._stores.vectors
        lacking = [item.passage_id for item in kept if item.passage_id not in run.stored]
        if lacking and isinstance(points, CanReadPoints):
            run.stored |= await run.reader(points).stored(run.query.scope, lacking)

    async def visible(self, run: QueryRun, ids: Sequence[str], *, filtered: bool = True) -> dict[str, Passage]:
        asked = [key for key in ids if key not in run.passages]
        if asked:
            live = await self._passages.live(run.query.scope, asked)
            run.reads += 1
            run.passages |= {key: live.get(key) for key in asked}
            run.unseen |= set(asked) - live.keys()
        found = {key: passage for key in ids if (passage := run.passages[key]) is not None}
        if run.where is None or not filtered:
            return found
        return {key: passage for key, passage in found.items() if evaluate(run.where, passage.payload())}
