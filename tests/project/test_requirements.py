"""The list of requirements is complete, and the page that is made of it says what the tests say."""

from __future__ import annotations

import re

import pytest

from tests.project.requirements import PAGE, known, named_by, page
from tests.support.paths import ROOT


def test_the_page_is_as_the_tests_say(request: pytest.FixtureRequest) -> None:
    """Of what this run has collected, so that nothing is collected twice."""
    every = set((ROOT / "tests").rglob("test_*.py"))
    items = [item for item in request.session.items if item.path in every]
    if {item.path for item in items} != every or request.config.option.keyword or request.config.option.markexpr:
        pytest.skip("only a part of the tests was collected; `make test` collects all")
    assert page(named_by(items)) == PAGE.read_text("utf-8"), "run `python -m tests.project.requirements`"


def test_every_id_that_a_test_names_is_known() -> None:
    places = [*(ROOT / "tests").rglob("*.py"), *(ROOT / "src" / "kedge" / "testing").rglob("*.py")]
    named = {
        key
        for path in places
        for marks in re.findall(r"mark\.req\(([^)]*)\)", path.read_text("utf-8"))
        for key in re.findall(r"[A-Z]-\d+", marks)
    }
    assert named <= known().keys()


def test_every_decision_has_its_page_and_the_page_names_it() -> None:
    for key, one in known().items():
        if "decision" in one:
            assert key in (ROOT / "docs" / "decisions" / one["decision"]).read_text("utf-8"), key
