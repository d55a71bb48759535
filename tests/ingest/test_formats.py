"""File formats come in by entry point: those of other packages are told apart, read and reported like Kedge's own."""

from __future__ import annotations

import io
import logging
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from kedge.core.errors import SourceFault, UnreadableError, UnsupportedFormatError, UsageError
from kedge.core.plugins import FORMATS
from kedge.core.settings import Settings
from kedge.ingest.apart.limits import ParseLimits
from kedge.ingest.parse.formats import check_format, detect_format, format_named, installed_formats, readable_name
from kedge.ingest.parse.reading import DocumentReader, open_document
from kedge.ingest.sources.discovery import SourceOptions, discover, uploaded
from kedge.ingest.sources.source import Source
from tests.support.packages import on_path, put_package

LIMITS = ParseLimits(seconds=60, memory=1 << 30, output=32 << 20)
MODULE = """
import os

from kedge.core.values import Block, BlockKind, ParsedDocument
from kedge.ingest.parse.ports import FileFormat, Segment


def paragraph(text):
    return ParsedDocument(text, (Block(BlockKind.PARAGRAPH, 0, len(text)),), metadata={"pid": os.getpid()})


class Shouted(FileFormat):
    \"\"\"Text that is read in capitals, in another process.\"\"\"

    name = "shouted"
    suffixes = (".loud", ".md")
    media_types = ("text/x-loud",)

    def resembles(self, head):
        return head.startswith(b"HEAR YE")

    def segments(self, source):
        text = source.read().decode().upper()
        if "BREAK" in text:
            raise KeyError("broken")
        yield Segment(0, paragraph(text))


class Quiet(Shouted):
    name = "quiet"
    suffixes = (".quiet",)
    media_types = ("application/zip",)
    resembles = FileFormat.resembles

    def apart(self, source):
        return False

    def claims(self, head):
        return head.startswith(b"PK") and b"quiet" in head

    def segments(self, source):
        if source.name.startswith("broken"):
            raise KeyError("broken")
        yield Segment(0, paragraph("quiet"))


class Nervous(Shouted):
    name = "nervous"
    suffixes = (".nervous",)
    media_types = ()

    def claims(self, head):
        raise RuntimeError("help")

    resembles = claims


class Loud(Shouted):
    name = "capitals"
    media_types = ()
    suffixes = ("LOUD",)


SHOUTED, QUIET, NERVOUS, LOUD = Shouted(), Quiet(), Nervous(), Loud()
"""
ENTRIES = {
    FORMATS: {
        "shouted": "their_formats:SHOUTED",
        "quiet": "their_formats:QUIET",
        "nervous": "their_formats:NERVOUS",
        "capitals": "their_formats:LOUD",
        "class": "their_formats:Shouted",
        "misnamed": "their_formats:SHOUTED",
        "gone": "their_formats:NOTHING",
        "markdown": "their_formats:SHOUTED",
    }
}


@pytest.fixture(scope="module", autouse=True)
def _installed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = put_package(tmp_path_factory.mktemp("path"), "their-formats", ENTRIES, {"their_formats.py": MODULE})
    with on_path(folder):
        yield


def archive(text: str) -> bytes:
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w") as file:
        file.writestr("any.txt", text)
    return made.getvalue()


def opened(name: str, data: bytes, format: str | None = None) -> DocumentReader:
    return open_document(uploaded(name, data, options=SourceOptions(format=format)), LIMITS)


def text_of(reader: DocumentReader) -> str:
    return "".join(segment.document.text for segment in reader.segments)


def test_a_format_of_another_package_is_known_by_suffix_and_read_in_the_other_process() -> None:
    reader = opened("a.loud", b"a kedge is light")
    assert (reader.format, reader.title, text_of(reader)) == ("shouted", "A", "A KEDGE IS LIGHT")
    here = open_document(uploaded("a.loud", b"a kedge is light"))
    assert reader.metadata["pid"] != here.metadata["pid"]
    assert opened("a.quiet", b"x").metadata["pid"] == here.metadata["pid"]


@pytest.mark.parametrize(
    ("name", "head", "content_type", "expected"),
    [
        ("page", b"HEAR YE", None, "shouted"),
        ("page", b"x", "text/x-loud; charset=utf-8", "shouted"),
        ("a.loud", b"%PDF-1.7", None, "pdf"),
        ("a.md", b"HEAR YE", None, "markdown"),
        ("a.txt", b"HEAR YE", None, "text"),
        ("a", b"PK\x03\x04 quiet", None, "quiet"),
        ("a", b"<html>", None, "html"),
        ("a", b"words", None, "text"),
    ],
)
def test_own_formats_come_first_and_plain_text_last(
    name: str, head: bytes, content_type: str | None, expected: str
) -> None:
    found = detect_format(name, head, content_type)
    assert found is not None
    assert found.name == expected


def test_bytes_of_an_archive_are_read_by_the_format_that_claims_them() -> None:
    assert text_of(opened("a.quiet", archive("quiet"))) == "quiet"
    assert text_of(opened("whatever.md", archive("quiet"))) == "quiet"
    with pytest.raises(UnsupportedFormatError, match="ZIP archive"):
        opened("a.quiet", archive("something else"))
    with pytest.raises(UnsupportedFormatError, match="ZIP archive"):
        opened("a.loud", archive("quiet"), format="shouted")


def test_folders_are_searched_for_its_suffixes(tmp_path: Path) -> None:
    for name in ("a.loud", "b.md", "c.unknown"):
        (tmp_path / name).write_text("words")
    found = [item for item in discover([str(tmp_path)], Settings()) if isinstance(item, Source)]
    assert [(item.name, item.format) for item in found] == [("a.loud", "shouted"), ("b.md", "markdown")]
    assert readable_name("big-news.LOUD") == "Big news"


def test_the_user_may_name_it() -> None:
    assert text_of(opened("a.txt", b"x", format="shouted")) == "X"
    check_format("shouted")
    check_format(None)


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UsageError, match=r"no format 'wordstar'\. Known: .*html, .*markdown, .*pdf, .*shouted, text\."):
        check_format("wordstar")
    with pytest.raises(UnsupportedFormatError, match="no format 'wordstar'"):
        opened("a.txt", b"x", format="wordstar")


@pytest.mark.parametrize(("name", "limits"), [("a.loud", LIMITS), ("a.loud", None), ("broken.quiet", LIMITS)])
def test_a_parser_that_fails_is_a_fault_of_the_file(name: str, limits: ParseLimits | None) -> None:
    with pytest.raises(UnreadableError, match=rf"{name} cannot be parsed \(KeyError\)"):
        open_document(uploaded(name, b"break"), limits)


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("class", "is of the type ABCMeta, no FileFormat"),
        ("misnamed", "calls itself 'shouted'"),
        ("gone", "AttributeError"),
        ("capitals", "its suffixes have to be in lower case"),
    ],
)
def test_what_is_broken_is_named_and_left_out(name: str, why: str, caplog: pytest.LogCaptureFixture) -> None:
    installed_formats.cache_clear()
    with caplog.at_level(logging.WARNING):
        assert name not in installed_formats()
    assert f"The plug-in '{name}' of their-formats 1.0 cannot be" in caplog.text
    with pytest.raises(SourceFault, match=why):
        format_named(name)


def test_kedges_own_counts_where_two_have_one_name() -> None:
    assert type(installed_formats()["markdown"]).__module__ == "kedge.ingest.parse.own"
