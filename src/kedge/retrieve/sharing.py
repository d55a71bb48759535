"""What several searches for one question share: whatever does not depend on what they leave out is read once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from kedge.core.values.filters import Filter
from kedge.retrieve.channels.named import NamedConcepts
from kedge.retrieve.features import StoredFeatures

_T = TypeVar("_T")


@dataclass(slots=True)
class QuestionReads(Generic[_T]):
    """Filled by the first search of a question and used by those that follow at once, on behalf of the same actor.

    Good for one question in one index: another one begins anew (`of`).
    """

    asked: tuple[str, str, bool] = ("", "", False)
    """The question's words, the index, and whether the graph is searched."""
    points: StoredFeatures | None = None
    """Points that were read from the index."""
    weights: Mapping[int, float] | None = None
    """Weight of each term of the question."""
    named: NamedConcepts | None = None
    """What the question names in the graph."""
    searched: list[tuple[Filter | None, Filter | None, _T]] = field(default_factory=list)
    """What came of each search before its best were chosen: by what the catalog and the indexes were asked for."""

    def of(self, text: str, index: str, *, graph: bool) -> None:
        """From here on they are those of this question."""
        if self.asked != (text, index, graph):
            self.asked = (text, index, graph)
            self.points = self.weights = self.named = None
            self.searched.clear()

    def found(self, where: Filter | None, index_where: Filter | None) -> _T | None:
        """What came of a search with these filters; None where there was none."""
        return next((it for own, index, it in self.searched if (own, index) == (where, index_where)), None)
