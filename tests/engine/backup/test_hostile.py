"""An archive is believed only when all of it is right: damaged, foreign and hostile files are refused, and nothing of
them is written anywhere."""

from __future__ import annotations

import asyncio
import hashlib
import io
import json
import sqlite3
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.core.errors import BackupError, DiskFullError
from kedge.core.values import IngestRequest
from kedge.engine.backup import archive as archives
from kedge.engine.backup.archive import Archive
from kedge.engine.backup.manifest import NAME
from kedge.engine.backup.restoring import restore_backup
from kedge.engine.backup.taking import take_backup
from kedge.engine.engine import Engine
from tests.engine.backup.made import SEA, settings_of
from tests.support.surfaces import write_corpus

Manifest = dict[str, Any]
Files = dict[str, bytes]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("good")

    async def make() -> None:
        async with Engine.open(settings_of(folder / "home")) as engine:
            await engine.ingest(IngestRequest(SEA, (str(write_corpus(folder / "sea")),)))
            await take_backup(settings_of(folder / "home"), folder / "x", vectors=engine.stores.vectors)

    asyncio.run(make())
    return (folder / "x").read_bytes()


def opened(data: bytes) -> tuple[Files, Manifest]:
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        files = {name: packed.read(name) for name in packed.namelist()}
    return files, json.loads(files.pop(NAME))


def packed(files: Files, manifest: Manifest, *, twice: str = "", link: str = "") -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as out:
        for name, data in files.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            if name == link:
                info.external_attr = 0o120777 << 16
            out.writestr(info, data)
        if twice:
            with pytest.warns(UserWarning, match="Duplicate"):
                out.writestr(twice, b"again")
        out.writestr(NAME, json.dumps(manifest))
    return target.getvalue()


