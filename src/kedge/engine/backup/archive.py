"""Writing, checking and unpacking the archive file. Nothing in an archive is believed before its sums are right."""

from __future__ import annotations

import errno
import hashlib
import os
import shutil
import sys
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from kedge.core.errors import BackupError, DiskFullError, StoreError
from kedge.core.ids import new_id
from kedge.engine.backup.manifest import MOST_ENTRIES, NAME, VECTORS, ArchivedFile, Manifest, read_manifest

PIECE = 1 << 20
MOST_MANIFEST = 256 << 20
MOST_RATIO = 1100
"""Nothing that a packer made grows by more; whether there is room for what does is asked before it is unpacked."""
SPARE = 64 << 20
"""Bytes that stay free on the disk."""

OnPhase = Callable[[str, int, int], None]
"""Called with the phase, what is done and what there is to do (0 when unknown)."""


def no_phase(_phase: str, _done: int, _total: int) -> None:
    """The default: nobody listens."""


@contextmanager
def whole_file(path: Path) -> Iterator[IO[bytes]]:
    """A file that appears under its name when it is complete and on the disk, readable by its owner alone; or not."""
    part = path.with_name(f"{path.name}.part-{new_id()}")
    with _translated(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(part, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with _translated(path), os.fdopen(descriptor, "w+b") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        with _translated(path):
            part.replace(path)
            sync_folder(path.parent)
    finally:
        part.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    """Make renames in the folder survive a power cut, where folders can be opened."""
    if sys.platform == "win32":
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


class ArchiveWriter:
    """Packs files one after the other; `finish` writes the manifest."""

    def __init__(self, file: IO[bytes]) -> None:
        self._zip = zipfile.ZipFile(file, "w", allowZip64=True)
        self.entries: list[ArchivedFile] = []

    def add(self, name: str, path: Path) -> None:
        """Pack one file. Vectors are noise to a packer and go in as they are."""
        info = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
        info.compress_type = zipfile.ZIP_STORED if name.startswith(f"{VECTORS}/") else zipfile.ZIP_DEFLATED
        info._compresslevel = 1  # type: ignore[attr-defined]  # of one entry: there is no public way before 3.13
        info.external_attr = 0o600 << 16
        digest, size = hashlib.sha256(), 0
        with path.open("rb") as source, self._zip.open(info, "w", force_zip64=True) as target:
            while piece := source.read(PIECE):
                digest.update(piece)
                size += len(piece)
                target.write(piece)
        self.entries.append(ArchivedFile(name, size, digest.hexdigest()))

    def finish(self, manifest: Manifest) -> None:
        """Write the manifest and the end of the file."""
        self._zip.writestr(zipfile.ZipInfo(NAME, date_time=(1980, 1, 1, 0, 0, 0)), manifest.dump())
        self._zip.close()


class Archive:
    """An archive opened for reading. BackupError for whatever is wrong with it."""

    def __init__(self, path: Path) -> None:
        self._path = path
        with _readable(path):
            self._zip = zipfile.ZipFile(path)
        try:
            with _readable(path):
                self.manifest = self._manifest()
        except BaseException:
            self._zip.close()
            raise

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def verify(self, on_phase: OnPhase = no_phase) -> None:
        """Read every byte and compare sizes and sums with the manifest."""
        done = 0
        for entry in self.manifest.entries:
            for piece in self._pieces(entry):
                done += len(piece)
                on_phase("verifying", done, self.manifest.size)

    def unpack(self, folder: Path, on_phase: OnPhase = no_phase) -> None:
        """Write all files below the folder, which is new. Sums are compared again. DiskFullError."""
        self.fits(folder)
        done = 0
        for entry in self.manifest.entries:
            target = folder / entry.name
            with _translated(target):
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("xb") as file:
                    target.chmod(0o600)
                    for piece in self._pieces(entry):
                        file.write(piece)
                        done += len(piece)
                        on_phase("unpacking", done, self.manifest.size)
                    file.flush()
                    os.fsync(file.fileno())

    def _manifest(self) -> Manifest:
        held = self._zip.infolist()
        if len(held) > MOST_ENTRIES:
            raise BackupError("The backup holds more files than a home can have.")
        info = self._zip.getinfo(NAME)
        if info.file_size > MOST_MANIFEST:
            raise BackupError("The backup's manifest is too large.")
        with self._zip.open(info) as file:
            manifest = read_manifest(file.read(MOST_MANIFEST))
        if sorted(one.filename for one in held) != sorted([NAME, *(entry.name for entry in manifest.entries)]):
            raise BackupError("The backup holds other files than its manifest names.", hint="Use another backup.")
        packed = self._path.stat().st_size
        if manifest.size > MOST_RATIO * packed + PIECE:
            raise BackupError("The backup would grow beyond all measure when unpacked.", hint="Use another backup.")
        return manifest

    def _pieces(self, entry: ArchivedFile) -> Iterator[bytes]:
        digest, left = hashlib.sha256(), entry.size
        with _readable(self._path), self._zip.open(entry.name) as file:
            while piece := file.read(min(PIECE, left + 1)):
                left -= len(piece)
                if left < 0:
                    break
                digest.update(piece)
                yield piece
        if left or digest.hexdigest() != entry.sha256:
            raise BackupError(
                f"The backup is damaged: {entry.name} is not what was packed.", hint="Use another copy or backup."
            )

    def fits(self, folder: Path) -> None:
        """There is room for it. DiskFullError."""
        free = shutil.disk_usage(folder).free
        if self.manifest.size + SPARE > free:
            raise DiskFullError(
                f"The backup needs {self.manifest.size >> 20} MiB at {folder}, where {free >> 20} MiB are free.",
                hint="Free some space, or restore onto another disk.",
            )


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise BackupError(f"There is no file {path}.") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError, RuntimeError, ValueError) as error:
        raise BackupError(
            f"{path} is no whole backup of Kedge.",
            hint="Use another copy or backup; `kedge backup --verify` tests one.",
        ) from error
    except OSError as error:
        raise BackupError(f"{path} cannot be read: {error.strerror or error}.") from error


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise DiskFullError(f"No space left for {path}.", hint="Free some space and try again.") from error
        raise StoreError(f"{path} cannot be written: {error.strerror or error}.", hint="Check the path.") from error
