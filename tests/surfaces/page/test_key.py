"""A server that wants a key: the page asks for it once, keeps it for the tab, and says when it is not valid."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from kedge.core.settings import load_settings
from kedge.core.values import Right
from kedge.engine.access.keys import make_key
from kedge.stores import registry
from tests.support.surfaces import EMBEDDER, QUESTION, follow, http_client, write_corpus
from tests.surfaces.page.conftest import Watch
from tests.surfaces.page.served import serving


@pytest.fixture
def locked(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """Address and key of a server with the small corpus."""
    settings = load_settings(
        environ={}, home=tmp_path / "home", port=0, embedder=EMBEDDER, collection="sea", threshold=0.3
    )
    token, key = make_key("default", "page", Right.ADMIN)

    async def put() -> None:
        catalog = registry.open_catalog(settings)
        await catalog.keys.put(key)
        await catalog.close()

    with ThreadPoolExecutor(1) as thread:  # the browser's driver runs a loop in this one
        thread.submit(lambda: asyncio.run(put())).result()
    with serving(settings) as served:
        headers = {"authorization": f"Bearer {token}"}
        with http_client(served.url, headers=headers) as client:
            job = client.post("/api/ingest", json={"sources": [str(write_corpus(tmp_path / "corpus"))]}).json()
            assert follow(client, job["job_id"])["status"] == "complete"
        yield served.url, token


def test_the_page_asks_for_the_key_and_works_with_it(
    open_page: Callable[..., Any], locked: tuple[str, str], watch: Watch, shot: Callable[[Any, str], None]
) -> None:
    watch.replies_may_fail = True
    url, token = locked
    page = open_page(url)
    dialog = page.get_by_role("dialog", name="A key is needed")
    dialog.wait_for()
    shot(page, "key")
    page.get_by_label("Key", exact=True).fill("kdg_0000000000000000_wrong")
    page.get_by_role("button", name="Use the key").click()
    dialog.get_by_text("The key is not valid.").wait_for()
    page.get_by_label("Key", exact=True).fill(token)
    page.get_by_role("button", name="Use the key").click()
    dialog.wait_for(state="hidden")
    page.locator("textarea").fill(QUESTION)
    page.keyboard.press("Enter")
    page.locator("main").get_by_text("Sources").first.wait_for()
    page.reload()
    page.locator("select option[value=sea]").wait_for(state="attached")
    assert not dialog.is_visible()
    assert token not in str(page.evaluate("JSON.stringify(localStorage)"))
