"""JSONL corpora: one document per line, with `_id`, `title`, `text`; all else is metadata."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

from kedge.core.errors import EmptySourceError, EncodingError, SourceFault, UnreadableError
from kedge.core.values import Json, Metadata, SourceError
from kedge.ingest.parse.formats import PLAIN
from kedge.ingest.sources.json_text import numbered_lines, read_json
from kedge.ingest.sources.source import Source, source_error

MAX_REPORTED = 100
"""Faulty lines that are named one by one."""
_OWN_FIELDS = frozenset(("_id", "id", "title", "text"))


def is_corpus(source: Source) -> bool:
    """Whether the first line that is not empty is a document."""
    with source.open() as stream:
        for _, line in numbered_lines(stream):
            if isinstance(line, SourceFault):
                return False
            try:
                _row(source, line, 1)
            except EmptySourceError:
                return True
            except SourceFault:
                return False
            return True
    return False


def corpus_titles(path: Path) -> Iterator[str]:
    """Titles of the rows that have one. Faults are left to `read_corpus`, which names them."""
    with path.open("rb") as lines:
        for _, line in numbered_lines(lines):
            try:
                row = {} if isinstance(line, SourceFault) else read_json(line, path.name)
            except SourceFault:
                continue
            title = row.get("title") if isinstance(row, dict) else None
            if isinstance(title, str) and title.strip():
                yield title


def read_corpus(source: Source) -> Iterator[Source | SourceError]:
    """One source per good line, one error per bad line with its number; never the whole file in memory."""
    seen: set[str] = set()
    faults = 0
    rows = 0
    with source.open() as stream:
        for number, line in numbered_lines(stream):
            try:
                if isinstance(line, SourceFault):
                    raise line
                row = _row(source, line, number)
                if row.external_id in seen:
                    raise UnreadableError(
                        f"Line {number} of {source.name} repeats the _id {row.external_id!r}; the first one counts.",
                        hint="Give every row its own _id.",
                    )
            except SourceFault as fault:
                faults += 1
                if faults <= MAX_REPORTED:
                    yield source_error(f"{source.url}#line-{number}", fault)
                continue
            seen.add(row.external_id)
            rows += 1
            yield row
    if faults > MAX_REPORTED:
        rest = f"{faults - MAX_REPORTED} more lines of {source.name} could not be read."
        yield source_error(f"{source.url}#line-more", UnreadableError(rest, hint="Repair the file and ingest again."))
    if not rows and not faults:
        empty = EmptySourceError(f"{source.name} holds no rows.", hint="Fill it or leave it out.")
        yield source_error(source.url, empty)


def _row(source: Source, line: bytes, number: int) -> Source:
    where = f"Line {number} of {source.name}"
    values = _object(line, where)
    own_id = values.get("_id", values.get("id"))
    if isinstance(own_id, bool) or not isinstance(own_id, str | int) or own_id == "":
        raise UnreadableError(f"{where} has no _id.", hint="Each row needs _id and text.")
    title, text = values.get("title"), values.get("text")
    if not isinstance(text, str) or not (title is None or isinstance(title, str)):
        raise UnreadableError(f"{where} has no text.", hint="Each row needs _id and text, both strings.")
    title = " ".join((title or "").split())
    text = text if text.strip() else title
    if not text:
        raise EmptySourceError(f"{where} holds no text.", hint="Fill it or remove the row.")
    metadata: Metadata = {key: value for key, value in values.items() if key not in _OWN_FIELDS}
    return Source(
        url=f"{source.url}#{own_id}",
        external_id=str(own_id),
        name=str(own_id),
        content=text,
        size=len(text.encode()),
        updated_at=source.updated_at,
        metadata=metadata,
        format=PLAIN,
        title=title or None,
        readers=source.readers,
    )


def _object(line: bytes, where: str) -> dict[str, Json]:
    values = read_json(line, where)
    if b"\\u" in line and _has_broken_characters(values):
        raise EncodingError(f"{where} holds half a character or a NUL.", hint="Write it again as valid UTF-8.")
    if not isinstance(values, dict):
        raise UnreadableError(f"{where} is not a JSON object.", hint="Each row needs _id and text.")
    return values


def _has_broken_characters(values: Json) -> bool:
    """JSON can spell lone surrogates and NUL, which are no text and which stores refuse."""
    spelled = json.dumps(values, ensure_ascii=False)
    try:
        spelled.encode()
    except UnicodeEncodeError:
        return True
    return "\\u0000" in spelled
