"""What was read last: the same passages are candidates again and again, and reading one costs as much as searching
among hundreds; how rare a term is in a part of an index takes a look at every point of the part."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterable, Mapping

from kedge.core.values.filters import Filter
from kedge.stores.ports import StoredPoint

MOST = 2048
"""Points of all indexes that are kept in memory: about 8 kB each."""
MOST_PARTS = 512
"""Parts of indexes, one for each circle of rights, of which it is kept how rare terms are."""
MOST_TERMS = 2048
"""Terms of each."""
Part = tuple[str, str, Filter]
"""An index, a tenant, and what the points of the part pass."""


class RememberedRarity:
    """How rare terms are in parts of indexes. What is known of an index is forgotten when it is written to."""

    def __init__(self) -> None:
        self._parts: OrderedDict[Part, dict[int, float]] = OrderedDict()
        self._lock = threading.Lock()
        self._written = 0

    def known(self, part: Part) -> tuple[dict[int, float], int]:
        """By term, and the moment, for `keep`."""
        with self._lock:
            found = self._parts.get(part)
            if found is None:
                return {}, self._written
            self._parts.move_to_end(part)
            return dict(found), self._written

    def keep(self, part: Part, rare: Mapping[int, float], moment: int) -> None:
        """Remember what was read after that moment, unless something was written since."""
        with self._lock:
            if moment != self._written:
                return
            kept = self._parts.setdefault(part, {})
            kept.update(rare)
            while len(kept) > MOST_TERMS:
                del kept[next(iter(kept))]
            while len(self._parts) > MOST_PARTS:
                self._parts.popitem(last=False)

    def forget(self, index: str) -> None:
        """The index was written to, made or dropped."""
        with self._lock:
            self._written += 1
            for part in [one for one in self._parts if one[0] == index]:
                del self._parts[part]


class RememberedPoints:
    """By index, tenant and id. What is written is forgotten, also where somebody is reading it at that moment."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._points: OrderedDict[tuple[str, str, str], StoredPoint] = OrderedDict()
        self._lock = threading.Lock()
        self._written = 0

    def known(self, index: str, tenant: str, ids: Iterable[str]) -> tuple[dict[str, StoredPoint], int]:
        """Those of the points that are remembered, and the moment, for `keep`."""
        found: dict[str, StoredPoint] = {}
        with self._lock:
            for id in ids:
                point = self._points.get((index, tenant, id))
                if point is not None:
                    self._points.move_to_end((index, tenant, id))
                    found[id] = point
            return found, self._written

    def keep(self, index: str, tenant: str, points: Mapping[str, StoredPoint], moment: int) -> None:
        """Remember what was read after that moment, unless something was written since."""
        with self._lock:
            if moment != self._written:
                return
            self._points.update(((index, tenant, id), point) for id, point in points.items())
            while len(self._points) > self._most:
                self._points.popitem(last=False)

    def forget(self, index: str, tenant: str, ids: Iterable[str]) -> None:
        """These were written."""
        with self._lock:
            self._written += 1
            for id in ids:
                self._points.pop((index, tenant, id), None)

    def forget_all(self) -> None:
        """An index was made or dropped."""
        with self._lock:
            self._written += 1
            self._points.clear()
