"""Folders of this machine, as sources: `/srv/handbook`, `~/notes`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kedge.core.errors import UnreadableError
from kedge.core.settings import Settings
from kedge.core.values import Readers
from kedge.ingest.connectors.ports import Content, Entry, SourceAddress
from kedge.ingest.connectors.trees import OPTIONS, FileTree
from kedge.ingest.sources.sidecar import readers_beside
from kedge.ingest.sources.source import check_path, too_large, unreadable

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem


def open_folder(place: SourceAddress, settings: Settings) -> LocalFolder:
    """The connector for a folder. UsageError for options that it does not know."""
    place.allow(options=OPTIONS)
    return LocalFolder(place, settings)


class LocalFolder(FileTree):
    """A folder. Links that lead out of it are passed over; documents have the urls that `kedge ingest` gives them."""

    def __init__(self, place: SourceAddress, settings: Settings) -> None:
        folder = Path(place.url.removeprefix("file://"))
        super().__init__(place, settings, connect=_local, root=folder.as_posix(), base=folder.as_posix())
        self._folder = folder

    def open(self, entry: Entry) -> Content:
        path = self._folder / entry.key
        try:
            check_path(path)
            if path.stat().st_size > self._settings.max_source_bytes:
                raise too_large(entry.name, self._settings.max_source_bytes)
            with path.open("rb"):
                return path
        except OSError as error:
            raise unreadable(str(path), error) from error

    def stays(self, info: Mapping[str, Any]) -> bool:
        if not info.get("islink"):
            return True
        try:
            target = Path(str(info["name"])).resolve(strict=True)
        except (OSError, RuntimeError):
            return False
        return target.is_file() and target.is_relative_to(self._folder.resolve())

    def learn_readers(self, folder: str, found: Sequence[Mapping[str, Any]]) -> None:
        """Nothing: folders above this one count as well, and all are asked for each file, as `kedge ingest` does."""

    def readers_of(self, key: str) -> Readers | None:
        return readers_beside((self._folder / key).resolve())

    def _listed(self, folder: str) -> list[Mapping[str, Any]]:
        if not Path(folder).is_dir():
            raise UnreadableError(f"{folder} is not a folder.", hint="Check that it is there, and mounted.")
        return super()._listed(folder)


def _local() -> AbstractFileSystem:
    from fsspec.implementations.local import LocalFileSystem

    return LocalFileSystem(skip_instance_cache=True)