def added(files: Files, manifest: Manifest, name: str, data: bytes) -> bytes:
    entry = {"name": name, "size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
    return packed({**files, name: data}, {**manifest, "entries": [*manifest["entries"], entry]})


def with_catalog(
    files: Files, manifest: Manifest, change: Callable[[sqlite3.Connection], object], folder: Path
) -> bytes:
    place = folder / "catalog.db"
    place.write_bytes(files["catalog.db"])
    with sqlite3.connect(place) as database:
        change(database)
    database.close()
    rest = {name: data for name, data in files.items() if name != "catalog.db"}
    entries = [one for one in manifest["entries"] if one["name"] != "catalog.db"]
    return added(rest, {**manifest, "entries": entries}, "catalog.db", place.read_bytes())


def refused(data: bytes, folder: Path) -> BackupError:
    """The error of a restore, after which nothing is there but the file itself."""
    place = folder / "place"
    place.mkdir()
    (place / "file").write_bytes(data)
    with pytest.raises(BackupError) as caught:
        asyncio.run(restore_backup(settings_of(place / "home"), place / "file"))
    assert [path.name for path in place.iterdir()] == ["file"]
    assert caught.value.code == "bad_backup"
    return caught.value


@pytest.mark.parametrize(
    "name",
    [
        "../evil",
        "/etc/cron.d/evil",
        "tables/../../evil",
        "uploads/../../../evil",
        "C:\\evil",
        "catalog.db/../evil",
        "vectors/1.bin",
        "lock",
        "tables/0123456789abcdef01234567/g1/../../../../evil",
        "uploads/\x00",
        "",
    ],
)
def test_names_that_lead_elsewhere(good: bytes, tmp_path: Path, name: str) -> None:
    files, manifest = opened(good)
    error = refused(added(files, manifest, name, b"evil"), tmp_path)
    assert "does not belong" in error.message or "other files" in error.message


def test_files_that_the_manifest_does_not_name(good: bytes, tmp_path: Path) -> None:
    files, manifest = opened(good)
    refused(packed({**files, "hash.key2": b""}, manifest), tmp_path)


def test_a_name_twice(good: bytes, tmp_path: Path) -> None:
    files, manifest = opened(good)
    refused(packed(files, manifest, twice="catalog.db"), tmp_path)


def test_a_link_is_only_its_bytes(good: bytes, tmp_path: Path) -> None:
    """An entry that says it is a symbolic link is written as a plain file."""
    files, manifest = opened(good)
    (tmp_path / "file").write_bytes(packed(files, manifest, link="hash.key"))
    asyncio.run(restore_backup(settings_of(tmp_path / "home"), tmp_path / "file"))
    assert (tmp_path / "home" / "hash.key").is_file()
    assert not (tmp_path / "home" / "hash.key").is_symlink()


def test_a_bomb(good: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What claims little and unpacks to much is cut off; what claims more than fits is not begun."""
    files, manifest = opened(good)
    bomb = b"\x00" * (64 << 20)
    data = added(files, manifest, "uploads/" + "0" * 36, bomb)
    files_, manifest_ = opened(data)
    manifest_["entries"][-1]["size"] = 10
    assert "damaged" in refused(packed(files_, manifest_), tmp_path).message
    (tmp_path / "file").write_bytes(data)
    monkeypatch.setattr(archives, "SPARE", 1 << 60)
    with pytest.raises(DiskFullError):
        asyncio.run(restore_backup(settings_of(tmp_path / "home"), tmp_path / "file"))
    assert not (tmp_path / "home").exists()


def test_sizes_beyond_measure(good: bytes, tmp_path: Path) -> None:
    files, manifest = opened(good)
    manifest["entries"][0]["size"] = 1 << 50
    assert "measure" in refused(packed(files, manifest), tmp_path).message


def test_a_newer_format_and_a_newer_schema(good: bytes, tmp_path: Path) -> None:
    files, manifest = opened(good)
    assert "newer" in refused(packed(files, {**manifest, "format": 99}), tmp_path).hint
    (tmp_path / "b").mkdir()

    def newer(database: sqlite3.Connection) -> object:
        return database.execute("UPDATE alembic_version SET version_num = '9999'")

    error = refused(with_catalog(files, manifest, newer, tmp_path), tmp_path / "b")
    assert "newer Kedge" in error.message
    assert "at least as new" in error.hint


def test_a_catalog_that_contradicts_itself(good: bytes, tmp_path: Path) -> None:
    files, manifest = opened(good)
    broken = with_catalog(
        files, manifest, lambda one: one.execute("UPDATE documents SET chunk_count = chunk_count + 1"), tmp_path
    )
    assert "contradicts" in refused(broken, tmp_path).message


@pytest.mark.parametrize("share", [0.0, 0.2, 0.9, 0.999])
def test_a_cut_file(good: bytes, tmp_path: Path, share: float) -> None:
    refused(good[: int(len(good) * share)], tmp_path)


@settings(max_examples=60)
@given(place=st.floats(0, 1, exclude_max=True), flip=st.integers(1, 255))
def test_a_flipped_byte_is_found_or_changes_nothing(
    good: bytes, tmp_path_factory: pytest.TempPathFactory, place: float, flip: int
) -> None:
    data = bytearray(good)
    data[int(place * len(data))] ^= flip
    file = tmp_path_factory.mktemp("flipped") / "x"
    file.write_bytes(bytes(data))
    expected = opened(good)[1]["entries"]
    try:
        with Archive(file) as archive:
            archive.verify()
            found = [(entry.name, entry.size, entry.sha256) for entry in archive.manifest.entries]
    except BackupError:
        return
    assert found == [(entry["name"], entry["size"], entry["sha256"]) for entry in expected]


manifests = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=100)
@given(
    changes=st.dictionaries(
        st.sampled_from(["format", "schema", "entries", "vectors", "counts", "left_out", "kedge"]), manifests
    )
)
def test_any_manifest_is_read_or_refused(
    good: bytes, tmp_path_factory: pytest.TempPathFactory, changes: Manifest
) -> None:
    _, manifest = opened(good)
    file = tmp_path_factory.mktemp("any") / "x"
    file.write_bytes(packed({"catalog.db": b""}, {**manifest, **changes}))
    try:
        with Archive(file) as archive:
            archive.verify()
    except BackupError:
        return
    raise AssertionError("a manifest that does not fit its files was believed")
