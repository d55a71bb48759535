"""PDFs made here by hand: layout rules and bad files."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kedge.core.errors import EncryptedError, NoTextLayerError, UnreadableError
from kedge.core.values import BlockKind
from kedge.ingest.parse.pdf.read import parse_pdf
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


def cells(y: float, places: dict[float, str], size: float = 10) -> list[Placed]:
    return [(x, y, size, text) for x, text in places.items()]


def table_lines(page: list[Placed]) -> list[str]:
    document = parse_pdf(make_pdf([*lines(72, 740, f"{SENTENCE} page."), *page]))
    (table,) = [block for block in document.blocks if block.kind is BlockKind.TABLE]
    return document.text[table.start : table.end].split("\n")


@pytest.mark.req("D-02")
def test_headers_groups_long_labels_and_empty_cells_stay_in_their_columns() -> None:
    page = [
        *cells(660, {290: "Three Months Ended", 450: "Nine Months Ended"}),
        *cells(648, {280: "July 1,", 350: "June 25,", 440: "July 1,", 510: "June 25,"}),
        *cells(637, {284: "2023", 354: "2022", 444: "2023", 514: "2022"}),
        *cells(622, {72: "Current assets:"}),
        *cells(608, {82: "Cash", 270: "$", 290: "28,408", 340: "$", 362: "3,646", 430: "$", 448: "28,408", 522: "646"}),
        *cells(594, {82: "Change in value of securities that were"}),
        *cells(583, {86: "sold", 284: "(1,354)", 362: "8,184", 518: "(19)"}),
        *cells(568, {72: "Total", 290: "19,549", 360: "28,184", 450: "7,351", 516: "4,946"}),
    ]
    assert table_lines(page) == [
        "| | Three Months Ended | Three Months Ended | Nine Months Ended | Nine Months Ended |",
        "| | July 1, 2023 | June 25, 2022 | July 1, 2023 | June 25, 2022 |",
        "Current assets:",
        "Cash | $28,408 | $3,646 | $28,408 | 646",
        "Change in value of securities that were sold | (1,354) | 8,184 | | (19)",
        "Total | 19,549 | 28,184 | 7,351 | 4,946",
    ]


@pytest.mark.req("D-02")
def test_figures_with_narrow_gaps_are_cells_and_the_caption_below_comes_first() -> None:
    page = [
        *cells(660, {160: "R@1", 190: "R@3", 220: "R@20"}),
        *cells(646, {150: "ChatGPT (best)"}),
        *cells(632, {100: "DPR (5)", 158: "29.6 (1)", 200: "4.5", 224: "64.6"}),
        *cells(618, {100: "GTR (5)", 158: "35.1 (2)", 200: "5.7", 224: "70.3"}),
        *cells(604, {100: "Oracle", 158: "63.8 (3)", 200: "7.8", 230: "-"}),
        *cells(580, {100: "Table 3: Results of retrieval."}),
    ]
    assert table_lines(page) == [
        "Table 3: Results of retrieval.",
        "| | R@1 | R@3 | R@20 |",
        "| ChatGPT (best) |",
        "DPR (5) | 29.6 (1) | 4.5 | 64.6",
        "GTR (5) | 35.1 (2) | 5.7 | 70.3",
        "Oracle | 63.8 (3) | 7.8 | -",
    ]


@pytest.mark.req("D-02")
def test_tables_side_by_side_are_read_one_after_the_other() -> None:
    page = [
        (x + step, 640.0 - 14 * row, 10.0, text)
        for x, name in ((72.0, "Left"), (340.0, "Right"))
        for row in range(4)
        for step, text in ((0.0, f"{name} {row}"), (80.0, f"{row}{row}.5"), (140.0, f"{row}9"))
    ]
    page += [(72.0, 570.0, 10.0, "Table 1: Of the left."), (340.0, 570.0, 10.0, "Table 2: Of the right.")]
    body = lines(72, 540, f"{SENTENCE} the page and on.", f"{SENTENCE} the page.")
    document = parse_pdf(make_pdf([*page, *body]))
    tables = [document.text[one.start : one.end] for one in document.blocks if one.kind is BlockKind.TABLE]
    assert [table.split("\n")[0] for table in tables] == ["Table 1: Of the left.", "Table 2: Of the right."]
    assert [table.split("\n")[2] for table in tables] == ["Left 1 | 11.5 | 19", "Right 1 | 11.5 | 19"]


@pytest.mark.req("D-02")
def test_prose_with_figures_and_loose_lines_is_no_table() -> None:
    text = [
        "In the year 2021 there were 12 of 30 and in the year 2022 there were 15 20",
        "of the 40 that were asked, which is more than the 11 before, by about 3 4",
        "and in all 27 of 70 said so, while 43 did not, as the table on page 3 shows 5 6",
    ]
    document = parse_pdf(make_pdf(lines(72, 700, *text)))
    assert " | " not in document.text
    assert all(block.kind is not BlockKind.TABLE for block in document.blocks)


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
def test_a_pdf_of_pictures_says_that_ocr_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rapidocr", None)  # as where the extra is not installed
    with pytest.raises(NoTextLayerError) as caught:
        parse_pdf(make_pdf([], []))
    assert "kedge[ocr]" in caught.value.hint


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


@pytest.mark.req("D-01")
def test_pages_that_hold_pictures_alone_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    import io

    import pypdfium2

    whole = pypdfium2.PdfDocument(make_pdf(lines(72, 700, SENTENCE, "the page.")))
    for _ in range(3):
        page = whole.new_page(612, 792)
        picture = pypdfium2.PdfImage.new(whole)
        picture.set_bitmap(pypdfium2.PdfBitmap.new_native(8, 8, pypdfium2.raw.FPDFBitmap_Gray))
        picture.set_matrix(pypdfium2.PdfMatrix().scale(600, 700))
        page.insert_obj(picture)
        page.gen_content()
    whole.new_page(612, 792)
    made = io.BytesIO()
    whole.save(made)
    monkeypatch.setitem(sys.modules, "rapidocr", None)  # as where the extra is not installed
    document = parse_pdf(made.getvalue())
    assert document.metadata["pages"] == 5
    (warning,) = document.warnings
    assert warning.startswith("No text on pages 2–4, but pictures.")
    assert "kedge[ocr]" in warning


def ruled(rows: int, columns: int) -> str:
    """Lines of a table whose cells are 100 wide and 20 high, its upper left corner at (72, 700)."""
    right, bottom = 72 + 100 * columns, 700 - 20 * rows
    across = [f"72 {700 - 20 * row} m {right} {700 - 20 * row} l S" for row in range(rows + 1)]
    down = [f"{72 + 100 * column} {bottom} m {72 + 100 * column} 700 l S" for column in range(columns + 1)]
    return "\n".join(across + down)


@pytest.mark.req("D-02")
def test_ruled_tables_are_found_on_every_page() -> None:
    """On the thirtieth as on the first; a cell of several lines is one, an empty cell stays."""
    cells = [
        (76.0, 686.0, 10.0, "Ship"), (176.0, 686.0, 10.0, "Anchor"), (276.0, 686.0, 10.0, "Chain"),
        (76.0, 671.0, 7.0, "Sloop of"), (76.0, 663.0, 7.0, "the line"), (276.0, 666.0, 10.0, "long"),
        (76.0, 646.0, 10.0, "Ketch"), (176.0, 646.0, 10.0, "heavy"), (276.0, 646.0, 10.0, "short"),
    ]  # fmt: skip
    pages = [[*cells, *lines(72, 560, SENTENCE, f"page {number} of this report.")] for number in range(30)]
    document = parse_pdf(make_pdf(*pages, extra=ruled(3, 3)))
    tables = [block for block in document.blocks if block.kind is BlockKind.TABLE]
    assert [block.page for block in tables] == list(range(1, 31))
    assert document.text[tables[-1].start : tables[-1].end].split("\n") == [
        "Ship | Anchor | Chain",
        "Sloop of the line | | long",
        "Ketch | heavy | short",
    ]


HEADINGS = ("PART I. Figures", "Item 1. Statements", "Note 1. Revenue", "Deferred parts")


@pytest.mark.req("D-02")
def test_words_say_how_deep_a_heading_is_and_a_cover_is_above_nothing() -> None:
    told = ("UNITED STATES", "REPORT", "Of the firm", "One Park Way", "Cupertino")
    cover = [(72.0, 720.0 - 40 * row, 20.0, text) for row, text in enumerate(told)]
    body = [
        *((72.0, 740.0 - 40 * row, 14.0, text) for row, text in enumerate(HEADINGS)),
        *lines(72, 590, SENTENCE, "the page."),
        (72.0, 540.0, 14.0, "Note 2. Debt"),
        *lines(72, 510, SENTENCE, "the page."),
        (72.0, 460.0, 16.0, "Item 2. Discussion"),
        *lines(72, 430, SENTENCE, "the page."),
    ]
    document = parse_pdf(make_pdf([*cover, *lines(72, 300, SENTENCE, "the cover.")], body))
    paths = [block.section for block in document.blocks if block.kind is BlockKind.PARAGRAPH and block.page == 2]
    assert paths == [
        ("PART I. Figures", "Item 1. Statements", "Note 1. Revenue", "Deferred parts"),
        ("PART I. Figures", "Item 1. Statements", "Note 2. Debt"),
        ("PART I. Figures", "Item 2. Discussion"),
    ]


def first_table(data: bytes) -> list[str]:
    document = parse_pdf(data)
    table = next(block for block in document.blocks if block.kind is BlockKind.TABLE)
    return document.text[table.start : table.end].split("\n")


@pytest.mark.req("D-02")
def test_rows_that_no_line_parts_stay_rows_and_the_name_of_their_group_stands_in_each() -> None:
    """Lines frame the head and groups of rows; what goes on in one column alone belongs to the row above."""
    texts = [
        (690, "Group", "Name", "Use"), (672, "ropes", "sheet", "trims a sail"), (658, "", "halyard", "hoists a sail"),
        (644, "", "", "or a flag"), (626, "chains", "rode", "holds the anchor"), (612, "", "bobstay", "holds it"),
    ]  # fmt: skip
    cells = [(76.0 + 120 * at, float(y), 10.0, word) for y, *row in texts for at, word in enumerate(row) if word]
    across = [f"72 {y} m 432 {y} l S" for y in (704, 684, 638, 606)]
    down = [f"{72 + 120 * at} 606 m {72 + 120 * at} 704 l S" for at in range(4)]
    assert first_table(make_pdf(cells, extra="\n".join(across + down))) == [
        "Group | Name | Use",
        "ropes | sheet | trims a sail",
        "ropes | halyard | hoists a sail or a flag",
        "chains | rode | holds the anchor",
        "chains | bobstay | holds it",
    ]


@pytest.mark.req("D-02")
def test_tables_of_words_have_columns_where_their_cells_begin() -> None:
    """Also where a long cell nearly meets the next; a line that begins in a later column goes on there."""
    texts = [
        (700, "Name", "Meaning"), (686, "luff", "the edge of a sail"), (672, "", "that meets the wind"),
        (658, "leech and clew", "edge and corner behind"), (644, "foot", "the edge below"), (630, "tack", "a corner"),
    ]  # fmt: skip
    cells = [(72.0 + 76 * at, float(y), 10.0, word) for y, *row in texts for at, word in enumerate(row) if word]
    assert first_table(make_pdf([*cells, *lines(72, 560, SENTENCE, "the page.")])) == [
        "Name | Meaning",
        "luff | the edge of a sail that meets the wind",
        "leech and clew | edge and corner behind",
        "foot | the edge below",
        "tack | a corner",
    ]


@pytest.mark.req("D-02")
def test_letters_of_fonts_that_say_nothing_about_themselves_are_those_of_tex() -> None:
    said = "The \\034rst e\\033ect of \\020\\034ve o\\036cers\\021 was shown in 1850\\0251855."
    data = make_pdf([(72.0, 700.0, 11.0, "PLACE")]).replace(b"(PLACE)", f"({said})".encode())
    assert parse_pdf(data).text == "The first effect of “five officers” was shown in 1850–1855."


@pytest.mark.req("D-02")
def test_a_number_in_a_drawing_is_no_section_and_appendices_are_as_deep_as_sections() -> None:
    body = [
        (72.0, 740.0, 14.0, "1 Introduction"), *lines(72, 715, SENTENCE, "the page."),
        (72.0, 660.0, 14.0, "80 Boats"), *lines(72, 640, SENTENCE, "the page."),
        (72.0, 580.0, 14.0, "1.1 Ropes"), *lines(72, 560, SENTENCE, "the page."),
        (72.0, 500.0, 14.0, "References"), *lines(72, 480, SENTENCE, "the page."),
        (72.0, 420.0, 14.0, "A Splices"), *lines(72, 400, SENTENCE, "the page."),
    ]  # fmt: skip
    document = parse_pdf(make_pdf(body))
    headings = [block.section for block in document.blocks if block.kind is BlockKind.HEADING]
    assert headings == [("1 Introduction",), ("1 Introduction", "1.1 Ropes"), ("References",), ("A Splices",)]
