"""What a PDF page says besides its text: columns, running heads, code and plots, in PDFs made here by hand."""

from __future__ import annotations

import pytest

from kedge.core.values import BlockKind, ParsedDocument
from kedge.ingest.parse.pdf.read import parse_pdf
from kedge.text.statements.cut import statements
from tests.ingest.conftest import make_pdf

Placed = tuple[float, float, float, str]
SENTENCE = "This line of body text is long enough to fill the whole width of the column on"


def typed(x: float, y: float, *lines: str, lead: float = 12) -> str:
    """Lines in a font of code, each below the one before."""
    shown = [line.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)") for line in lines]
    return "\n".join(
        f"BT /F2 10 Tf 1 0 0 1 {x} {y - lead * number} Tm ({line}) Tj ET" for number, line in enumerate(shown)
    )


def columns(first: str, second: str, rows: int = 14) -> list[Placed]:
    page: list[Placed] = []
    for number in range(rows):
        page.append((60, 700 - 14 * number, 10, f"{first} line {number} has these few words now"))
        page.append((330, 700 - 14 * number, 10, f"{second} line {number} has some other words"))
    return page


def blocks(document: ParsedDocument, kind: BlockKind) -> list[str]:
    return [document.text[block.start : block.end] for block in document.blocks if block.kind is kind]


@pytest.mark.req("D-01", "D-02")
def test_a_page_of_short_lines_has_the_columns_of_the_pages_around_it() -> None:
    names = [f"name{number}" for number in range(12)]
    short = [
        *((60.0, 700.0 - 14 * number, 10.0, name) for number, name in enumerate(names)),
        *((330.0, 700.0 - 14 * number, 10.0, f"other{number}") for number in range(12)),
    ]
    text = parse_pdf(make_pdf(columns("left", "right"), short, columns("third", "fourth"))).text
    assert text.index("name11") < text.index("other0")
    assert text.index("left line 13") < text.index("right line 0") < text.index("name0") < text.index("third line 0")


@pytest.mark.req("D-02")
def test_a_wide_table_among_pages_of_columns_stays_whole() -> None:
    rows = [("Net sales", "81,797", "82,959"), ("Cost", "45,384", "47,074"), ("Margin", "36,413", "35,885")]
    table = [
        (x, 600.0 - 14 * n, 10.0, cell)
        for n, row in enumerate(rows)
        for x, cell in zip((90, 280, 400), row, strict=True)
    ]
    document = parse_pdf(make_pdf(columns("left", "right"), table, columns("third", "fourth")))
    assert "Net sales | 81,797 | 82,959" in document.text


@pytest.mark.req("D-01")
def test_running_heads_go_by_the_number_of_their_page_and_by_a_name_that_comes_again() -> None:
    sections = ["Origins", "Aims of it", "Ways to go", "Findings", "What follows", "Ends"]
    pages = [
        [
            (72.0, 760.0, 9.0, section if n % 2 else f"{n + 7} {section}"),
            (400.0, 760.0, 9.0, f"{section} again {n + 7}" if n % 2 else "The Great Report"),
            (72.0, 700.0, 11.0, f"{SENTENCE} page {section}."),
            (72.0, 686.0, 11.0, f"Words about {section.lower()} stay."),
        ]
        for n, section in enumerate(sections)
    ]
    text = parse_pdf(make_pdf(*pages)).text
    assert "Great Report" not in text
    assert "again" not in text
    assert all(f"Words about {section.lower()} stay." in text for section in sections)


@pytest.mark.req("D-02")
def test_a_session_is_code_and_the_table_it_prints_has_its_columns() -> None:
    session = typed(
        72, 600, "> fit <- lm(speed ~ dist)", "> summary(fit)", "", "Residuals were small: <1e-3", "",
        "            Estimate Std. Error Pr(>|t|)", "(Intercept)  8.28391    0.87438  < 2e-16",
        "dist         0.16557    0.01749 1.49e-12",
    )  # fmt: skip
    body = [(72.0, 700.0, 11.0, f"{SENTENCE} page."), (72.0, 686.0, 11.0, "The model is fitted as follows:")]
    document = parse_pdf(make_pdf(body, extra=session))
    code, table = blocks(document, BlockKind.CODE), blocks(document, BlockKind.TABLE)
    assert code[0].startswith("```\n> fit <- lm(speed ~ dist)\n> summary(fit)")
    assert table == [
        "| | Estimate | Std. Error | Pr(>∣t∣) |\n"
        "(Intercept) | 8.28391 | 0.87438 | < 2e-16\n"
        "dist | 0.16557 | 0.01749 | 1.49e-12"
    ]
    read = [one.read for one in statements(document.text)]
    assert any("dist" in one and "Std. Error: 0.01749" in one for one in read)
    assert any(one.startswith("The model is fitted as follows: > fit") for one in read)


@pytest.mark.req("D-02")
def test_code_with_words_that_align_is_no_table_and_keeps_its_indent() -> None:
    code = typed(
        72, 600, "<source>", "    source      APRSIS", "    relay-type  third-party", "    delay       5", "</source>"
    )
    document = parse_pdf(make_pdf([(72.0, 700.0, 11.0, f"{SENTENCE} page.")], extra=code))
    assert blocks(document, BlockKind.TABLE) == []
    assert "    relay-type  third-party" in blocks(document, BlockKind.CODE)[0]


@pytest.mark.req("D-02")
def test_a_name_of_code_alone_on_a_line_of_prose_stays_in_it() -> None:
    page = [(72.0, 700.0, 11.0, f"{SENTENCE} page by"), (72.0, 672.0, 11.0, "is called and nothing else of it is.")]
    document = parse_pdf(make_pdf(page, extra=typed(72, 686, "independence_test")))
    assert [block.kind for block in document.blocks] == [BlockKind.PARAGRAPH]


def axes(x: float, y: float) -> str:
    """Two axes with their ticks, as a plot has them."""
    strokes = [f"{x} {y} m {x + 200} {y} l S", f"{x} {y} m {x} {y + 150} l S"]
    strokes += [f"{x + 50 * n} {y} m {x + 50 * n} {y - 7} l S" for n in range(5)]
    strokes += [f"{x} {y + 50 * n} m {x - 7} {y + 50 * n} l S" for n in range(4)]
    return "\n".join(strokes)


@pytest.mark.req("D-02")
def test_a_plot_is_no_table_and_its_words_are_labels() -> None:
    page: list[Placed] = [(72.0, 720.0, 11.0, f"{SENTENCE} page.")]
    page += [(145.0 + 50 * n, 382.0, 8.0, str(10 * n)) for n in range(5)]
    page += [(130.0, 398.0 + 50 * n, 8.0, str(n)) for n in range(4)]
    page += [(220.0, 365.0, 9.0, "Years of age"), (180.0, 500.0, 8.0, "Men"), (300.0, 500.0, 8.0, "Women")]
    page += [(72.0, 320.0, 11.0, "Figure 1: What the ages of all men and women of the study were at its beginning.")]
    document = parse_pdf(make_pdf(page, extra=axes(150, 400)))
    said = [document.text[block.start : block.end] for block in document.blocks]
    assert said[0] == f"{SENTENCE} page."
    assert said[1:-1] == ["Men Women; Years of age"]
    assert said[-1].startswith("Figure 1: ")
    assert blocks(document, BlockKind.TABLE) == blocks(document, BlockKind.HEADING) == []
