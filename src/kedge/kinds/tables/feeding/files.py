"""The files of a feed: which there are, and how each becomes the staged relation `raw`."""

from __future__ import annotations

import csv
import json
import logging
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, TextIO

import duckdb

from kedge.core.errors import (
    EmptySourceError,
    KedgeError,
    SourceFault,
    TooCostlyError,
    UnreadableError,
    UnsupportedFormatError,
)
from kedge.core.settings import Settings
from kedge.core.untrusted import file_name
from kedge.core.values import IngestRequest, Metadata, Readers, SourceError
from kedge.ingest.apart.limits import ParseLimits
from kedge.ingest.apart.parquet import parquet_to_csv
from kedge.ingest.apart.pool import parquet_apart
from kedge.ingest.parse.decode import wrong_encoding
from kedge.ingest.sources.discovery import upload_url
from kedge.ingest.sources.fetch import fetch
from kedge.ingest.sources.json_text import numbered_lines, read_json
from kedge.ingest.sources.sidecar import refuse_readers_beside
from kedge.ingest.sources.source import check_path, is_file_within, source_error, too_large, unreadable
from kedge.kinds.tables.feeding.clean import KEPT_CHARS, BadRow, OnBytes, clean
from kedge.kinds.tables.feeding.dialect import column_names, detect
from kedge.kinds.tables.feeding.telling import one
from kedge.kinds.tables.feeding.workbook import WORKBOOKS, sheets_of
from kedge.stores.queries import load_queries

QUERIES = load_queries(__package__, "queries.sql")
DELIMITED = (".csv", ".tsv", ".tab", ".psv", ".txt")
LINES = (".jsonl", ".ndjson", ".json")
PARQUET = (".parquet", ".pq")
MAX_RECORD = 8 << 20
MAX_COLUMNS = 2000
UNLIMITED = 8 << 30
"""Memory for reading Parquet in this process, where the settings want that."""
log = logging.getLogger(__name__)
_MAGIC = "*?["


@dataclass(frozen=True, slots=True)
class TableFile:
    """One file to be fed."""

    url: str
    """Its identity: feeding the same again replaces its rows."""
    name: str
    path: Path
    size: int
    keep: object = None
    """Holds a download until it has been read."""

    @property
    def title(self) -> str:
        return PurePath(self.name).stem or self.name


@dataclass(frozen=True, slots=True)
class Staging:
    """A file that lies in `raw`."""

    names: list[str]
    rows: int
    bad: list[BadRow]
    notes: list[str]
    format: str


def find(request: IngestRequest, settings: Settings) -> Iterator[TableFile | SourceError]:
    """The files behind paths, folders, patterns, addresses and uploads; what is wrong with those that cannot be had."""
    for source in request.sources:
        yield from _named(source, settings, request.readers)
    for name, place in request.uploads:
        path = Path(place)
        yield from _sized(TableFile(upload_url(name), file_name(name), path, path.stat().st_size), settings)


def _named(source: str, settings: Settings, readers: Readers | None) -> Iterator[TableFile | SourceError]:
    if "://" in source:
        try:
            fetched = fetch(source, settings)
        except SourceFault as fault:
            yield source_error(source, fault)
            return
        size = fetched.download.size
        yield from _sized(TableFile(source, fetched.name, fetched.download.path, size, fetched.download), settings)
        return
    path = Path(source).expanduser()
    try:
        if path.is_dir():
            found = sorted(
                item
                for item in path.rglob("*")
                if item.suffix.lower() in (*DELIMITED, *LINES, *PARQUET, *WORKBOOKS) and is_file_within(item, path)
            )
        elif any(sign in source for sign in _MAGIC) and not path.exists():
            found = sorted(
                item for item in Path(path.anchor).glob(str(path.relative_to(path.anchor))) if item.is_file()
            )
        else:
            found = [path]
        if not found:
            raise UnreadableError(
                f"There is no table in {source!r}.", hint="Name a CSV, JSONL, Parquet, XLSX or ODS file."
            )
        for item in found:
            place = item.resolve()
            check_path(place)
            if not place.is_file():
                raise UnreadableError(f"{source} is not a file.", hint="Name a CSV, JSONL, Parquet, XLSX or ODS file.")
            refuse_readers_beside(place, readers)
            yield from _sized(TableFile(place.as_posix(), item.name, place, place.stat().st_size), settings)
    except OSError as error:
        yield source_error(source, unreadable(source, error))
    except SourceFault as fault:
        yield source_error(source, fault)


