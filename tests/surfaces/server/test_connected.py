"""Sources over HTTP: by the client, on their own when they are due, and within what a caller may."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kedge.core.errors import ConflictError, ForbiddenError, NotFoundError, UsageError
from kedge.core.settings import Settings, load_settings
from kedge.core.values import ConnectedSource, Right
from kedge.surfaces.client import KedgeClient
from tests.support.places import WebPlace, web_site
from tests.support.serving import put_key, served
from tests.support.surfaces import EMBEDDER, write_corpus

PATIENCE = 60
"""Seconds for a server on a busy machine."""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load_settings(
        environ={},
        home=tmp_path / "home",
        embedder=EMBEDDER,
        allow_private_urls=True,
        source_secrets="env:HARBOUR",
    )


@pytest.fixture
def site() -> Iterator[WebPlace]:
    with web_site() as place:
        place.put({"anchors": "A kedge is a light anchor.", "tides": "Spring tides come twice a month."})
        yield place


def ended(client: KedgeClient, name: str) -> ConnectedSource:
    """The source after a run of it that nobody asked for."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        if (found := client.source(name)).last_run is not None:
            return found
    raise AssertionError(f"{name} was not looked at within {PATIENCE} s")


def test_a_source_is_connected_synced_and_removed(settings: Settings, site: WebPlace, tmp_path: Path) -> None:
    folder = write_corpus(tmp_path / "docs")
    with served(settings) as url, KedgeClient(url) as client:
        made = client.add_source(f"{site.address}/", collection="sea", name="site")
        assert (made.state, made.scope.collection) == ("new", "sea")
        job = client.wait(client.sync_source("site").job_id, within=PATIENCE)
        assert job.files_new == 3
        assert client.source("site").state == "in_step"
        with pytest.raises(ConflictError):
            client.add_source(f"{site.address}/", name="site")
        local = client.add_source(str(folder), collection="sea")  # a caller on the machine itself
        client.wait(client.sync_source(local.name).job_id, within=PATIENCE)
        assert [one.name for one in client.sources()] == sorted(["site", local.name])
        del site.pages["/anchors"], site.pages["/tides"]
        client.wait(client.sync_source("site").job_id, within=PATIENCE)
        held = client.source("site")
        assert (held.state, held.held and held.held.gone) == ("held", 2)
        client.wait(client.sync_source("site", confirm=True).job_id, within=PATIENCE)
        assert client.source("site").held is None
        client.remove_source("site", documents=True)
        with pytest.raises(NotFoundError):
            client.source("site")
        assert len(client.documents("sea")) == 3


def test_a_source_that_is_due_is_looked_at_without_being_asked(settings: Settings, site: WebPlace) -> None:
    with served(settings) as url, KedgeClient(url) as client:
        client.add_source(f"{site.address}/", collection="sea", name="site", every="10m")
        found = ended(client, "site")
        assert (found.state, found.documents) == ("in_step", 3)
        assert found.next_run is not None


def test_what_a_caller_may_is_what_the_key_says(
    settings: Settings, site: WebPlace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody from elsewhere names files or secrets of the machine, but an administrator those that are listed."""
    monkeypatch.setenv("HARBOUR", "moored")
    keys = {right: put_key(settings, "here", right) for right in Right}
    secret = {"password": "env:HARBOUR"}
    with served(settings.model_copy(update={"host": "0.0.0.0"})) as url:
        address = f"{site.address}/"
        with KedgeClient(url, key=keys[Right.READ]) as reader:
            with pytest.raises(ForbiddenError):
                reader.add_source(address)
            assert reader.sources() == []
        with KedgeClient(url, key=keys[Right.WRITE]) as writer:
            writer.add_source(address, name="site")
            repositories = [f"git+{scheme}://{tmp_path}" for scheme in ("file", "FILE")]
            for local in (str(tmp_path), f"zip://{tmp_path}/x.zip", *repositories, "docs"):
                with pytest.raises(UsageError, match="own machine"):
                    writer.add_source(local)
            with pytest.raises(ForbiddenError):
                writer.add_source("imap://127.0.0.1/INBOX", secrets=secret)
            for of_machine in ("s3://private/docs", "gs://private", "az://private", "git+ssh://git.example/a.git"):
                with pytest.raises(ForbiddenError, match="as itself"):
                    writer.add_source(of_machine)
        with KedgeClient(url, key=keys[Right.ADMIN]) as admin:
            admin.add_source("imap://127.0.0.1/INBOX", name="mail", secrets=secret)
            for reference in ("env:PATH", "file:/etc/passwd"):
                with pytest.raises(ForbiddenError, match="source_secrets"):
                    admin.add_source("imap://127.0.0.1/INBOX", secrets={"password": reference})


def test_sources_of_another_tenant_are_not_there(settings: Settings, site: WebPlace) -> None:
    keys = {tenant: put_key(settings, tenant, Right.WRITE) for tenant in ("here", "there")}
    with served(settings) as url:
        with KedgeClient(url, key=keys["here"]) as mine:
            mine.add_source(f"{site.address}/", name="site", collection="sea")
        with KedgeClient(url, key=keys["there"]) as stranger:
            assert stranger.sources() == []
            for call in (stranger.source, stranger.sync_source, stranger.remove_source):
                with pytest.raises(NotFoundError):
                    call("site")
            job = stranger.ingest(f"{site.address}/", collection="sea", options={"connected_source": "site"})
            assert stranger.wait(job.job_id, within=PATIENCE).status.value == "failed"
            stranger.add_source(f"{site.address}/", name="site")  # a name is free in each tenant
