"""Git repositories as sources, by commit: `git+https://host/team/docs.git#main`, `git+ssh://`, `git+file:///`.

Read with the `git` command, one commit deep, into a folder that goes away with the run. While the branch stands at the
commit of the last run nothing is fetched at all.
"""

from __future__ import annotations

import base64
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from threading import Event, Timer
from typing import IO
from urllib.parse import urlsplit

from kedge.core.errors import SourceFault, SourceTooLargeError, UnreadableError, UsageError
from kedge.core.settings import Settings
from kedge.core.urls import mask_url
from kedge.core.values import Metadata, SourceError
from kedge.ingest.connectors.hosts import check_host, host_of
from kedge.ingest.connectors.ports import Content, Entry, LastListing, SourceAddress
from kedge.ingest.sources.download import Download
from kedge.ingest.sources.sidecar import MAX_BYTES as MOST_OF_READERS
from kedge.ingest.sources.sidecar import NAME as READERS_FILE
from kedge.ingest.sources.sidecar import FolderRules
from kedge.ingest.sources.source import source_error, too_large

PORTS = {"https": 443, "http": 80, "ssh": 22, "file": 0}
SECONDS = 600
"""For one command of git."""
LONGEST_LISTING = 256 << 20
LONGEST_MESSAGE = 64 << 10
BYTES = 4 << 30
"""Of all that is fetched, packed, unless the source's option says otherwise."""
_REF = re.compile(r"[\w][\w./-]{0,199}+")
_COMMIT = re.compile(r"[0-9a-f]{40,64}")
_FILES = ("100644", "100755")


def open_git(place: SourceAddress, settings: Settings) -> GitRepository:
    """Options `folder`, `user`, `host_key`, `link` (what stands before a path in links), `seconds`, `bytes`; secrets
    `token` or `password` for https, `private_key` for ssh. The branch, tag or commit stands behind a `#`."""
    options = ("folder", "user", "host_key", "link", "seconds", "bytes")
    place.allow(options=options, secrets=("token", "password", "private_key"))
    return GitRepository(place, settings)


