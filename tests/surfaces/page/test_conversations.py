"""Conversations in a real browser: in reading order, kept over a reload, named, deleted, taken along."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from kedge.core.settings import load_settings
from tests.support.surfaces import DOCUMENTS, EMBEDDER, FOREIGN, QUESTION, follow, http_client
from tests.surfaces.page.served import SLOW_QUESTION, Served, serving
from tests.surfaces.page.steps import ask

Shot = Callable[[Any, str], None]


def questions(page: Any) -> list[str]:
    return list(page.locator(".turn .asked").all_text_contents())


@pytest.mark.req("G-06")
def test_turns_stand_in_reading_order_and_are_there_after_a_reload(page: Any, shot: Shot) -> None:
    ask(page, QUESTION)
    second = ask(page, FOREIGN)
    expect(second).to_be_in_viewport()
    said = page.locator(".turn .said").all_text_contents()
    assert questions(page) == [QUESTION, FOREIGN]
    page.reload()
    expect(page.locator(".turn")).to_have_count(2)
    assert questions(page) == [QUESTION, FOREIGN]
    assert page.locator(".turn .said").all_text_contents() == said
    turn = page.locator(".turn").first
    turn.locator(".chip").first.click()
    expect(page.locator("#panel mark")).to_be_visible()
    page.keyboard.press("Escape")
    shot(page, "conversation")
    followed = ask(page, "What is the anchor bend?")
    followed = ask(page, "What is it also called?")
    expect(followed.locator(".understood")).to_contain_text("anchor bend")


@pytest.mark.parametrize("late", ["**/about.json", "**/api/collections", "**/api/conversations/*"])
def test_a_question_before_the_page_is_ready_belongs_to_the_conversation_of_the_address(page: Any, late: str) -> None:
    ask(page, QUESTION)
    held: list[Any] = []

    def hold(route: Any) -> None:
        held.append(route)

    page.route(late, hold, times=1)
    with page.expect_request(late):
        page.reload()
    page.get_by_label("Your question").fill(FOREIGN)
    page.get_by_label("Your question").press("Enter")
    expect(page.locator(".turn")).to_have_count(0)
    held.pop().continue_()
    expect(page.locator(".turn .asked")).to_have_text([QUESTION, FOREIGN])
    expect(page.locator(".turn").last.locator(".said:not([aria-busy])")).to_be_visible()
    expect(page.get_by_label("Your question")).to_have_value("")
    page.reload()
    expect(page.locator(".turn .asked")).to_have_text([QUESTION, FOREIGN])


def test_a_conversation_is_named_left_and_found_again(page: Any) -> None:
    ask(page, QUESTION)
    page.get_by_role("button", name="Rename the conversation").click()
    page.get_by_label("Name of the conversation").fill("Knots of the warp")
    page.keyboard.press("Enter")
    expect(page.locator("#talk-name")).to_have_text("Knots of the warp")
    page.locator(".rail").get_by_role("button", name="New conversation").click()
    expect(page.locator(".turn")).to_have_count(0)
    expect(page.locator("#talk-bar")).not_to_be_visible()
    ask(page, FOREIGN)
    page.locator(".rail").get_by_role("link", name="Knots of the warp").click()
    expect(page.locator(".turn")).to_contain_text([QUESTION])
    assert questions(page) == [QUESTION]
    page.go_back()
    expect(page.locator(".turn .asked")).to_have_text([FOREIGN])


def test_deleting_leaves_time_to_undo(page: Any, served: Served) -> None:
    ask(page, QUESTION)
    page.get_by_role("button", name="Rename the conversation").click()
    page.get_by_label("Name of the conversation").fill("To be deleted")
    page.keyboard.press("Enter")
    link = page.locator(".rail").get_by_role("link", name="To be deleted")
    page.get_by_role("button", name="Delete the conversation").click()
    expect(link).to_have_count(0)
    expect(page.locator(".turn")).to_have_count(0)
    page.locator("#toasts").get_by_role("button", name="Undo").click()
    expect(page.locator(".turn .asked")).to_have_text([QUESTION])
    expect(link).to_have_count(1)
    page.get_by_role("button", name="Delete the conversation").click()
    expect(page.locator("#toasts")).to_contain_text("is deleted")
    page.goto("about:blank")  # what was promised is done, also when the page is left before
    with http_client(served.url) as client:
        while any(one["name"] == "To be deleted" for one in client.get("/api/conversations").json()["conversations"]):
            pass


def test_a_stopped_answer_is_asked_again_in_its_place(page: Any) -> None:
    ask(page, QUESTION)
    page.get_by_label("in", exact=True).select_option("sales")
    page.get_by_label("Your question").fill(SLOW_QUESTION)
    page.keyboard.press("Enter")
    slow = page.locator(".turn").last
    expect(slow.locator(".said")).to_have_text("The beginning of")
    page.keyboard.press("Escape")
    expect(slow).to_contain_text("Stopped.")
    page.reload()
    expect(page.locator(".turn").last).to_contain_text("The answer was broken off.")
    first = page.locator(".turn").first
    first.get_by_role("button", name="Ask again").click()
    expect(first.locator(".said:not([aria-busy])")).to_contain_text("anchor bend")
    assert questions(page) == [QUESTION, SLOW_QUESTION]
    page.reload()
    expect(page.locator(".turn")).to_have_count(2)


def test_an_answer_is_taken_along_with_its_sources(open_page: Callable[..., Any], tmp_path: Path) -> None:
    page = open_page(permissions=["clipboard-read", "clipboard-write"])
    turn = ask(page, QUESTION)
    copied = "navigator.clipboard.readText()"
    turn.get_by_role("button", name="Copy", exact=True).click()
    expect(turn.locator(".act-row")).to_contain_text("Copied.")
    text = page.evaluate(copied)
    assert "anchor bend" in text
    assert "\n\nSources:\n[1] Kedge anchor" in text
    assert "**" not in text
    turn.get_by_role("button", name="Copy as Markdown").click()
    expect(turn.locator(".act-row")).to_contain_text("Copied.")
    page.wait_for_function("async () => (await navigator.clipboard.readText()).includes('[^1]: ')")
    markdown = page.evaluate(copied)
    assert "[^1]: Kedge anchor" in markdown
    assert "“The warp is tied to the ring of the kedge anchor" in markdown
    with page.expect_download() as saved:
        page.get_by_role("button", name="Export the conversation").click()
    written = Path(saved.value.path()).read_text("utf-8")
    assert written.startswith(f"# {QUESTION}\n\n## {QUESTION}\n\n")
    assert saved.value.suggested_filename.endswith(".md")
    assert "[^1]: Kedge anchor" in written


def test_a_server_that_keeps_none_still_talks(open_page: Callable[..., Any], tmp_path: Path) -> None:
    settings = load_settings(
        environ={}, home=tmp_path / "home", port=0, embedder=EMBEDDER, threshold=0.3, conversation_days=0
    )
    with serving(settings, kinds=False) as served:
        _fill(served)
        page = open_page(served.url)
        expect(page.locator("#conversations-empty")).to_have_text("This server keeps no conversations.")
        ask(page, "What is the anchor bend?")
        followed = ask(page, "What is it also called?")
        expect(followed.locator(".understood")).to_contain_text("anchor bend")
        page.reload()
        expect(page.locator("#collection option[value=sea]")).to_have_count(1)
        expect(page.locator(".turn")).to_have_count(0)


def _fill(served: Served) -> None:
    with http_client(served.url) as client:
        files = [("file", (name, text)) for name, text in DOCUMENTS.items() if name.endswith(".md")]
        job = client.post("/api/ingest", files=files, data={"collection": "sea"}).raise_for_status().json()
        assert follow(client, job["job_id"])["status"] == "complete"
