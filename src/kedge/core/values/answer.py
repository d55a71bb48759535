"""Answers and the places they cite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from kedge.core.html import html_of
from kedge.core.outside import outside
from kedge.core.values.base import Json, Metadata
from kedge.core.values.hit import SearchHit

NEAREST = 3
"""Hits that a refusal shows."""
Confidence: TypeAlias = Literal["high", "medium", "low", "insufficient"]


@outside()
@dataclass(frozen=True, slots=True)
class CitedCell:
    """One cell of a row that is cited."""

    header: str
    """What stands above it; empty where nothing does."""
    text: str
    """What stands in it, without markup."""
    start: int
    """Offset of its first character in the document's text."""
    end: int
    """Offset behind its last character."""
    answers: bool = False
    """Whether it is the cell that answers, or one that the answer was computed from."""


@outside(hidden=("document_id", "section_path"))
@dataclass(frozen=True, slots=True)
class Citation:
    """A verified span of a document that supports the answer."""

    id: str
    """`[1]`, `[2]`, … as in the answer."""
    passage_id: str
    document_id: str
    title: str
    url: str
    snippet: str
    """The cited words, verbatim."""
    start: int
    """Offset of the snippet in the document's text."""
    end: int
    relevance_score: float
    page: int | None = None
    """Of a PDF, the page that it stands on; of slides and sheets, their number."""
    section_path: tuple[str, ...] = ()
    """The headings that it stands under, outermost first."""
    identity: str = ""
    """What its document calls itself, in one line: its title, where no more is known."""
    cells: tuple[CitedCell, ...] = ()
    """Of a row of a table, in order; its label is the first."""

    def __post_init__(self) -> None:
        if not self.identity:
            object.__setattr__(self, "identity", self.title)

    @property
    def place(self) -> dict[str, Json]:
        """Where in its document it stands: told beside the answer."""
        return {
            "id": self.id,
            "document_id": self.document_id,
            "section_path": list(self.section_path),
            "page": self.page,
        }


@outside({"metadata": "told", "readings": "readings"}, hidden=("hits", "metadata"))
@dataclass(frozen=True, slots=True)
class Answer:
    """An answer with its citations, or an honest refusal (confidence `insufficient`)."""

    query_id: str
    answer: str
    citations: tuple[Citation, ...]
    confidence: Confidence
    evidence_probability: float
    """Calibrated probability that the evidence answers the question."""
    short_answer: str | None = None
    """The name, date or number asked for, where one could be found: a slice of the first citation, or a figure
    computed from the cells that the citations mark."""
    form: str | None = None
    """What was asked for: `fact`, `number`, `yes-no`, `how`, `why`, `list`, `comparison` or `summary`."""
    hits: tuple[SearchHit, ...] = ()
    metadata: Metadata = field(default_factory=dict)

    @property
    def refused(self) -> bool:
        return self.confidence == "insufficient"

    @property
    def context_tokens(self) -> int:
        """Tokens of the passages that the answer was made from: those that it cites; 0 for a refusal."""
        cited = {citation.passage_id for citation in self.citations}
        return sum(hit.passage.token_count for hit in self.hits if hit.passage.id in cited)

    @property
    def readings(self) -> list[Json]:
        """What a question to a table may have meant, likeliest first: `reading`, `probability`, `answer`, `plan`."""
        found = self.metadata.get("readings")
        return list(found) if isinstance(found, list) else []

    @property
    def told(self) -> dict[str, Json]:
        """Times and counts; `sources` says where each citation stands; a refusal has `nearest` and `refusal` (what was
        looked for, and the nearest sentences, which are no answer)."""
        places: list[Json] = [citation.place for citation in self.citations]
        found: dict[str, Json] = {**self.metadata, "short_answer": self.short_answer, "sources": places}
        if self.refused and (self.hits or "nearest" not in self.metadata):
            found["nearest"] = [hit.near for hit in self.hits[:NEAREST]]
        return found

    @staticmethod
    def from_outside(found: Mapping[str, Any]) -> Mapping[str, Any]:
        """What `told` put together goes back to its place."""
        told = found["metadata"]
        cited = [{**place, **one} for place, one in zip(told["sources"], found["citations"], strict=True)]
        return {**found, "citations": cited, "short_answer": found.get("short_answer", told.get("short_answer"))}

    def __str__(self) -> str:
        """The answer with its sources, readable."""
        sources = [
            f"{item.id} {' › '.join((item.identity, *item.section_path))} — {item.url}" for item in self.citations
        ]
        return "\n".join([self.answer, *sources])

    def _repr_html_(self) -> str | None:
        """For notebooks."""
        return html_of(self)


@outside()
@dataclass(frozen=True, slots=True)
class KeptFeedback:
    """A rating of an answer that was kept."""

    feedback_id: str
