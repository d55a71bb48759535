"""What places may not do to those who follow them: lead out, unpack without end, be somebody else, tell a secret."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from kedge.core.errors import SourceFault, SourceTooLargeError
from kedge.core.settings import Settings
from kedge.core.values import Json, SourceError
from kedge.ingest.connectors.ports import Connector, Entry, LastListing, SourceAddress
from kedge.ingest.connectors.registry import address, is_local, open_connector
from tests.support.places import PASSWORD, USER, Page, sftp_server, web_site, webdav_server

HERE = Settings(allow_private_urls=True)
WRONG = "wrong-and-secret"


def opened(url: str, secrets: Mapping[str, str] | None = None, **options: Json) -> Connector:
    return open_connector(SourceAddress(url, options, secrets or {}), HERE)


def keys(connector: Connector) -> list[str]:
    return [one.key if isinstance(one, Entry) else f"fault {one.url}" for one in connector.entries(LastListing())]


def test_links_that_lead_out_of_a_folder_are_passed_over(tmp_path: Path) -> None:
    folder, outside = tmp_path / "sea", tmp_path / "outside"
    folder.mkdir()
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    (folder / "here.md").write_text("here")
    (folder / "out.md").symlink_to(outside / "secret.md")
    (folder / "all").symlink_to(outside)
    (folder / "loop").symlink_to(folder)
    (folder / "within.md").symlink_to(folder / "here.md")
    (folder / ".hidden.md").write_text("hidden")
    assert keys(opened(str(folder))) == ["here.md", "within.md"]


def test_patterns_choose_files(tmp_path: Path) -> None:
    for name in ("a.md", "b.txt", "guide/c.md", "guide/draft.md"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    assert keys(opened(str(tmp_path), include="*.md", exclude="guide/draft*")) == ["a.md", "guide/c.md"]


def test_an_archive_that_unpacks_without_end_is_stopped(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(4):
            archive.writestr(f"{number}.txt", "0" * 60_000)
    settings = Settings(parse_output_bytes=1 << 17)
    connector = open_connector(SourceAddress(str(tmp_path / "bomb.zip")), settings)
    entries = [one for one in connector.entries(LastListing()) if isinstance(one, Entry)]
    for one in entries[:2]:
        connector.open(one)
    with pytest.raises(SourceTooLargeError):
        connector.open(entries[2])
    connector.close()


def test_a_file_over_the_limit_is_not_fetched(tmp_path: Path) -> None:
    (tmp_path / "large.md").write_text("x" * 5000)
    connector = open_connector(SourceAddress(str(tmp_path)), Settings(max_source_bytes=4000, max_upload_bytes=100))
    (entry,) = connector.entries(LastListing())
    assert isinstance(entry, Entry)
    with pytest.raises(SourceTooLargeError):
        connector.open(entry)


def test_a_server_that_refuses_a_password_does_not_get_it_told(tmp_path: Path) -> None:
    for module in ("wsgidav", "webdav4", "sshfs"):
        pytest.importorskip(module)
    with webdav_server(tmp_path) as dav, sftp_server(tmp_path) as (sftp, key):
        places = (
            opened(dav, {"password": WRONG}, user=USER),
            opened(sftp, {"password": WRONG}, user=USER, host_key=key),
        )
        for connector in places:
            with pytest.raises(SourceFault) as refused:
                keys(connector)
            assert WRONG not in str(refused.value)
            connector.close()


def test_an_sftp_server_with_another_key_is_not_talked_to(tmp_path: Path) -> None:
    pytest.importorskip("sshfs")
    with sftp_server(tmp_path) as (url, _), sftp_server(tmp_path) as (_, other):
        given: tuple[dict[str, Json], ...] = ({"host_key": other}, {})  # without one, the user's own list counts
        for options in given:
            with pytest.raises(SourceFault):
                keys(opened(url, {"password": PASSWORD}, user=USER, **options))


@pytest.mark.parametrize(
    "body",
    [
        '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">]><rss><channel><item><title>&a;</title></item></channel></rss>',
        "<html><body>no feed</body></html>",
        "<rss><channel>",
        "",
    ],
)
def test_what_is_no_feed_is_a_fault(body: str) -> None:
    with web_site() as site:
        site.pages["/f"] = Page(body, "application/rss+xml")
        with pytest.raises(SourceFault):
            keys(opened(f"feed+{site.address}/f"))


def test_atom_and_rss_are_read_alike() -> None:
    atom = (
        '<feed xmlns="http://www.w3.org/2005/Atom"><entry><id>tag:1</id><title>Tides</title>'
        '<link rel="self" href="/self"/><link href="/tides"/><updated>2026-05-01T00:00:00Z</updated>'
        '<author><name>Ada</name></author><content type="html">&lt;p&gt;Spring.</content></entry>'
        "<entry><title>No link</title></entry></feed>"
    )
    with web_site() as site:
        site.pages["/f"] = Page(atom, "application/atom+xml")
        connector = opened(f"feed+{site.address}/f")
        (entry,) = connector.entries(LastListing())
        assert isinstance(entry, Entry)
        assert (entry.key, entry.url, entry.title) == ("tag:1", f"{site.address}/tides", "Tides")
        assert entry.updated_at is not None
        content = connector.open(entry)
        assert isinstance(content, bytes)
        assert b"Spring." in content
        assert not connector.complete


def test_a_folder_that_cannot_be_listed_hides_what_is_in_it(tmp_path: Path) -> None:
    if os.geteuid() == 0:
        pytest.skip("root can list everything")
    (tmp_path / "closed").mkdir(mode=0o000)
    (tmp_path / "a.md").write_text("a")
    found = list(opened(str(tmp_path)).entries(LastListing()))
    assert [type(one) for one in found] == [Entry, SourceError]


@pytest.mark.parametrize(
    ("given", "local"),
    [
        *[
            (one, True)
            for one in (
                "/a/b",
                "docs",
                "~/x",
                "file:///a",
                "zip:///a.zip",
                "git+file:///a",
                "git+FILE:///a",
                "Zip:///a.zip",
            )
        ],
        *[(one, False) for one in ("https://h/", "s3://b/x", "git+ssh://h/x")],
    ],
)
def test_what_leads_into_the_machine_is_known(given: str, local: bool) -> None:
    assert is_local(address(given)) is local
