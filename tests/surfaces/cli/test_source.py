"""`kedge source`: add, list, show, sync, remove."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.surfaces import write_corpus
from tests.surfaces.cli.conftest import Kedge


@pytest.fixture
def docs(tmp_path: Path) -> Path:
    return write_corpus(tmp_path / "docs")


def test_a_folder_is_connected_synced_and_removed(kedge: Kedge, docs: Path) -> None:
    added = kedge("source", "add", str(docs), "--collection", "sea", "--name", "docs", "--every", "15m", "--json")
    assert added.code == 0
    assert (added.json()["name"], added.json()["collection"], added.json()["every"]) == ("docs", "sea", 900.0)
    assert added.json()["state"] == "new"
    first = kedge("source", "sync", "docs", "--json").json()
    assert (first["state"], first["documents"], first["last_run"]["new"]) == ("in_step", 3, 3)
    (docs / "tides.md").rename(docs / "springs.md")
    again = kedge("source", "sync")
    assert "docs: 1 new, 0 changed, 2 unchanged, 1 gone; 0 passages embedded" in again.out
    listed = kedge("source", "list")
    assert "docs" in listed.out
    assert "in step" in listed.out
    assert kedge("source", "list", "--json").json()[0]["last_run"]["deleted"] == 1
    assert kedge("ask", "What is a kedge anchor?", "--collection", "sea", "--json").json()["citations"]
    assert kedge("source", "remove", "docs", "--json").json() == {"deleted": "docs"}
    assert kedge("source", "list", "--json").json() == []
    assert len(kedge("document", "list", "--collection", "sea", "--json").json()) == 3


def test_a_source_that_lost_more_than_half_asks(kedge: Kedge, docs: Path) -> None:
    kedge("source", "add", str(docs), "--name", "docs")
    assert kedge("source", "sync", "docs").code == 0
    for name in ("tides.md", "kedge.md"):
        (docs / name).unlink()
    held = kedge("source", "sync", "docs")
    assert held.code == 1
    assert "kedge source sync docs --confirm" in held.err
    assert kedge("source", "show", "docs", "--json").json()["held"] == {"gone": 2, "known": 3}
    confirmed = kedge("source", "sync", "docs", "--confirm", "--json")
    assert (confirmed.code, confirmed.json()["last_run"]["deleted"]) == (0, 2)


def test_documents_go_with_a_source_where_that_is_said(kedge: Kedge, docs: Path) -> None:
    kedge("source", "add", str(docs), "--name", "docs", "--collection", "sea")
    kedge("source", "sync", "docs")
    assert kedge("source", "remove", "docs", "--documents").code == 2  # nobody can be asked
    assert kedge("source", "remove", "docs", "--documents", "--yes").code == 0
    assert kedge("document", "list", "--collection", "sea", "--json").json() == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["add", "https://me:moored@host.example/"], "carries a user or a secret"),
        (["add", "gs://bucket/x"], "pip install 'kedge[gcs]'"),
        (["add", "gopher://x/"], "Known: az, feed, file"),
        (["add", "imaps://host/INBOX", "--secret", "password=moored"], "env:NAME or file:/path"),
        (["add", "/x", "--every", "often"], "15m"),
        (["sync", "nothing"], "no source 'nothing'"),
        (["remove", "nothing"], "no source 'nothing'"),
        (["sync", "--confirm"], "say which source"),
    ],
)
def test_what_cannot_be_says_what_to_do(kedge: Kedge, words: list[str], said: str) -> None:
    ran = kedge("source", *words)
    assert ran.code in (1, 2)
    assert said in ran.err.replace("\n", " ")
    assert "moored" not in ran.err


def test_a_place_that_fails_is_told_and_kept(kedge: Kedge, docs: Path) -> None:
    kedge("source", "add", str(docs), "--name", "docs")
    kedge("source", "sync", "docs")
    docs.rename(docs.with_name("away"))
    ran = kedge("source", "sync", "docs")
    assert ran.code == 1
    assert "failed:" in ran.err
    assert kedge("source", "show", "docs", "--json").json()["state"] == "failed"
