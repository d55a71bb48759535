"""Folders of a mailbox as sources: `imaps://mail.example/INBOX`. A message is a document; nothing is marked as read."""

from __future__ import annotations

import imaplib
import re
import socket
import ssl
import sys
import time
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from kedge.core.errors import UnreadableError, UsageError
from kedge.core.settings import Settings
from kedge.core.tls import trusted
from kedge.core.values import SourceError
from kedge.ingest.connectors.hosts import check_host, host_of
from kedge.ingest.connectors.ports import Content, Entry, LastListing, SourceAddress
from kedge.ingest.sources.source import too_large

PORTS = {"imaps": 993, "imap": 143}
MAIL = "message/rfc822"
AT_ONCE = 500
"""Messages whose sizes are asked for together."""
PIECE = 1 << 20
MOST_SAID = 16 << 20
"""Bytes of an answer beside the message that was asked for."""
LONGEST_ANSWER = 4.0
"""Times the setting `url_timeout`: one answer, with a message in it."""
_UID = re.compile(rb"\bUID (\d{1,20}+)")
_SIZE = re.compile(rb"\bRFC822\.SIZE (\d{1,20}+)")
_FLAGS = re.compile(rb"\bFLAGS \(([^)]{0,2000}+)\)")
_BROKEN = (imaplib.IMAP4.error, OSError, ssl.SSLError)


def open_mailbox(place: SourceAddress, settings: Settings) -> Mailbox:
    """Options `user`, and `tls` for `imap://`: `yes` (STARTTLS, also if not given) or `no`; secrets `password`, or
    `token` for OAuth 2."""
    place.allow(options=("user", "tls"), secrets=("password", "token"))
    return Mailbox(place, settings)


class Mailbox:
    """The `Connector` over one folder of a mailbox."""

    complete = True
    cursor = ""

    def __init__(self, place: SourceAddress, settings: Settings) -> None:
        parts = urlsplit(place.url)
        self._host, self._port = host_of(place.url, PORTS[parts.scheme])
        self._folder = unquote(parts.path.strip("/")) or "INBOX"
        if any(ord(sign) < 32 for sign in self._folder):
            raise UsageError(f"{place.url} names no folder.", hint="Write imaps://host/INBOX.")
        self._base = f"{parts.scheme}://{parts.netloc}/{quote(self._folder)}"
        self._place = place
        self._settings = settings
        self._tls = parts.scheme == "imaps"
        self._line: imaplib.IMAP4 | None = None

    def entries(self, past: LastListing) -> Iterator[Entry | SourceError]:  # noqa: ARG002 (a message never changes)
        """Messages in the order in which they came; those marked as deleted are gone."""
        line = self._opened()
        try:
            validity = self._asked(line.response("UIDVALIDITY"))[0].decode()
            uids = self._asked(line.uid("SEARCH", "UNDELETED"))[0].split()
            for at in range(0, len(uids), AT_ONCE):
                some = b",".join(uids[at : at + AT_ONCE]).decode()
                for told in self._asked(line.uid("FETCH", some, "(UID RFC822.SIZE FLAGS INTERNALDATE)")):
                    if (entry := self._entry(told, validity)) is not None:
                        yield entry
        except _BROKEN as error:
            raise self._unreadable(error) from error

    def open(self, entry: Entry) -> Content:
        if entry.size > self._settings.max_source_bytes:
            raise too_large(entry.name, self._settings.max_source_bytes)
        uid = entry.key.rpartition("/")[2]
        try:
            found = self._asked(self._opened().uid("FETCH", uid, "(UID BODY.PEEK[])"))
        except _BROKEN as error:
            raise self._unreadable(error) from error
        for part in found:
            if isinstance(part, tuple):
                return bytes(part[1])
        raise UnreadableError(f"{entry.url} is not there any more.", hint="It was deleted just now; sync again.")

    def close(self) -> None:
        line, self._line = self._line, None
        if line is not None:
            try:
                line.logout()
            except _BROKEN:  # the line is gone: that is what was wanted
                return

    def _entry(self, told: Any, validity: str) -> Entry | None:
        said = told[0] if isinstance(told, tuple) else told
        uid, size, flags = _UID.search(said or b""), _SIZE.search(said or b""), _FLAGS.search(said or b"")
        if uid is None or (flags is not None and b"\\Deleted" in flags[1]):
            return None
        number = uid[1].decode()
        key = f"{validity}/{number}"
        when = imaplib.Internaldate2tuple(said)
        came = None if when is None else datetime(*when[:6]).astimezone()
        url = f"{self._base};UIDVALIDITY={validity}/;UID={number}"  # RFC 5092
        return Entry(key, url, f"{number}.eml", key, int(size[1]) if size else 0, came, content_type=MAIL)

    def _opened(self) -> imaplib.IMAP4:
        if self._line is None:
            address = check_host(self._host, self._port, self._settings)
            try:
                self._line = self._signed_in(address)
            except _BROKEN as error:
                raise self._unreadable(error) from error
        return self._line

    def _signed_in(self, address: str) -> imaplib.IMAP4:
        settings = self._settings
        line = _Line(
            address, self._port, self._host, self._tls, seconds=settings.url_timeout, most=settings.max_source_bytes
        )
        try:
            if not self._tls and self._place.text("tls", "yes").lower() in ("yes", "true", "1"):
                line.secure(self._host)
            user, secrets = self._place.text("user"), self._place.secrets
            if secrets.get("token"):
                line.authenticate("XOAUTH2", lambda _said: f"user={user}\1auth=Bearer {secrets['token']}\1\1".encode())
            else:
                line.login(user, secrets.get("password", ""))
            self._asked(line.select(f'"{_modified_utf7(self._folder)}"', readonly=True))
        except BaseException:
            line.shutdown()
            raise
        return line

    def _asked(self, answer: tuple[str, Any]) -> list[Any]:
        """What the server said to a command that it carried out."""
        status, told = answer
        if status in ("NO", "BAD") or not told or told[0] is None:
            if status == "OK":
                return []
            raise imaplib.IMAP4.error(
                b" ".join(one for one in told if isinstance(one, bytes)).decode("utf-8", "replace")
            )
        return list(told)

    def _unreadable(self, error: Exception) -> UnreadableError:
        said = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
        for secret in self._place.secrets.values():
            said = said.replace(secret, "***") if secret else said
        return UnreadableError(
            f"{self._base} cannot be read: {' '.join(said.split())[:300]}.",
            hint="Check host, folder, user and password; many providers want a password made for programs.",
        )


