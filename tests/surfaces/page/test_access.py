"""For everybody: keyboard alone, small screens, dark, less motion, and an automated check of the rest."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.services import need
from tests.support.surfaces import FOREIGN, QUESTION
from tests.surfaces.page.served import GRAPH_QUESTION, TABLE_QUESTION
from tests.surfaces.page.steps import PHONE, ask

Shot = Callable[[Any, str], None]


def _focused(page: Any) -> str:
    return str(
        page.evaluate(
            "document.activeElement.id || document.activeElement.className.baseVal || document.activeElement.className"
        )
    )


def _tab_to(page: Any, wanted: str, most: int = 40, *, back: bool = False) -> None:
    """Press Tab until the focus is there: it must be reachable, and seen."""
    for _ in range(most):
        page.keyboard.press("Shift+Tab" if back else "Tab")
        if page.evaluate("wanted => document.activeElement.matches(wanted)", wanted):
            return
    raise AssertionError(f"{wanted} was not reached by Tab; the focus is on {_focused(page)}")


@pytest.mark.req("G-06")
def test_everything_can_be_done_by_keyboard(page: Any, shot: Shot) -> None:
    expect(page.get_by_label("Your question")).to_be_focused()
    _tab_to(page, "#collection")
    page.keyboard.type("sea")
    expect(page.get_by_label("in", exact=True)).to_have_value("sea")
    page.locator("body").press("/")
    page.get_by_label("in", exact=True).evaluate("pick => pick.blur()")
    page.keyboard.press("/")
    expect(page.get_by_label("Your question")).to_be_focused()
    page.keyboard.type(QUESTION)
    page.keyboard.press("Enter")
    turn = page.locator(".turn").last
    turn.locator(".rate").wait_for()
    page.keyboard.press("ArrowUp")
    expect(page.get_by_label("Your question")).to_have_value(QUESTION)
    page.keyboard.press("ArrowDown")
    expect(page.get_by_label("Your question")).to_have_value("")
    _tab_to(page, ".chip", back=True)
    outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline == "solid"
    page.keyboard.press("Enter")
    expect(page.locator("#panel mark")).to_be_visible()
    expect(page.locator("#panel-title")).to_be_focused()
    page.keyboard.press("Escape")
    _tab_to(page, ".how summary")
    page.keyboard.press("Enter")
    expect(turn.locator(".node.passage").first).to_be_visible()
    _tab_to(page, ".node.concept, .node.passage")
    page.keyboard.press("Enter")
    page.keyboard.press("Escape")
    _tab_to(page, "[aria-label='Yes, helpful']")
    page.keyboard.press("Enter")
    page.keyboard.type("Right.")
    _tab_to(page, ".rate-more button")
    page.keyboard.press("Enter")
    expect(turn.locator(".rate")).to_contain_text("Thank you")
    page.locator("main").focus()
    page.keyboard.press("n")
    expect(page.locator("#panel mark")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="How to use this page")).to_be_visible()
    shot(page, "help")
    page.get_by_label("Use the single keys").uncheck()
    page.keyboard.press("Escape")
    page.locator("main").focus()
    page.keyboard.press("u")
    expect(page.get_by_role("dialog", name="Add sources")).not_to_be_visible()


def test_nothing_runs_out_of_the_screen(page: Any, shot: Shot) -> None:
    asked = [(QUESTION, "sea"), (FOREIGN, "sea"), (GRAPH_QUESTION, "worldcup"), (TABLE_QUESTION, "sales")]
    for question, collection in asked:
        ask(page, question, collection).locator(".rate").wait_for()
    for width in (1920, 1100, 768, 390, 320):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width, width
        rail = page.locator(".rail")
        assert rail.evaluate("rail => rail.scrollWidth <= rail.clientWidth"), width
    shot(page, "smallest")


def test_on_a_phone_the_source_is_a_drawer_that_holds_the_focus(open_page: Callable[..., Any], shot: Shot) -> None:
    page = open_page(**PHONE)
    turn = ask(page, QUESTION)
    shot(page, "phone")
    chip = turn.locator(".chip").first
    chip.tap()
    panel = page.locator("#panel")
    expect(panel.locator("mark")).to_be_in_viewport()
    assert panel.evaluate("panel => panel.matches(':modal')")
    shot(page, "phone-source")
    for _ in range(8):
        page.keyboard.press("Tab")
        assert page.evaluate(
            "document.activeElement === document.body || document.activeElement.closest('#panel') !== null"
        )
    page.keyboard.press("Escape")
    expect(panel).not_to_be_visible()
    expect(chip).to_be_focused()
    page.get_by_role("button", name="Conversations").tap()
    dialog = page.get_by_role("dialog", name="Conversations")
    expect(dialog.get_by_role("link", name=QUESTION).first).to_have_attribute("aria-current", "page")
    shot(page, "phone-conversations")
    dialog.get_by_role("button", name="New conversation").tap()
    expect(dialog).not_to_be_visible()
    expect(page.locator(".turn")).to_have_count(0)


def _paper(page: Any) -> str:
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


def test_colours_follow_the_system_and_the_switch(open_page: Callable[..., Any], shot: Shot) -> None:
    light, dark = "rgb(250, 249, 246)", "rgb(17, 23, 26)"
    page = open_page(color_scheme="dark")
    assert _paper(page) == dark
    turn = ask(page, QUESTION)
    turn.locator(".chip").first.click()
    expect(page.locator("#panel mark")).to_be_visible()
    shot(page, "dark")
    switch = page.locator("#theme")
    switch.click()
    expect(switch).to_have_attribute("aria-label", "Colours: light")
    assert _paper(page) == light
    page.reload()
    assert _paper(page) == light
    switch.click()
    switch.click()
    expect(switch).to_have_attribute("aria-label", "Colours: as the system")
    assert _paper(page) == dark


def test_less_motion_is_less_motion(open_page: Callable[..., Any]) -> None:
    page = open_page(reduced_motion="reduce")
    ask(page, QUESTION).locator(".chip").first.click()
    expect(page.locator("#panel")).to_be_visible()
    assert page.evaluate("document.getAnimations().length") == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(open_page: Callable[..., Any], scheme: str) -> None:
    """Contrast, names, roles, landmarks, by axe-core. It wants to run scripts of its own, so the policy is off here."""
    script = Path(need("axe")).read_text("utf-8")
    page = open_page(color_scheme=scheme, bypass_csp=True, reduced_motion="reduce")
    found: list[str] = []

    def check(state: str) -> None:
        page.evaluate(script)
        result = page.evaluate(
            "axe.run({ resultTypes: ['violations'] }).then((found) => JSON.stringify(found.violations))"
        )
        for violation in json.loads(result):
            places = [
                node["html"][:120] + " " + node.get("failureSummary", "")[:160] for node in violation["nodes"][:3]
            ]
            found.append(f"{state}: {violation['id']} {violation['help']}: {places}")

    expect(page.locator("#collection option[value=sea]")).to_have_count(1)
    check("start")
    ask(page, FOREIGN)
    ask(page, TABLE_QUESTION, "sales")
    ask(page, GRAPH_QUESTION, "worldcup")
    turn = ask(page, QUESTION)
    check("answers")
    turn.locator(".chip").first.click()
    expect(page.locator("#panel mark")).to_be_visible()
    check("source")
    page.keyboard.press("Escape")
    page.locator("#open-upload").click()
    check("upload")
    page.keyboard.press("Escape")
    page.locator("#open-help").click()
    check("help")
    page.keyboard.press("Escape")
    page.locator("#open-library").click()
    expect(page.locator("#shelf-list tbody tr").first).to_be_visible()
    check("library")
    page.keyboard.press("Escape")
    pdf = ask(page, "Where is the trysail hoisted in a gale?")
    pdf.locator(".chip").first.click()
    expect(page.locator("#panel .places .place").first).to_be_visible()
    check("page of a PDF")
    assert found == []
