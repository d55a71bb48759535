"""The page learns kinds from the server: one of another package is there without a change to the page."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from kedge.core.plugins import KINDS, found
from kedge.core.settings import load_settings
from tests.support.packages import on_path, put_package
from tests.support.paths import ROOT
from tests.support.surfaces import EMBEDDER
from tests.surfaces.page.served import Served, serving
from tests.surfaces.page.steps import ask

EXAMPLE = ROOT / "examples" / "kind_faq"
WEB = ROOT / "src" / "kedge" / "surfaces" / "server" / "web"
ENTRIES = """[[entry]]
question = "Which knot ties the warp to the kedge anchor?"
answer = "The anchor bend."

[[entry]]
question = "When does the harbour master sleep?"
answer = "Never."
"""


@pytest.fixture
def with_faq(tmp_path: Path) -> Iterator[Served]:
    """A server beside the example package, installed as pip would leave it behind."""
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text("utf-8"))["project"]
    source = EXAMPLE / "src"
    files = {str(path.relative_to(source)): path.read_text("utf-8") for path in source.rglob("*.py")}
    folder = put_package(tmp_path / "path", project["name"], project["entry-points"], files)
    settings = load_settings(environ={}, home=tmp_path / "home", port=0, embedder=EMBEDDER, threshold=0.3)
    with on_path(folder), serving(settings, kinds=False) as served:
        yield served


@pytest.mark.req("G-06")
def test_a_fifth_kind_can_be_added_and_asked(
    with_faq: Served, open_page: Callable[..., Any], tmp_path: Path, shot: Callable[[Any, str], None]
) -> None:
    page = open_page(with_faq.url)
    page.locator("#begin").get_by_role("button", name="Add sources").click()
    dialog = page.get_by_role("dialog", name="Add sources")
    labels = dialog.locator(".kind b").all_text_contents()
    assert labels == ["Documents", "Table", "Questions with answers"]
    dialog.get_by_label("Questions with answers").check()
    assert dialog.locator("#files").get_attribute("accept") == ".md,.faq"
    (tmp_path / "sailors.faq").write_text(ENTRIES, "utf-8")
    dialog.get_by_label("Collection").fill("help")
    dialog.locator("#files").set_input_files([tmp_path / "sailors.faq"])
    shot(page, "upload-kind")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog.locator("#upload-step")).to_have_text("Done: 1 file added (2 entries).", timeout=30_000)
    dialog.get_by_role("button", name="Ask about it").click()
    expect(page.locator("#collection option:checked")).to_have_text("help · 2 entries")
    turn = ask(page, "Which knot ties the warp to the kedge anchor?", "help")
    expect(turn.locator(".said")).to_contain_text("The anchor bend.")
    turn.locator(".chip").first.click()
    expect(page.locator("#cited")).to_have_text("The anchor bend.")


def test_the_scripts_name_no_kind() -> None:
    named = re.compile(rf"""["'](?:{"|".join(found(KINDS))})["']""")
    lines = [
        f"{path.name}: {line.strip()[:80]}"
        for path in (*WEB.glob("*.js"), *WEB.glob("*.html"))
        for line in path.read_text("utf-8").splitlines()
        if "kind" in line and named.search(line)
    ]
    assert lines == []
