"""Pictures of text are read where the extra is installed, and offered it by name where it is not."""

from __future__ import annotations

import io
import sys

import pytest

from kedge.core.errors import EmptySourceError, NoTextLayerError, SourceFault, SourceTooLargeError
from kedge.ingest.apart.limits import ParseLimits
from kedge.ingest.parse.reading import open_document
from kedge.ingest.sources.discovery import uploaded
from kedge.ingest.telling import listening

pytest.importorskip("rapidocr")
Image = pytest.importorskip("PIL.Image")
pytestmark = pytest.mark.req("D-02")
LIMITS = ParseLimits(seconds=120, memory=2 << 30, output=32 << 20)


def picture(*texts: str, size: tuple[int, int] = (600, 160), kind: str = "PNG") -> bytes:
    from PIL import ImageDraw, ImageFont

    frames = []
    for text in texts:
        frame = Image.new("RGB", size, "white")
        ImageDraw.Draw(frame).text((20, 50), text, fill="black", font=ImageFont.load_default(28))
        frames.append(frame)
    out = io.BytesIO()
    frames[0].save(out, kind, **({"save_all": True, "append_images": frames[1:]} if len(frames) > 1 else {}))
    return out.getvalue()


def text_of(name: str, data: bytes) -> str:
    return "\n".join(segment.document.text for segment in open_document(uploaded(name, data), LIMITS).segments)


@pytest.mark.slow
def test_pictures_of_all_kinds_become_text_with_pages() -> None:
    told: list[tuple[int, int]] = []
    with listening(lambda done, parts, _picture: told.append((done, parts))):
        scan = picture("The kedge is light.", "Carry it in a dinghy.", kind="TIFF")
        (segment,) = open_document(uploaded("scan.tiff", scan), LIMITS).segments
    found = {block.page: segment.document.text[block.start : block.end] for block in segment.document.blocks}
    assert found == {1: "The kedge is light.", 2: "Carry it in a dinghy."}
    assert told == [(1, 2), (2, 2)]
    assert text_of("a.png", picture("Anchors hold ships.")) == "Anchors hold ships."


@pytest.mark.slow
def test_a_scanned_pdf_becomes_text_with_pages() -> None:
    pages = [Image.open(io.BytesIO(picture(text))) for text in ("The first page of it.", "The second page of it.")]
    out = io.BytesIO()
    pages[0].save(out, "PDF", save_all=True, append_images=pages[1:])
    reader = open_document(uploaded("scan.pdf", out.getvalue()), LIMITS)
    (segment,) = reader.segments
    assert [(block.page, segment.document.text[block.start : block.end]) for block in segment.document.blocks] == [
        (1, "The first page of it."),
        (2, "The second page of it."),
    ]
    assert not reader.warnings


def test_without_the_extra_it_is_offered_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidocr", None)
    with pytest.raises(NoTextLayerError) as caught:
        list(open_document(uploaded("a.png", picture("words"))).segments)
    assert "kedge[ocr]" in caught.value.hint


def test_pictures_without_words_and_broken_ones_are_refused() -> None:
    with pytest.raises(EmptySourceError):
        text_of("a.png", picture(""))
    for data in (picture("words")[:200], b"\x89PNG\r\n\x1a\n" + bytes(300), b"II*\x00" + b"\xff" * 50):
        with pytest.raises(SourceFault):
            text_of("a.png", data)
    huge = io.BytesIO()
    Image.new("1", (20_000, 20_000)).save(huge, "PNG")
    with pytest.raises((SourceTooLargeError, SourceFault)):
        text_of("huge.png", huge.getvalue())
