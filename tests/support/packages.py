"""Packages as pip would leave them behind: modules beside a dist-info, in a folder for the path."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from kedge import kinds
from kedge.core import plugins
from kedge.ingest.apart.pool import close_idle
from kedge.ingest.parse import formats

EntryPoints = Mapping[str, Mapping[str, str]]
"""Group → name → `module:attribute [extra]`."""


def put_package(
    folder: Path, name: str, entry_points: EntryPoints, files: Mapping[str, str], version: str = "1.0"
) -> Path:
    """Write the package; the folder is what goes on the path."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n")
    (info / "RECORD").write_text("")
    lines = [
        f"[{group}]\n" + "".join(f"{key} = {value}\n" for key, value in entries.items())
        for group, entries in entry_points.items()
    ]
    (info / "entry_points.txt").write_text("\n".join(lines))
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, "utf-8")
    return folder


@contextmanager
def on_path(folder: Path) -> Iterator[None]:
    """The packages of the folder are installed in this process, and forgotten afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        _forget()
        try:
            yield
        finally:
            patch.undo()
            _forget()


def _forget() -> None:
    for remembered in (plugins.everything, plugins.found, kinds.installed, formats.installed_formats):
        remembered.cache_clear()
    close_idle()  # a parsing process that waits for its next file knows the packages of its start
