"""A real browser on a real server. Screenshots go to `artefacts/page/`, which git ignores."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import expect, sync_playwright

from kedge.core.settings import Settings, load_settings
from tests.ingest.conftest import make_pdf
from tests.services import need
from tests.support.paths import ROOT
from tests.support.surfaces import EMBEDDER, follow, http_client, write_corpus
from tests.surfaces.page.served import Served, serving

SHOTS = ROOT / "artefacts" / "page"
WATCH = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) => window.violations.push(event.violatedDirective));
"""
EMOJI = """# Signals 🚩🚩

The flag 🚩 alpha means that a diver is down ⚓. Keep well clear of the vessel at slow speed.
"""


def harbour() -> str:
    """A guide of three sections, each long enough for passages of its own."""
    parts = ["# Harbour guide"]
    for section, key in (
        ("Approach", "The leading lights stand in line on a bearing of 042 degrees."),
        ("Berthing", "Visitors moor bows-to on the seaward pontoon with two stern lines."),
        ("Charges", "A night costs eleven crowns for each metre of the yacht."),
    ):
        filler = [
            f"Note {number} of the {section.lower()} concerns quay {number} and its bollards." for number in range(40)
        ]
        parts += [f"## {section}", " ".join([*filler[:20], key, *filler[20:]])]
    return "\n\n".join(parts) + "\n"


@pytest.fixture(scope="package")
def settings(tmp_path_factory: pytest.TempPathFactory) -> Settings:
    home = tmp_path_factory.mktemp("paged") / "home"
    return load_settings(environ={}, home=home, port=0, embedder=EMBEDDER, max_upload_bytes=200_000, threshold=0.3)


@pytest.fixture(scope="package")
def served(settings: Settings, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A server with the small corpus in `sea` (and a PDF of two pages), and collections of the other kinds."""
    corpus = write_corpus(tmp_path_factory.mktemp("paged-corpus"))
    (corpus / "signals.md").write_text(EMOJI, "utf-8")
    (corpus / "harbour.md").write_text(harbour(), "utf-8")
    lines = ["The storm jib is set forward of the mast.", "The trysail is hoisted on a track of its own in a gale."]
    (corpus / "sails.pdf").write_bytes(
        make_pdf(*([(72, 700, 12, line)] for line in lines), info="/Title (Storm sails)")
    )
    with serving(settings) as served:
        with http_client(served.url) as client:
            body = {"sources": [str(corpus)], "collection": "sea"}
            job_id = client.post("/api/ingest", json=body).raise_for_status().json()["job_id"]
            assert follow(client, job_id)["status"] == "complete"
        yield served


expect.set_options(timeout=30_000)
"""A busy machine draws late; what never comes fails all the same."""


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    program = need("chromium")
    with sync_playwright() as running:
        browser = running.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


class Watch:
    """What a page complained about."""

    def __init__(self) -> None:
        self.complaints: list[str] = []
        self.dialogs: list[str] = []
        self.replies_may_fail = False
        """Set by tests in which the server's refusal is the point: the browser logs it as an error."""

    def follow(self, page: Any) -> None:
        page.on("console", lambda message: message.type == "error" and self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("dialog", lambda dialog: (self.dialogs.append(dialog.message), dialog.dismiss()))

    def check(self, page: Any) -> None:
        """No dialog, no violation of the policy, no error."""
        assert self.dialogs == []
        assert page.evaluate("window.violations") == []
        unexpected = [text for text in self.complaints if not (self.replies_may_fail and "Failed to load" in text)]
        assert unexpected == []


@pytest.fixture
def watch() -> Watch:
    return Watch()


@pytest.fixture
def open_page(browser: Any, served: Served, watch: Watch) -> Iterator[Callable[..., Any]]:
    """Opens the page in a fresh profile; options are those of a browser context.

    A test with a server of its own asks for that first: what is asked for last is left first, and a page that is still
    open when its server has gone complains of it.
    """
    contexts = []

    def open_page(url: str = "", **options: Any) -> Any:
        context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
        context.set_default_timeout(60_000)
        contexts.append(context)
        page = context.new_page()
        page.add_init_script(WATCH)
        watch.follow(page)
        page.goto(f"{url or served.url}/rag")
        return page

    yield open_page
    for context in contexts:
        for page in context.pages:
            watch.check(page)
        context.close()


@pytest.fixture
def page(open_page: Callable[..., Any]) -> Any:
    return open_page()


@pytest.fixture
def shot() -> Callable[[Any, str], None]:
    """Keeps a picture of the page as it is."""
    SHOTS.mkdir(parents=True, exist_ok=True)

    def shot(page: Any, name: str) -> None:
        page.screenshot(path=SHOTS / f"{name}.png", animations="disabled")

    return shot
