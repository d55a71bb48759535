"""Sources as they are: a filing with its table, documentation with code, lists and formulas; marked where cited."""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from openpyxl import Workbook
from playwright.sync_api import expect

from kedge.core.settings import load_settings
from tests.ingest.conftest import make_pdf
from tests.support.surfaces import EMBEDDER, follow, http_client
from tests.surfaces.page.conftest import Watch
from tests.surfaces.page.served import Served, serving
from tests.surfaces.page.steps import PHONE, ask

Shot = Callable[[Any, str], None]
GUIDE = r"""# Segment tree

A segment tree answers questions over ranges.

## Cost

The height of the segment tree is $O(\log n)$, so that a question visits few vertices. A tree costs $5 and $10 a year.
The vertex $v$ holds the range $[l, r]$ of the array, a leaf the element $a[i]$.

$$\sum_{i=1}^{n} i = \frac{n(n+1)}{2}$$

## Building it

1. Split the range into two halves.
2. Build both halves:
    - the **left** one first,
    - then the *right* one.

> The leaves hold the numbers themselves.

```python
def build(node):
    return merge(build(node.left), build(node.right))
```

## Sizes

| Elements | Vertices | Megabytes |
|---|---|---|
| 1,000 | 4,000 | 0.03 |
| 1,000,000 | 4,000,000 | 32 |
"""
FEES = """<html><head><title>Harbour fees</title></head><body><h1>Harbour fees</h1>
<p>Fees are paid at the <b>office</b> of the harbour master.</p><h2>Prices of berths</h2>
<table><tr><th>Length</th><th>Price of a berth</th></tr><tr><td>Ten metres</td><td>44 crowns</td></tr>
<tr><td>Twenty metres</td><td>97 crowns</td></tr></table></body></html>"""
NUMBERS = r"""# Numbers

## Formulas for the $n$-th number { data-toc-label="Formulas for the <i>n</i>-th" #formulas }

The ladder number has a formula that is called the rung formula:

$$L_n = \frac{n(n+1)}{2} + 1$$

It is easy to prove by induction.

Call `rung` with keys alone, as in rung(n, *, key=None) and step(n, *, key=None), **always** and *surely*.
"""
ROWS = [("Americas", "35,383", "37,472"), ("Europe", "20,205", "19,287"), ("Japan", "4,821", "5,446")]


def filing() -> bytes:
    """Two pages of a report like a 10-Q: prose, and a table without lines."""
    prose = [
        (72, 720, 16, "Quarterly report on Form 10-Q"),
        (72, 690, 11, "For the quarterly period ended July 1, 2023"),
        (72, 660, 11, "The company repurchased shares of its common stock worth eighteen billion dollars."),
    ]
    table = [
        (72, 720, 12, "Net sales by segment (in millions)"),
        (300, 700, 10, "July 1, 2023"),
        (420, 700, 10, "June 25, 2022"),
    ]
    for number, (name, now, then) in enumerate(ROWS):
        y = 680 - 18 * number
        table += [(72, y, 10, name), (310, y, 10, now), (430, y, 10, then)]
    table.append((72, 560, 11, "Sales in Europe grew because more phones were sold there than in the year before."))
    return make_pdf(prose, table, info="/Title (Quarterly report)")


def fleet() -> bytes:
    """Two sheets, so small that they are one passage."""
    book = Workbook()
    book.active.title = "Boats"
    book.create_sheet("Lamps")
    for sheet, rows in {
        "Boats": [("Boat", "Crew"), ("Heron", 4)],
        "Lamps": [("Lamp", "Colour"), ("Stern lamp", "white")],
    }.items():
        for row in rows:
            book[sheet].append(row)
    made = io.BytesIO()
    book.save(made)
    return made.getvalue()


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("sources")
    settings = load_settings(environ={}, home=folder / "home", port=0, embedder=EMBEDDER, threshold=0.2)
    (folder / "report.pdf").write_bytes(filing())
    (folder / "fleet.xlsx").write_bytes(fleet())
    (folder / "numbers.md").write_text(NUMBERS, "utf-8")
    with serving(settings, kinds=False) as served, http_client(served.url) as client:
        files = [("file", ("segment-tree.md", GUIDE.encode())), ("file", ("fees.html", FEES.encode()))]
        job = client.post("/api/ingest", files=files, data={"collection": "guide"}).raise_for_status().json()
        assert follow(client, job["job_id"])["status"] == "complete"
        body = {"sources": [str(folder / "report.pdf")], "collection": "filings"}
        job = client.post("/api/ingest", json=body).raise_for_status().json()
        assert follow(client, job["job_id"])["status"] == "complete"
        for name, collection in (("fleet.xlsx", "fleet"), ("numbers.md", "numbers")):
            body = {"sources": [str(folder / name)], "collection": collection}
            job = client.post("/api/ingest", json=body).raise_for_status().json()
            assert follow(client, job["job_id"])["status"] == "complete"
        yield served


