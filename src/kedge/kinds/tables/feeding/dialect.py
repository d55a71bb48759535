"""How a delimited text file is written: its encoding, delimiter, width and header, told from its beginning."""

from __future__ import annotations

import codecs
import csv
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from kedge.core.errors import BinarySourceError, EmptySourceError, EncodingError, UsageError
from kedge.core.values import Json, Metadata
from kedge.ingest.parse.decode import find_encoding
from kedge.kinds.tables.feeding.formats import looks_like_value

DELIMITERS = (",", ";", "\t", "|")
SAMPLE_LINES = 200
_PIECE = 1 << 20
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_FEW = 0.2
"""Share of lines with broken UTF-8, among those that are not ASCII, up to which the others are believed."""
_LONG_NAME = 80


@dataclass(frozen=True, slots=True)
class FileDialect:
    """How to read one file."""

    encoding: str
    delimiter: str
    width: int
    """Fields of a record."""
    header: tuple[str, ...] | None
    """Names in the first record of full width; None when it is data already."""
    broken_bytes: bool = False
    """Some lines are no valid text in this encoding; they are bad rows."""


def detect(path: Path, name: str, options: Metadata) -> FileDialect:
    """Look at the file. Options `encoding`, `delimiter` and `header` win over what is seen. Raises SourceFault."""
    encoding, broken = _encoding(path, name, options.get("encoding"))
    lines = list(_first_lines(path, encoding))
    if not lines:
        raise EmptySourceError(f"{name} holds no rows.", hint="Feed a file with a header and at least one row.")
    delimiter = _named_delimiter(options.get("delimiter")) or _delimiter(lines)
    records = _records(lines, delimiter)
    width = _width(records)
    full = [record for record in records if len(record) == width]
    wanted = options.get("header")
    headed = _is_header(full[0], full[1:]) if wanted is None else bool(wanted)
    return FileDialect(encoding, delimiter, width, tuple(full[0]) if headed else None, broken)


def column_names(header: Sequence[str] | None, width: int) -> tuple[list[str], list[str]]:
    """A name for every column, none twice, and notes about those that had to be made."""
    names: dict[str, None] = {}
    copies: dict[str, int] = {}
    notes: list[str] = []
    for place in range(width):
        given = " ".join((header[place] if header else "").split())
        name = own = given or f"column {place + 1}"
        copy = copies.get(own, 2)
        while name in names:
            name = f"{own} ({copy})"
            copy += 1
        copies[own] = copy
        if header and name != given:
            reason = "has the name of another column" if given else "has no name"
            notes.append(f"column {place + 1} {reason}: it is called {name!r}")
        names[name] = None
    return list(names), notes


def _encoding(path: Path, name: str, declared: Json) -> tuple[str, bool]:
    with path.open("rb") as stream:
        head = stream.read(1 << 16)
    marked = next((encoding for mark, encoding in _MARKS if head.startswith(mark)), "")
    if isinstance(declared, str) and declared:
        with path.open("rb") as stream:
            found = find_encoding(stream, declared, name)
        # The marked one drops the mark, which is no part of the first name.
        return marked if marked and found.startswith(marked.removesuffix("-sig")) else found, False
    if not head.strip():
        with path.open("rb") as stream:
            if not any(piece.strip() for piece in iter(lambda: stream.read(_PIECE), b"")):
                raise EmptySourceError(f"{name} is empty.", hint="Feed a file with a header and at least one row.")
    if marked:
        return marked, True
    if head.count(0) > len(head) // 20:
        with path.open("rb") as stream:
            found = find_encoding(stream, None, name)  # UTF-16 without a mark, or an error
        return found, False
    return _narrow(path, name)


def _narrow(path: Path, name: str) -> tuple[str, bool]:
    """UTF-8, also when a few lines of it are broken, or a legacy encoding."""
    broken = foreign = 0
    with path.open("rb") as stream:
        for line in stream:
            if not line.isascii():
                foreign += 1
                try:
                    line.decode()
                except UnicodeDecodeError:
                    broken += 1
    if not broken:
        return "utf-8", False
    if broken <= foreign * _FEW:
        return "utf-8", True
    try:
        with path.open("rb") as stream:
            return find_encoding(stream, None, name), False
    except (EncodingError, BinarySourceError):
        return "utf-8", True


def _first_lines(path: Path, encoding: str) -> Iterator[str]:
    with path.open(encoding=encoding, errors="replace", newline="") as stream:
        yield from islice((line for line in stream if line.strip()), SAMPLE_LINES)


def _named_delimiter(named: Json) -> str | None:
    if named is None or named == "":
        return None
    found = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|"}.get(str(named), str(named))
    if len(found) != 1 or found in '"\r\n':
        raise UsageError(f"{named!r} cannot be a delimiter.", hint="Name one character, or `tab`.")
    return found


def _delimiter(lines: Sequence[str]) -> str:
    """The one that cuts most lines into the same number of fields; more fields win between equals."""

    def fitness(delimiter: str) -> tuple[float, int]:
        counts = Counter(len(record) for record in _records(lines, delimiter))
        width, times = max(counts.items(), key=lambda item: (item[1], item[0]))
        return (round(times / sum(counts.values()), 1), width) if width > 1 else (0.0, 0)

    return max(DELIMITERS, key=fitness)


def _records(lines: Sequence[str], delimiter: str) -> list[list[str]]:
    try:
        return [record for record in csv.reader(lines, delimiter=delimiter) if record]
    except csv.Error:
        return [line.rstrip("\r\n").split(delimiter) for line in lines]


def _width(records: Sequence[Sequence[str]]) -> int:
    counts = Counter(len(record) for record in records)
    most = max(counts.values())
    return max(width for width, times in counts.items() if times == most)


def _is_header(first: Sequence[str], below: Sequence[Sequence[str]]) -> bool:
    """Names are no values: not numbers or dates, and not among the values below."""
    cells = [cell.strip() for cell in first]
    if not any(cells) or any(looks_like_value(cell) for cell in cells if cell):
        return False
    if not below:
        return True
    valued = [any(looks_like_value(record[place].strip()) for record in below) for place in range(len(cells))]
    if any(valued):
        return True
    again = sum(cell in {record[place].strip() for record in below} for place, cell in enumerate(cells))
    return again == 0 and all(len(cell) <= _LONG_NAME for cell in cells)
