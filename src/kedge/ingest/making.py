"""A document and its passages out of what was read: the same for every kind whose sources become passages."""

from __future__ import annotations

from datetime import datetime

from kedge.core.errors import UnreadableError, UsageError
from kedge.core.values import Chunk, Document, DocumentStatus, IngestRequest, Metadata, Passage, Readers
from kedge.ingest.parse.reading import DocumentReader
from kedge.ingest.sources.sidecar import read_readers
from kedge.ingest.sources.source import Source
from kedge.text.iso639 import language_of

READERS_FIELD = "readers"
"""Field of front matter, and of the rows of a corpus, that names who may read the document."""


def document_of(
    source: Source, reader: DocumentReader, request: IngestRequest, *, key: str, file_hash: str, metadata: Metadata
) -> Document:
    """The document with the id `key`, not yet live. UnreadableError where it names readers that are none."""
    said = readers_said(source, metadata)
    metadata = {name: value for name, value in metadata.items() if name != READERS_FIELD}
    return Document(
        id=key,
        scope=request.scope,
        url=source.url,
        external_id=source.external_id,
        title=reader.title,
        format=reader.format,
        status=DocumentStatus.PENDING,
        author=reader.author,
        topic_tag=request.topic,
        file_hash=file_hash,
        content_hash=source.content_hash(),
        file_size=source.size,
        metadata=metadata,
        updated_at=source.updated_at,
        readers=said if request.readers is None else request.readers,
    )


def readers_said(source: Source, metadata: Metadata) -> Readers | None:
    """Who may read it, as it says itself, else as its folder or connector says; None: nobody says anything.

    UnreadableError: what was meant is not known, and everybody must not read it.
    """
    if READERS_FIELD not in metadata:
        return source.readers
    try:
        return read_readers(metadata[READERS_FIELD])
    except UsageError as error:
        raise UnreadableError(
            f"{source.name} says under `{READERS_FIELD}` who may read it, and that cannot be read: {error.message}",
            hint="Write principals there (user:ann, group:board, public), or call the field otherwise.",
        ) from error


def passage_of(
    piece: Chunk, document: Document, version: str, *, url: str, content_hash: str, at: datetime, metadata: Metadata
) -> Passage:
    """A piece of the document, still without an id."""
    return Passage(
        id="",
        document_id=document.id,
        version_id=version,
        index=piece.index,
        text=piece.text,
        start=piece.start,
        end=piece.end,
        content_hash=content_hash,
        token_count=piece.token_count,
        title=document.title,
        url=url,
        external_id=document.external_id,
        section_path=piece.section_path,
        page=piece.page,
        has_code=piece.has_code,
        has_formula=piece.has_formula,
        has_table=piece.has_table,
        language=language_of(piece.text),
        topic_tag=document.topic_tag,
        ingested_at=at,
        document_updated_at=document.updated_at,
        metadata=metadata,
    )
