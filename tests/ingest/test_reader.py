"""From a source to segments: titles, overrides, bad input, and bounded memory."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from kedge.core.errors import BinarySourceError, EmptySourceError, EncodingError, SourceFault, UnreadableError
from kedge.core.settings import Settings
from kedge.core.values import BlockKind
from kedge.ingest.chunk.passages import ChunkLimits, chunk
from kedge.ingest.parse.reading import DocumentReader, open_document
from kedge.ingest.parse.windows import WINDOW
from kedge.ingest.sources.discovery import SourceOptions, discover, uploaded
from kedge.ingest.sources.source import Source
from tests.ingest.conftest import count_tokens, make_pdf


def opened(name: str, data: bytes, **options: object) -> DocumentReader:
    return open_document(uploaded(name, data, options=SourceOptions(**options)))  # type: ignore[arg-type]


@pytest.mark.req("D-01")
def test_title_and_metadata_with_overrides() -> None:
    data = b"---\ntitle: Own\nlevel: 3\n---\ntext\n"
    reader = opened("x.md", data, metadata={"topic": "t"})
    assert (reader.title, reader.format) == ("Own", "markdown")
    assert reader.metadata == {"title": "Own", "level": 3, "topic": "t"}
    assert opened("x.md", data, title="Mine").title == "Mine"
    assert opened("some-file_name.txt", b"just text.").title == "Some file name"
    assert opened("x.md", b"# H\n\ntext", format="text").format == "text"


@pytest.mark.req("D-01")
def test_a_pdf_by_content_whatever_its_name() -> None:
    reader = opened("report.bin", make_pdf([(72, 700, 11, "Enough text to be a document of its own.")]))
    assert reader.format == "pdf"
    assert reader.title == "report.bin"[:1].upper() + "eport.bin"


@pytest.mark.req("D-01")
@pytest.mark.parametrize(
    ("name", "data", "fault"),
    [
        ("empty.md", b"", EmptySourceError),
        ("blank.txt", b" \n\n ", EmptySourceError),
        ("comment.md", b"<!-- only this -->", EmptySourceError),
        ("page.html", b"<html></html>", EmptySourceError),
        ("garbage.md", bytes(range(256)) * 8, BinarySourceError),
        ("picture", b"\x89PNG\r\n\x1a\n\x00\x00\x00", UnreadableError),
        ("noise.txt", bytes(range(128, 256)) * 8, EncodingError),
    ],
)
def test_bad_input_has_a_clear_error(name: str, data: bytes, fault: type[SourceFault]) -> None:
    with pytest.raises(fault) as caught:
        opened(name, data)
    assert caught.value.hint


@pytest.mark.req("D-01")
def test_a_file_that_vanishes_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text("text")
    (source,) = discover([str(path)], Settings())
    assert isinstance(source, Source)
    path.unlink()
    with pytest.raises(SourceFault, match="cannot be read"):
        open_document(source)


@pytest.mark.req("D-01", "D-03")
def test_a_long_text_comes_in_segments_with_absolute_offsets(tmp_path: Path) -> None:
    text = "Title of the whole\n\n" + "\n\n".join(f"Paragraph {n} has a few words in it. And é." for n in range(35_000))
    path = tmp_path / "long.txt"
    path.write_text(text)
    (source,) = discover([str(path)], Settings())
    assert isinstance(source, Source)
    reader = open_document(source)
    assert reader.title == "Title of the whole"
    at = index = 0
    limits = ChunkLimits.for_window(256)
    for segment in reader.segments:
        assert segment.base == at
        at += len(segment.document.text)
        assert len(segment.document.text) < 2 * WINDOW
        pieces = chunk(segment.document, count_tokens, limits, base=segment.base, first_index=index)
        index += len(pieces)
        for piece in (pieces[0], pieces[-1]):
            assert piece.text == text[piece.start : piece.end]
            assert piece.token_count >= 100
    assert at == len(text)


@pytest.mark.req("D-01")
def test_memory_stays_bounded_for_long_files(tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_bytes((b"Some words that fill a line of the file.\n" * 20 + b"\n") * 15_000)
    (source,) = discover([str(path)], Settings())
    assert isinstance(source, Source)
    tracemalloc.start()
    count = sum(len(segment.document.blocks) for segment in open_document(source).segments)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 15_000
    assert path.stat().st_size > 12_000_000
    assert peak < 10_000_000


@pytest.mark.req("D-01")
def test_long_markdown_is_cut_outside_of_code_and_keeps_its_sections() -> None:
    part = "para text here.\n\n```py\n# no heading\n\nx = 1\n```\n\n" + "filler words. " * 3000 + "\n\n"
    text = "# T\n\n" + "".join(f"## S{n}\n\n{part}" for n in range(WINDOW // len(part) + 20))
    segments = list(opened("a.md", text.encode()).segments)
    assert len(segments) == 2
    assert "".join(segment.document.text for segment in segments) == text
    codes = [b for segment in segments for b in segment.document.blocks if b.kind is BlockKind.CODE]
    assert len(codes) == text.count("x = 1")
    assert segments[1].document.blocks[0].section[0] == "T"
