"""PDFs made here by hand: layout rules and bad files."""

from __future__ import annotations

from pathlib import Path

import pytest

from kedge.core.errors import EncryptedError, NoTextLayerError, UnreadableError
from kedge.core.values import BlockKind
from kedge.ingest.parse.pdf import parse_pdf
from tests.ingest.conftest import encrypted_pdf, make_pdf

Placed = tuple[float, float, float, str]
SENTENCE = "This line of body text is long enough to fill the whole width of the column on"


def lines(x: float, y: float, *texts: str, size: float = 11) -> list[Placed]:
    return [(x, y - 14 * number, size, text) for number, text in enumerate(texts)]


@pytest.mark.req("D-01", "D-02")
def test_pages_headings_paragraphs_and_hyphens() -> None:
    first = [
        (72.0, 720.0, 22.0, "The Great Report"),
        *lines(72, 680, SENTENCE, "the page and goes on with a hyphen-", "ated word."),
    ]
    second = [(72.0, 720.0, 14.0, "2 Methods"), *lines(72, 690, SENTENCE, "the second page.")]
    document = parse_pdf(make_pdf(first, second))
    assert document.title == "The Great Report"
    assert [(block.kind, block.page, block.level) for block in document.blocks] == [
        (BlockKind.HEADING, 1, 1),
        (BlockKind.PARAGRAPH, 1, 0),
        (BlockKind.HEADING, 2, 2),
        (BlockKind.PARAGRAPH, 2, 0),
    ]
    assert "with a hyphenated word." in document.text
    assert document.blocks[-1].section == ("The Great Report", "2 Methods")


@pytest.mark.req("D-01")
def test_running_heads_and_page_numbers_are_dropped() -> None:
    pages = [
        [
            (72.0, 760.0, 9.0, "Journal of Examples"),
            *lines(72, 700, f"{SENTENCE} page.", f"Words {n}."),
            (300.0, 30.0, 9.0, str(n)),
        ]
        for n in (11, 12, 13, 14)
    ]
    text = parse_pdf(make_pdf(*pages)).text
    assert "Journal" not in text
    assert "Words 12." in text
    assert not any(line.strip() in ("11", "12") for line in text.split("\n"))


@pytest.mark.req("D-01")
def test_two_columns_are_read_one_after_the_other() -> None:
    page: list[Placed] = []
    for number in range(14):
        page.append((60, 700 - 14 * number, 10, f"left column line {number} has these words now"))
        page.append((330, 700 - 14 * number, 10, f"right column line {number} has other words"))
    text = parse_pdf(make_pdf(page)).text
    assert text.index("left column line 13") < text.index("right column line 0")


@pytest.mark.req("D-02")
def test_aligned_cells_are_a_table() -> None:
    rows = [("Net sales", "81,797", "82,959"), ("Cost", "45,384", "47,074"), ("Margin", "36,413", "35,885")]
    page = [
        (x, 600.0 - 14 * n, 10.0, cell)
        for n, row in enumerate(rows)
        for x, cell in zip((72, 300, 400), row, strict=True)
    ]
    document = parse_pdf(make_pdf([*lines(72, 700, f"{SENTENCE} page."), *page]))
    table = document.blocks[-1]
    assert table.kind is BlockKind.TABLE
    assert document.text[table.start : table.end].split("\n")[0] == "Net sales | 81,797 | 82,959"


@pytest.mark.req("D-02")
def test_a_ruled_table_is_found_by_its_lines() -> None:
    grid = "".join(f"72 {y} m 372 {y} l S " for y in range(500, 601, 25))
    grid += "".join(f"{x} 500 m {x} 600 l S " for x in (72, 172, 272, 372))
    cells = [
        (x + 4.0, y + 8.0, 10.0, f"r{r}c{c}")
        for r, y in enumerate((575, 550, 525, 500))
        for c, x in enumerate((72, 172, 272))
    ]
    document = parse_pdf(make_pdf([*lines(72, 700, f"{SENTENCE} page."), *cells], extra=grid))
    table = next(block for block in document.blocks if block.kind is BlockKind.TABLE)
    assert document.text[table.start : table.end].split("\n")[1] == "r1c0 | r1c1 | r1c2"


@pytest.mark.req("D-01")
@pytest.mark.parametrize(
    ("info", "title"),
    [
        ("/Title (A Sensible Title)", "A Sensible Title"),
        ("/Title (Microsoft Word - draft.docx)", None),
        ("/Title (0001-23)", None),
    ],
)
def test_title_from_properties_only_if_sensible(info: str, title: str | None) -> None:
    document = parse_pdf(make_pdf(lines(72, 700, SENTENCE, "the page."), info=f"{info} /Author (Ann Author)"))
    assert document.title == title
    assert document.author == "Ann Author"


@pytest.mark.req("D-01")
def test_a_pdf_of_pictures_says_that_ocr_is_needed() -> None:
    with pytest.raises(NoTextLayerError) as caught:
        parse_pdf(make_pdf([], []))
    assert "OCR" in caught.value.hint


@pytest.mark.req("D-01")
def test_an_encrypted_pdf_is_refused() -> None:
    with pytest.raises(EncryptedError):
        parse_pdf(encrypted_pdf())


@pytest.mark.req("D-01")
@pytest.mark.parametrize("data", [b"%PDF-1.4 damaged", b"no pdf", make_pdf([(72, 700, 11, SENTENCE)])[:200]])
def test_a_damaged_pdf_is_refused(data: bytes, tmp_path: Path) -> None:
    with pytest.raises(UnreadableError):
        parse_pdf(data)
    path = tmp_path / "x.pdf"
    path.write_bytes(data)
    with pytest.raises(UnreadableError):
        parse_pdf(path)
