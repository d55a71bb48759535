"""Opens a source and reads it segment by segment, so that memory stays bounded however long the text is.

A segment starts at `base` in the document's text, and `chunk(segment.document, …, base=segment.base)` gives passages
whose offsets point into the whole.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kedge.core.errors import EmptySourceError, KedgeError, TooCostlyError
from kedge.core.untrusted import tame
from kedge.core.values import Metadata
from kedge.ingest.identity import identity_of
from kedge.ingest.parse.formats import PLAIN, format_named, readable_name
from kedge.ingest.parse.ports import FileFormat, Segment
from kedge.ingest.sources.source import Source, damaged, with_format

if TYPE_CHECKING:
    from kedge.ingest.apart.limits import ParseLimits

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class DocumentReader:
    """A source that could be opened: what is known about it at once, and its segments."""

    source: Source
    format: str
    title: str
    author: str | None
    metadata: Metadata
    """What the document says about itself, then what the user said about it.

    Beside it what could be told from its head (`kedge.ingest.identity`); a row of a corpus says all of it itself."""
    warnings: tuple[str, ...]
    segments: Iterator[Segment]
    """To be read once, in order. May raise SourceFault, for instance when a file changes meanwhile."""


def open_document(source: Source, limits: ParseLimits | None = None) -> DocumentReader:
    """Open and read the first segment; the others follow on demand. Raises SourceFault.

    With limits, formats that are risky to read are read in another process, within them.
    """
    if source.text is None and not source.size:
        raise EmptySourceError(f"{source.name} is empty.", hint="Remove it, or fill it and ingest again.")
    source = with_format(source)
    format = format_named(source.format or PLAIN)
    segments = _segments(source, format, limits)
    first = next(segments, None)
    if first is None:
        raise EmptySourceError(f"{source.name} holds no text.", hint="Remove it, or fill it and ingest again.")
    head = first.document
    identity = {} if source.text is not None else identity_of(head, source.name, source.url, source.metadata).metadata
    return DocumentReader(
        source=source,
        format=format.name,
        title=source.title or _clean(head.title) or readable_name(source.name),
        author=_clean(head.author) or None,
        metadata=_metadata({**identity, **head.metadata, **source.metadata}, source.name),
        warnings=head.warnings,
        segments=_chain(first, segments),
    )


def _chain(first: Segment, rest: Iterator[Segment]) -> Iterator[Segment]:
    yield first
    yield from rest


def _clean(title: str | None) -> str:
    """One line of text, whatever the file says."""
    return str(tame({"": " ".join((title or "").split())[:300]})[""])


def _metadata(values: Metadata, name: str) -> Metadata:
    try:
        return tame(values)
    except ValueError as error:
        raise TooCostlyError(f"What {name} says about itself cannot be kept: {error}.", hint="Shorten it.") from error


def _segments(source: Source, format: FileFormat, limits: ParseLimits | None) -> Iterator[Segment]:
    """Read here or in another process; whatever else than a fault a parser raises counts as a damaged file in both."""
    try:
        if limits is None or not format.apart(source):
            yield from format.segments(source)
            return
    except (KedgeError, MemoryError):
        raise
    except Exception as error:
        log.warning("%s cannot be parsed as %s", source.label, format.name, exc_info=error)
        raise damaged(source.name, type(error).__name__) from error
    from kedge.ingest.apart.pool import document_apart

    for base, document in document_apart(source, limits):
        yield Segment(base, document)
