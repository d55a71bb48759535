"""Finding sources: files, folders, patterns, corpora, uploads; what is wrong is reported and nothing else is lost."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kedge.core.errors import UsageError
from kedge.core.settings import Settings
from kedge.core.values import SourceError
from kedge.ingest.sources.discovery import Discovery, Source, SourceOptions, discover, uploaded

SETTINGS = Settings()
NOBODY = 65534


def sources(found: Discovery) -> list[Source]:
    return [item for item in found if isinstance(item, Source)]


def errors(found: Discovery) -> list[SourceError]:
    return [item for item in found if isinstance(item, SourceError)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in {
        "b.md": "# B",
        "a.txt": "a",
        "sub/c.html": "<p>c</p>",
        "sub/image.iso": "no",
        "sub/code.py": "x = 1",
        ".hidden/d.md": "d",
        ".e.md": "e",
        "node_modules/f.md": "f",
    }.items():
        path = tmp_path / "docs" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "docs"


@pytest.mark.req("D-01")
def test_a_folder_gives_its_documents_in_order(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder.parent)
    found = discover(["docs"], SETTINGS)
    assert [(s.external_id, s.format) for s in sources(found)] == [
        ("docs/a.txt", "text"),
        ("docs/b.md", "markdown"),
        ("docs/sub/c.html", "html"),
        ("docs/sub/code.py", "code"),
    ]
    assert found.skipped == {".iso": 1}
    assert sources(found)[0].url == (folder / "a.txt").resolve().as_posix()


@pytest.mark.req("D-01")
def test_a_source_knows_its_bytes(folder: Path) -> None:
    (source,) = sources(discover([str(folder / "b.md")], SETTINGS))
    assert (source.read(), source.size) == (b"# B", 3)
    assert source.content_hash() == hashlib.sha256(b"# B").hexdigest()
    assert source.updated_at is not None
    (titled,) = sources(discover([str(folder / "b.md")], SETTINGS, SourceOptions(title="Mine")))
    assert titled.fingerprint() != source.fingerprint()


@pytest.mark.req("D-01")
def test_patterns(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert [s.external_id for s in sources(discover(["**/*.md"], SETTINGS))] == ["b.md"]
    assert [s.name for s in sources(discover([f"{folder}/*/c.*"], SETTINGS))] == ["c.html"]
    (error,) = errors(discover(["*.none"], SETTINGS))
    assert error.code == "unreadable"


@pytest.mark.req("D-01")
def test_the_same_file_named_twice_comes_once(folder: Path) -> None:
    assert len(sources(discover([str(folder), str(folder / "b.md")], SETTINGS))) == 4


@pytest.mark.req("D-01")
def test_links_out_of_the_folder_are_not_followed(folder: Path) -> None:
    secret = folder.parent / "secret"
    secret.mkdir()
    (secret / "s.md").write_text("secret")
    (folder / "out").symlink_to(secret)
    (folder / "out.md").symlink_to(secret / "s.md")
    (folder / "loop").symlink_to(folder)
    (folder / "dead.md").symlink_to(folder / "nowhere.md")
    found = discover([str(folder)], SETTINGS)
    items = list(found)
    assert [item.name for item in items if isinstance(item, Source)] == ["a.txt", "b.md", "c.html", "code.py"]
    assert [item.code for item in items if isinstance(item, SourceError)] == ["unreadable"]
    assert found.skipped["symlink"] == 2


@pytest.mark.req("D-01")
def test_what_is_named_explicitly_is_sniffed(tmp_path: Path) -> None:
    (tmp_path / "LICENSE").write_text("words of a licence")
    (tmp_path / "page").write_text("<!doctype html><p>x</p>")
    (tmp_path / "blob.dat").write_bytes(bytes(range(256)) * 4)
    items = list(discover([str(tmp_path / name) for name in ("LICENSE", "page", "blob.dat")], SETTINGS))
    assert [item.format for item in items if isinstance(item, Source)] == ["text", "html"]
    assert [item.code for item in items if isinstance(item, SourceError)] == ["unsupported_format"]
    (forced,) = sources(discover([str(tmp_path / "page")], SETTINGS, SourceOptions(format="markdown")))
    assert forced.format == "markdown"


@pytest.mark.req("D-01")
def test_missing_and_too_large_files_are_reported_and_the_rest_goes_on(folder: Path) -> None:
    (folder / "big.md").write_text("x" * 100)
    items = list(discover([str(folder / "gone.md"), str(folder)], Settings(max_source_bytes=50)))
    assert [item.code for item in items if isinstance(item, SourceError)] == ["unreadable", "too_large"]
    assert sum(isinstance(item, Source) for item in items) == 4


@pytest.mark.req("D-01")
def test_a_title_is_for_one_document(folder: Path) -> None:
    with pytest.raises(UsageError):
        discover([str(folder)], SETTINGS, SourceOptions(title="Mine"))


@pytest.fixture
def without_rights() -> Iterator[Path]:
    """A folder that an unprivileged user sees; root becomes that user for the test."""
    place = Path(tempfile.mkdtemp())
    place.chmod(0o755)
    (place / "open.md").write_text("open")
    (place / "closed").mkdir()
    (place / "closed" / "kept.md").write_text("kept")
    (place / "closed").chmod(0)
    (place / "locked.md").write_text("locked")
    (place / "locked.md").chmod(0)
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    yield place
    if root:
        os.seteuid(0)
    (place / "closed").chmod(0o755)
    shutil.rmtree(place)


@pytest.mark.req("D-01")
def test_a_folder_without_permission_is_reported_and_nothing_in_it_counts_as_gone(without_rights: Path) -> None:
    found = discover([str(without_rights)], SETTINGS)
    items = list(found)
    assert "open.md" in [item.name for item in items if isinstance(item, Source)]
    faults = [item for item in items if isinstance(item, SourceError)]
    assert {fault.code for fault in faults} == {"unreadable"}
    assert any("closed" in fault.url and "right to read" in fault.hint for fault in faults)
    base = without_rights.resolve().as_posix()
    assert not found.gone(f"{base}/closed/kept.md")
    assert not found.gone(f"{base}/open.md")
    assert found.gone(f"{base}/deleted.md")
    assert not found.gone("/elsewhere/x.md")


@pytest.mark.req("D-01")
def test_a_corpus_gives_one_source_per_row_and_names_bad_lines(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    rows = [
        json.dumps({"_id": "d1", "title": "One", "text": "First text", "year": 1999}),
        "{broken",
        json.dumps({"_id": "d1", "text": "again"}),
        json.dumps({"title": "no id", "text": "x"}),
        json.dumps({"_id": "d2", "text": 5}),
        json.dumps({"_id": "d3", "title": "", "text": " "}),
        "",
        json.dumps({"_id": 4, "title": "Only a title", "text": ""}),
        json.dumps([1]),
        r'{"_id": "d5", "text": "half \ud83d"}',
        r'{"_id": "d6", "text": "nul \u0000"}',
    ]
    path.write_bytes("\n".join(rows).encode() + b"\n\xff\xfe\n" + b'{"_id": "last", "text": "kept"}')
    found = discover([str(path)], SETTINGS, SourceOptions(metadata={"set": "x"}))
    items = list(found)
    good = [item for item in items if isinstance(item, Source)]
    url = path.resolve().as_posix()
    assert [(s.url, s.external_id, s.title, s.text) for s in good] == [
        (f"{url}#d1", "d1", "One", "First text"),
        (f"{url}#4", "4", "Only a title", "Only a title"),
        (f"{url}#last", "last", None, "kept"),
    ]
    assert good[0].metadata == {"year": 1999, "set": "x"}
    assert good[0].read() == b"First text"
    bad = [(item.url.split("#")[1], item.code) for item in items if isinstance(item, SourceError)]
    assert bad == [
        ("line-2", "unreadable"),
        ("line-3", "unreadable"),
        ("line-4", "unreadable"),
        ("line-5", "unreadable"),
        ("line-6", "empty_source"),
        ("line-9", "unreadable"),
        ("line-10", "bad_encoding"),
        ("line-11", "bad_encoding"),
        ("line-12", "bad_encoding"),
    ]
    assert not found.gone(f"{url}#d2")


@pytest.mark.req("D-01")
def test_a_file_that_was_named_is_not_gone_because_its_folder_is_not_searched_for_its_kind(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("a")
    (tmp_path / "ship.log").write_text("Moored at noon.")
    found = discover([str(tmp_path)], Settings())
    assert [item.url.rpartition("/")[2] for item in found] == ["a.md"]
    named = (tmp_path / "ship.log").resolve()
    assert not found.gone(named.as_posix())
    named.unlink()
    assert found.gone(named.as_posix())


def test_a_row_that_left_a_good_corpus_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "corpus.jsonl"
    path.write_text('{"_id": "a", "text": "x"}\n')
    found = discover([str(path)], SETTINGS)
    assert len(list(found)) == 1
    assert found.gone(f"{path.resolve().as_posix()}#b")


@pytest.mark.req("D-01")
def test_jsonl_that_is_no_corpus_is_skipped_in_folders(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text('{"level": "info"}\n')
    (tmp_path / "corpus.jsonl").write_text('{"_id": "a", "text": "x"}\n')
    found = discover([str(tmp_path)], SETTINGS)
    assert [s.external_id for s in sources(found)] == ["a"]
    assert found.skipped == {".jsonl": 1}


@pytest.mark.req("D-01")
def test_texts_that_go_without_a_suffix_are_documents_by_their_names(tmp_path: Path) -> None:
    for name in ("README", "Makefile", "core"):
        (tmp_path / name).write_text("Some words.")
    found = discover([str(tmp_path)], Settings())
    assert [item.url.rpartition("/")[2] for item in found] == ["Makefile", "README"]
    assert found.skipped == {"": 1}


def test_uploads(tmp_path: Path) -> None:
    source = uploaded("../../etc/notes.md", b"# N", options=SourceOptions(metadata={"by": "me"}))
    assert (source.url, source.name, source.metadata) == ("upload:notes.md", "notes.md", {"by": "me"})
    spooled = tmp_path / "spool"
    spooled.write_bytes(b"text")
    assert uploaded("x.txt", spooled).read() == b"text"
