"""ZIP archives of this machine as sources of their own: `zip:///srv/handbook.zip`, or a path that ends in `.zip`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from zipfile import BadZipFile
from zlib import error as ZlibError

from kedge.core.errors import SourceTooLargeError
from kedge.core.settings import Settings
from kedge.core.values import Readers
from kedge.ingest.connectors.ports import Content, Entry, SourceAddress
from kedge.ingest.connectors.trees import OPTIONS, FileTree
from kedge.ingest.sources.download import Download
from kedge.ingest.sources.sidecar import readers_beside

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem


def open_archive(place: SourceAddress, settings: Settings) -> ArchiveFile:
    """The connector for an archive. UsageError for options that it does not know."""
    place.allow(options=OPTIONS)
    return ArchiveFile(place, settings)


class ArchiveFile(FileTree):
    """An archive. Its documents have the urls that `kedge ingest` gives them: `archive.zip#member`."""

    def __init__(self, place: SourceAddress, settings: Settings) -> None:
        path = Path(place.url.removeprefix("zip://").removeprefix("file://"))

        def connect() -> AbstractFileSystem:
            from fsspec.implementations.zip import ZipFileSystem

            return ZipFileSystem(path.as_posix(), skip_instance_cache=True)

        faults = (BadZipFile, ZlibError, NotImplementedError, RuntimeError, EOFError)
        super().__init__(place, settings, connect=connect, root="", base=path.as_posix(), faults=faults)
        self._left = settings.parse_output_bytes

    def open(self, entry: Entry) -> Content:
        content = super().open(entry)
        self._left -= content.size if isinstance(content, Download) else 0
        if self._left < 0:
            raise SourceTooLargeError(
                f"{self._base} unpacks to more than is allowed.",
                hint="Unpack it and add the folder, or raise parse_output_bytes if you trust it.",
            )
        return content

    def readers_of(self, key: str) -> Readers | None:
        """As the archive says, else the folder that it lies in."""
        said = super().readers_of(key)
        return readers_beside(Path(self._base).resolve()) if said is None else said

    def close(self) -> None:
        if self._files is not None:
            self._files.close()
        super().close()

    def _url(self, key: str) -> str:
        return f"{self._base}#{key}"
