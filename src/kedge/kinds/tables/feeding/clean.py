"""From a delimited file to clean records: every record has the right number of fields, and the others are kept aside.

A quote that is never closed would swallow all that follows: it costs its own line only.
"""

from __future__ import annotations

import csv
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TextIO

from kedge.kinds.tables.feeding.dialect import FileDialect

MAX_RECORD_LINES = 500
MAX_RECORD_CHARS = 1 << 20
ALIKE = 3
"""Lines in a row inside quotes that look like whole records: then the quote was not meant to open anything."""
REPORT_LINES = 20_000
KEPT_CHARS = 2000
QUOTE = '"'
ESCAPED = '\\"'
NEWLINE = "\r\n"
csv.field_size_limit(MAX_RECORD_CHARS)


@dataclass(frozen=True, slots=True)
class BadRow:
    """A record that could not be used."""

    line: int
    """Of the file, from 1."""
    reason: str
    text: str
    """As it stands in the file, cut when very long."""


@dataclass(slots=True)
class Cleaned:
    """What came of a file."""

    rows: int = 0
    """Records below the header, bad ones included: the last row's number."""
    written: int = 0
    """Good records."""
    bad: list[BadRow] = field(default_factory=list)


OnBytes = Callable[[int], None]


def clean(source: Path, target: TextIO, dialect: FileDialect, on_bytes: OnBytes) -> Cleaned:
    """Write every good record to `target`, headed by its row number and its line; return the bad ones.

    UnicodeDecodeError for what no line can be blamed for: a wide encoding that was cut inside a character.
    """
    cleaner = _Cleaner(dialect, target)
    with source.open(encoding=dialect.encoding, errors=_errors(dialect), newline="") as stream:
        cleaner.run(stream, on_bytes)
    return Cleaned(cleaner.row, cleaner.written, cleaner.bad)


def _errors(dialect: FileDialect) -> str:
    """What is no text becomes half characters, by which `_unreadable` knows its line."""
    if not dialect.broken_bytes:
        return "strict"
    return "surrogatepass" if dialect.encoding.startswith(("utf-16", "utf-32")) else "surrogateescape"


class _Cleaner:
    def __init__(self, dialect: FileDialect, target: TextIO) -> None:
        self._dialect = dialect
        self._delimiter = dialect.delimiter
        self._inner = dialect.width - 1
        self._target = target
        self._writer = csv.writer(target, csv.unix_dialect, delimiter=dialect.delimiter)
        self._header = dialect.header is not None
        self._pending: deque[str] = deque()
        self._line = 0
        self.row = 0
        self.written = 0
        self.bad: list[BadRow] = []

    def run(self, stream: Iterator[str], on_bytes: OnBytes) -> None:
        delimiter, inner, blank = self._delimiter, self._inner, self._delimiter + " \r\n"
        seen = 0
        while (line := self._next(stream)) is not None:
            seen += len(line)
            if self._line % REPORT_LINES == 0:
                on_bytes(seen)
                seen = 0
            if self._header or QUOTE in line or line.count(delimiter) != inner or self._unreadable(line):
                self._odd(line, stream)
            elif line.strip(blank):
                self.row += 1
                self.written += 1
                self._target.write(f"{self.row}{delimiter}{self._line}{delimiter}{line.rstrip(NEWLINE)}\n")
        on_bytes(seen)

    def _next(self, stream: Iterator[str]) -> str | None:
        line = self._pending.popleft() if self._pending else next(stream, None)
        self._line += line is not None
        return line

    def _odd(self, line: str, stream: Iterator[str]) -> None:
        """A record with quotes, the header, or one that is not as it should be."""
        begun = self._line
        if not line.strip(self._delimiter + " \r\n"):
            return
        if self._unreadable(line):
            self._aside(begun, "it holds bytes that are no text", line)
            return
        fields, text, fault = self._record(line, stream)
        if fields is not None:
            while len(fields) > self._dialect.width and not fields[-1].strip():
                fields.pop()
            if len(fields) != self._dialect.width:
                count = "1 field" if len(fields) == 1 else f"{len(fields)} fields"
                fault = f"{count} instead of {self._dialect.width}"
        if self._header and not fault:
            self._header = False
        elif self._header:
            self._aside(begun, f"above the header: {fault}", text, counted=False)
        elif fault or fields is None:
            self._aside(begun, fault, text)
        else:
            self.row += 1
            self.written += 1
            self._writer.writerow((self.row, begun, *fields))

    def _record(self, line: str, stream: Iterator[str]) -> tuple[list[str] | None, str, str]:
        """The fields of the record that begins here, its text, and what is wrong with it."""
        lines = [line]
        alike = 0
        while True:
            text = "".join(lines)
            if ESCAPED in text and (fields := self._escaped(text)):
                return fields, text, ""
            try:
                return next(csv.reader([text.rstrip(NEWLINE)], delimiter=self._delimiter, strict=True)), text, ""
            except csv.Error as error:
                if "unexpected end of data" not in str(error):
                    return None, text, "a quoted value is followed by something else than a delimiter"
            more = self._next(stream) if len(lines) < MAX_RECORD_LINES and len(text) < MAX_RECORD_CHARS else None
            if more is not None:
                lines.append(more)
                whole = QUOTE not in more and more.count(self._delimiter) == self._inner
                alike = alike + 1 if whole else 0
            if more is None or alike >= (ALIKE if self._inner > 1 else MAX_RECORD_LINES):
                self._pending.extendleft(reversed(lines[1:]))
                self._line -= len(lines) - 1
                return None, line, "a quote is opened and never closed"

    def _escaped(self, text: str) -> list[str] | None:
        """The fields of a record whose quotes are escaped by a backslash; None where that makes no whole record."""
        try:
            record = next(
                csv.reader(
                    text.rstrip(NEWLINE).splitlines(keepends=True),
                    delimiter=self._delimiter,
                    doublequote=False,
                    escapechar="\\",
                    strict=True,
                )
            )
        except csv.Error:
            return None
        return record if len(record) == self._dialect.width else None

    def _unreadable(self, line: str) -> bool:
        if "\x00" in line:
            return True
        if not self._dialect.broken_bytes or line.isascii():
            return False
        try:
            line.encode()
        except UnicodeEncodeError:
            return True
        return False

    def _aside(self, line: int, reason: str, text: str, *, counted: bool = True) -> None:
        self.row += counted
        shown = text.rstrip(NEWLINE).encode(errors="backslashreplace").decode().replace("\x00", "\\x00")
        self.bad.append(BadRow(line, reason, shown[:KEPT_CHARS]))
