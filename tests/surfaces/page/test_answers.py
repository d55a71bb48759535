"""Answers from tables and graphs, on the agreed shapes (see `served.py`)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import expect

from tests.surfaces.page.served import BLOCKS_QUESTION, GRAPH_QUESTION, REGIONS, TABLE_QUESTION, UNSURE_QUESTION
from tests.surfaces.page.steps import ask

Shot = Callable[[Any, str], None]


@pytest.mark.req("T-06")
def test_a_table_answer_shows_plan_rows_and_chart(page: Any, shot: Shot) -> None:
    turn = ask(page, TABLE_QUESTION, "sales")
    plan = turn.locator(".plan")
    expect(plan).to_contain_text("Exact")
    expect(plan).to_contain_text("Sum of amount for each region")
    expect(plan).to_contain_text("4,870 rows counted")
    expect(turn.locator(".said")).not_to_contain_text("Plan:")  # it is said once
    plan.get_by_text("Steps").click()
    expect(plan.get_by_role("listitem")).to_have_count(3)
    table = turn.get_by_role("table")
    expect(table.get_by_role("columnheader")).to_have_text(["region", "amount"])
    expect(table.get_by_role("row")).to_have_count(1 + len(REGIONS))
    expect(table).to_contain_text("<b>East</b>")  # as text
    chart = turn.get_by_role("img", name="Bar chart: amount by region")
    expect(chart.locator(".bar")).to_have_count(len(REGIONS))
    lengths = [float(bar.get_attribute("width")) for bar in chart.locator(".bar").all()]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[1] / lengths[0] == pytest.approx(REGIONS[1][1] / REGIONS[0][1], rel=0.01)
    shot(page, "table")
    turn.locator(".chip").first.click()
    expect(page.locator("#panel-title")).to_have_text("sales row 1")
    expect(page.locator("#panel mark")).to_have_text("region: North; amount: 1824.5")
    shot(page, "table-source")


def test_a_course_over_time_is_a_line(page: Any, shot: Shot) -> None:
    turn = ask(page, "How did sales go month by month?", "sales")
    chart = turn.get_by_role("img", name="Line chart: amount by month")
    expect(chart.locator(".dot")).to_have_count(12)
    shot(page, "table-line")


@pytest.mark.req("G-05", "G-06")
def test_a_graph_answer_cites_nodes_and_draws_its_path(page: Any, shot: Shot) -> None:
    turn = ask(page, GRAPH_QUESTION, "worldcup")
    expect(turn.locator(".chip")).to_have_text(["1", "2"])
    expect(turn.locator(".source .title")).to_have_text(["Alejandro Sabella", "Argentina"])
    turn.get_by_text("How it was found").click()
    graph = turn.get_by_role("group", name="How the evidence was found")
    nodes = graph.get_by_role("button")
    expect(nodes).to_have_count(4)
    expect(graph).to_contain_text("plays for")
    places = {node.get_attribute("data-id"): node.bounding_box()["x"] for node in nodes.all()}
    assert places["n1"] < places["n2"] < places["n3"] < places["n4"]
    shot(page, "graph")
    graph.locator("[data-id=n3]").click()
    expect(page.locator("#panel-title")).to_have_text("Argentina")
    expect(page.locator("#panel .facts")).to_contain_text("Lionel Messi")
    expect(graph.locator("[data-id=n1]")).to_have_class(re.compile(r"\blit\b"))
    turn.locator(".chip").first.click()
    expect(page.locator("#panel-title")).to_have_text("Alejandro Sabella")
    expect(page.locator("#panel-body")).to_contain_text("Coach of the team of Argentina")


def test_the_short_answer_comes_first_and_blocks_keep_their_shape(page: Any, shot: Shot) -> None:
    said = ask(page, BLOCKS_QUESTION, "worldcup").locator(".said")
    expect(said.locator(":scope > *").first).to_have_text("12 <em>jibs</em>")  # as text
    expect(said.locator(".lead strong.short")).to_have_count(1)
    expect(said.get_by_role("listitem")).to_have_text(["storm jib", "trysail with sheets"])
    table = said.get_by_role("table")
    expect(table.get_by_role("columnheader")).to_have_text(["Sail", "<i>Count</i>"])
    expect(table.get_by_role("cell")).to_have_text(["jib", "12", "a|b", "3 1"])
    expect(table.locator(".chip")).to_have_count(1)
    label = table.get_by_role("cell").first
    assert label.bounding_box()["width"] >= 100  # a long label is not broken letter by letter
    expect(label).to_have_css("overflow-wrap", "break-word")
    expect(said.locator("pre")).to_have_text(["make sail\n  --now <b>", "hoist it"])
    assert page.evaluate("window.violations") == []
    shot(page, "blocks")


def test_a_text_that_begins_with_the_short_answer_says_it_once(page: Any) -> None:
    said = ask(page, TABLE_QUESTION, "sales").locator(".said")
    expect(said.locator(".lead")).to_have_count(0)
    expect(said.locator("strong.short")).to_have_text("North")


@pytest.mark.req("T-04")
def test_a_number_key_picks_a_reading(page: Any, shot: Shot) -> None:
    turn = ask(page, UNSURE_QUESTION, "sales")
    expect(turn.locator(".said")).to_contain_text("Not understood: Atlantis")
    expect(turn.locator(".plan")).to_contain_text("press its number")
    expect(turn.locator(".plan").get_by_role("listitem")).to_have_count(2)
    shot(page, "readings")
    turn.locator(".said").click()  # no longer typing
    page.keyboard.press("3")  # there is no third
    expect(page.locator(".turn")).to_have_count(1)
    with page.expect_request("**/turns") as sent:
        page.keyboard.press("2")
    assert sent.value.post_data_json["reading"] == 2
    picked = page.locator(".turn").first
    expect(picked.locator(".said")).to_contain_text("42")
    expect(picked.locator(".plan")).to_contain_text("count them")


@pytest.mark.req("T-04")
def test_a_number_that_is_typed_picks_nothing(page: Any) -> None:
    ask(page, UNSURE_QUESTION, "sales")
    before = page.locator(".turn").count()
    page.get_by_label("Your question").press("2")
    expect(page.get_by_label("Your question")).to_have_value("2")
    expect(page.locator(".turn")).to_have_count(before)
