"""The process that parses: `python -m kedge.ingest.apart.child MEMORY OUTPUT`, frames on stdin and stdout.

It puts its own caps on before it reads anything, has no settings, no keys and no network of its own to use, writes no
file but the one it is told to, and ends with its parent: at the end of its input, or by a timer while it computes.
"""

from __future__ import annotations

import os
import signal
import sys
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from kedge.core.errors import SourceFault
from kedge.core.values import Json
from kedge.ingest.apart.wire import TooMuch, document_out, receive, send
from kedge.ingest.parse.formats import format_named
from kedge.ingest.sources.source import Source
from kedge.ingest.telling import listening

Task = Callable[[dict[str, Any], "Caps"], Iterator[dict[str, Json]]]
GRACE = 5.0
"""Seconds after which it ends by itself when its parent did not end it."""


class Caps:
    """The limits of this process."""

    def __init__(self, memory: int, output: int) -> None:
        self.memory = memory
        self.output = output

    def apply(self) -> None:
        """As far as the platform knows them."""
        try:
            import resource
        except ImportError:  # not a POSIX system: time and output are capped by the parent alone
            return
        for what, value in (
            (resource.RLIMIT_AS, self.memory),
            (resource.RLIMIT_FSIZE, self.output),
            (resource.RLIMIT_CORE, 0),
        ):
            _, hard = resource.getrlimit(what)
            cap = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(what, (cap, cap))

    @contextmanager
    def timed(self, seconds: float) -> Iterator[None]:
        """The process ends when this takes longer: its parent may be gone."""
        if not hasattr(signal, "setitimer"):
            yield
            return
        signal.setitimer(signal.ITIMER_REAL, seconds + GRACE)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def again(self, seconds: float) -> None:
        """The time begins anew: a picture was read, and the next one has as long."""
        if hasattr(signal, "setitimer"):
            signal.setitimer(signal.ITIMER_REAL, seconds + GRACE)


def read_document(asked: dict[str, Any], _caps: Caps) -> Iterator[dict[str, Json]]:
    """The segments of one document."""
    content: Path | str = asked["text"] if asked["text"] is not None else Path(asked["path"])
    source = Source(
        asked["url"], asked["url"], asked["name"], content, asked["size"],
        format=asked["format"], encoding=asked["encoding"],
    )  # fmt: skip
    for segment in format_named(asked["format"]).segments(source):
        yield {"base": segment.base, "document": document_out(segment.document)}


def read_parquet(asked: dict[str, Any], caps: Caps) -> Iterator[dict[str, Json]]:
    """Every value as text, written as CSV to the file that was named."""
    from kedge.ingest.apart.parquet import parquet_to_csv

    written = parquet_to_csv(asked["path"], asked["target"], asked["name"], caps.memory // 2)
    yield {"names": list(written.names), "rows": written.rows}


def read_workbook(asked: dict[str, Any], _caps: Caps) -> Iterator[dict[str, Json]]:
    """Every sheet, written as CSV into the folder that was named."""
    from kedge.ingest.apart.workbook import workbook_to_csv

    yield {"sheets": [list(sheet) for sheet in workbook_to_csv(asked["path"], asked["target"], asked["name"])]}


def show_picture(asked: dict[str, Any], _caps: Caps) -> Iterator[dict[str, Json]]:
    """The picture of a page of a PDF."""
    from kedge.ingest.parse.pdf.view import page_picture

    shown = page_picture(Path(asked["path"]), asked["page"], asked["width"])
    yield {"png": b64encode(shown.png).decode(), "width": shown.width, "height": shown.height}


def show_characters(asked: dict[str, Any], _caps: Caps) -> Iterator[dict[str, Json]]:
    """What stands where on a page of a PDF."""
    from kedge.ingest.parse.pdf.view import page_characters

    found = page_characters(Path(asked["path"]), asked["page"])
    boxes: list[Json] = [None if box is None else list(box) for box in found.boxes]
    yield {"pages": found.pages, "size": [found.width, found.height], "text": found.text, "boxes": boxes}


TASKS: dict[str, Task] = {
    "document": read_document,
    "parquet": read_parquet,
    "workbook": read_workbook,
    "picture": show_picture,
    "characters": show_characters,
}


def answer(asked: dict[str, Any], caps: Caps, out: BinaryIO) -> bool:
    """Do one task; whether the process is fit for another."""

    def on_part(done: int, parts: int, picture: bool) -> None:
        if picture:
            caps.again(asked["seconds"])
        send(out, {"done": done, "parts": parts, "picture": picture})

    try:
        with listening(on_part):
            return _answer(asked, caps, out)
    except BrokenPipeError:  # the parent is gone
        return False


def _answer(asked: dict[str, Any], caps: Caps, out: BinaryIO) -> bool:
    try:
        found = TASKS[asked["task"]](asked, caps)
        while True:
            with caps.timed(asked["seconds"]):
                frame = next(found, None)
            if frame is None:
                break
            send(out, frame, caps.output)
        send(out, {"end": True})
    except SourceFault as fault:
        send(out, {"fault": fault.code, "message": fault.message, "hint": fault.hint, "details": fault.details})
    except TooMuch:
        send(out, {"exceeded": "output"})
    except MemoryError:
        send(out, {"exceeded": "memory"})
        return False
    except Exception as error:  # noqa: BLE001 (whatever a parser meets is said to the parent, which reports it)
        send(out, {"failed": type(error).__name__})
    return True


def main() -> None:
    """Serve until the input ends."""
    caps = Caps(int(sys.argv[1]), int(sys.argv[2]))
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what libraries print must not get among the frames
    caps.apply()
    while (asked := receive(sys.stdin.buffer)) is not None:
        if not answer(asked, caps, out):
            return


if __name__ == "__main__":
    main()
