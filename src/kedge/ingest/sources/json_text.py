"""JSON from files of strangers: read whole only where what it becomes fits into memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, BinaryIO

from kedge.core.errors import EncodingError, SourceFault, SourceTooLargeError, TooCostlyError, UnreadableError

MAX_LINE = 64 << 20
"""Longest line in bytes."""
MAX_VALUES = 10_000_000
"""Values of one text: about a gigabyte as objects of Python, whatever the size of the text."""


def read_json(data: bytes, where: str, hint: str = "Each line must be one JSON object.") -> Any:
    """The value. SourceFault when it is no JSON, too deep, or too much: `[],[],…` takes 20 times its own size."""
    if data.count(b",") + data.count(b"[") + data.count(b"{") > MAX_VALUES:
        raise TooCostlyError(f"{where} holds more than {MAX_VALUES:,} values.", hint="Split it into several files.")
    try:
        return json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise EncodingError(f"{where} is not UTF-8.", hint="Save the file as UTF-8.") from error
    except RecursionError as error:
        raise UnreadableError(f"{where} is nested too deep.", hint="Flatten it.") from error
    except ValueError as error:
        raise UnreadableError(f"{where} is not JSON: {error}.", hint=hint) from error


def numbered_lines(stream: BinaryIO) -> Iterator[tuple[int, bytes | SourceFault]]:
    """Numbered lines that are not empty; one that is too long is skipped without reading it into memory."""
    number = 0
    while line := stream.readline(MAX_LINE + 1):
        number += 1
        if len(line) > MAX_LINE:
            while line and not line.endswith(b"\n"):
                line = stream.readline(MAX_LINE)
            yield number, SourceTooLargeError(f"Line {number} is over {MAX_LINE:,} bytes.", hint="Split the document.")
        elif line.strip():
            yield number, line
