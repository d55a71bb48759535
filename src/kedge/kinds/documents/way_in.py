"""The way in of documents: files, folders, addresses, uploads and JSONL corpora become passages."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import ClassVar

from kedge.core.errors import SourceFault, UsageError
from kedge.core.ids import document_id, passage_id, sha256, stable_json, version_id
from kedge.core.settings import Settings
from kedge.core.values import (
    PAGE_BREAKS,
    SECTION_BREAKS,
    TABLE_HEAD,
    Chunk,
    Document,
    IngestRequest,
    Json,
    Metadata,
    Passage,
    SourceError,
)
from kedge.ingest.apart.limits import ParseLimits
from kedge.ingest.chunk.clock import CutClock
from kedge.ingest.chunk.passages import ChunkLimits, chunk
from kedge.ingest.making import document_of, passage_of
from kedge.ingest.parse.formats import JSONL_SUFFIX, ZIP_SUFFIX
from kedge.ingest.parse.ports import Segment
from kedge.ingest.parse.reading import DocumentReader, open_document
from kedge.ingest.ports import Opened
from kedge.ingest.sources import passed_over
from kedge.ingest.sources.corpus import corpus_titles, read_corpus
from kedge.ingest.sources.discovery import Discovery, discover, unpack, upload_url, uploaded
from kedge.ingest.sources.source import Source, SourceOptions, source_error
from kedge.ingest.sources.zipped import is_archive
from kedge.models.ports import Embedder

PIPELINE = 6
_OF_SEVERAL = (JSONL_SUFFIX, ZIP_SUFFIX)
"""Suffixes of files that hold several documents."""


@dataclass(frozen=True, slots=True)
class Cutting:
    """What the segments of one document are cut by."""

    title: str
    """Of the document; it is embedded with every passage."""
    count_tokens: Callable[[Sequence[str]], list[int]]
    """By the embedder's own tokenizer."""
    limits: ChunkLimits
    warn: Callable[[str], None]
    """Told what was odd."""


class DocumentMaker:
    """Makes passages of documents. A kind that cuts them otherwise derives from it."""

    pipeline: ClassVar[int] = PIPELINE
    """Raised when parsing or cutting changes, so that unchanged files are taken in again."""

    def cut(self, segment: Segment, first_index: int, by: Cutting) -> list[Chunk]:
        """Passages of the next stretch of a document, in order, from position `first_index` on: exact slices of it."""
        return chunk(
            segment.document,
            by.count_tokens,
            by.limits,
            title=by.title,
            base=segment.base,
            first_index=first_index,
            warn=by.warn,
        )

    def discover(self, request: IngestRequest, settings: Settings) -> DocumentDiscovery:
        return DocumentDiscovery(request, settings)

    def fingerprint(self, source: Source, request: IngestRequest, embedder: Embedder, settings: Settings) -> str:
        options: dict[str, Json] = {
            "source": source.fingerprint(),
            "topic": request.topic,
            "chunk_tokens": settings.chunk_tokens,
            "window": embedder.window,
            "pipeline": self.pipeline,
        }
        if request.readers is not None:
            options["readers"] = list(request.readers)
        return sha256(stable_json(options))

    def open(
        self, source: Source, request: IngestRequest, file_hash: str, embedder: Embedder, settings: Settings
    ) -> Opened:
        clock = CutClock(embedder.count_tokens, settings.parse_timeout, source.name)
        opened = open_document(source, ParseLimits.of(settings))
        reader = replace(opened, segments=clock.each(opened.segments))
        key = document_id(request.scope, source.url)
        document = document_of(source, reader, request, key=key, file_hash=file_hash, metadata=reader.metadata)
        version = version_id(key, file_hash)
        limits = ChunkLimits.for_window(embedder.window, settings.chunk_tokens)
        warnings = list(reader.warnings)
        by = Cutting(document.title, clock, limits, warnings.append)
        return Opened(document, version, self._passages(reader, document, version, by), warnings)

    def _passages(
        self, reader: DocumentReader, document: Document, version: str, by: Cutting
    ) -> Iterator[list[Passage]]:
        now = datetime.now(UTC)
        seen: Counter[str] = Counter()
        position = 0
        for segment in reader.segments:
            chunks = self.cut(segment, position, by)
            position += len(chunks)
            made = [
                passage_of(
                    piece,
                    document,
                    version,
                    url=document.url,
                    content_hash="",
                    at=now,
                    metadata=_with_place(document.metadata, piece),
                )
                for piece in chunks
            ]
            yield [_identified(passage, seen) for passage in made]


