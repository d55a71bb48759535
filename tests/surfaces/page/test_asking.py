"""Asking in a real browser: the answer arrives, cites, opens its source, or refuses."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from tests.support.surfaces import FOREIGN, QUESTION
from tests.surfaces.page.served import SLOW_QUESTION, Served
from tests.surfaces.page.steps import ask

Shot = Callable[[Any, str], None]


@pytest.mark.req("G-06", "D-13")
def test_an_answer_cites_and_its_source_shows_the_very_sentence(page: Any, shot: Shot) -> None:
    turn = ask(page, QUESTION)
    said = turn.locator(".said")
    expect(said).to_contain_text("anchor bend")
    expect(turn.locator(".verdict")).to_contain_text("upported")
    assert 0 < int(turn.get_by_role("meter").get_attribute("aria-valuenow")) <= 100
    shot(page, "answer")
    turn.locator(".chip").first.click()
    panel = page.locator("#panel")
    expect(panel.locator("#panel-title")).to_have_text("Kedge anchor")
    expect(panel.locator("mark")).to_have_text("The warp is tied to the ring of the kedge anchor with an anchor bend.")
    expect(panel).to_contain_text("A kedge anchor is a light anchor")  # what stands around it
    expect(panel.locator("#panel-foot")).to_contain_text("1 of 1 passage")
    shot(page, "source")
    page.keyboard.press("Escape")
    expect(panel).not_to_be_visible()
    expect(turn.locator(".chip").first).to_be_focused()


@pytest.mark.req("D-15")
def test_a_follow_up_shows_how_it_was_understood(page: Any) -> None:
    expect(ask(page, "What is the anchor bend?").locator(".understood")).to_have_count(0)
    turn = ask(page, "What is it also called?")
    expect(turn.locator(".understood")).to_have_text("Understood as: What is the anchor bend also called?")
    expect(turn.locator(".said")).to_contain_text("fisherman's bend")


def test_the_source_shows_its_section_and_more_of_it_when_asked(page: Any) -> None:
    turn = ask(page, "On which pontoon do visitors moor bows-to with two stern lines?")
    expect(turn.locator(".source").first).to_contain_text("Berthing")
    turn.locator(".chip").first.click()
    panel = page.locator("#panel")
    expect(panel.locator("mark")).to_have_text("Visitors moor bows-to on the seaward pontoon with two stern lines.")
    expect(panel.locator("mark")).to_be_in_viewport()
    expect(panel.locator("#panel-foot")).to_contain_text("Berthing")
    before = panel.locator(".passage").count()
    panel.get_by_role("button", name="Show what").first.click()
    expect(panel.locator(".passage")).not_to_have_count(before)
    expect(panel.locator("mark")).to_have_count(1)


def test_the_marked_sentence_is_right_behind_signs_outside_the_basic_plane(page: Any) -> None:
    turn = ask(page, "Which flag means that a diver is down?")
    turn.locator(".chip").first.click()
    expect(page.locator("#panel mark")).to_have_text("The flag 🚩 alpha means that a diver is down ⚓.")


@pytest.mark.req("D-02")
def test_a_pdf_shows_its_page(page: Any, shot: Shot) -> None:
    turn = ask(page, "Where is the trysail hoisted in a gale?")
    expect(turn.locator(".source").first).to_contain_text("page 2")
    turn.locator(".chip").first.click()
    expect(page.locator("#panel-kicker")).to_have_text("Source [1] · page 2")
    sheet = page.locator("#panel .sheet")
    expect(sheet.get_by_role("img", name="Page 2 of 2, Storm sails")).to_be_visible()
    place = sheet.locator(".places .place").first
    expect(place).to_be_in_viewport()
    paper = sheet.locator(".paper").bounding_box()
    assert place.bounding_box()["y"] - paper["y"] < paper["height"] / 4  # where the line stands
    shot(page, "source-pdf")
    wide = paper["width"]
    sheet.get_by_role("button", name="Larger").click()
    expect(sheet.get_by_role("button", name="Smaller")).to_be_enabled()
    page.wait_for_function("wide => document.querySelector('.paper').clientWidth > 1.2 * wide", arg=wide)
    sheet.get_by_role("button", name="Page before").click()
    expect(sheet.locator(".sheet-page")).to_have_text("Page 1 of 2")
    expect(sheet.locator(".places .place")).to_have_count(0)
    expect(sheet.get_by_role("button", name="Page before")).to_be_disabled()
    sheet.get_by_role("button", name="Back to what is cited").click()
    expect(sheet.locator(".sheet-page")).to_have_text("Page 2 of 2")
    page.get_by_role("button", name="As written").click()
    expect(page.locator("#panel mark")).to_contain_text("hoisted on a track of its own")
    with page.expect_download() as saved:
        page.get_by_role("button", name="Download").click()
    assert saved.value.suggested_filename == "sails.pdf"
    assert Path(saved.value.path()).read_bytes().startswith(b"%PDF")


@pytest.mark.req("D-14")
def test_words_arrive_before_the_answer_is_whole_and_stop_ends_the_work(page: Any, served: Served, shot: Shot) -> None:
    page.get_by_label("in", exact=True).select_option("sales")
    page.get_by_label("Your question").fill(SLOW_QUESTION)
    page.get_by_role("button", name="Ask", exact=True).click()
    turn = page.locator(".turn").last
    expect(turn.locator(".said")).to_have_text("The beginning of")
    assert turn.locator(".said").get_attribute("aria-busy") == "true"
    stop = page.get_by_role("button", name="Stop")
    expect(stop).to_be_focused()
    shot(page, "streaming")
    stop.click()
    expect(turn).to_contain_text("Stopped.")
    expect(page.get_by_role("button", name="Ask", exact=True)).to_be_visible()
    assert served.ways["table"].left.wait(60)  # the server stopped too


@pytest.mark.req("G-06")
def test_a_screen_reader_hears_the_whole_answer_once(page: Any) -> None:
    heard = page.evaluate_handle(
        """() => {
          const heard = [];
          new MutationObserver(() => heard.push(document.getElementById("live").textContent))
            .observe(document.getElementById("live"), { childList: true, characterData: true, subtree: true });
          return heard;
        }"""
    )
    turn = ask(page, QUESTION)
    assert turn.locator(".said").get_attribute("aria-live") is None
    first, last = heard.json_value()
    assert first == "Looking for evidence."
    assert "anchor bend" in last
    assert last.endswith(("1 source.", "sources."))


@pytest.mark.req("G-05", "D-11")
def test_a_refusal_says_what_was_looked_at_and_shows_what_is_near(page: Any, shot: Shot) -> None:
    turn = ask(page, FOREIGN)
    expect(turn.locator(".refused")).to_contain_text("not enough evidence")
    expect(turn.locator(".looked")).to_contain_text("by meaning")
    expect(turn.locator(".sought")).to_contain_text("Looked for")
    expect(turn.locator(".refused")).not_to_contain_text("Nearest, but not an answer")
    expect(turn.locator(".chip")).to_have_count(0)
    shot(page, "refusal")
    expect(turn.get_by_role("heading", name="Not an answer, but near")).to_be_visible()
    other = turn.locator(".other-ways").get_by_role("button").first
    expect(other).to_be_visible(timeout=60_000)
    near = turn.locator(".sources").get_by_role("button").first
    title = near.locator(".title").inner_text()
    near.click()
    expect(page.locator("#panel-title")).to_have_text(title)
    expect(page.locator("#panel mark")).to_have_count(0)
    page.keyboard.press("Escape")
    wording = other.locator("span").first.inner_text()
    other.click()
    answered = page.locator(".turn").last
    expect(answered.locator(".asked")).to_have_text(wording)
    expect(answered.locator(".said:not([aria-busy])")).to_be_visible()
    expect(answered.locator(".chip").first).to_be_visible()  # it has an answer


def test_evidence_is_drawn_and_its_nodes_open_passages(page: Any, shot: Shot) -> None:
    turn = ask(page, QUESTION)
    expect(turn.locator("figure.graph")).to_have_count(0)  # only when somebody wants it
    turn.get_by_text("How it was found").click()
    graph = turn.get_by_role("group", name="How the evidence was found")
    cited = graph.locator(".node.passage.cited").first
    expect(graph.locator(".node.question")).to_have_count(1)
    concept = graph.locator(".node.concept").first
    concept.press("Enter")
    expect(turn.locator(".graph-said")).to_contain_text("Concept")
    shot(page, "evidence")
    cited.press("Enter")
    expect(page.locator("#panel mark")).to_be_visible()
    page.locator("#panel").get_by_role("button", name="Close the source").click()
    expect(cited).to_be_focused()
    turn.get_by_text("In words").click()
    expect(turn.locator(".in-words li").first).to_contain_text("Your question")
    concept.press("Enter")
    turn.locator(".graph-said").get_by_role("button", name="Ask about").click()
    expect(page.locator(".turn")).to_have_count(2)
    expect(page.locator(".turn .asked").last).to_contain_text("What is ")


@pytest.mark.req("D-17")
def test_feedback_reaches_the_server_once(page: Any, served: Served) -> None:
    def kept() -> float:
        lines = httpx.get(f"{served.url}/metrics", timeout=60).text.splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith("kedge_feedback_total{"))

    before = kept()
    turn = ask(page, QUESTION)
    with page.expect_request("**/api/feedback") as sent:
        turn.get_by_role("button", name="No, not helpful").click()
        expect(turn.get_by_role("button", name="No, not helpful")).to_have_attribute("aria-pressed", "true")
        page.keyboard.type("It is the fisherman's bend.")
        turn.get_by_role("button", name="Send").click()
    body = json.loads(sent.value.post_data)
    assert (body["rating"], body["comment"]) == (1, "It is the fisherman's bend.")
    expect(turn.locator(".rate")).to_contain_text("Thank you")
    assert kept() == before + 1


def test_the_collection_is_remembered_and_says_what_it_holds(page: Any, shot: Shot) -> None:
    pick = page.get_by_label("in", exact=True)
    pick.select_option("sea")
    expect(page.locator("#holds")).to_contain_text("Storm sails")
    shot(page, "start")
    page.reload()
    expect(pick).to_have_value("sea")


def test_a_refusal_that_shows_what_is_near_does_not_say_that_nothing_came_near(page: Any) -> None:
    near = {
        "passage_id": "row-3",
        "title": "sales row 3",
        "url": "sales.csv",
        "snippet": "",
        "excerpt": "region: Harbour",
    }
    told = {
        "query_id": "1",
        "confidence": "insufficient",
        "evidence_probability": 0.1,
        "kind": "table",
        "nearest": [near],
    }
    events = [
        {"type": "token", "content": "No relevant data found"},
        {"type": "metadata", "metadata": told},
        {"type": "done"},
    ]
    stream = "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events)
    headers = {"content-type": "text/event-stream"}
    page.route("**/turns", lambda route: route.fulfill(status=200, body=stream, headers=headers))
    turn = ask(page, "How much was sold in Atlantis?", "sales")
    expect(turn.locator(".near")).to_contain_text("region: Harbour")
    expect(turn.locator(".looked")).to_have_text("Nothing in “sales” answers it.")