class GitRepository:
    """The `Connector` over a repository: the files of one commit."""

    complete = True

    def __init__(self, place: SourceAddress, settings: Settings) -> None:
        address, _, ref = place.url.removeprefix("git+").partition("#")
        parts = urlsplit(address)
        if parts.scheme not in PORTS:
            raise UsageError(
                f"{place.url} is no Git address.", hint="Write git+https://host/team/repository.git#branch."
            )
        if ref and not _REF.fullmatch(ref):
            raise UsageError(f"{ref!r} is no branch, tag or commit.", hint="Write it behind a #, as git knows it.")
        self._place = place
        self._settings = settings
        self._scheme, self._address, self._ref = parts.scheme, address, ref or "HEAD"
        self._target = parts.path if parts.scheme == "file" else address
        self._folder = place.text("folder").strip("/")
        self._seconds = place.number("seconds", SECONDS)
        self._most = int(place.number("bytes", BYTES))
        self._work: tempfile.TemporaryDirectory[str] | None = None
        self._fetched = False
        self.cursor = ""

    def entries(self, past: LastListing) -> Iterator[Entry | SourceError]:
        commit = self._commit()
        self.cursor = f"{commit} {self._folder}"
        if past.cursor == self.cursor:
            for key, item in past.items.items():
                entry = Entry(key, self._url(key), PurePosixPath(key).name, item.fingerprint, item.size)
                yield replace(entry, note=item.note, readers=_noted(item.note))
            return
        self._fetch()
        changed = _time(self._git("log", "-1", "--format=%ct", "FETCH_HEAD"))
        listed = self._git("ls-tree", "-r", "-z", "-l", "--full-tree", "FETCH_HEAD", "--", *self._within())
        files = [found for line in listed.split(b"\0") if (found := _told(line)) is not None]
        rules = FolderRules()
        shut: list[PurePosixPath] = []
        for blob, size, key in files:
            if PurePosixPath(key).name == READERS_FILE:
                try:
                    rules.learn(PurePosixPath(key).parent.as_posix(), self._text(blob, size, key), self._url(key))
                except SourceFault as fault:  # who may read what is there is not known: none of it is taken in
                    shut.append(PurePosixPath(key).parent)
                    yield source_error(self._url(shut[-1].as_posix()), fault)
        for blob, size, key in files:
            path = PurePosixPath(key)
            if any(part.startswith(".") for part in path.parts):
                continue
            if any(path.is_relative_to(folder) for folder in shut):
                yield source_error(
                    self._url(key), UnreadableError(f"Who may read {key} cannot be told.", hint=f"Mend {READERS_FILE}.")
                )
                continue
            readers = rules.readers(key)
            note: Metadata = {} if readers is None else {"readers": list(readers)}
            yield Entry(key, self._url(key), path.name, blob, size, changed, readers=readers, note=note)

    def open(self, entry: Entry) -> Content:
        if entry.size > self._settings.max_source_bytes:
            raise too_large(entry.name, self._settings.max_source_bytes)
        self._fetch()
        download = Download()
        with tempfile.TemporaryFile() as held:
            self._git("cat-file", "blob", str(entry.fingerprint), into=held)
            held.seek(0)
            while piece := held.read(1 << 20):
                download.write(piece)
        download.finish()
        return download

    def close(self) -> None:
        if self._work is not None:
            self._work.cleanup()
        self._work, self._fetched = None, False

    # ------------------------------------------------------------ git

    def _commit(self) -> str:
        if _COMMIT.fullmatch(self._ref):
            return self._ref
        listed = self._git("ls-remote", "--", self._target, self._ref, f"{self._ref}^{{}}").decode().split()
        if not listed:
            raise UnreadableError(
                f"{self._place.url} has no branch or tag {self._ref!r}.", hint="Check the name behind the #."
            )
        return listed[0]

    def _fetch(self) -> None:
        if not self._fetched:
            self._git("init", "--quiet", "--bare", ".")
            self._git("fetch", "--quiet", "--depth=1", "--no-tags", "--", self._target, self._ref)
            self._fetched = True

    def _text(self, blob: str, size: int, key: str) -> bytes:
        """A file that says who may read others. UnreadableError."""
        if size > MOST_OF_READERS:
            raise UnreadableError(
                f"{self._url(key)} is too long.", hint="Mend it: it says who may read the files beside it."
            )
        return self._git("cat-file", "blob", blob)

    def _within(self) -> list[str]:
        """What is listed: the folder, and what folders above it say of their readers."""
        if not self._folder:
            return []
        above = [(folder / READERS_FILE).as_posix() for folder in PurePosixPath(self._folder).parents]
        return [f":(top,literal){path}" for path in (self._folder, *above)]

    def _url(self, key: str) -> str:
        link = self._place.text("link")
        return f"{link.rstrip('/')}/{key}" if link else f"{self._address}#{key}"

    def _git(self, *words: str, into: IO[bytes] | None = None) -> bytes:
        """What the command writes, or nothing where it writes `into` a file. UnreadableError without secrets."""
        program = shutil.which("git")
        if program is None:
            raise UnreadableError("Git repositories are read with the git command.", hint="Install git.")
        if self._work is None:
            self._work = tempfile.TemporaryDirectory(prefix="kedge-git-")
        status, written, said = self._ran([program, *words], Path(self._work.name), into)
        if status:
            raise UnreadableError(
                f"{self._place.url} cannot be read: {self._said(said)}.",
                hint="Check the address, the branch, and what it signs in with.",
            )
        return written

    def _ran(self, command: list[str], folder: Path, into: IO[bytes] | None) -> tuple[int, bytes, bytes]:
        """How the command ended, and what it wrote to both. It is ended when it writes or takes too much."""
        with (
            tempfile.TemporaryFile() as said,
            subprocess.Popen(  # noqa: S603 (no shell; what is given stands behind `--`)
                command,
                cwd=folder,
                env=self._environment(folder),
                stdin=subprocess.DEVNULL,
                stdout=into if into is not None else subprocess.PIPE,
                stderr=said,
            ) as process,
            _ending(process, self._seconds) as late,
        ):
            _bound_files(process.pid, self._most)
            written = b"" if process.stdout is None else process.stdout.read(LONGEST_LISTING + 1)
            if len(written) > LONGEST_LISTING:
                process.kill()
                raise SourceTooLargeError(f"{self._place.url} has too many files.", hint="Name a folder of it.")
            status = process.wait()
            if late.is_set():
                raise UnreadableError(
                    f"{self._place.url} took longer than {self._seconds:g} s.",
                    hint="Raise the source's option seconds.",
                )
            said.seek(0)
            return status, written, said.read(LONGEST_MESSAGE)

    def _said(self, stderr: bytes) -> str:
        lines = [line for line in stderr.decode("utf-8", "replace").splitlines() if line.strip()]
        said = mask_url((lines or ["git failed"])[-1])[:300].rstrip(".")
        for secret in self._place.secrets.values():
            said = said.replace(secret, "***") if secret else said
        return said

    def _environment(self, folder: Path) -> dict[str, str]:
        """Nothing of ours and nothing of the user's settings; secrets are no arguments, which every user could see."""
        given = {
            "safe.directory": "*",
            "credential.helper": "",
            "http.followRedirects": "false",
            "http.lowSpeedLimit": "100",
            "http.lowSpeedTime": str(max(1, int(self._settings.url_timeout))),
            "core.hooksPath": os.devnull,
            "fetch.unpackLimit": "1",  # one file, whose size is bounded
        }
        host, port, address = "", 0, ""
        if self._scheme != "file":
            host, port = host_of(self._address, PORTS[self._scheme])
            address = check_host(host, port, self._settings)
            if self._scheme != "ssh":
                shown = f"[{address}]" if ":" in address else address
                given["http.curloptResolve"] = f"{host}:{port}:{shown}"  # the very address that was looked at
        if password := self._place.secrets.get("token") or self._place.secrets.get("password"):
            pair = base64.b64encode(f"{self._place.text('user', 'git')}:{password}".encode()).decode()
            given[f"http.{self._address}.extraHeader"] = f"Authorization: Basic {pair}"
        environment = {
            "PATH": os.defpath,
            "HOME": str(folder),
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ALLOW_PROTOCOL": self._scheme,
            "GIT_CONFIG_COUNT": str(len(given)),
        }
        for number, (name, value) in enumerate(given.items()):
            environment[f"GIT_CONFIG_KEY_{number}"] = name
            environment[f"GIT_CONFIG_VALUE_{number}"] = value
        if self._scheme == "ssh":
            environment["GIT_SSH_COMMAND"] = self._ssh(folder, host, port, address)
        return environment

    def _ssh(self, folder: Path, host: str, port: int, address: str) -> str:
        """The command, which connects to the very address that was looked at; its key is known by the host's name."""
        known_as = host if port == PORTS["ssh"] else f"[{host}]:{port}"
        words = ["ssh", "-F", os.devnull, "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=yes"]
        words += ["-o", f"HostName={address}", "-o", f"HostKeyAlias={known_as}"]
        known = Path.home() / ".ssh" / "known_hosts"
        if key := self._place.text("host_key"):
            known = _written(folder / "known_hosts", f"* {key}\n")
        words += ["-o", f"UserKnownHostsFile={known}", "-l", self._place.text("user", "git")]
        if private := self._place.secrets.get("private_key"):
            words += ["-o", "IdentitiesOnly=yes", "-i", str(_written(folder / "key", f"{private}\n"))]
        return shlex.join(words)