@pytest.mark.req("D-02", "D-13")
def test_a_filing_opens_at_its_page_with_the_row_and_the_cell_marked(
    shelf: Served, open_page: Callable[..., Any], shot: Shot
) -> None:
    page = open_page(shelf.url)
    turn = ask(page, "What were the net sales in Europe for July 1, 2023?", "filings")
    expect(turn.locator(".said")).to_contain_text("20,205")
    turn.locator(".chip").first.click()
    sheet = page.locator("#panel .sheet")
    expect(sheet.get_by_role("img", name="Page 2 of 2")).to_be_visible(timeout=30_000)
    places = sheet.locator(".places .place")
    expect(places.first).to_be_in_viewport()
    paper = sheet.locator(".paper").bounding_box()
    for box in (place.bounding_box() for place in places.all()):
        share = (box["y"] + box["height"] / 2 - paper["y"]) / paper["height"]
        assert 0.05 < share < 0.35  # the table stands in the upper third
    shot(page, "source-table")


def test_on_a_phone_a_page_opens_large_enough_to_read_with_the_cell_in_sight(
    shelf: Served, open_page: Callable[..., Any], shot: Shot
) -> None:
    page = open_page(shelf.url, **PHONE)
    turn = ask(page, "What were the net sales in Europe for July 1, 2023?", "filings")
    turn.locator(".chip").first.tap()
    sheet = page.locator("#panel .sheet")
    expect(sheet.locator(".place").first).to_be_in_viewport(ratio=0.9)
    seen, paper = sheet.locator(".sheet-scroll").bounding_box(), sheet.locator(".paper").bounding_box()
    assert paper["width"] > 1.8 * seen["width"]
    shot(page, "phone-page")
    for _ in range(3):
        sheet.get_by_role("button", name="Smaller").tap()
    expect(sheet.get_by_role("button", name="Smaller")).to_be_disabled()


def test_a_file_that_has_gone_falls_back_to_its_text(
    shelf: Served, open_page: Callable[..., Any], watch: Watch
) -> None:
    watch.replies_may_fail = True
    page = open_page(shelf.url)
    turn = ask(page, "What did the company repurchase?", "filings")
    page.route("**/pages/**", lambda route: route.fulfill(status=404, json={"error": {"message": "It has changed."}}))
    turn.locator(".chip").first.click()
    expect(page.locator("#panel .fallen")).to_have_text("It has changed. This is its text.")
    expect(page.locator("#panel mark").first).to_be_visible()
    expect(page.locator("#panel").get_by_role("button", name="Page", exact=True)).to_have_count(0)


def test_documentation_is_rendered_with_the_statement_marked(
    shelf: Served, open_page: Callable[..., Any], shot: Shot
) -> None:
    page = open_page(shelf.url)
    turn = ask(page, "What is the height of the segment tree?", "guide")
    expect(turn.locator(".said .katex").first).to_be_visible()
    turn.locator(".chip").first.click()
    panel = page.locator("#panel-body")
    mark = panel.locator("mark#cited")
    expect(mark).to_contain_text("The height of the segment tree is")
    expect(mark).to_be_in_viewport()
    expect(mark.locator(".katex")).to_have_count(1)
    expect(panel.get_by_role("heading", name="Building it")).to_have_count(1)
    expect(panel.locator(".math .katex-display")).to_have_count(1)
    formulas = panel.locator(".formula annotation").all_text_contents()
    assert formulas[:4] == [r"O(\log n)", "v", "[l, r]", "a[i]"]
    expect(panel.locator("ol > li > ul > li")).to_have_text(["the left one first,", "then the right one."])
    expect(panel.locator("blockquote")).to_have_text("The leaves hold the numbers themselves.")
    expect(panel.locator("pre")).to_contain_text("def build(node):\n    return merge(")
    expect(panel.get_by_role("columnheader")).to_have_text(["Elements", "Vertices", "Megabytes"])
    expect(panel).to_contain_text("costs $5 and $10 a year")  # prices are no formula
    shot(page, "source-markdown")
    page.get_by_role("button", name="As written").click()
    expect(panel).to_contain_text(r"$O(\log n)$")
    expect(panel.locator("mark")).to_contain_text("The height of the segment tree is")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download").click()
    assert Path(saved.value.path()).read_text("utf-8") == GUIDE


