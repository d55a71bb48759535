"""Documents as of an instant: who finds and who answers, over stores that show what was live then."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from kedge.answer.judge.verdict import Judging
from kedge.answer.pipeline import Answerer
from kedge.core.errors import QueryError
from kedge.core.values import Query
from kedge.kinds.ports import Parts
from kedge.retrieve.past import PastCollections, PastPassages, PastVectors
from kedge.retrieve.pipeline import Retriever
from kedge.stores.catalog.ports import CanKeepPast


class PastOpener:
    """Opens the way out as of an instant."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts

    def open(self, query: Query, at: datetime) -> tuple[Query, Retriever, Answerer]:
        """The query as they take it, who finds, and who answers. QueryError for an instant that has not come yet."""
        parts = self._parts
        if at > datetime.now(UTC):
            raise QueryError(
                "as_of lies in the future.", hint="Ask for a time that has been.", details={"as_of": str(at)}
            )
        if not isinstance(parts.stores.catalog, CanKeepPast):
            raise QueryError("This catalog does not keep what was before.", hint="Ask without as_of.")
        vectors = PastVectors(parts.stores.vectors, at)
        collections = PastCollections(parts.collections, vectors)
        stores = replace(parts.stores, vectors=vectors)
        retriever = Retriever(parts.settings, stores, collections, passages=PastPassages(parts.stores.catalog.past, at))
        judging = Judging(parts.settings, stores, collections)
        judging.readings = parts.judging.readings
        answerer = Answerer(
            parts.settings, retriever, collections, parts.recorder, judging=judging, writer=parts.writer
        )
        return replace(query, include_graph=False), retriever, answerer

    def warnings(self, at: datetime) -> tuple[str, ...]:
        """What cannot be known of that time any more."""
        days = self._parts.settings.version_days
        missing = "what was replaced or removed between then and the time asked for is missing."
        kept = datetime.now(UTC) - timedelta(days=days)
        if not days:
            missing = "what was replaced or removed since the time asked for is missing."
            return (f"Superseded versions are not kept (version_days is 0): {missing}",)
        if at >= kept:
            return ()
        until = f"{kept:%Y-%m-%d %H:%M} UTC"
        return (f"Versions superseded before {until} are no longer kept (version_days is {days:g}): {missing}",)