class _Line(imaplib.IMAP4):
    """A connection to the very address that was looked at, secured for the name of the host.

    What a server says between two commands has a size and a time: one that talks on is left.
    """

    def __init__(self, address: str, port: int, host: str, tls: bool, *, seconds: float, most: int) -> None:
        self._address, self._name, self._with_tls = address, host, tls
        self._allowed, self._seconds = most + MOST_SAID, seconds
        self._next_answer()
        super().__init__(address, port, timeout=seconds)

    def _command(self, name: str, *arguments: Any) -> bytes:
        self._next_answer()
        sent: bytes = super()._command(name, *arguments)  # type: ignore[misc]
        return sent

    def _next_answer(self) -> None:
        """What is said from now on is the answer to another command."""
        self._left = self._allowed
        self._ends = time.monotonic() + LONGEST_ANSWER * self._seconds

    def read(self, size: int) -> bytes:
        """A literal, in pieces: its size is the server's word. IMAP4.abort for too much of it."""
        self._spend(size)
        pieces = []
        while size > 0:
            piece = super().read(min(size, PIECE))
            if not piece:
                break
            self._spend(0)
            pieces.append(piece)
            size -= len(piece)
        return b"".join(pieces)

    def readline(self) -> bytes:
        """A line. IMAP4.abort for too many of them."""
        line = super().readline()
        self._spend(len(line))
        return line

    def _spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise self.abort("the server says more than was asked for")
        if time.monotonic() > self._ends:
            raise self.abort("the server does not come to an end")

    def _create_socket(self, timeout: float | None) -> socket.socket:
        line = socket.create_connection((self._address, self.port), timeout)
        return trusted(trust_env=True).wrap_socket(line, server_hostname=self._name) if self._with_tls else line

    def secure(self, host: str) -> None:
        """STARTTLS, for the name of the host."""
        status, _ = self._simple_command("STARTTLS")
        if status != "OK":
            raise imaplib.IMAP4.error("the server offers no TLS")
        self.sock = trusted(trust_env=True).wrap_socket(self.sock, server_hostname=host)
        lines = self.sock.makefile("rb")  # what was said before in the clear is forgotten
        if sys.version_info >= (3, 14):
            self._file = lines
        else:
            self.file = lines
        self._get_capabilities()


def _modified_utf7(name: str) -> str:
    """The name of a folder as IMAP writes it (RFC 3501, 5.1.3), between quotes.

    >>> _modified_utf7("Entwürfe & mehr")
    'Entw&APw-rfe &- mehr'
    """
    out, wide = "", ""
    for sign in f"{name}\0":
        if sign != "\0" and not 0x20 <= ord(sign) <= 0x7E:
            wide += sign
            continue
        if wide:
            packed = wide.encode("utf-7").decode().strip("+-").replace("/", ",")
            out, wide = f"{out}&{packed}-", ""
        if sign != "\0":
            out += "&-" if sign == "&" else f"\\{sign}" if sign in '"\\' else sign
    return out
