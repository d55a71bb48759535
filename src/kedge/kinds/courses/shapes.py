"""How courses look as JSON, in the command line and in the HTTP API alike."""

from __future__ import annotations

from kedge.kinds.courses.courses import CourseHits
from kedge.kinds.courses.needs import Needed, Prerequisites
from kedge.kinds.courses.shelf import Expansion, Lesson, WholeLesson
from kedge.types import Json, Passage, SearchHit

_META = (
    *("source_file", "section_title", "module", "chapter", "lesson", "hardware_tier", "proficiency_level", "layer"),
    *("total_chunks", "parent_doc_id", "prev_chunk_id", "next_chunk_id", "content_hash", "source_file_hash"),
    *("word_count", "token_count", "char_count", "version", "created_at", "updated_at"),
)


def chunk_json(passage: Passage) -> dict[str, Json]:
    """A passage of a lesson with all it knows about its place (C-04)."""
    meta = passage.metadata
    return {
        "id": passage.id,
        "text": passage.text,
        "book_id": meta.get("book_id"),
        "title": passage.title,
        "chunk_index": passage.index,
        **{name: meta.get(name) for name in _META},
        "start": passage.start,
        "end": passage.end,
    }


def hits_json(found: CourseHits) -> dict[str, Json]:
    """What a search in a course answers (C-11)."""
    return {
        "query": found.result.query,
        "results": [_hit_json(hit) for hit in found.result.hits],
        "total_found": found.total_found,
        "hardware_tier_filter": found.reader.hardware_tier,
        "module_filter": found.reader.module,
        "book_id": found.book_id,
        "warnings": list(found.result.warnings),
    }


def _hit_json(hit: SearchHit) -> dict[str, Json]:
    return {"rank": hit.rank, "score": hit.score, **chunk_json(hit.passage)}


def lesson_json(lesson: Lesson) -> dict[str, Json]:
    """A lesson without its text."""
    return {
        "parent_doc_id": lesson.parent_doc_id,
        "module": lesson.place.module,
        "chapter": lesson.place.chapter,
        "lesson": lesson.place.lesson,
        "title": lesson.title,
        "hardware_tier": lesson.hardware_tier,
        "proficiency_level": lesson.proficiency_level,
        "layer": lesson.layer,
        "source_file": lesson.source_file,
        "total_chunks": lesson.passages,
        "prerequisites": None if lesson.needs is None else list(lesson.needs),
    }


def whole_json(whole: WholeLesson) -> dict[str, Json]:
    """A lesson with its passages in order."""
    return {**lesson_json(whole.lesson), "chunks": [chunk_json(passage) for passage in whole.passages]}


def expansion_json(expansion: Expansion) -> dict[str, Json]:
    """A passage and what stands around it, in order."""
    return {
        "passage_id": expansion.passage_id,
        "token_count": expansion.tokens,
        "complete": expansion.complete,
        "chunks": [chunk_json(passage) for passage in expansion.passages],
    }


def prerequisites_json(found: Prerequisites) -> dict[str, Json]:
    """What must be known before a lesson, in an order in which it can be learned, with the path to each."""
    direct = set(found.direct)
    return {
        "lesson": lesson_json(found.lesson),
        "needed": [_needed_json(need, direct=need.lesson.parent_doc_id in direct) for need in found.needed],
        "modules": list(found.modules),
        "outside": list(found.outside),
        "hidden": found.hidden,
    }


def _needed_json(need: Needed, *, direct: bool) -> dict[str, Json]:
    path: list[Json] = [
        {"parent_doc_id": step.parent_doc_id, "module": step.place.module, "number": step.place.number}
        for step in need.path
    ]
    return {**lesson_json(need.lesson), "direct": direct, "why": need.why, "path": path}
