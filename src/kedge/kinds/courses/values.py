"""What is said of courses: lessons, their passages, what stands around one, what is found, what must be known."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from datetime import datetime
from typing import Any

from kedge.core.outside import outside
from kedge.core.values import Json, Passage, SearchHit, SearchResult
from kedge.kinds.courses.place import Place
from kedge.kinds.courses.query import Learner


@outside()
@dataclass(frozen=True, slots=True)
class LessonPassage:
    """A passage of a lesson with all it knows about its place (C-04)."""

    id: str
    text: str
    book_id: str
    title: str
    source_file: str
    section_title: str | None
    module: str
    chapter: int
    lesson: int
    hardware_tier: int
    proficiency_level: str
    layer: str
    chunk_index: int
    total_chunks: int
    parent_doc_id: str
    prev_chunk_id: str | None
    next_chunk_id: str | None
    content_hash: str
    source_file_hash: str
    word_count: int
    token_count: int
    char_count: int
    version: int
    created_at: str
    updated_at: str
    start: int
    """Offset of the passage in the lesson's file."""
    end: int
    embedded_at: datetime | None = None
    """When its vector was made; null in search results."""
    embedding_model: str | None = None
    """The model that made it; null in search results."""

    @classmethod
    def of(cls, passage: Passage) -> LessonPassage:
        """As its metadata tell."""
        told: dict[str, Any] = {name: passage.metadata.get(name) for name in TOLD}
        return cls(
            id=passage.id,
            text=passage.text,
            title=passage.title,
            chunk_index=passage.index,
            token_count=passage.token_count,
            start=passage.start,
            end=passage.end,
            embedded_at=passage.embedded_at,
            embedding_model=passage.embedding_model,
            **told,
        )


_OWN = ("id", "text", "title", "chunk_index", "token_count", "start", "end", "embedded_at", "embedding_model")
TOLD = tuple(one.name for one in fields(LessonPassage) if one.name not in _OWN)
"""What the metadata of a passage hold of it; the rest is the passage's own."""
_UNTOLD: Mapping[str, Any] = {
    **{"section_path": [], "page": None, "language": "und", "topic_tag": None},
    **{"has_code": False, "has_formula": False, "has_table": False},
    **{"ingested_at": None, "document_updated_at": None},
}


def _passage_json(found: Mapping[str, Any]) -> dict[str, Any]:
    """A lesson's passage as the JSON of a passage."""
    return {
        **_UNTOLD,
        **found,
        "passage_id": found["id"],
        "document_id": found["parent_doc_id"],
        "index": found["chunk_index"],
        "metadata": {name: found[name] for name in TOLD},
    }


@outside(
    {
        "module": "place.module",
        "chapter": "place.chapter",
        "lesson": "place.lesson",
        "total_chunks": "passages",
        "prerequisites": "needs",
    },
    hidden=("version_id", "fields"),
)
@dataclass(frozen=True, slots=True)
class Lesson:
    """A lesson as readers see it."""

    parent_doc_id: str
    place: Place
    title: str
    source_file: str
    hardware_tier: int
    proficiency_level: str
    layer: str
    passages: int
    """How many there are."""
    version_id: str
    """The version that is live."""
    needs: tuple[str, ...] | None
    """As written; null when the lesson says nothing about them."""
    fields: Mapping[str, Json] = field(default_factory=dict)
    """All that filters can name of a lesson."""

    @property
    def name(self) -> str:
        return f"{self.place.number} {self.title}"


@outside()
@dataclass(frozen=True, slots=True)
class LessonList:
    """The lessons of a course, as they are taught."""

    lessons: tuple[Lesson, ...]


@outside({"chunks": "chunks"}, spread="lesson", hidden=("passages",))
@dataclass(frozen=True, slots=True)
class WholeLesson:
    """A lesson with its passages in order, all of one version."""

    lesson: Lesson
    passages: tuple[Passage, ...]

    @property
    def chunks(self) -> tuple[LessonPassage, ...]:
        """Its passages in order."""
        return tuple(map(LessonPassage.of, self.passages))

    @staticmethod
    def from_outside(found: Mapping[str, Any]) -> Mapping[str, Any]:
        """`chunks` are the passages."""
        return {"chunks": found["chunks"], "passages": [_passage_json(one) for one in found["chunks"]]}


@outside({"token_count": "tokens", "chunks": "chunks"}, hidden=("passages",))
@dataclass(frozen=True, slots=True)
class Expansion:
    """A passage and what stands around it in its lesson, in order, within a budget of tokens."""

    passage_id: str
    passages: tuple[Passage, ...]
    tokens: int
    """Of all of them."""
    complete: bool
    """Whether the whole lesson is there."""

    @property
    def chunks(self) -> tuple[LessonPassage, ...]:
        """The passages in order."""
        return tuple(map(LessonPassage.of, self.passages))

    @staticmethod
    def from_outside(found: Mapping[str, Any]) -> Mapping[str, Any]:
        """`chunks` are the passages."""
        return {**found, "passages": [_passage_json(one) for one in found["chunks"]]}


