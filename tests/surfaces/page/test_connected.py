"""Connected sources in the library: connect, look, take out what is held, forget."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import expect

from kedge.core.settings import load_settings
from tests.support.places import WebPlace, web_site
from tests.support.surfaces import EMBEDDER, follow, http_client
from tests.surfaces.page.conftest import Watch
from tests.surfaces.page.served import Served, serving

RUN = 120_000
"""Milliseconds that a run may take on a busy machine; what never comes fails all the same."""
LONG = 45
"""Looks at a run."""
PAGES = {"anchors": "A kedge is a light anchor.", "tides": "Spring tides come twice a month."}


@pytest.fixture
def site() -> Iterator[WebPlace]:
    with web_site() as place:
        place.put(PAGES)
        yield place


@pytest.fixture
def harbour(tmp_path: Path) -> Iterator[Served]:
    settings = load_settings(environ={}, home=tmp_path / "home", port=0, embedder=EMBEDDER, allow_private_urls=True)
    with serving(settings, kinds=False) as served, http_client(served.url) as client:
        files = [("file", ("red.md", "# Red boat\n\nThe red boat carries four sailors.\n"))]
        job = client.post("/api/ingest", files=files, data={"collection": "fleet"}).raise_for_status().json()
        assert follow(client, job["job_id"])["status"] == "complete"
        yield served


def test_a_source_is_connected_watched_and_forgotten(
    open_page: Callable[..., Any], harbour: Served, site: WebPlace
) -> None:
    page = open_page(harbour.url)
    page.get_by_role("button", name="Library").click()
    library = page.get_by_role("dialog", name="Library")
    library.get_by_text("Stays in step with no source").click()
    library.get_by_label("Address").fill(f"{site.address}/")
    library.get_by_label("Look at it").select_option("when asked")
    library.get_by_role("button", name="Connect").click()
    one = library.locator("[data-source]")
    expect(one).to_contain_text("In step", timeout=RUN)
    expect(one).to_contain_text("3 new, 0 changed, 0 gone")
    expect(library.locator("#shelf-list tbody tr")).to_have_count(4)

    del site.pages["/anchors"], site.pages["/tides"]
    one.get_by_role("button", name="Sync now").click()
    expect(one).to_contain_text("Held", timeout=RUN)
    expect(one).to_contain_text("2 of 3 documents are gone from there and are kept.")
    expect(library.locator("#shelf-list tbody tr")).to_have_count(4)
    one.get_by_role("button", name="Take them out").click()
    expect(one).to_contain_text("In step", timeout=RUN)
    expect(library.locator("#shelf-list tbody tr")).to_have_count(2)

    one.get_by_role("button", name="Remove").click()
    expect(one).to_have_count(0)
    expect(library.locator("#shelf-list tbody tr")).to_have_count(2)


def test_a_run_that_ends_between_two_looks_is_shown(
    open_page: Callable[..., Any], harbour: Served, site: WebPlace
) -> None:
    """The job is over before the page asks for jobs, and what it did is written down after the page asked for that."""
    page = open_page(harbour.url)
    page.get_by_role("button", name="Library").click()
    library = page.get_by_role("dialog", name="Library")
    library.get_by_text("Stays in step with no source").click()
    library.get_by_label("Address").fill(f"{site.address}/")
    library.get_by_role("button", name="Connect").click()
    one = library.locator("[data-source]")
    expect(one).to_contain_text("3 new, 0 changed, 0 gone", timeout=RUN)

    seen = page.request.get(f"{harbour.url}/api/sources").json()
    old: list[Any] = [seen, seen]

    def late(route: Any) -> None:
        if route.request.method == "GET" and old:
            with http_client(harbour.url) as client:
                for job in client.get("/api/ingest", params={"limit": 5}).json()["jobs"]:
                    follow(client, job["job_id"])
            route.fulfill(json=old.pop())
        else:
            route.continue_()

    page.route("**/api/sources", late)
    site.put(PAGES | {"locks": "The lock opens at high water."})
    one.get_by_role("button", name="Sync now").click()
    expect(one).to_contain_text("1 new, 1 changed, 0 gone", timeout=RUN)
    assert not old


def test_a_run_that_takes_minutes_is_shown(open_page: Callable[..., Any], harbour: Served, site: WebPlace) -> None:
    """It is looked at many times before it ends, and what it did is written down a look later still."""
    page = open_page(harbour.url)
    page.get_by_role("button", name="Library").click()
    library = page.get_by_role("dialog", name="Library")
    library.get_by_text("Stays in step with no source").click()
    library.get_by_label("Address").fill(f"{site.address}/")
    library.get_by_role("button", name="Connect").click()
    one = library.locator("[data-source]")
    expect(one).to_contain_text("3 new, 0 changed, 0 gone", timeout=RUN)

    old = page.request.get(f"{harbour.url}/api/sources").json()
    looks = 0

    def as_if_it_ran(route: Any) -> None:
        jobs = route.fetch().json()
        if looks < LONG:
            jobs["jobs"][0]["status"] = "embedding"
        route.fulfill(json=jobs)

    def as_it_was(route: Any) -> None:
        nonlocal looks
        looks += 1
        route.fulfill(json=old) if looks <= LONG + 1 else route.continue_()

    page.clock.install()
    site.put(PAGES | {"locks": "The lock opens at high water."})
    with page.expect_response(lambda reply: "/sync" in reply.url):
        one.get_by_role("button", name="Sync now").click()
    with http_client(harbour.url) as client:
        follow(client, client.get("/api/ingest", params={"limit": 1}).json()["jobs"][0]["job_id"])
    page.route("**/api/ingest?*", as_if_it_ran)
    page.route("**/api/sources", as_it_was)
    for _ in range(LONG):
        with page.expect_response("**/api/sources"):
            page.clock.run_for(1500)
    page.clock.resume()
    expect(one).to_contain_text("1 new, 1 changed, 0 gone", timeout=RUN)


def test_what_cannot_be_connected_is_told_with_what_to_do(
    open_page: Callable[..., Any], harbour: Served, watch: Watch
) -> None:
    watch.replies_may_fail = True
    page = open_page(harbour.url)
    page.get_by_role("button", name="Library").click()
    library = page.get_by_role("dialog", name="Library")
    library.get_by_text("Stays in step with no source").click()
    library.get_by_label("Address").fill("https://me:moored@host.example/")
    library.get_by_role("button", name="Connect").click()
    expect(page.locator("#toasts")).to_contain_text("carries a user or a secret")
    expect(library.locator("[data-source]")).to_have_count(0)