def test_a_table_of_a_document_has_its_row_marked(shelf: Served, open_page: Callable[..., Any]) -> None:
    page = open_page(shelf.url)
    turn = ask(page, "How many vertices for 1,000,000 elements?", "guide")
    turn.locator(".chip").first.click()
    panel = page.locator("#panel-body")
    expect(panel.locator("td mark").first).to_be_visible()
    marked = " ".join(panel.locator("td mark").all_text_contents())
    assert "4,000,000" in marked


def test_a_source_names_the_sheet_that_is_cited_and_not_the_first_of_its_passage(
    shelf: Served, open_page: Callable[..., Any], shot: Shot
) -> None:
    page = open_page(shelf.url)
    turn = ask(page, "What colour is the stern lamp?", "fleet")
    expect(turn.locator(".said")).to_contain_text("white")
    expect(turn.locator(".source .place").first).to_have_text("Lamps · sheet 2")
    turn.locator(".chip").first.click()
    expect(page.locator("#panel-kicker")).to_have_text("Source [1] · sheet 2")
    expect(page.locator("#panel-foot")).to_contain_text("Lamps")
    expect(page.locator("#panel-foot")).not_to_contain_text("Boats")
    expect(page.locator("#panel-body td mark", has_text="white").first).to_be_visible()
    shot(page, "source-sheet")


def test_a_formula_that_is_cited_leaves_no_signs_behind(
    shelf: Served, open_page: Callable[..., Any], shot: Shot
) -> None:
    page = open_page(shelf.url)
    turn = ask(page, "What is the rung formula of the ladder number?", "numbers")
    expect(turn.locator(".said .katex-display")).to_have_count(1)
    expect(turn.locator(".source .place .katex").first).to_be_visible()  # of its section's name
    turn.locator(".chip").first.click()
    panel = page.locator("#panel-body")
    expect(panel.locator("mark#cited")).to_contain_text("The ladder number has a formula")
    expect(panel.locator("mark .katex-display")).to_have_count(1)
    formula, around = (panel.locator(f"{one}").bounding_box() for one in ("mark .katex-display", ".math mark"))
    assert around["height"] >= formula["height"]  # it stands on what marks it
    expect(panel.get_by_role("heading").last).to_have_text(re.compile(r"^Formulas for the .*-th number$"))
    expect(panel).to_contain_text("rung(n, *, key=None) and step(n, *, key=None), always and surely.")
    expect(panel.locator("em")).to_have_text(["surely"])
    assert not re.search("[\ue000-\ue003]", panel.inner_text())
    shot(page, "source-formula")


def test_html_is_shown_with_its_headings_and_tables(shelf: Served, open_page: Callable[..., Any], shot: Shot) -> None:
    page = open_page(shelf.url)
    turn = ask(page, "What is the price of a berth for twenty metres?", "guide")
    turn.locator(".source", has_text="Harbour fees").first.click()
    panel = page.locator("#panel-body")
    expect(panel.get_by_role("columnheader")).to_have_text(["Length", "Price of a berth"])
    expect(panel.locator("td mark", has_text="97 crowns").first).to_be_visible()
    shot(page, "source-html")


def test_formulas_are_fetched_only_where_there_are_some(shelf: Served, open_page: Callable[..., Any]) -> None:
    page = open_page(shelf.url)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    expect(page.locator("#collection option[value=guide]")).to_have_count(1)
    ask(page, "What did the company repurchase?", "filings")
    assert [url for url in asked if "katex" in url] == []
    assert {url.split("/")[2] for url in asked} == {shelf.url.split("/")[2]}  # nothing from elsewhere
