"""A message as mail programs keep it, whatever the file: who wrote what to whom and when, and what is attached."""

from __future__ import annotations

from collections.abc import Iterable
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kedge.core.errors import EmptySourceError, SourceFault
from kedge.core.values import BlockKind, Json, ParsedDocument
from kedge.ingest.parse.html import parse_html
from kedge.ingest.parse.joined import joined
from kedge.ingest.parse.text import TextParser
from kedge.ingest.parse.writer import TextWriter

if TYPE_CHECKING:
    from kedge.ingest.sources.source import Source

DEEPEST = 3
"""Messages within messages whose attachments are opened."""
_depth: ContextVar[int] = ContextVar("depth", default=0)
"""Of the message that is being read."""


@dataclass(frozen=True, slots=True)
class Letter:
    """One message."""

    subject: str
    headers: tuple[tuple[str, str], ...]
    """As they are shown above the words: `From`, `To`, `Cc`, `Date`."""
    author: str
    """The sender's name, else the address."""
    address: str
    sent: str | None
    """The day, as ISO 8601."""
    plain: str
    page: str
    """The words as HTML; read where there are no plain ones."""
    attached: Iterable[tuple[str, bytes]] = ()
    """Files by name, and messages, which are called `….eml` or `….msg`."""


def letter_document(letter: Letter, name: str) -> ParsedDocument:
    """The message in one document; an attachment is a section that is called as its file. Raises EmptySourceError."""
    subject = letter.subject
    parts = [_head(letter)]
    above_all: list[tuple[str, ...]] = [()]
    body = _body(letter)
    if body is not None:
        parts.append(body)
        above_all.append((subject,) if subject else ())
    warnings: list[str] = []
    for attached, data in letter.attached:
        try:
            found = _attachment(attached, data)
        except SourceFault as fault:
            warnings.append(f"The attachment {attached!r} was left out: {fault.message}")
            continue
        for document in found:
            parts += [_titled(attached), document]
            above_all += [(subject,) if subject else (), (subject, attached) if subject else (attached,)]
    if not any(block.kind is not BlockKind.HEADING for part in parts[1:] for block in part.blocks):
        raise EmptySourceError(f"{name} holds no words.", hint="Remove it from what you ingest.")
    whole = joined(parts, above_all)
    metadata: dict[str, Json] = {"sender": letter.address} if letter.address else {}
    if letter.sent is not None:
        metadata["date"] = letter.sent
    return replace(
        whole, title=subject or None, author=letter.author or letter.address or None, metadata=metadata,
        warnings=(*whole.warnings, *warnings),
    )  # fmt: skip


def _head(letter: Letter) -> ParsedDocument:
    writer = TextWriter()
    writer.heading(1, letter.subject)
    writer.paragraph("\n".join(f"{name}: {value}" for name, value in letter.headers if value))
    return writer.document()


def _titled(name: str) -> ParsedDocument:
    writer = TextWriter()
    writer.heading(2, name)
    return writer.document()


def _body(letter: Letter) -> ParsedDocument | None:
    """The plain words, else those of the page."""
    if letter.plain.strip():
        return TextParser().parse(letter.plain.replace("\r\n", "\n"))
    if letter.page.strip():
        try:
            return parse_html(letter.page)
        except EmptySourceError:
            return None
    return None


def _attachment(name: str, data: bytes) -> list[ParsedDocument]:
    """An attachment read by its own format, in this same process; messages within messages to a depth."""
    from kedge.ingest.parse.formats import format_named
    from kedge.ingest.sources.discovery import uploaded
    from kedge.ingest.sources.source import with_format

    source: Source = with_format(uploaded(name, data))
    depth = _depth.get()
    if depth >= DEEPEST:
        return []
    token = _depth.set(depth + 1)
    try:
        return [segment.document for segment in format_named(source.format or "").segments(source)]
    finally:
        _depth.reset(token)
