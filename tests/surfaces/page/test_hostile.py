"""Documents, names and answers that want to be more than text stay text. The `watch` checks dialogs, errors, policy."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.surfaces.page.steps import ask

TITLE = "<img src=x onerror=alert('title')> Bilge pump"
HOSTILE = f"""---
title: "{TITLE}"
---

# {TITLE}

The <script>alert('script')</script> bilge pump of the dinghy is primed with <img src=x onerror=alert(1)> a cup of
water [click](javascript:alert(2)) **<svg onload=alert(3)>** ![x](javascript:alert(4)) [ok](https://example.org/a) now.

## <iframe srcdoc="<script>parent.alert(5)</script>"> Seals

The seal of the bilge pump is greased with {{{{constructor.constructor('alert(6)')()}}}} tallow [1] [Node <b>x</b>]
and `"><script>alert(7)</script>` in spring <a href="data:text/html,<script>alert(8)</script>">here</a> every year.
"""
NAME = "pump<img src=x onerror=alert(9)>.md"


@pytest.fixture
def page(open_page: Callable[..., Any]) -> Any:
    page = open_page()
    page.get_by_role("button", name="Add sources").click()
    dialog = page.get_by_role("dialog", name="Add sources")
    dialog.get_by_label("Collection").fill("hostile")
    files = [{"name": NAME, "mimeType": "text/markdown", "buffer": HOSTILE.encode()}]
    dialog.locator("#files").set_input_files(files)
    expect(dialog.locator("#chosen")).to_contain_text(NAME)
    dialog.get_by_role("button", name="Add", exact=True).click()
    dialog.get_by_role("button", name="Ask about it").click(timeout=30_000)
    return page


def _only_known_elements(page: Any) -> None:
    """Nothing of the document became an element."""
    assert page.locator("img, iframe, script:not([src^='/rag/']), object, embed").count() == 0
    assert page.locator("[onerror], [onload], [srcdoc]").count() == 0
    links = [link.get_attribute("href") for link in page.locator("a").all()]
    assert [href for href in links if not href.startswith(("/rag", "#", "https://"))] == []


@pytest.mark.req("G-06")
def test_hostile_text_is_shown_and_never_run(page: Any, tmp_path: Path, shot: Callable[[Any, str], None]) -> None:
    turn = ask(page, "What is the bilge pump of the dinghy primed with?", "hostile")
    expect(turn).to_contain_text("bilge pump of the dinghy is primed")
    expect(turn).to_contain_text("<script>alert('script')</script>")
    _only_known_elements(page)
    for link in turn.locator(".said a").all():
        assert link.get_attribute("href") == "https://example.org/a"
        assert "noopener" in link.get_attribute("rel")
    turn.locator(".chip").first.click()
    expect(page.locator("#panel-title")).to_contain_text("<img src=x onerror=alert('title')>")
    expect(page.locator("#panel-body")).to_contain_text("<svg onload=alert(3)>")
    _only_known_elements(page)
    shot(page, "hostile")
    page.keyboard.press("Escape")
    page.get_by_role("button", name="New conversation").click()
    expect(page.locator("#holds")).to_contain_text("<img src=x")
    _only_known_elements(page)


ANSWERS = [
    "<img src=x onerror=alert(1)>",
    "[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](data:text/html,x) [d](vbscript:x) [e](//evil.example)",
    "![i](https://evil.example/track.png)",
    "```\n<script>alert(1)</script>\n",
    "**[**[1]** *unclosed `code",
    "\u202etxt.exe \u0000 \ufeff [1][1][[1]] [Node ]",
    "- <b>one</b>\n- [two](javascript:alert(1))",
]
CITATION = {
    "id": "[1]",
    "passage_id": "../../evil?x=<b>",
    "title": "<i>t</i>",
    "identity": "<i>t</i> · <img src=x onerror=alert(1)>",
    "url": "javascript:alert(1)",
    "snippet": "<u>s</u>",
    "start": 0,
    "end": 3,
    "relevance_score": 1,
}


def _stream(text: str) -> str:
    verdict = {"query_id": "<q>", "confidence": "high", "evidence_probability": 7}
    events: list[dict[str, Any]] = [
        {"type": "token", "content": text},
        {"type": "citation", "citation": CITATION},
        {"type": "metadata", "metadata": verdict},
        {"type": "done"},
    ]
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)


def test_any_answer_is_text(open_page: Callable[..., Any]) -> None:
    """A language model's words are no more trusted than the documents."""
    page = open_page()
    headers = {"content-type": "text/event-stream"}
    left = list(ANSWERS)
    page.route("**/turns", lambda route: route.fulfill(body=_stream(left.pop(0)), headers=headers))
    for number in range(len(ANSWERS)):
        turn = ask(page, f"Question {number}")
        expect(turn.locator(".source")).to_contain_text("<i>t</i>")
        _only_known_elements(page)
    links = [link.get_attribute("href") for link in page.locator(".said a").all()]
    assert links == ["https://evil.example/track.png"]  # a link to be clicked, not an image to be fetched
    assert page.locator(".said").filter(has_text="<script>alert(1)</script>").count() == 1
