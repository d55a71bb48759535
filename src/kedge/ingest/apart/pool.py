"""The parent's side: keeps a few parsing processes ready, asks them, and ends the one that takes too much.

The processes belong to this process, not to an engine: they hold nothing of any engine, and one that is warm serves
whoever comes next. They end when idle, with `close_idle`, or with this process.
"""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from base64 import b64decode
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kedge.core.errors import KedgeError, SourceFault, TooCostlyError, UnreadableError
from kedge.core.values import Json, ParsedDocument
from kedge.ingest.apart.limits import ParseLimits
from kedge.ingest.apart.wire import TooMuch, document_in, receive, send
from kedge.ingest.telling import tell

if TYPE_CHECKING:
    from kedge.ingest.parse.pdf.view import PageCharacters, PagePicture
    from kedge.ingest.sources.source import Source

MOST_IDLE = 2
IDLE_SECONDS = 60.0
MOST_TASKS = 500
"""Files that one process reads before a fresh one takes its place."""
MOST_PICTURES = 500
"""Pictures of text in one file that get their time each."""
_OVERHEAD = 1 << 16


class Child:
    """One parsing process. Used by one thread at a time."""

    def __init__(self, limits: ParseLimits) -> None:
        self.limits = limits
        self.tasks = 0
        self.fit = True
        """Whether it ended its last task and waits for another."""
        self.since = time.monotonic()
        command = [sys.executable, "-m", "kedge.ingest.apart.child", str(limits.memory), str(limits.output)]
        try:
            self._process = subprocess.Popen(  # noqa: S603 (our own module, no shell)
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=_environment(),
                start_new_session=True,
            )
        except OSError as error:
            raise KedgeError(
                f"No process for parsing can be started: {error.strerror}.",
                hint="Set parse_apart to false to read files in the server itself.",
            ) from error

    def ask(self, asked: dict[str, Json], name: str, seconds: float) -> Iterator[dict[str, Any]]:
        """The frames of the answer. SourceFault for what is wrong with the file or with its cost."""
        self.tasks += 1
        self.fit = False
        self._send(asked, name)
        left = seconds
        pictures = 0
        while True:
            started = time.monotonic()
            frame = self._receive(name, left, seconds)
            left -= time.monotonic() - started
            if "exceeded" in frame:
                raise _costly(name, str(frame["exceeded"]), self.limits, seconds)
            if "done" in frame:
                pictures += bool(frame.get("picture"))
                if frame.get("picture") and pictures <= MOST_PICTURES:
                    left = seconds  # reading a picture takes seconds; the next one has as long
                tell(int(frame["done"]), int(frame["parts"]))
                continue
            self.fit = not frame.keys().isdisjoint(("end", "fault", "failed"))
            if "end" in frame:
                return
            if "fault" in frame:
                raise _fault(frame)
            if "failed" in frame:
                from kedge.ingest.sources.source import damaged

                raise damaged(name, str(frame["failed"]))
            yield frame

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    def kill(self) -> None:
        """End it, whatever it does."""
        with suppress(OSError):
            self._process.kill()

    def end(self) -> None:
        """Kill it and forget it."""
        self.kill()
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            with suppress(OSError):  # what was not written any more
                if stream is not None:
                    stream.close()

    def _send(self, asked: dict[str, Json], name: str) -> None:
        assert self._process.stdin
        try:
            send(self._process.stdin, asked)
        except OSError as error:
            raise self._died(name) from error

    def _receive(self, name: str, left: float, seconds: float) -> dict[str, Any]:
        late = threading.Event()

        def stop() -> None:
            late.set()
            self._process.kill()

        watch = threading.Timer(max(left, 0.0), stop)
        watch.daemon = True
        watch.start()
        assert self._process.stdout
        try:
            frame = receive(self._process.stdout, self.limits.output + _OVERHEAD)
        except TooMuch as error:
            raise _costly(name, "output", self.limits, seconds) from error
        except ValueError as error:
            raise UnreadableError(f"{name} made the parser talk nonsense.", hint="Leave it out.") from error
        finally:
            watch.cancel()
        if late.is_set():
            raise _costly(name, "time", self.limits, seconds)
        if frame is None:
            raise self._died(name)
        return frame

    def _died(self, name: str) -> SourceFault:
        code = self._process.wait()
        try:
            why = signal.Signals(-code).name
        except ValueError:
            why = f"exit {code}"
        return UnreadableError(
            f"{name} made the parser crash ({why}).",
            hint=f"It is damaged, or wants more than {self.limits.memory >> 20} MiB (parse_memory_bytes).",
        )