@outside(spread="passage")
@dataclass(frozen=True, slots=True)
class CourseHit:
    """A passage that was found."""

    passage: LessonPassage
    rank: int
    score: float
    """0–1, the best first."""
    vector_score: float | None = None
    """Raw cosine similarity of the text and the passage."""

    @classmethod
    def of(cls, hit: SearchHit) -> CourseHit:
        """As a course shows a hit."""
        return cls(LessonPassage.of(hit.passage), hit.rank, hit.score, hit.cosine)


@outside(
    {
        "query": "result.query",
        "results": "hits",
        "warnings": "result.warnings",
        "hardware_tier_filter": "reader.hardware_tier",
        "module_filter": "reader.module",
    }
)
@dataclass(frozen=True, slots=True)
class CourseHits:
    """What was found for a reader."""

    result: SearchResult
    total_found: int
    """Passages that pass the filters, whatever the text."""
    reader: Learner
    book_id: str

    @property
    def hits(self) -> tuple[CourseHit, ...]:
        """The passages that were found, best first."""
        return tuple(map(CourseHit.of, self.result.hits))

    @staticmethod
    def from_outside(found: Mapping[str, Any]) -> Mapping[str, Any]:
        """`results` are the hits of the search."""
        hits = [_hit_json(one) for one in found["results"]]
        result = {"query": found["query"], "results": hits, "timings_ms": {}, "warnings": found["warnings"]}
        return {**found, "result": result}


def _hit_json(found: Mapping[str, Any]) -> dict[str, Any]:
    """A lesson's passage as the JSON of a search hit."""
    passage = {**_passage_json(found), "external_id": "", "url": ""}
    told = ("document_id", "external_id", "title", "url", "chunk_index", "start", "end")
    unknown = ("vector_rank", "keyword_rank", "graph_rank", "keyword_score", "fused_score")
    scores = {
        **dict.fromkeys(unknown),
        **{name: found[name] for name in ("rank", "score", "vector_score")},
        **{"relevance_score": found["score"], "above_threshold": False, "in_both": False},
    }
    details = {
        "above_threshold": False,
        "in_both": False,
        "path": [],
        **_UNTOLD,
        **{name: passage[name] for name in told},
        "token_count": found["token_count"],
    }
    return {**passage, **scores, "metadata": {**passage["metadata"], **details}}


@outside({"path": "steps"}, spread="lesson", hidden=("path",))
@dataclass(frozen=True, slots=True)
class Needed:
    """A lesson that must be known, and how one comes to it."""

    lesson: Lesson
    path: tuple[Lesson, ...]
    """From the lesson that was asked about to this one, along what each needs."""
    why: str
    """`stated` in front matter, or by the `order` of lessons."""
    direct: bool = False
    """Whether the lesson itself names it."""

    @property
    def steps(self) -> tuple[dict[str, Json], ...]:
        """From the lesson asked about to this one."""
        return tuple(
            {"parent_doc_id": step.parent_doc_id, "module": step.place.module, "number": step.place.number}
            for step in self.path
        )

    @staticmethod
    def from_outside(found: Mapping[str, Any]) -> Mapping[str, Any]:
        """Of a lesson on the path, only its place is known."""
        return {"why": found["why"], "direct": found["direct"], "path": [_step_json(step) for step in found["path"]]}


def _step_json(step: Mapping[str, Any]) -> dict[str, Any]:
    chapter, lesson = map(int, step["number"].split("."))
    place = {"parent_doc_id": step["parent_doc_id"], "module": step["module"], "chapter": chapter, "lesson": lesson}
    texts = dict.fromkeys(("title", "source_file", "proficiency_level", "layer"), "")
    return {**place, **texts, "hardware_tier": 0, "total_chunks": 0, "prerequisites": None}


@outside(hidden=("direct",))
@dataclass(frozen=True, slots=True)
class Prerequisites:
    """What must be known before a lesson, in an order in which it can be learned."""

    lesson: Lesson
    needed: tuple[Needed, ...] = ()
    direct: tuple[str, ...] = ()
    """`parent_doc_id` of the lessons that the lesson itself needs."""
    modules: tuple[str, ...] = ()
    """Modules that are needed as a whole."""
    outside: tuple[str, ...] = ()
    """What is named and is no lesson of this course."""
    hidden: int = 0
    """Lessons that are needed too but that the filter leaves out."""

    @staticmethod
    def from_outside(found: Mapping[str, Any]) -> Mapping[str, Any]:
        """The lessons that are needed say which of them are so directly."""
        return {**found, "direct": [one["parent_doc_id"] for one in found["needed"] if one["direct"]]}


@outside()
@dataclass(frozen=True, slots=True)
class SourceFileState:
    """One file of a book."""

    source_file: str
    file_hash: str
    """SHA-256 of its bytes."""
    chunk_ids: tuple[str, ...]
    """Its passages, in order; each is in the vector store under this id."""
    chunk_count: int
    ingested_at: datetime | None
    module: str
    chapter: int
    lesson: int


@outside()
@dataclass(frozen=True, slots=True)
class CourseState:
    """A book as it was taken in; its files in the order in which they are taught."""

    book_id: str
    collection_name: str
    """The physical index that holds its vectors."""
    last_full_ingest: datetime | None
    """End of the last job that took everything: in full or recreate mode, or the first one."""
    last_incremental_update: datetime | None
    """End of the last incremental job after the first."""
    total_chunks: int
    """Sum of the files' counts."""
    files: tuple[SourceFileState, ...]
