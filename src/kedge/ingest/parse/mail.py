"""Messages of internet mail (EML) to text."""

from __future__ import annotations

from collections.abc import Iterator
from email import message_from_bytes, policy
from email.errors import MessageError
from email.message import EmailMessage, MIMEPart
from email.utils import parseaddr, parsedate_to_datetime
from typing import TYPE_CHECKING

from kedge.core.values import ParsedDocument
from kedge.ingest.parse.letter import Letter, letter_document
from kedge.ingest.parse.writer import one_line

if TYPE_CHECKING:
    from kedge.ingest.sources.source import Source

_HEADERS = ("From", "To", "Cc", "Date")


def parse_mail(source: Source) -> ParsedDocument:
    """The message in one document, see `letter_document`. Raises SourceFault."""
    message = message_from_bytes(source.read(), policy=policy.default)
    assert isinstance(message, EmailMessage)
    author, address = parseaddr(_header(message, "from"))
    letter = Letter(
        subject=_header(message, "subject"),
        headers=tuple((name, _header(message, name)) for name in _HEADERS),
        author=author,
        address=address,
        sent=_date(message),
        plain=_words(message, "plain"),
        page=_words(message, "html"),
        attached=_attached(message),
    )
    return letter_document(letter, source.name)


def _header(message: EmailMessage, name: str) -> str:
    try:
        return one_line(str(message[name] or ""))
    except (MessageError, ValueError, IndexError, TypeError, AttributeError):  # the library fails over odd headers
        return ""


def _date(message: EmailMessage) -> str | None:
    try:
        return parsedate_to_datetime(_header(message, "date")).date().isoformat()
    except (ValueError, TypeError, IndexError):
        return None


def _words(message: EmailMessage, kind: str) -> str:
    part = message.get_body(preferencelist=(kind,))
    return _content(part) if part is not None else ""


def _content(part: MIMEPart) -> str:
    try:
        return str(part.get_content())
    except (LookupError, ValueError, KeyError):  # a charset that nobody knows
        payload = part.get_payload(decode=True)
        return payload.decode("utf-8", "replace") if isinstance(payload, bytes) else ""


def _attached(message: EmailMessage) -> Iterator[tuple[str, bytes]]:
    for part in _parts(message):
        if part.get_content_type() == "message/rfc822":
            inner = part.get_payload(0) if part.is_multipart() else None
            if isinstance(inner, EmailMessage):
                yield f"{one_line(str(inner['subject'] or 'message'))}.eml", inner.as_bytes()
            continue
        payload = part.get_payload(decode=True)
        name = part.get_filename() or ""
        if isinstance(payload, bytes) and payload and name and part.get_content_maintype() != "image":
            yield one_line(name), payload


def _parts(message: MIMEPart) -> Iterator[MIMEPart]:
    """What is attached, messages of a digest too: a digest is a part of parts."""
    for part in message.iter_attachments():
        if part.get_content_maintype() == "multipart":
            inner = part.get_payload()
            yield from (one for one in inner if isinstance(one, MIMEPart)) if isinstance(inner, list) else ()
        else:
            yield part
