"""What goes between the two processes: frames of JSON, which cannot carry code, and documents in it."""

from __future__ import annotations

import json
import struct
from typing import IO, Any, cast

from kedge.core.values import Block, BlockKind, Json, Link, ParsedDocument

_LENGTH = struct.Struct(">Q")


class TooMuch(Exception):
    """A frame over the limit."""


def send(stream: IO[bytes], value: Json, limit: int | None = None) -> None:
    """Write one frame. TooMuch, and nothing is written, when it is over the limit."""
    data = json.dumps(value).encode()
    if limit is not None and len(data) > limit:
        raise TooMuch
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def receive(stream: IO[bytes], limit: int | None = None) -> dict[str, Any] | None:
    """Read one frame; None at the end. TooMuch, before anything of it is read, when it is over the limit."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    if limit is not None and length > limit:
        raise TooMuch
    data = stream.read(length)
    if len(data) < length:
        return None
    frame = json.loads(data)
    if not isinstance(frame, dict):
        raise ValueError("no frame")
    return frame


def document_out(document: ParsedDocument) -> dict[str, Json]:
    """A document as JSON."""
    return {
        "text": document.text,
        "blocks": [
            [block.kind.value, block.start, block.end, list(block.section), block.page, block.level]
            for block in document.blocks
        ],
        "title": document.title,
        "author": document.author,
        "links": [[link.text, link.target, link.start] for link in document.links],
        "metadata": dict(document.metadata),
        "warnings": list(document.warnings),
    }


def document_in(said: dict[str, Any]) -> ParsedDocument:
    """The document again. ValueError, KeyError or TypeError when the other side did not say one."""
    text = _text(said["text"])
    return ParsedDocument(
        text=text,
        blocks=tuple(_block(item, len(text)) for item in said["blocks"]),
        title=None if said["title"] is None else _text(said["title"]),
        author=None if said["author"] is None else _text(said["author"]),
        links=tuple(Link(_text(name), _text(target), int(start)) for name, target, start in said["links"]),
        metadata=cast("dict[str, Json]", dict(said["metadata"])),
        warnings=tuple(map(_text, said["warnings"])),
    )


def _block(item: list[Any], length: int) -> Block:
    kind, start, end, section, page, level = item
    if not 0 <= int(start) <= int(end) <= length:
        raise ValueError("a block outside of its text")
    path = tuple(map(_text, section))
    return Block(BlockKind(kind), int(start), int(end), path, None if page is None else int(page), int(level))


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("no text")
    return value
