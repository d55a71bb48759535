"""The page stays light: what its first load weighs, and a long conversation of which only what is seen is laid out."""

from __future__ import annotations

import gzip
import re
from typing import Any

import httpx
from playwright.sync_api import expect

from tests.support.paths import ROOT
from tests.surfaces.page.served import Served

WEB = ROOT / "src" / "kedge" / "surfaces" / "server" / "web"
MOST = 250_000
TURNS = 200


def test_the_first_load_is_small(page: Any, served: Served) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.reload()
    expect(page.locator("#collection option[value=sea]")).to_have_count(1)
    files = {url for url in asked if "/rag" in url and not url.endswith(".woff2")}
    assert len(files) > 15
    weight = sum(len(gzip.compress(httpx.get(url, timeout=60).content)) for url in files)
    assert weight <= MOST, f"{weight} bytes in {len(files)} files"


def test_a_long_conversation_lays_out_only_what_is_seen(page: Any, served: Served) -> None:
    """The browser may leave out turns that are not seen; their room is kept, so that scrolling does not jump."""
    turn = {
        "number": 1,
        "collection": "sea",
        "created_at": "2026-01-01T00:00:00+00:00",
        "filter": {},
        "content": "A kedge anchor is a light anchor. " * 12,
        "citations": [],
        "metadata": {"confidence": "high", "evidence_probability": 0.9},
    }
    turns = [{**turn, "turn_id": f"t{number}", "question": f"Question {number}?"} for number in range(TURNS)]
    kept = {
        "conversation_id": "long",
        "name": "A long one",
        "created_at": turn["created_at"],
        "updated_at": turn["created_at"],
        "turn_count": TURNS,
        "turns": turns,
    }
    page.route("**/api/conversations/long", lambda route: route.fulfill(json=kept))
    page.evaluate("location.hash = '#talk-long'")
    expect(page.locator(".turn")).to_have_count(TURNS)
    expect(page.locator(".turn").last).to_be_in_viewport()
    left_out = page.locator("#turns > li").evaluate_all(
        """all => all.filter(
          (one) => !one.querySelector(".said").checkVisibility({ contentVisibilityAuto: true })
        ).length"""
    )
    assert left_out > TURNS * 0.8
    page.evaluate("window.scrollTo(0, 0)")
    expect(page.locator(".turn").first).to_be_in_viewport()


def test_every_turn_may_be_left_out_of_the_layout() -> None:
    style = (WEB / "answer.css").read_text("utf-8")
    assert re.search(r"\.turns > li \{[^}]*content-visibility: auto", style)
