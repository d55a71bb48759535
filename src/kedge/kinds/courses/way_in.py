"""The way in of courses: a lesson is a document, its sections become a chain of passages (C-01…C-06, C-09).

A lesson's document is named by its place in the course, not by its file: renaming the file is a new version of the same
document, and a lesson has one parent at every moment. What filters see of a passage can change while its id stays, so
the kind says what a passage carries over from its former self (`ingest.moving`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from kedge.core.errors import EmptySourceError
from kedge.core.ids import sha256, stable_json, version_id
from kedge.core.settings import Settings
from kedge.core.values import Document, GraphBatch, IngestRequest, Json, Passage
from kedge.ingest.apart.limits import ParseLimits
from kedge.ingest.chunk.clock import CutClock
from kedge.ingest.making import document_of, passage_of
from kedge.ingest.parse.reading import DocumentReader, open_document
from kedge.ingest.ports import Opened
from kedge.ingest.sources.source import Source
from kedge.ingest.write.moving import with_times_of
from kedge.kinds.courses.cut import MIN_CHARS, TARGET_TOKENS, LessonPart, cut, limits_for
from kedge.kinds.courses.discovery import CourseDiscovery, LessonSource, unpacked
from kedge.kinds.courses.edges import relations_of
from kedge.kinds.courses.place import book_of, lesson_passage_id
from kedge.models.ports import Embedder

PIPELINE = 1
"""Raised when reading or cutting lessons changes, so that unchanged files are taken in again."""
MAX_VALUE_CHARS = 120
MAX_LISTED = 20
_TIMES = ("version", "created_at", "updated_at")


class LessonMaker:
    """Makes passages of lessons."""

    def discover(self, request: IngestRequest, settings: Settings) -> CourseDiscovery:
        return CourseDiscovery(request, settings)

    def fingerprint(self, source: Source, request: IngestRequest, embedder: Embedder, settings: Settings) -> str:
        lesson = unpacked(source)
        options: dict[str, Json] = {
            "bytes": lesson.content_hash(),
            "place": list(lesson.fields.place.order),
            "origin": lesson.origin,
            "source_file": lesson.source_file,
            "topic": request.topic,
            "metadata": dict(request.metadata),
            "chunk_tokens": settings.chunk_tokens or TARGET_TOKENS,
            "window": embedder.window,
            "pipeline": PIPELINE,
        }
        said = lesson.readers if request.readers is None else request.readers
        if said is not None:
            options["readers"] = list(said)
        return sha256(stable_json(options))

    def open(
        self, source: Source, request: IngestRequest, file_hash: str, embedder: Embedder, settings: Settings
    ) -> Opened:
        lesson = unpacked(source)
        clock = CutClock(embedder.count_tokens, settings.parse_timeout, lesson.name)
        opened = open_document(lesson, ParseLimits.of(settings))
        reader = replace(opened, segments=clock.each(opened.segments))
        document = _document(lesson, reader, request, file_hash)
        version = version_id(document.id, file_hash)
        warnings = [*reader.warnings, *lesson.fields.warnings]
        for name in lesson.fields.missing:
            lesson.defaulted.setdefault(name, []).append(lesson.source_file)
        limits = limits_for(embedder.window, settings.chunk_tokens)
        parts: list[LessonPart] = []
        for segment in reader.segments:
            parts += cut(
                segment.document,
                clock,
                limits,
                title=document.title,
                base=segment.base,
                first_index=len(parts),
                warn=warnings.append,
            )
        passages = _chained([_passage(part, document, version) for part in parts], document, lesson)
        if len("".join(passage.text.strip() for passage in passages)) < MIN_CHARS:
            raise EmptySourceError(
                f"{lesson.source_file} holds fewer than {MIN_CHARS} characters of text.",
                hint="Fill the lesson and ingest again, or remove the file.",
            )
        return Opened(document, version, iter([passages]), warnings)

    def carried(self, new: Passage, old: Passage | None) -> Passage:
        """Age and version of a passage that was there: it is a new version of it when anything about it changed."""
        if old is None:
            return new
        kept = {name: old.metadata.get(name) for name in _TIMES}
        if _steady(new) == _steady(old):
            new = with_times_of(new, old)
        else:
            before = kept["version"]
            kept |= {"version": before + 1 if isinstance(before, int) else 1}
            kept |= {"updated_at": new.metadata["updated_at"]}
        return replace(new, metadata={**new.metadata, **kept})

    def relations(self, documents: Mapping[str, Document], versions: Mapping[str, str]) -> GraphBatch:
        return relations_of(documents, versions)


def _steady(passage: Passage) -> tuple[str, dict[str, Json]]:
    return passage.embed_text, {name: value for name, value in passage.facts().items() if name not in _TIMES}


def _document(lesson: LessonSource, reader: DocumentReader, request: IngestRequest, file_hash: str) -> Document:
    fields = lesson.fields
    needs: list[Json] | None = None if fields.needs is None else list(fields.needs)
    metadata: dict[str, Json] = {
        **reader.metadata,
        **_lesson_fields(lesson, request),
        "prerequisites": needs,
        "origin": lesson.origin,
    }
    key = str(lesson.document_id)
    return document_of(lesson, reader, request, key=key, file_hash=file_hash, metadata=metadata)


def _lesson_fields(lesson: LessonSource, request: IngestRequest) -> dict[str, Json]:
    """What is the same for all passages of a lesson (C-04)."""
    fields = lesson.fields
    return {
        "book_id": request.scope.collection,
        "module": fields.place.module,
        "chapter": fields.place.chapter,
        "lesson": fields.place.lesson,
        "hardware_tier": fields.hardware_tier,
        "proficiency_level": fields.proficiency_level,
        "layer": fields.layer,
        "source_file": lesson.source_file,
        "parent_doc_id": lesson.document_id,
        "source_file_hash": lesson.content_hash(),
    }


def _passage(part: LessonPart, document: Document, version: str) -> Passage:
    return passage_of(
        part.chunk,
        document,
        version,
        url=str(document.metadata["origin"]),
        content_hash=sha256(part.chunk.text),
        at=datetime.now(UTC),
        metadata={**dict(_short_values(document)), "section_title": part.section_title},
    )


def _short_values(document: Document) -> Iterator[tuple[str, Json]]:
    """What filters can use of the front matter; long texts stay with the document."""
    for name, value in document.metadata.items():
        items = value if isinstance(value, list) else [value]
        plain = all(item is None or isinstance(item, str | int | float | bool) for item in items)
        short = len(items) <= MAX_LISTED and all(len(str(item)) <= MAX_VALUE_CHARS for item in items)
        if name not in ("origin", "title") and plain and (short or name == "source_file"):
            yield name, value


def _chained(passages: list[Passage], document: Document, lesson: LessonSource) -> list[Passage]:
    """Ids, counts and the links to the neighbours (C-02, C-03, C-05)."""
    book, place = book_of(document.scope), lesson.fields.place
    seen: Counter[str] = Counter()
    ids = []
    for passage in passages:
        first = lesson_passage_id(book, place, passage.content_hash)
        seen[first] += 1
        ids.append(lesson_passage_id(book, place, passage.content_hash, seen[first]))
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return [
        replace(
            passage,
            id=ids[at],
            metadata={
                **passage.metadata,
                "total_chunks": len(passages),
                "prev_chunk_id": ids[at - 1] if at else None,
                "next_chunk_id": ids[at + 1] if at + 1 < len(passages) else None,
                "content_hash": passage.content_hash,
                "word_count": len(passage.text.split()),
                "token_count": passage.token_count,
                "char_count": len(passage.text),
                "version": 1,
                "created_at": now,
                "updated_at": now,
            },
        )
        for at, passage in enumerate(passages)
    ]
