"""What the page shows when something fails. Replies that a healthy server does not give are put in by the browser."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from kedge.core.settings import load_settings
from tests.support.surfaces import DOCUMENTS, EMBEDDER, QUESTION, follow, http_client
from tests.surfaces.page.conftest import Watch
from tests.surfaces.page.served import Served, serving
from tests.surfaces.page.steps import ask

Shot = Callable[[Any, str], None]


@pytest.fixture(autouse=True)
def _faults_are_expected(watch: Watch) -> None:
    watch.replies_may_fail = True


def test_a_server_that_is_gone_is_said_and_asking_again_helps(
    open_page: Callable[..., Any], tmp_path: Path, shot: Shot
) -> None:
    settings = load_settings(environ={}, home=tmp_path / "home", port=0, embedder=EMBEDDER)
    with serving(settings) as served:
        page = open_page(served.url)
        expect(page.get_by_label("in", exact=True)).to_have_value("sales")
    turn = ask(page, "Which region?", "sales")
    expect(turn.get_by_role("alert")).to_contain_text("No connection")
    expect(turn.get_by_role("alert")).to_contain_text("kedge serve")
    shot(page, "server-down")
    with serving(settings.model_copy(update={"port": int(served.url.rsplit(":", 1)[1])})):
        turn.get_by_role("button", name="Ask again").click()
        expect(page.locator(".turn").last.locator(".said")).to_contain_text("North sold the most")


def test_a_page_that_cannot_load_its_collections_offers_to_try_again(open_page: Callable[..., Any], shot: Shot) -> None:
    page = open_page()
    page.route("**/api/collections", lambda route: route.abort())
    page.reload()
    alert = page.get_by_role("alert")
    expect(alert).to_contain_text("The server cannot be reached.")
    page.unroute("**/api/collections")
    alert.get_by_role("button", name="Try again").click()
    expect(page.locator("#notice")).to_be_empty()
    expect(page.locator("#collection option[value=sea]")).to_have_count(1)


def test_a_collection_that_has_gone_is_said_and_taken_off_the_list(page: Any, served: Served, shot: Shot) -> None:
    with http_client(served.url) as client:
        files = {"file": ("tides.md", DOCUMENTS["tides.md"])}
        job = client.post("/api/ingest", files=files, data={"collection": "brief"}).raise_for_status().json()
        assert follow(client, job["job_id"])["status"] == "complete"
        page.reload()
        page.get_by_label("in", exact=True).select_option("brief")
        client.delete("/api/collections/brief").raise_for_status()
    turn = ask(page, "When are spring tides?", "brief")
    expect(turn.get_by_role("alert")).to_contain_text("This collection is not there any more")
    expect(page.get_by_label("in", exact=True).locator("option[value=brief]")).to_have_count(0)
    shot(page, "collection-gone")
    turn.get_by_role("button", name="Show the collections").click()
    expect(page.get_by_label("in", exact=True)).to_be_focused()


@pytest.mark.req("D-15")
def test_a_question_that_is_too_long_is_not_sent(page: Any, shot: Shot) -> None:
    box = page.get_by_label("Your question")
    box.fill("⚓" * 1999)
    expect(page.locator("#question-note")).to_have_text("1999 of 2000 characters")
    box.fill("x" * 2003)
    expect(page.locator("#question-note")).to_have_text("Too long by 3 characters: at most 2000.")
    box.press("Enter")
    expect(page.locator(".turn")).to_have_count(0)
    expect(box).to_have_attribute("aria-invalid", "true")
    box.fill("  ")
    box.press("Enter")
    expect(page.locator("#question-note")).to_have_text("Type a question first.")


def _reply(status: int, code: str, message: str, hint: str = "", **headers: str) -> Callable[[Any], None]:
    body = json.dumps({"error": {"code": code, "message": message, "hint": hint, "details": {}}})
    return lambda route: route.fulfill(
        status=status, body=body, headers={"content-type": "application/json", **headers}
    )


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (
            _reply(429, "limited", "More questions than this server takes.", **{"retry-after": "7"}),
            ["Too many questions at once", "Try again in 7 seconds."],
        ),
        (
            _reply(503, "store_failed", "The store cannot be reached.", "Run `kedge doctor`."),
            ["Something went wrong in the server", "The store cannot be reached.", "kedge doctor"],
        ),
        (_reply(400, "invalid_query", "Query exceeds maximum length"), ["This question cannot be asked"]),
        (lambda route: route.fulfill(status=500, body="oops"), ["Something went wrong", "status 500"]),
    ],
    ids=["429", "503", "400", "no-json"],
)
def test_what_the_server_says_is_shown(page: Any, reply: Callable[[Any], None], words: list[str], shot: Shot) -> None:
    page.route("**/turns", reply)
    alert = ask(page, QUESTION).get_by_role("alert")
    for word in words:
        expect(alert).to_contain_text(word)
    if "429" in words[0] or "Too many" in words[0]:
        shot(page, "too-many")


@pytest.mark.req("D-14")
@pytest.mark.parametrize(
    ("stream", "words"),
    [
        ('event: token\ndata: {"type": "token", "content": "Half"}\n\n', "The answer broke off before its end."),
        (
            'event: token\ndata: {"type": "token", "content": "Half"}\n\n'
            'event: error\ndata: {"type": "error", "error": {"code": "model_failed", "message": "The model failed.", '
            '"hint": "Ask again."}}\n\n',
            "The model failed.",
        ),
    ],
)
def test_a_stream_that_fails_in_the_middle_is_no_answer(page: Any, stream: str, words: str) -> None:
    headers = {"content-type": "text/event-stream"}
    page.route("**/turns", lambda route: route.fulfill(status=200, body=stream, headers=headers))
    turn = ask(page, QUESTION)
    expect(turn.get_by_role("alert")).to_contain_text(words)
    expect(turn.locator(".said")).not_to_contain_text("Half")


def test_a_source_that_has_changed_since_shows_what_was_cited(page: Any) -> None:
    turn = ask(page, QUESTION)
    page.route("**/api/passages/**", _reply(404, "not_found", "There is no passage."))
    turn.locator(".chip").first.click()
    expect(page.locator("#panel-body")).to_contain_text("has changed or gone since this answer")
    expect(page.locator("#panel mark")).to_contain_text("The warp is tied to the ring")
