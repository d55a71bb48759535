"""`python -m tests.surfaces.page.pictures`: the pictures in `docs/images/`, of the real page over the demo."""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PIL import Image
from playwright.sync_api import sync_playwright

from kedge.core.settings import load_settings
from tests.services import chromium
from tests.support.paths import ROOT
from tests.support.surfaces import follow, http_client
from tests.surfaces.page.served import serving
from tests.surfaces.page.steps import ask
from tests.surfaces.page.test_sources import filing

IMAGES = ROOT / "docs" / "images"
SCOPE = "What scope should an all-chain rode have overnight?"
KNOT = "Which knot ties the warp to the ring of a kedge?"
UNKNOWN = "Who invented the bowline?"
SALES = "What were the net sales in Europe for July 1, 2023?"


def fill(url: str) -> None:
    """Upload the handbook, so that no path of this machine is in a picture."""
    paths = sorted((ROOT / "src" / "kedge" / "data" / "demo").glob("*.md"))
    with http_client(url, timeout=120) as client:
        files = [("file", (path.name, path.read_bytes())) for path in paths]
        reports = [("file", ("quarterly-report.pdf", filing()))]
        for collection, sent in (("handbook", files), ("reports", reports)):
            job = client.post("/api/ingest", files=sent, data={"collection": collection}).raise_for_status().json()
            assert follow(client, job["job_id"], 600)["status"] == "complete"


def answered(*questions: str, source: bool = False, collection: str = "handbook") -> Callable[[Any], None]:
    def act(page: Any) -> None:
        for question in questions:
            turn = ask(page, question, collection)
            turn.locator(".rate").wait_for()
        if source:
            turn.locator(".chip").first.click()
            page.locator("#panel mark, #panel .places .place").first.wait_for()

    return act


def refused(page: Any) -> None:
    ask(page, UNKNOWN, "handbook").locator(".other-ways li").first.wait_for()


def library(page: Any) -> None:
    page.get_by_label("in", exact=True).select_option("handbook")
    page.get_by_role("button", name="Library").click()
    boxes = page.locator("#shelf-list tbody input")
    boxes.first.wait_for()
    for number in (0, 2):
        boxes.nth(number).check()
    page.locator("#shelf-search").focus()


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    taken: list[tuple[str, tuple[int, int], str, Callable[[Any], None]]] = [
        ("page-source", (1440, 860), "light", answered(KNOT, SCOPE, source=True)),
        ("page-pdf", (1440, 860), "light", answered(SALES, source=True, collection="reports")),
        ("page-dark", (1100, 900), "dark", answered(KNOT)),
        ("page-phone", (390, 844), "light", answered(SCOPE)),
        ("page-refusal", (1100, 980), "light", refused),
        ("page-library", (1280, 800), "light", library),
    ]
    with (
        tempfile.TemporaryDirectory() as home,
        serving(load_settings(environ={}, home=Path(home), port=0), kinds=False) as served,
        sync_playwright() as playwright,
    ):
        fill(served.url)
        browser = playwright.chromium.launch(executable_path=chromium.start(ROOT), args=["--no-sandbox"])
        for name, (width, height), scheme, act in taken:
            page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
            page.set_default_timeout(180_000)
            page.goto(f"{served.url}/rag")
            page.locator("#collection option").first.wait_for(state="attached")
            act(page)
            path = IMAGES / f"{name}.png"
            page.screenshot(path=path, animations="disabled")
            Image.open(path).convert("RGB").quantize(128, dither=Image.Dither.NONE).save(path, optimize=True)
            print(path.relative_to(ROOT), path.stat().st_size)
            page.close()
        browser.close()


if __name__ == "__main__":
    main()
