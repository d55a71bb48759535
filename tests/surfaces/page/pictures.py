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

IMAGES = ROOT / "docs" / "images"
SCOPE = "What scope should an all-chain rode have overnight?"
KNOT = "Which knot ties the warp to the ring of a kedge?"
UNKNOWN = "Who invented the bowline?"


def fill(url: str) -> None:
    """Upload the handbook, so that no path of this machine is in a picture."""
    paths = sorted((ROOT / "src" / "kedge" / "data" / "demo").glob("*.md"))
    with http_client(url, timeout=120) as client:
        files = [("file", (path.name, path.read_bytes())) for path in paths]
        job = client.post("/api/ingest", files=files, data={"collection": "handbook"}).raise_for_status().json()
        assert follow(client, job["job_id"], 120)["status"] == "complete"


def answered(question: str, *, source: bool = False) -> Callable[[Any], None]:
    def act(page: Any) -> None:
        turn = ask(page, question, "handbook")
        turn.locator(".rate").wait_for()
        if source:
            turn.locator(".chip").first.click()
            page.locator("#panel mark").wait_for()

    return act


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    taken: list[tuple[str, tuple[int, int], str, Callable[[Any], None]]] = [
        ("page-source", (1280, 900), "light", answered(SCOPE, source=True)),
        ("page-dark", (1000, 900), "dark", answered(KNOT)),
        ("page-phone", (390, 844), "light", answered(SCOPE, source=True)),
        ("page-refusal", (1000, 860), "light", answered(UNKNOWN)),
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
