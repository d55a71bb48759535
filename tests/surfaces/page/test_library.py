"""The library: what there is, found by name, chosen for a question, taken in again, deleted with time to undo."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from kedge.core.settings import load_settings
from tests.support.surfaces import EMBEDDER, follow, http_client
from tests.surfaces.page.conftest import Watch
from tests.surfaces.page.served import Served, serving
from tests.surfaces.page.steps import ask

Shot = Callable[[Any, str], None]
NOTES = {
    "red.md": "# Red boat\n\nThe red boat carries a crew of four sailors. Its anchor weighs nine kilograms.\n",
    "blue.md": "# Blue boat\n\nThe blue boat carries a crew of seven sailors. Its anchor weighs twelve kilograms.\n",
    "green.md": "# Green boat\n\nThe green boat carries a crew of two sailors. Its anchor weighs five kilograms.\n",
}


@pytest.fixture
def fleet(tmp_path: Path) -> Iterator[Served]:
    settings = load_settings(environ={}, home=tmp_path / "home", port=0, embedder=EMBEDDER, threshold=0.2)
    with serving(settings, kinds=False) as served, http_client(served.url) as client:
        files = [("file", (name, text)) for name, text in NOTES.items()]
        job = client.post("/api/ingest", files=files, data={"collection": "fleet"}).raise_for_status().json()
        assert follow(client, job["job_id"])["status"] == "complete"
        yield served


def names(page: Any) -> list[str]:
    return list(page.locator("#shelf-list .title").all_text_contents())


@pytest.mark.req("G-06")
def test_documents_are_listed_found_and_chosen_for_a_question(
    fleet: Served, open_page: Callable[..., Any], shot: Shot
) -> None:
    page = open_page(fleet.url)
    page.get_by_role("button", name="Library").click()
    library = page.get_by_role("dialog", name="Library")
    rows = library.locator("tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.first).to_contain_text("markdown")
    expect(rows.first).to_contain_text("1 passage")
    expect(rows.first).to_contain_text("Ready")
    shot(page, "library")
    library.get_by_label("Search the documents by name").fill("blue boat")
    expect(rows).to_have_count(1)
    assert names(page) == ["Blue boat"]
    library.get_by_label("Choose Blue boat").check()
    expect(library.locator("#shelf-chosen")).to_have_text("1 document chosen")
    library.get_by_role("button", name="Ask these").click()
    expect(page.locator("#scope")).to_have_text("Blue boat")
    with page.expect_request("**/turns") as sent:
        turn = ask(page, "How many sailors are in the crew?", "fleet")
    assert len(sent.value.post_data_json["filter"]["document_id"]) == 1
    expect(turn.locator(".kicker")).to_have_text("fleet · 1 document chosen")
    expect(turn.locator(".source .title").first).to_have_text("Blue boat")
    page.get_by_role("button", name="Ask all documents again").click()
    expect(page.locator("#scope")).to_have_text("All documents")


def test_a_click_before_the_collections_are_known_opens_the_library(
    fleet: Served, open_page: Callable[..., Any]
) -> None:
    held: list[Any] = []
    page = open_page(fleet.url)

    def hold(route: Any) -> None:
        held.append(route)

    page.route("**/about.json", hold)
    with page.expect_request("**/about.json"):
        page.reload()
    page.get_by_role("button", name="Library").click()
    held.pop().continue_()
    expect(page.get_by_role("dialog", name="Library").locator("tbody tr")).to_have_count(3)
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="Library")).to_be_focused()


def test_a_click_after_a_fault_asks_the_server_once_more(
    fleet: Served, open_page: Callable[..., Any], watch: Watch
) -> None:
    watch.replies_may_fail = True
    page = open_page(fleet.url)
    page.route("**/about.json", lambda route: route.abort(), times=1)
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("The server cannot be reached.")
    page.get_by_role("button", name="Library").click()
    library = page.get_by_role("dialog", name="Library")
    expect(library.locator("tbody tr")).to_have_count(3)
    expect(page.locator("#notice")).to_be_empty()


def test_a_list_that_could_not_be_fetched_can_be_fetched_again(
    fleet: Served, open_page: Callable[..., Any], watch: Watch
) -> None:
    watch.replies_may_fail = True
    page = open_page(fleet.url)
    expect(page.locator("#holds")).to_be_visible()  # the first list of documents, which is not meant
    page.route("**/api/documents?**", lambda route: route.abort(), times=1)
    page.get_by_role("button", name="Library").click()
    library = page.get_by_role("dialog", name="Library")
    expect(library.locator("#shelf-list")).to_contain_text("The server cannot be reached.")
    library.get_by_role("button", name="Try again").click()
    expect(library.locator("tbody tr")).to_have_count(3)


def test_a_document_is_deleted_with_time_to_undo(fleet: Served, open_page: Callable[..., Any]) -> None:
    page = open_page(fleet.url)
    page.keyboard.press("Escape")
    page.locator("main").focus()
    page.keyboard.press("l")
    library = page.get_by_role("dialog", name="Library")
    library.get_by_role("button", name="Delete Red boat").click()
    expect(library.locator("tbody tr")).to_have_count(2)
    page.locator("#toasts").get_by_role("button", name="Undo").click()
    expect(library.locator("tbody tr")).to_have_count(3)
    library.get_by_role("button", name="Delete Red boat").click()
    expect(library.locator("tbody tr")).to_have_count(2)
    expect(page.locator("#toasts").get_by_role("button", name="Undo")).to_have_count(0, timeout=60_000)
    with http_client(fleet.url) as client:
        for _ in range(500):
            if len(_documents(client)) == 2:
                break
        assert {one["title"] for one in _documents(client)} == {"Blue boat", "Green boat"}


def test_a_document_is_taken_in_again_and_its_progress_is_shown(fleet: Served, open_page: Callable[..., Any]) -> None:
    page = open_page(fleet.url)
    page.get_by_role("button", name="Library").click()
    library = page.get_by_role("dialog", name="Library")
    with page.expect_response(lambda one: one.url.endswith("/ingest") and one.request.method == "POST") as sent:
        library.get_by_role("button", name="Take in again: Green boat").click()
    with http_client(fleet.url) as client:
        assert follow(client, sent.value.json()["job_id"])["files_processed"] == 1
    expect(page.locator("#toasts")).to_contain_text("is read again")
    expect(library.locator("#shelf-jobs progress")).to_have_count(0, timeout=20_000)
    expect(library.locator("tbody tr")).to_have_count(3)


def test_what_failed_says_why(fleet: Served, open_page: Callable[..., Any], shot: Shot) -> None:
    with http_client(fleet.url) as client:
        files = [
            ("file", ("broken.pdf", b"%PDF-1.4 nothing of a PDF")),
            ("file", ("ok.md", "# Ok\n\nThis one is fine.\n")),
        ]
        job = client.post("/api/ingest", files=files, data={"collection": "fleet"}).raise_for_status().json()
        assert follow(client, job["job_id"])["errors"]
    page = open_page(fleet.url)
    page.get_by_role("button", name="Library").click()
    expect(page.locator("#shelf-count")).to_have_text("5 documents, 1 failed")
    faults = page.locator("#shelf-jobs .faults")
    faults.get_by_text("1 source could not be taken in last time").click()
    expect(faults).to_contain_text("broken.pdf")
    shot(page, "library-faults")


def test_a_folder_and_addresses_can_be_added(
    fleet: Served, open_page: Callable[..., Any], watch: Watch, tmp_path: Path
) -> None:
    watch.replies_may_fail = True  # the server ends while the page still asks for the last job
    for part in ("one", "two"):
        (tmp_path / "docs" / part).mkdir(parents=True)
        (tmp_path / "docs" / part / "readme.md").write_text(f"# Part {part}\n\nThis is part {part} of the docs.\n")
    (tmp_path / "docs" / ".drafts").mkdir()
    for name in ("one/berths.csv", "README", "one/tide.bin", "two/notes", ".drafts/later.md"):
        (tmp_path / "docs" / name).write_text("berth,length\nnorth quay,12\nsouth quay,9\n")
    page = open_page(fleet.url)
    expect(page.get_by_label("in", exact=True)).to_have_value("fleet")
    page.get_by_role("button", name="Add sources").click()
    dialog = page.get_by_role("dialog", name="Add sources")
    dialog.locator("#folder").set_input_files(tmp_path / "docs")
    chosen = dialog.locator("#chosen li")
    expect(chosen).to_have_count(5)
    expect(chosen.last).to_have_text("3 files left out: nothing to read by their names")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog.locator("#upload-step")).to_contain_text("4 documents added", timeout=30_000)
    with http_client(fleet.url) as client:
        assert {"Part one", "Part two"} <= {one["title"] for one in _documents(client)}  # of one name, not one document
    dialog.get_by_role("button", name="Close").click()
    page.get_by_role("button", name="Add sources").click()
    dialog.get_by_label("or addresses on the web").fill("example.org/a")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog.get_by_role("alert")).to_contain_text("is no address")
    dialog.get_by_label("or addresses on the web").fill("https://example.org/a http://example.org/b")
    with page.expect_request(lambda one: one.url.endswith("/api/ingest") and one.method == "POST") as sent:
        page.route(
            lambda url: url.endswith("/api/ingest"),
            lambda route: route.fulfill(status=202, json={"job_id": job_of(fleet), "status": "queued"}),
        )
        dialog.get_by_role("button", name="Add", exact=True).click()
    assert sent.value.post_data_json["sources"] == ["https://example.org/a", "http://example.org/b"]


def job_of(served: Served) -> str:
    with http_client(served.url) as client:
        return str(client.get("/api/ingest", params={"limit": 1}).json()["jobs"][0]["job_id"])


def _documents(client: httpx.Client) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = client.get("/api/documents", params={"collection": "fleet"}).json()["documents"]
    return found
