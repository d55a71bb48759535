"""Adding documents through the page."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from kedge.core.settings import load_settings
from tests.support.surfaces import DOCUMENTS, EMBEDDER, QUESTION
from tests.surfaces.page.conftest import Watch
from tests.surfaces.page.served import Served, serving
from tests.surfaces.page.steps import ask

Shot = Callable[[Any, str], None]


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    home = tmp_path_factory.mktemp("empty") / "home"
    with serving(load_settings(environ={}, home=home, port=0, embedder=EMBEDDER), kinds=False) as served:
        yield served


@pytest.mark.req("G-06", "D-01", "D-10")
def test_the_first_visit_shows_how_to_begin_and_an_upload_can_be_asked(
    empty: Served, open_page: Callable[..., Any], tmp_path: Path, shot: Shot
) -> None:
    page = open_page(empty.url)
    expect(page.get_by_role("heading", name="Nothing to ask yet")).to_be_visible()
    expect(page.locator("#begin code")).to_have_text("kedge ingest docs/")
    expect(page.get_by_label("Your question")).not_to_be_visible()
    shot(page, "empty")
    page.locator("#begin").get_by_role("button", name="Add sources").click()
    dialog = page.get_by_role("dialog", name="Add sources")
    offered = str(dialog.locator("#files").get_attribute("accept")).split(",")
    assert {".docx", ".xlsx", ".pptx", ".eml", ".epub", ".pdf", ".md", ".csv", ".zip"} <= set(offered)
    paths = []
    for name, text in DOCUMENTS.items():
        paths.append(tmp_path / name)
        paths[-1].write_text(text, "utf-8")
    broken = tmp_path / "broken.pdf"
    broken.write_bytes(b"%PDF-1.4 not really")
    dialog.get_by_label("Collection").fill("boats")
    expect(dialog).to_contain_text("A new collection “boats” will be made.")
    empty_one = tmp_path / "hollow.txt"
    empty_one.write_bytes(b"")
    dialog.locator("#files").set_input_files([*paths, broken, empty_one])
    expect(dialog.locator("#chosen li")).to_have_count(5)
    expect(dialog.locator("#chosen li", has_text="hollow.txt")).to_contain_text("empty")
    shot(page, "upload")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog.locator("#upload-step")).to_have_text(
        re.compile(r"Done: 3 documents added \(\d+ passages\), 2 not readable\."), timeout=30_000
    )
    assert dialog.get_by_role("progressbar").evaluate("bar => bar.value") == 100
    expect(dialog.locator("#upload-faults")).to_contain_text("broken.pdf")
    expect(dialog.locator("#upload-faults")).to_contain_text("hollow.txt is empty.")
    shot(page, "uploaded")
    dialog.get_by_role("button", name="Ask about it").click()
    expect(page.get_by_label("Your question")).to_be_focused()
    expect(page.get_by_label("in", exact=True)).to_have_value("boats")
    expect(ask(page, QUESTION, "boats").locator(".said")).to_contain_text("anchor bend")


def test_files_that_are_dropped_are_chosen(page: Any) -> None:
    page.get_by_role("button", name="Add sources").click()
    dialog = page.get_by_role("dialog", name="Add sources")
    carried = page.evaluate_handle(
        """() => {
          const carried = new DataTransfer();
          for (const name of ["minutes.docx", "berths.csv"]) carried.items.add(new File(["words"], name));
          return carried;
        }"""
    )
    dialog.locator("#drop").dispatch_event("drop", {"dataTransfer": carried})
    expect(dialog.locator("#chosen li")).to_contain_text(["minutes.docx", "berths.csv"])


def test_what_cannot_be_sent_is_said_before_it_is_sent(page: Any, tmp_path: Path) -> None:
    page.get_by_role("button", name="Add sources").click()
    dialog = page.get_by_role("dialog", name="Add sources")
    add = dialog.get_by_role("button", name="Add", exact=True)
    add.click()
    expect(dialog.get_by_role("alert")).to_have_text("Choose at least one file, or give an address.")
    large = tmp_path / "large.txt"
    large.write_text("word " * 50_000, "utf-8")
    dialog.locator("#files").set_input_files([large])
    add.click()
    expect(dialog.get_by_role("alert")).to_contain_text("at most 195 kB go at once")
    small = tmp_path / "small.txt"
    small.write_text("A short note.", "utf-8")
    dialog.locator("#files").set_input_files([small])
    dialog.get_by_label("Collection").fill("<bad>")
    add.click()
    expect(dialog.get_by_role("alert")).to_contain_text("A collection's name")
    page.keyboard.press("Escape")
    expect(dialog).not_to_be_visible()
    expect(page.get_by_role("button", name="Add sources")).to_be_focused()


def test_what_the_server_refuses_is_said(page: Any, tmp_path: Path, watch: Watch) -> None:
    watch.replies_may_fail = True
    nothing = tmp_path / "nothing.txt"
    nothing.write_bytes(b"")
    page.get_by_role("button", name="Add sources").click()
    dialog = page.get_by_role("dialog", name="Add sources")
    dialog.locator("#files").set_input_files([nothing])
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("nothing.txt is empty.")
    expect(dialog.get_by_role("button", name="Add", exact=True)).to_be_visible()


def test_a_table_goes_into_a_collection_of_its_own_and_replaces_the_one_before(page: Any, shot: Shot) -> None:
    """What becomes of it is another part's: its replies are put in here, as it gives them."""
    job = {
        "job_id": "j1", "kind": "table", "status": "complete", "progress": 100, "total_passages": 77,
        "processed_passages": 77, "files_processed": 1, "files_skipped": 0, "files_failed": 0, "passages_created": 77,
        "errors": [], "warnings": ["products.csv: 1 row put aside: line 9"], "error_message": None,
    }  # fmt: skip
    sent: list[str] = []

    def taken(route: Any) -> None:
        sent.append(route.request.post_data_buffer.decode("utf-8", "replace"))
        route.fulfill(json={"job_id": "j1"}, status=202)

    page.route("**/api/ingest", taken)
    page.route("**/api/ingest/j1", lambda route: route.fulfill(json=job))
    page.reload()
    expect(page.locator("#collection option[value=sea]")).to_have_count(1)
    page.get_by_label("in", exact=True).select_option("sea")
    page.get_by_role("button", name="Add sources").click()
    dialog = page.get_by_role("dialog", name="Add sources")
    dialog.get_by_label("Table").check()
    expect(dialog.get_by_label("Collection")).to_have_value("sales")  # not the documents of `sea`
    expect(dialog).to_contain_text("What “sales” holds will be replaced.")
    dialog.get_by_label("Collection").fill("sea")
    expect(dialog).to_contain_text("“sea” holds another kind of knowledge.")
    dialog.get_by_label("Collection").fill("")
    dialog.get_by_label("Documents").focus()
    files = [{"name": "products.csv", "mimeType": "text/csv", "buffer": b"name,price\nChai,18\n"}]
    dialog.locator("#files").set_input_files(files)
    expect(dialog.get_by_label("Collection")).to_have_value("products")
    shot(page, "upload-table")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog.locator("#upload-step")).to_have_text("Done: 1 file added (77 rows).")
    expect(dialog.locator("#upload-faults")).to_contain_text("1 row put aside")
    (form,) = sent
    fields = dict(re.findall(r'name="(collection|kind)"\r\n\r\n(\w+)\r\n', form))
    assert fields == {"collection": "products", "kind": "table"}
