"""Messages as Outlook saves them (MSG) to text: properties in a compound file, read by olefile.

What of the format is used: streams `__substg1.0_<tag><type>` hold one property each (001F text in UTF-16, 001E text in
an old encoding, 0102 bytes), storages `__attach_version1.0_#…` the attachments, a `000D` in one a message within.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import olefile

from kedge.core.errors import EncryptedError, SourceTooLargeError, UnreadableError, UnsupportedFormatError
from kedge.core.values import ParsedDocument
from kedge.ingest.parse.html import decode_html
from kedge.ingest.parse.letter import DEEPEST, Letter, letter_document
from kedge.ingest.parse.rtf import plain_rtf, unpacked_rtf
from kedge.ingest.parse.writer import one_line

if TYPE_CHECKING:
    from kedge.ingest.sources.source import Source

MAX_STREAM = 256 << 20
MAX_ATTACHED = 500
_SUBJECT, _BODY, _RTF, _PAGE = "0037", "1000", "1009", "1013"
_FROM, _FROM_ADDRESS, _FROM_SMTP, _TO, _CC = "0C1A", "0C1F", "5D01", "0E04", "0E03"
_SENT, _RECEIVED = 0x0039, 0x0E06
_DATA, _LONG_NAME, _SHORT_NAME = "3701", "3707", "3704"
_EPOCH = datetime(1601, 1, 1, tzinfo=UTC)
Place = tuple[str, ...]


def parse_msg(source: Source) -> ParsedDocument:
    """The message in one document, see `letter_document`. Raises SourceFault."""
    try:
        with source.open() as stream, olefile.OleFileIO(stream) as file:
            return letter_document(_Message(file, source.name).letter(()), source.name)
    except (OSError, struct.error, IndexError, ValueError, TypeError) as error:  # as olefile meets damaged files
        if not source.name.lower().endswith(".msg"):
            raise _old_kind(source.name) from error
        raise UnreadableError(
            f"{source.name} is damaged, or no message at all ({type(error).__name__}).",
            hint="Open it in the program that made it and save it again.",
        ) from error


def _old_kind(name: str) -> UnsupportedFormatError:
    return UnsupportedFormatError(
        f"{name} is an office document of the old kind, or one with a password.",
        hint="Save it as DOCX, PPTX, XLSX or PDF without a password and ingest that.",
    )


class _Message:
    """An open compound file that should be a message."""

    def __init__(self, file: olefile.OleFileIO, name: str) -> None:
        self._file = file
        self._name = name
        entries: list[list[str]] = file.listdir(streams=True, storages=True)
        self._entries = {tuple(entry) for entry in entries}
        tops = {entry[0] for entry in self._entries}
        if "EncryptedPackage" in tops or "EncryptionInfo" in tops:
            raise EncryptedError(f"{name} wants a password.", hint="Save a copy without one and ingest that.")
        if "__properties_version1.0" not in tops:
            raise _old_kind(name)

    def letter(self, at: Place, within: int = 0) -> Letter:
        """The message whose properties stand in that storage."""
        address = next((found for tag in (_FROM_SMTP, _FROM_ADDRESS) if "@" in (found := self._text(at, tag))), "")
        author = one_line(self._text(at, _FROM))
        sent = self._time(at, within)
        shown = f"{author} <{address}>" if author and address and author != address else author or address
        return Letter(
            subject=one_line(self._text(at, _SUBJECT)),
            headers=(
                ("From", shown),
                ("To", one_line(self._text(at, _TO))),
                ("Cc", one_line(self._text(at, _CC))),
                ("Date", sent.strftime("%a, %d %b %Y %H:%M:%S %z") if sent else ""),
            ),
            author=author,
            address=address,
            sent=sent.date().isoformat() if sent else None,
            plain=self._text(at, _BODY) or self._packed(at),
            page=self._page(at),
            attached=self._attached(at, within),
        )

    def _read(self, at: Place, name: str) -> bytes:
        place = (*at, name)
        if place not in self._entries:
            return b""
        path = list(place)
        if self._file.get_size(path) > MAX_STREAM:
            raise SourceTooLargeError(f"{self._name} holds over {MAX_STREAM:,} bytes in one part.", hint="Split it.")
        with self._file.openstream(path) as stream:
            return bytes(stream.read())

    def _text(self, at: Place, tag: str) -> str:
        wide = self._read(at, f"__substg1.0_{tag}001F")
        text = wide.decode("utf-16-le", "replace") if wide else ""
        text = text or self._read(at, f"__substg1.0_{tag}001E").decode("cp1252", "replace")
        return text.replace("\x00", "")

    def _page(self, at: Place) -> str:
        data = self._read(at, f"__substg1.0_{_PAGE}0102")
        return decode_html(data, None, self._name) if data else self._text(at, _PAGE)

    def _packed(self, at: Place) -> str:
        data = self._read(at, f"__substg1.0_{_RTF}0102")
        return plain_rtf(unpacked_rtf(data)) if data else ""

    def _time(self, at: Place, within: int) -> datetime | None:
        """When it was sent, else when it came; fixed properties stand in one stream, sixteen bytes each."""
        data = self._read(at, "__properties_version1.0")
        found: dict[int, datetime] = {}
        for offset in range(24 if within else 32, len(data) - 15, 16):
            kind, tag, _, value = struct.unpack_from("<HHIQ", data, offset)
            if kind == 0x40 and tag in (_SENT, _RECEIVED):
                try:
                    found[tag] = _EPOCH + timedelta(microseconds=value // 10)
                except OverflowError:
                    continue
        return found.get(_SENT) or found.get(_RECEIVED)

    def _attached(self, at: Place, within: int) -> Iterator[tuple[str, bytes]]:
        size = len(at) + 1
        places = sorted(
            entry
            for entry in self._entries
            if len(entry) == size and entry[:-1] == at and entry[-1].startswith("__attach_version1.0_#")
        )
        for place in places[:MAX_ATTACHED]:
            name = one_line(self._text(place, _LONG_NAME) or self._text(place, _SHORT_NAME))
            inner = (*place, f"__substg1.0_{_DATA}000D")
            if (*inner, "__properties_version1.0") in self._entries:
                if within < DEEPEST:
                    yield self._as_mail(self.letter(inner, within + 1))
                continue
            data = self._read(place, f"__substg1.0_{_DATA}0102")
            if name and data and not name.lower().endswith((".png", ".jpg", ".jpeg", ".gif", ".bmp")):
                yield name, data

    def _as_mail(self, letter: Letter) -> tuple[str, bytes]:
        """A message within as internet mail, which its reader reads."""
        from email.message import EmailMessage

        mail = EmailMessage()
        for name, value in (("Subject", letter.subject), *letter.headers):
            if value:
                mail[name] = value
        mail.set_content(letter.plain or "")
        if letter.page and not letter.plain:
            mail.set_content(letter.page, subtype="html")
        for name, data in letter.attached:
            mail.add_attachment(data, maintype="application", subtype="octet-stream", filename=name)
        return f"{letter.subject or 'message'}.eml", mail.as_bytes()