class Pool:
    """Idle processes."""

    def __init__(self) -> None:
        self._idle: list[Child] = []
        self._busy: set[Child] = set()
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    def ask(self, asked: dict[str, Json], name: str, size: int, limits: ParseLimits) -> Iterator[dict[str, Any]]:
        """Have a task done by a process that is ready, or by a new one; it is given back after a clean end only."""
        seconds = limits.seconds_for(size)
        child = self._take(limits)
        self._busy.add(child)
        try:
            yield from child.ask({**asked, "name": name, "size": size, "seconds": seconds}, name, seconds)
        finally:
            self._busy.discard(child)
            self._give(child)

    def end_all(self) -> None:
        """Kill every process, those that are at work too: this process ends at once."""
        for child in (*self._busy, *self._idle):
            child.kill()

    def close(self, older: float = 0.0) -> None:
        """End the processes that have been idle for so long."""
        with self._lock:
            now = time.monotonic()
            old = [child for child in self._idle if now - child.since >= older]
            self._idle = [child for child in self._idle if child not in old]
        for child in old:
            child.end()

    def _take(self, limits: ParseLimits) -> Child:
        with self._lock:
            for child in self._idle:
                if child.limits == limits and child.alive:
                    self._idle.remove(child)
                    return child
        return Child(limits)

    def _give(self, child: Child) -> None:
        if not child.fit or not child.alive or child.tasks >= MOST_TASKS:
            child.end()
            return
        with self._lock:
            child.since = time.monotonic()
            self._idle.append(child)
            surplus = self._idle[:-MOST_IDLE]
            self._idle = self._idle[-MOST_IDLE:]
        for one in surplus:
            one.end()
        self._end_later()

    def _end_later(self) -> None:
        """One timer for all; it goes on as long as there is somebody to end."""
        with self._lock:
            if self._timer is None and self._idle:
                self._timer = threading.Timer(IDLE_SECONDS, self._end_old)
                self._timer.daemon = True
                self._timer.start()

    def _end_old(self) -> None:
        with self._lock:
            self._timer = None
        self.close(IDLE_SECONDS)
        self._end_later()


_POOL = Pool()
atexit.register(_POOL.close)


def close_idle() -> None:
    """End the processes that wait for work."""
    _POOL.close()


def end_all() -> None:
    """Kill every process that parses: this one ends at once."""
    _POOL.end_all()


def document_apart(source: Source, limits: ParseLimits) -> Iterator[tuple[int, ParsedDocument]]:
    """The segments of a document, whose format is known, with their offsets. Raises SourceFault."""
    with ExitStack() as stack:
        asked: dict[str, Json] = {
            "task": "document",
            "url": source.url,
            "format": source.format,
            "encoding": source.encoding,
            "text": source.text,
            "path": None if source.text is not None else _path(source, stack),
        }
        for frame in _POOL.ask(asked, source.name, source.size, limits):
            try:
                yield int(frame["base"]), document_in(frame["document"])
            except (KeyError, TypeError, ValueError) as error:
                raise UnreadableError(f"{source.name} made the parser talk nonsense.", hint="Leave it out.") from error


