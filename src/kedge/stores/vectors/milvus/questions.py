"""What is asked of a collection: counts, pages of rows, nearest points. Every question is an expression of `where.py`.

The vector index is approximate, so what it leaves out is noticed: `nearest` answers None when fewer hits come back than
were asked for although more points pass.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from pymilvus import MilvusClient

from kedge.core.values.filters import Filter, evaluate
from kedge.stores.ports import Vector
from kedge.stores.vectors.milvus import words
from kedge.stores.vectors.milvus.address import MilvusAddress
from kedge.stores.vectors.milvus.collections import MilvusCollections
from kedge.stores.vectors.milvus.names import hashed, id_list
from kedge.stores.vectors.milvus.where import compiled
from kedge.stores.vectors.rules import COSINE_DIGITS, KEYWORD_DIGITS, SPARE, idf, tied

Found = list[tuple[str, float]]
"""Keys on the server with their scores."""
STRONG = "Strong"
_MOST = 16_384
"""The server returns no more hits for one question."""
_PAGES = {"vector": 1000, "metadata": 500}
_PAGE = 4000
"""Rows in one answer; fewer where they can be large: the server sends at most 64 MiB."""


@dataclass(frozen=True, slots=True)
class Nearest:
    """A question for the points nearest to something."""

    field: str
    """vector or terms."""
    data: Vector | dict[int, float]
    limit: int

    @property
    def metric(self) -> str:
        return "COSINE" if self.field == "vector" else "IP"

    @property
    def digits(self) -> int:
        return COSINE_DIGITS if self.field == "vector" else KEYWORD_DIGITS


class MilvusSearches:
    """Reads of one store."""

    def __init__(self, collections: MilvusCollections, address: MilvusAddress) -> None:
        self._collections = collections
        self._address = address

    async def passing(self, index: str, tenant: str, where: Filter | None, consistency: str = "") -> str:
        """Expression for the tenant's points that pass; those that the server cannot tell are looked at here."""
        own = of_tenant(tenant)
        if where is None:
            return own
        condition = compiled(where)
        sure = f"{own} and ({condition.sure})"
        if condition.sure == condition.maybe:
            return sure
        unsure = f"{own} and ({condition.maybe}) and not ({condition.sure})"
        passed: list[str] = []
        async for page in self.rows(index, unsure, ["id", "metadata"], consistency):
            passed += [row["id"] for row in page if evaluate(where, row["metadata"])]
        return f"({sure}) or {id_list(passed)}" if passed else sure

    async def count(self, index: str, passing: str, consistency: str = "") -> int:
        """How many points pass."""
        rows = await self._collections.ask(
            index,
            MilvusClient.query,
            filter=passing,
            output_fields=["count(*)"],
            consistency_level=consistency or self._address.consistency,
        )
        return int(rows[0]["count(*)"])

    async def rows(
        self, index: str, passing: str, fields: list[str], consistency: str = ""
    ) -> AsyncIterator[list[dict[str, Any]]]:
        """Pages of rows, each row once, whatever order the server gives them in.

        A range of keys from which a full page comes may hold more: it is parted at the middle key of that page, and
        both parts are asked again. What comes from a range that gives less than a full page is all that it holds.
        """
        most = min(_PAGES.get(field, _PAGE) for field in fields)
        ranges = [("", "")]
        while ranges:
            least, end = ranges.pop()
            within = f'id >= "{least}"' + (f' and id < "{end}"' if end else "")
            page: list[dict[str, Any]] = await self._collections.ask(
                index,
                MilvusClient.query,
                filter=f"({passing}) and {within}",
                output_fields=fields,
                limit=most,
                consistency_level=consistency or self._address.consistency,
            )
            if len(page) < most:
                if page:
                    yield page
                continue
            middle = sorted(row["id"] for row in page)[len(page) // 2]
            ranges += [(middle, end), (least, middle)]

    async def nearest(self, index: str, passing: str, asked: Nearest) -> Found | None:
        """Hits by the index, past the limit as long as they tie; None when it left some out."""
        fetch = min(asked.limit + SPARE, _MOST)
        while True:
            hits = await self._hits(index, passing, asked, fetch)
            if len(hits) < fetch:
                return hits if len(hits) == await self.count(index, passing) else None
            if fetch == _MOST:
                return None if asked.limit > _MOST else hits
            if not tied(hits[-1][1], hits[asked.limit - 1][1], asked.digits):
                return hits
            fetch = min(fetch * 4, _MOST)

    async def scan(self, index: str, passing: str, query: Vector) -> Found:
        """All points that pass, scored here."""
        found: Found = []
        async for page in self.rows(index, passing, ["id", "vector"]):
            vectors = np.array([row["vector"] for row in page], dtype=np.float64)
            scores = np.clip(vectors @ query.astype(np.float64), -1, 1)
            found += zip([row["id"] for row in page], scores.tolist(), strict=True)
        return found

    async def rarity(self, index: str, among: str, terms: Iterable[int]) -> dict[int, tuple[int, float]]:
        """For each term: how many points hold it, and its idf."""
        distinct = list(dict.fromkeys(terms))
        expressions = ["term_count > 0", *(words.holds([term]) for term in distinct)] if distinct else []
        counts = await asyncio.gather(*(self.count(index, f"{among} and {each}") for each in expressions))
        return {term: (n, idf(counts[0], n)) for term, n in zip(distinct, counts[1:], strict=True)}

    async def scored(self, index: str, passing: str, asked: dict[int, float], order: words.Order, limit: int) -> Found:
        """Points that hold an asked term, scored here; of the common terms only as many as matter."""
        scores: dict[str, float] = {}
        done: list[int] = []
        for now, later in order:
            fresh = f"({passing}) and {words.holds(now)}" + (f" and not ({words.holds(done)})" if done else "")
            async for page in self.rows(index, fresh, ["id", "term_weights"]):
                scores.update((row["id"], words.score(row["term_weights"], asked)) for row in page)
            if words.settled(scores, limit, words.HEAVIEST * sum(asked[term] for term in later)):
                break
            done += now
        return list(scores.items())

    async def _hits(self, index: str, passing: str, asked: Nearest, fetch: int) -> Found:
        answers = await self._collections.ask(
            index,
            MilvusClient.search,
            data=[asked.data],
            anns_field=asked.field,
            filter=passing,
            limit=fetch,
            output_fields=["id"],
            search_params={
                "metric_type": asked.metric,
                "params": (await self._collections.shape(index)).index.search(fetch) if asked.field == "vector" else {},
            },
            consistency_level=self._address.consistency,
        )
        return [(str(hit["id"]), float(hit["distance"])) for hit in answers[0]]


def of_tenant(tenant: str) -> str:
    """Expression for all points of a tenant."""
    return f"tenant_key == {hashed(tenant)}"
