"""Risky formats are read in another process: the same result, caps that hold, and a server that goes on."""

from __future__ import annotations

import io
import json
import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kedge.core.errors import NoTextLayerError, SourceFault, SourceTooLargeError, TooCostlyError, UnreadableError
from kedge.core.values import ParsedDocument
from kedge.ingest.apart import pool, wire
from kedge.ingest.apart.limits import ParseLimits
from kedge.ingest.apart.pool import Child, close_idle, document_apart, parquet_apart
from kedge.ingest.parse.html import parse_html
from kedge.ingest.parse.reading import open_document
from kedge.ingest.sources.discovery import uploaded
from tests.campaigns.hostile.files import drawing_itself, flate_bomb
from tests.ingest.conftest import make_pdf

LIMITS = ParseLimits(seconds=60, memory=1 << 30, output=32 << 20)
PAGE = wire.document_out(parse_html("<p>abc"))
ON_LINUX = sys.platform == "linux"


def read(name: str, data: bytes | Path, limits: ParseLimits = LIMITS) -> list[ParsedDocument]:
    return [segment.document for segment in open_document(uploaded(name, data), limits).segments]


SIGNS = ("<p>", "</p>", "<h1>", "</h1>", "<li>", "<table><tr><td>", "a kedge", " ", "&amp;", "<b>", "é", "<")
HTML = st.lists(st.sampled_from(SIGNS))


@settings(max_examples=40)
@given(HTML.map("".join))
def test_another_process_reads_the_same(markup: str) -> None:
    page = f"<title>T</title><p>Anchors hold.</p>{markup}"
    assert read("page.html", page.encode()) == [parse_html(page)]


def test_pdf_and_long_markdown_are_the_same(tmp_path: Path) -> None:
    line = (72.0, 700.0, 12.0, "The kedge anchor is carried away in a dinghy.")
    pdf = make_pdf([line], info="/Title (A kedge for warping)")
    path = tmp_path / "a.pdf"
    path.write_bytes(pdf)
    here = open_document(uploaded("a.pdf", path))
    assert read("a.pdf", path) == [segment.document for segment in here.segments]
    assert here.title == "A kedge for warping"
    text = ("# Anchors\n\n" + "A kedge is light. " * 30 + "[Warp](warp.md)\n\n") * 2_000
    there = open_document(uploaded("a.md", text.encode()), LIMITS)
    own = list(open_document(uploaded("a.md", text.encode())).segments)
    assert list(there.segments) == own
    assert len(own) > 1


def test_faults_of_files_come_back_as_they_are() -> None:
    with pytest.raises(UnreadableError, match="damaged"):
        read("a.pdf", b"%PDF-1.4 nothing")
    with pytest.raises(NoTextLayerError):
        read("a.pdf", make_pdf([(72, 700, 12, "x")]))


def test_a_process_serves_many_files(monkeypatch: pytest.MonkeyPatch) -> None:
    close_idle()
    started: list[Child] = []
    monkeypatch.setattr(pool, "Child", lambda limits: started.append(Child(limits)) or started[-1])
    for number in range(20):
        read("a.html", f"<p>Anchor number {number} holds the ship.</p>".encode())
    with pytest.raises(UnreadableError):
        read("a.pdf", b"%PDF-1.4 nothing")
    assert len(started) == 1


def test_small_text_needs_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "Child", lambda limits: pytest.fail("a process was started"))
    close_idle()
    assert read("a.md", b"# Anchors\n\nA kedge is light.")
    assert read("a.txt", b"A kedge is light. " * 3_000)


def test_what_takes_too_long_is_stopped() -> None:
    with pytest.raises(TooCostlyError, match=r"longer than 0\.5 s") as caught:
        read("slow.html", b"<div>" * 400_000 + b"text", ParseLimits(0.5, 1 << 30, 1 << 20))
    assert "parse_timeout" in caught.value.hint
    assert read("a.html", b"<p>The next file is read.</p>")


@pytest.mark.skipif(not ON_LINUX, reason="memory is capped on Linux alone, as docs/security.md says")
@pytest.mark.parametrize("make", [lambda: flate_bomb(3000), drawing_itself], ids=["unpacked", "recursion"])
def test_what_takes_too_much_memory_is_stopped(make: object) -> None:
    assert callable(make)
    with pytest.raises((UnreadableError, TooCostlyError)) as caught:
        read("bomb.pdf", make(), ParseLimits(30, 512 << 20, 1 << 20))
    assert "parse_memory_bytes" in caught.value.hint or caught.value.details == {"exceeded": "time"}
    assert read("a.html", b"<p>The next file is read.</p>")


def test_what_unpacks_to_too_much_is_stopped(tmp_path: Path) -> None:
    with pytest.raises(TooCostlyError, match="unpacks"):
        read("long.html", b"<p>" + b"word " * 100_000, ParseLimits(30, 1 << 30, 1 << 16))
    import duckdb

    path = tmp_path / "rows.parquet"
    duckdb.sql(f"COPY (SELECT 'same' AS a FROM range(5000000)) TO '{path}' (FORMAT parquet)")
    assert path.stat().st_size < 1 << 18
    target = tmp_path / "rows.csv"
    target.touch()
    with pytest.raises(SourceTooLargeError if ON_LINUX else SourceFault):
        parquet_apart(path, target, path.name, path.stat().st_size, ParseLimits(60, 1 << 30, 1 << 20))
    assert target.stat().st_size <= 1 << 20


def test_the_process_knows_no_settings_and_no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KEDGE_LLM_KEY", "s3cret")
    close_idle()
    child = Child(LIMITS)
    try:
        known = Path(f"/proc/{child._process.pid}/environ")
        if known.exists():
            assert b"s3cret" not in known.read_bytes()
        assert os.getsid(child._process.pid) != os.getsid(0)
    finally:
        child.end()


@pytest.mark.parametrize(
    "said",
    [
        b"[]",
        b"nonsense",
        json.dumps({"base": 0, "document": {"text": 7}}).encode(),
        json.dumps({"base": "x", "document": {}}).encode(),
        json.dumps({"base": 0, "document": {**PAGE, "blocks": [["paragraph", 0, 99, [], None, 0]]}}).encode(),
    ],
)
def test_nothing_but_a_document_is_believed(said: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that was taken over can say what it likes."""
    close_idle()
    child = Child(LIMITS)
    assert child._process.stdin
    assert child._process.stdout
    child._process.stdin.close()
    child._process.stdout.close()
    child._process.stdin = io.BytesIO()
    child._process.stdout = io.BytesIO(len(said).to_bytes(8, "big") + said)
    monkeypatch.setattr(pool, "Child", lambda limits: child)
    with pytest.raises(UnreadableError, match="nonsense"):
        list(document_apart(replace(uploaded("a.html", b"<p>x"), format="html"), LIMITS))