def _sized(file: TableFile, settings: Settings) -> Iterator[TableFile | SourceError]:
    if file.size > settings.max_source_bytes:
        yield source_error(file.url, too_large(file.name, settings.max_source_bytes))
    elif PurePath(file.name).suffix.lower() in WORKBOOKS:
        yield from _sheets(file, settings)
    else:
        yield file


def _sheets(file: TableFile, settings: Settings) -> Iterator[TableFile | SourceError]:
    """Every sheet of a workbook as a file of its own; the only one of a book keeps the book's name."""
    try:
        found = list(sheets_of(file.path, file.name, file.size, ParseLimits.of(settings)))
    except SourceFault as fault:
        yield source_error(file.url, fault)
        return
    stem = PurePath(file.name).stem
    for sheet, path, keep in found:
        name = f"{stem}.csv" if len(found) == 1 else f"{stem} {file_name(sheet)}.csv"
        yield TableFile(f"{file.url}#{sheet}", name, path, path.stat().st_size, (file.keep, keep))


def stage(
    connection: duckdb.DuckDBPyConnection,
    file: TableFile,
    options: Metadata,
    on_bytes: OnBytes,
    limits: ParseLimits | None = None,
) -> Staging:
    """Read the file into the temporary relation `raw`; Parquet in another process, if there are limits.

    Raises SourceFault.
    """
    suffix = PurePath(file.name).suffix.lower()
    try:
        with file.path.open("rb") as stream:
            head = stream.read(4)
        if head == b"PAR1" or suffix in PARQUET:
            found = _parquet(connection, file, limits)
            on_bytes(file.size)
        elif suffix in LINES:
            found = _staged(connection, file, lambda target: _json_lines(file, target, on_bytes), ",")
        elif suffix in DELIMITED or not suffix:
            dialect = detect(file.path, file.name, options)
            _check_width(file, dialect.width)
            names, notes = column_names(dialect.header, dialect.width)

            def write(target: TextIO) -> _Written:
                try:
                    cleaned = clean(file.path, target, dialect, on_bytes)
                except UnicodeDecodeError as error:
                    raise wrong_encoding(file.name, dialect.encoding) from error
                return _Written(Staging(names, cleaned.rows, cleaned.bad, notes, "csv"), cleaned.written)

            found = _staged(connection, file, write, dialect.delimiter)
        else:
            raise UnsupportedFormatError(
                f"{file.name} is no table that kedge reads.", hint="Save it as CSV, JSONL, Parquet, XLSX or ODS."
            )
    except OSError as error:
        raise unreadable(file.name, error) from error
    if found.rows <= len(found.bad):
        first = found.bad[0] if found.bad else None
        reason = f" All {len(found.bad):,} rows are faulty; line {first.line}: {first.reason}." if first else ""
        raise EmptySourceError(
            f"{file.name} has no usable rows below its header.{reason}",
            hint="Feed a file with at least one full row; name the delimiter if it was not recognised.",
        )
    return found


@dataclass(frozen=True, slots=True)
class _Written:
    staging: Staging
    records: int
    """Clean records in the temporary file."""


def _staged(
    connection: duckdb.DuckDBPyConnection, file: TableFile, write: Callable[[TextIO], _Written], delimiter: str
) -> Staging:
    """Have clean records written to a temporary file and let DuckDB read it."""
    with tempfile.TemporaryDirectory(prefix="kedge-table-") as folder:
        path = Path(folder) / "clean.csv"
        with path.open("w", encoding="utf-8", newline="", buffering=1 << 20) as target:
            written = write(target)
        if not (
            _load(connection, path, written, delimiter, parallel=True)
            or _load(connection, path, written, delimiter, parallel=False)
        ):
            raise UnreadableError(f"{file.name} cannot be read as a table.", hint="Save it as Parquet or JSONL.")
    return written.staging