def _written(path: Path, text: str) -> Path:
    path.touch(mode=0o600)
    path.write_text(text, "utf-8")
    return path


@contextmanager
def _ending(process: subprocess.Popen[bytes], seconds: float) -> Iterator[Event]:
    """Within the block the process is killed when its time is over; the event then says so."""
    late = Event()

    def end() -> None:
        late.set()
        process.kill()

    clock = Timer(seconds, end)
    clock.daemon = True
    clock.start()
    try:
        yield late
    finally:
        clock.cancel()


def _bound_files(process: int, most: int) -> None:
    """No file that the process writes from now on is larger; only Linux can say so of another process."""
    if sys.platform == "linux":
        import resource

        with suppress(ProcessLookupError):  # it has ended
            resource.prlimit(process, resource.RLIMIT_FSIZE, (most, most))


def _time(written: bytes) -> datetime | None:
    """When a commit was made; None for a time that nobody can name."""
    try:
        return datetime.fromtimestamp(int(written), UTC)
    except (ValueError, OverflowError, OSError):
        return None


def _told(line: bytes) -> tuple[str, int, str] | None:
    """Digest, size and path of a file that is listed; None for what is none."""
    about, _, name = line.partition(b"\t")
    mode, _, blob, size = about.decode().split() if about else ("", "", "", "")
    return (blob, int(size), name.decode("utf-8", "replace")) if mode in _FILES else None


def _noted(note: Metadata) -> tuple[str, ...] | None:
    """The readers that were noted when the repository was last listed."""
    said = note.get("readers")
    return tuple(str(one) for one in said) if isinstance(said, list) else None
