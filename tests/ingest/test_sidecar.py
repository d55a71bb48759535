"""`.kedge-access.yaml`: which pattern speaks, which folder wins, what becomes of files beside one that is broken."""

from __future__ import annotations

from pathlib import Path

import pytest

from kedge.core.errors import UnreadableError, UsageError
from kedge.core.settings import Settings
from kedge.core.values import Actor, SourceError, checked_readers, parse_actor, parse_readers
from kedge.ingest.sources.discovery import discover
from kedge.ingest.sources.sidecar import NAME, readers_beside


def said(folder: Path, text: str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / NAME).write_text(text, "utf-8")


def test_the_nearest_folder_with_a_pattern_that_fits_wins(tmp_path: Path) -> None:
    said(tmp_path, '"*": public\n"deep/**": [group:deep]\n')
    said(tmp_path / "hr", '"*.md": [group:hr, user:ann]\n')
    said(tmp_path / "deep" / "er", '"only.txt": user:zoe\n')
    assert readers_beside(tmp_path / "hr" / "pay.md") == ("group:hr", "user:ann")
    assert readers_beside(tmp_path / "hr" / "pay.txt") == ("public",)
    assert readers_beside(tmp_path / "hr" / "old" / "pay.md") == ("group:hr", "user:ann")
    assert readers_beside(tmp_path / "deep" / "er" / "only.txt") == ("user:zoe",)
    assert readers_beside(tmp_path / "deep" / "er" / "else.txt") == ("public",)  # the first that fits, in order
    assert readers_beside(tmp_path.parent / "elsewhere.md") is None


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("a/*.md", "a/b.md", True),
        ("a/*.md", "a/b/c.md", False),
        ("a/**", "a/b/c.md", True),
        ("**/c.md", "c.md", True),
        ("**/c.md", "a/b/c.md", True),
        ("a/**/c.md", "a/c.md", True),
        ("a/**/c.md", "b/c.md", False),
        ("?.md", "x/y.md", True),
        ("[ab].md", "c.md", False),
    ],
)
def test_patterns(tmp_path: Path, pattern: str, path: str, fits: bool) -> None:
    said(tmp_path, f'"{pattern}": user:ann\n')
    assert readers_beside(tmp_path / path) == (("user:ann",) if fits else None)


@pytest.mark.parametrize(
    "text", ["- a\n- b\n", '"*": 7\n', '"*": []\n', '"*": [board]\n', '"*": [', "\x00", '"*": [user:]\n']
)
def test_what_cannot_be_read_refuses_the_files_beside_it(tmp_path: Path, text: str) -> None:
    said(tmp_path, text)
    with pytest.raises(UnreadableError, match=r"who may read"):
        readers_beside(tmp_path / "a.md")
    (tmp_path / "a.md").write_text("# A\n\nText.\n")
    found = list(discover([str(tmp_path)], Settings()))
    assert [type(one) for one in found] == [SourceError]


def test_sources_of_a_folder_carry_what_is_said(tmp_path: Path) -> None:
    said(tmp_path, '"*.md": [group:hr]\n')
    (tmp_path / "a.md").write_text("# A\n\nText.\n")
    (tmp_path / "b.txt").write_text("Text.\n")
    found = {one.name: one.readers for one in discover([str(tmp_path)], Settings()) if not isinstance(one, SourceError)}
    assert found == {"a.md": ("group:hr",), "b.txt": None}


def test_principals_are_read_strictly() -> None:
    assert checked_readers([" user:ann ", "group:a b", "user:ann"]) == ("group:a b", "user:ann")
    assert checked_readers([]) == ()
    assert parse_readers("group:board, user:ann") == ("group:board", "user:ann")
    for wrong in ("ann", "User:ann", "user:", "user: ann", "group:a,b", "role:x", "user:a\nb"):
        with pytest.raises(UsageError):
            checked_readers([wrong])
    with pytest.raises(UsageError):
        parse_readers(" , ")
    with pytest.raises(UsageError):
        parse_actor("user:ann,user:bob")
    assert parse_actor("user:ann,group:board").principals == ("group:board", "public", "user:ann")
    assert Actor().may_read(None)
    assert Actor("ann").may_read(("public",))
    assert not Actor("ann").may_read(())