def _load(
    connection: duckdb.DuckDBPyConnection, path: Path, written: _Written, delimiter: str, *, parallel: bool
) -> bool:
    """Have DuckDB read the clean records; whether it saw every one of them."""
    cells = {f"c{place}": "VARCHAR" for place in range(len(written.staging.names))}
    columns = {"row_number": "BIGINT", "line": "BIGINT", **cells}
    try:
        connection.execute(QUERIES["stage_csv"], [str(path), delimiter, columns, MAX_RECORD, parallel])
    except duckdb.InvalidInputException as error:
        log.warning("%s: %s", path, error)
        return False
    return bool(one(connection, QUERIES["count_staged"])[0] == written.records)


def _parquet(connection: duckdb.DuckDBPyConnection, file: TableFile, limits: ParseLimits | None) -> Staging:
    """Every value as text: what it is, is told as for the other formats."""

    def write(target: TextIO) -> _Written:
        if limits is None:
            said = parquet_to_csv(str(file.path), target.name, file.name, UNLIMITED)
            names, rows = said.names, said.rows
        else:
            names, rows = parquet_apart(file.path, Path(target.name), file.name, file.size, limits)
        _check_width(file, len(names))
        clear, notes = column_names(names, len(names))
        return _Written(Staging(clear, rows, [], notes, "parquet"), rows)

    return _staged(connection, file, write, ",")


def _json_lines(file: TableFile, target: TextIO, on_bytes: OnBytes) -> _Written:
    """Objects to records: the columns are all keys there are, in the order in which they appear first."""
    keys: dict[str, int] = {}
    for _, item, _ in _objects(file):
        for key in item if isinstance(item, dict) else ():
            keys.setdefault(_written(str(key)), len(keys))
        _check_width(file, len(keys))
    if not keys:
        raise EmptySourceError(f"{file.name} holds no JSON objects.", hint="Write one object per line.")
    writer = csv.writer(target, csv.unix_dialect)
    bad: list[BadRow] = []
    row = 0
    for row, (line, item, text) in enumerate(_objects(file), start=1):
        if isinstance(item, dict):
            cells = {_written(str(key)): _cell(value) for key, value in item.items()}
            writer.writerow((row, line, *(cells.get(key, "") for key in keys)))
        else:
            bad.append(BadRow(line, "it is no JSON object", _written(text[:KEPT_CHARS])))
        if row % 5000 == 0:
            on_bytes(0)
    on_bytes(file.size)
    names, notes = column_names(list(keys), len(keys))
    return _Written(Staging(names, row, bad, notes, "json"), row - len(bad))


def _check_width(file: TableFile, columns: int) -> None:
    if columns > MAX_COLUMNS:
        raise TooCostlyError(
            f"{file.name} has {columns:,} columns or more; {MAX_COLUMNS:,} are possible.", hint="Turn it, or split it."
        )


def _objects(file: TableFile) -> Iterator[tuple[int, Any, str]]:
    """(line, object or None, text) for each line, or each element of one JSON array."""
    with file.path.open("rb") as stream:
        start = stream.read(256).lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start == b"[":
        held = read_json(file.path.read_bytes(), file.name, "Write one object per line.")
        for place, item in enumerate(held, start=1):
            yield place, item, json.dumps(item, ensure_ascii=False)
        return
    with file.path.open("rb") as lines:
        for number, line in numbered_lines(lines):
            text = "" if isinstance(line, SourceFault) else line.decode("utf-8-sig", "replace").rstrip("\r\n")
            try:
                yield number, None if isinstance(line, SourceFault) else read_json(text.encode(), file.name), text
            except SourceFault:
                yield number, None, text


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return _written(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _written(text: str) -> str:
    """Without what JSON can spell and files cannot hold: NUL and half characters."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode()


def refused(file: TableFile, error: KedgeError) -> SourceError:
    """A file that cannot be fed, as the job reports it."""
    return source_error(file.url, error)