def parquet_apart(path: Path, target: Path, name: str, size: int, limits: ParseLimits) -> tuple[list[str], int]:
    """Have a Parquet file written as CSV; the names of its columns and how many rows. Raises SourceFault."""
    asked: dict[str, Json] = {"task": "parquet", "path": str(path), "target": str(target)}
    names: list[str] = []
    rows = 0
    for frame in _POOL.ask(asked, name, size, limits):
        names, rows = [str(column) for column in frame["names"]], int(frame["rows"])
    return names, rows


def workbook_apart(path: Path, folder: Path, name: str, size: int, limits: ParseLimits) -> list[tuple[str, str, int]]:
    """Have the sheets of a workbook written as CSV into a folder: name, file and rows of each. Raises SourceFault."""
    asked: dict[str, Json] = {"task": "workbook", "path": str(path), "target": str(folder)}
    sheets: list[tuple[str, str, int]] = []
    for frame in _POOL.ask(asked, name, size, limits):
        sheets = [(str(sheet), str(file), int(rows)) for sheet, file, rows in frame["sheets"]]
    return sheets


def picture_apart(path: Path, page: int, width: int, name: str, limits: ParseLimits) -> PagePicture:
    """The picture of a page of a PDF. Raises SourceFault."""
    from kedge.ingest.parse.pdf.view import PagePicture

    asked: dict[str, Json] = {"task": "picture", "path": str(path), "page": page, "width": width}
    frames = list(_POOL.ask(asked, name, path.stat().st_size, limits))
    try:
        return PagePicture(b64decode(frames[0]["png"]), int(frames[0]["width"]), int(frames[0]["height"]))
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise UnreadableError(f"{name} made the parser talk nonsense.", hint="Leave it out.") from error


def characters_apart(path: Path, page: int, name: str, limits: ParseLimits) -> PageCharacters:
    """What stands where on a page of a PDF. Raises SourceFault."""
    from kedge.ingest.parse.pdf.view import PageCharacters

    asked: dict[str, Json] = {"task": "characters", "path": str(path), "page": page}
    frames = list(_POOL.ask(asked, name, path.stat().st_size, limits))
    try:
        said = frames[0]
        width, height = map(float, said["size"])
        boxes = tuple(None if box is None else (box[0], box[1], box[2], box[3]) for box in said["boxes"])
        return PageCharacters(int(said["pages"]), width, height, str(said["text"]), boxes)
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise UnreadableError(f"{name} made the parser talk nonsense.", hint="Leave it out.") from error


def _path(source: Source, stack: ExitStack) -> str:
    if isinstance(source.content, Path):
        return str(source.content)
    if isinstance(source.content, bytes):
        path = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="kedge-parse-"))) / "source"
        path.write_bytes(source.content)
        return str(path)
    assert not isinstance(source.content, str)
    return str(source.content.path)


def _environment() -> dict[str, str] | None:
    """Nothing of ours: settings and keys are in the environment. Elsewhere than on POSIX a process needs its own."""
    if os.name != "posix":
        return None
    return {"PYTHONPATH": os.pathsep.join(path for path in sys.path if path), "PYTHONDONTWRITEBYTECODE": "1"}


def _costly(name: str, what: str, limits: ParseLimits, seconds: float) -> TooCostlyError:
    said = {
        "time": (f"took longer than {seconds:g} s", "parse_timeout"),
        "memory": (f"wanted more than {limits.memory >> 20} MiB of memory", "parse_memory_bytes"),
        "output": (f"unpacks to more than {limits.output >> 20} MiB", "parse_output_bytes"),
    }
    happened, setting = said.get(what, said["output"])
    return TooCostlyError(
        f"Reading {name} was stopped: it {happened}.",
        hint=f"Split the file, or raise {setting} if you trust it.",
        details={"exceeded": what},
    )


def _fault(frame: dict[str, Any]) -> SourceFault:
    """The fault that the parser found, by its code."""
    known: list[type[SourceFault]] = SourceFault.__subclasses__()
    kind = next((one for one in known if one.code == frame["fault"]), UnreadableError)
    details = frame.get("details")
    return kind(str(frame["message"]), hint=str(frame["hint"]), details=details if isinstance(details, dict) else None)