def sole_document(request: IngestRequest) -> str | None:
    """Id of the document when the request is plainly about one, else None."""
    if len(request.sources) + len(request.uploads) != 1:
        return None
    if request.uploads:
        name = request.uploads[0][0]
        return None if name.lower().endswith(_OF_SEVERAL) else document_id(request.scope, upload_url(name))
    source = request.sources[0]
    if "://" in source:
        return document_id(request.scope, source.split("#", 1)[0])
    path = Path(source).expanduser()
    single = path.is_file() and path.suffix.lower() not in _OF_SEVERAL
    return document_id(request.scope, path.resolve().as_posix()) if single else None


class DocumentDiscovery:
    """What the request names: sources on disk and on the web, then uploads."""

    def __init__(self, request: IngestRequest, settings: Settings) -> None:
        self._options = SourceOptions(format=request.format, title=request.title, metadata=request.metadata)
        if request.title and request.uploads and len(request.sources) + len(request.uploads) != 1:
            raise UsageError("A title can be given for one document only.", hint="Upload one file at a time.")
        self._found: Discovery = discover(request.sources, settings, self._options)
        self._settings = settings
        self._sources = request.sources
        self._uploads = request.uploads

    def __iter__(self) -> Iterator[Source | SourceError]:
        yield from self._found
        for name, path in self._uploads:
            try:
                source = uploaded(name, Path(path), options=self._options)
                if name.lower().endswith(JSONL_SUFFIX):
                    yield from read_corpus(source)
                elif is_archive(source):
                    yield from unpack(source, self._settings, self._found.skipped)
                else:
                    yield source
            except SourceFault as fault:
                yield source_error(name, fault)

    def volume(self) -> int:
        """Bytes of the files that are named, without opening them."""
        named = [Path(source).expanduser() for source in self._sources if "://" not in source]
        return sum(_bytes(path) for path in (*named, *(Path(path) for _, path in self._uploads)))

    def titles(self) -> Iterator[str]:
        """Those of the rows of JSONL corpora."""
        for path in (Path(source).expanduser() for source in self._sources):
            if path.suffix.lower() == JSONL_SUFFIX and path.is_file():
                yield from corpus_titles(path)

    def gone(self, url: str) -> bool:
        """Whether a document known before was looked for and is not there any more."""
        return self._found.gone(url)

    def notes(self) -> list[str]:
        """What was passed over, for the job's report."""
        return passed_over.notes(self._found.skipped)


def _bytes(path: Path) -> int:
    try:
        if path.is_dir():
            return sum(item.stat().st_size for item in path.rglob("*") if item.is_file())
        return path.stat().st_size
    except OSError:  # what cannot be seen is reported when it is read
        return 0


def _with_place(metadata: Metadata, piece: Chunk) -> Metadata:
    """The document's metadata and what a passage's own place adds."""
    own: dict[str, Json] = {}
    if piece.page_breaks:
        own[PAGE_BREAKS] = ",".join(f"{offset}:{page}" for offset, page in piece.page_breaks)
    if piece.section_breaks:
        own[SECTION_BREAKS] = json.dumps(piece.section_breaks, ensure_ascii=False, separators=(",", ":"))
    if piece.table_head:
        own[TABLE_HEAD] = piece.table_head
    return {**metadata, **own} if own else metadata


def _identified(passage: Passage, seen: Counter[str]) -> Passage:
    """Give the passage the id of its content: what is embedded, and what filters see beside its position."""
    place = ("chunk_index", "page", PAGE_BREAKS, SECTION_BREAKS)
    filters = {name: value for name, value in passage.facts().items() if name not in place}
    content = sha256(f"{passage.embed_text}\x1f{stable_json(filters)}")
    seen[content] += 1
    return replace(passage, content_hash=content, id=passage_id(passage.document_id, content, seen[content]))
