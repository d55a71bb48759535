"""Kedge's own connectors keep the contract of connectors, each against a real server on loopback."""

from __future__ import annotations

import imaplib
import shutil
import subprocess
import uuid
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from email.message import EmailMessage
from email.utils import format_datetime
from html import escape
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from kedge.core.settings import Settings
from kedge.core.values import Json, SourceError
from kedge.ingest.connectors.ports import Connector, Entry, LastListing, Remembered, SourceAddress
from kedge.ingest.connectors.registry import open_connector
from kedge.testing import ConnectorContract
from tests.services import need
from tests.services.dovecot import PASSWORD as MAIL_PASSWORD
from tests.support.places import PASSWORD, USER, Page, WebPlace, s3_server, sftp_server, web_site, webdav_server

HERE = Settings(allow_private_urls=True)


def opened(url: str, secrets: Mapping[str, str] | None = None, **options: Json) -> Connector:
    return open_connector(SourceAddress(url, options, secrets or {}), HERE)


def write(folder: Path, documents: Mapping[str, str]) -> None:
    """Exactly these files; one of them in a folder of its own."""
    for held in folder.iterdir():
        shutil.rmtree(held) if held.is_dir() else held.unlink()
    for name, text in documents.items():
        place = folder / "sea" if name.startswith("knots") else folder
        place.mkdir(exist_ok=True)
        (place / name).write_text(f"# {name}\n\n{text}\n", "utf-8")


@pytest.fixture(scope="module")
def s3() -> Iterator[str]:
    pytest.importorskip("moto")
    pytest.importorskip("s3fs")
    with s3_server() as address:
        yield address


class InFolder(ConnectorContract):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.folder = tmp_path / "place"
        self.folder.mkdir()

    def publish(self, documents: Mapping[str, str]) -> None:
        write(self.folder, documents)

    def say_readers(self, said: str) -> None:
        (self.folder / ".kedge-access.yaml").write_text(said, "utf-8")

    def test_a_folder_says_who_may_read_its_files(self) -> None:
        self.publish({"anchors.md": "Light.", "tides.md": "High.", "knots.md": "Tight."})
        self.say_readers('"tides.md": [group:board]\n"**/knots.md": [user:ann]\n')
        found, cursor = self._with_readers(LastListing())
        told = {name: one.readers for name, one in found.items()}
        assert told == {"anchors.md": None, "tides.md": ("group:board",), "knots.md": ("user:ann",)}
        known = {one.key: Remembered(one.url, one.fingerprint, one.size, one.note) for one in found.values()}
        again, _ = self._with_readers(LastListing(known, cursor))
        assert {name: one.readers for name, one in again.items()} == told

    def test_what_names_readers_and_cannot_be_read_keeps_its_folder_out(self) -> None:
        self.publish({"anchors.md": "Light.", "tides.md": "High."})
        self.say_readers("no patterns")
        with closing(self.open()) as connector:
            found = list(connector.entries(LastListing()))
        assert found
        assert all(isinstance(one, SourceError) for one in found)

    def _with_readers(self, past: LastListing) -> tuple[dict[str, Entry], str]:
        with closing(self.open()) as connector:
            found = [one for one in connector.entries(past) if isinstance(one, Entry)]
            return {one.name: one for one in found}, connector.cursor


class TestFolder(InFolder):
    def open(self) -> Connector:
        return opened(str(self.folder))


class TestArchive(ConnectorContract):
    @pytest.fixture(autouse=True)
    def _folder(self, tmp_path: Path) -> None:
        self.path = tmp_path / "place.zip"
        self.publish({})

    def publish(self, documents: Mapping[str, str]) -> None:
        with zipfile.ZipFile(self.path, "w") as archive:
            for name, text in documents.items():
                archive.writestr(f"sea/{name}", text)

    def open(self) -> Connector:
        return opened(str(self.path))


class TestS3(ConnectorContract):
    @pytest.fixture(autouse=True)
    def _bucket(self, s3: str) -> None:
        from s3fs import S3FileSystem

        self.server, self.bucket = s3, f"sea-{uuid.uuid4().hex[:8]}"
        self.files = S3FileSystem(key="k", secret="s", endpoint_url=s3, use_listings_cache=False)
        self.files.mkdir(self.bucket)

    def publish(self, documents: Mapping[str, str]) -> None:
        held = self.files.find(self.bucket)
        if held:
            self.files.rm(held)
        for name, text in documents.items():
            folder = "docs/sea" if name.startswith("knots") else "docs"
            self.files.pipe_file(f"{self.bucket}/{folder}/{name}", text.encode())

    def open(self) -> Connector:
        return opened(f"s3://{self.bucket}/docs", {"key": "k", "secret": "s"}, endpoint=self.server)


class TestWebdav(InFolder):
    @pytest.fixture(autouse=True)
    def _server(self, _folder: None) -> Iterator[None]:
        for module in ("wsgidav", "webdav4"):
            pytest.importorskip(module)
        with webdav_server(self.folder.parent) as address:
            self.address = address
            yield

    def open(self) -> Connector:
        return opened(f"{self.address}/place", {"password": PASSWORD}, user=USER)


class TestSftp(InFolder):
    @pytest.fixture(autouse=True)
    def _server(self, _folder: None) -> Iterator[None]:
        pytest.importorskip("sshfs")
        with sftp_server(self.folder.parent) as (self.address, self.key):
            yield

    def open(self) -> Connector:
        return opened(f"{self.address}/place", {"password": PASSWORD}, user=USER, host_key=self.key)


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not here")
class TestGit(InFolder):
    @pytest.fixture(autouse=True)
    def _repository(self, _folder: None, tmp_path: Path) -> None:
        self.bare = tmp_path / "sea.git"
        self._git("init", "--quiet", "--bare", "--initial-branch=main", str(self.bare))
        self._git("init", "--quiet", "--initial-branch=main")
        self.publish({})

    def publish(self, documents: Mapping[str, str]) -> None:
        for held in self.folder.iterdir():
            if held.name != ".git":
                shutil.rmtree(held) if held.is_dir() else held.unlink()
        for name, text in documents.items():
            (self.folder / name).write_text(f"# {name}\n\n{text}\n", "utf-8")
        self._git("add", "--all")
        self._git("-c", "user.name=m", "-c", "user.email=m@x", "commit", "--quiet", "--allow-empty", "-m", "new")
        self._git("push", "--quiet", "--force", str(self.bare), "main")

    def say_readers(self, said: str) -> None:
        super().say_readers(said)
        self._git("add", "--all")
        self._git("-c", "user.name=m", "-c", "user.email=m@x", "commit", "--quiet", "-m", "readers")
        self._git("push", "--quiet", "--force", str(self.bare), "main")

    def _git(self, *words: str) -> None:
        subprocess.run(["git", *words], cwd=self.folder, check=True, capture_output=True)

    def open(self) -> Connector:
        return opened(f"git+file://{self.bare}#main")


class OnSite(ConnectorContract):
    site: WebPlace

    @pytest.fixture(autouse=True)
    def _site(self) -> Iterator[None]:
        with web_site() as self.site:
            yield


class TestWebsite(OnSite):
    beside = 1

    def publish(self, documents: Mapping[str, str]) -> None:
        self.site.put(documents)
        self.site.pages["/"] = Page("<title>Sea</title><p>All about the sea.</p>")
        found = "".join(f"<url><loc>{self.site.address}/{name}</loc></url>" for name in documents)
        self.site.pages["/sitemap.xml"] = Page(f"<urlset>{found}</urlset>", "application/xml")

    def open(self) -> Connector:
        return opened(f"{self.site.address}/")


class TestFeed(OnSite):
    forgets = True

    def publish(self, documents: Mapping[str, str]) -> None:
        items = "".join(
            f"<item><title>{name}</title><link>{self.site.address}/{name}</link>"
            f"<description>{escape(text)}</description></item>"
            for name, text in documents.items()
        )
        feed = f'<?xml version="1.0"?><rss version="2.0"><channel><title>Sea</title>{items}</channel></rss>'
        self.site.pages["/feed.xml"] = Page(feed, "application/rss+xml")

    def open(self) -> Connector:
        return opened(f"feed+{self.site.address}/feed.xml")


class TestMailbox(ConnectorContract):
    @pytest.fixture(autouse=True)
    def _mailbox(self) -> Iterator[None]:
        self.server, self.user = need("dovecot"), f"mate-{uuid.uuid4().hex[:8]}"
        parts = urlsplit(self.server)
        self.line = imaplib.IMAP4(parts.hostname or "", parts.port or 143)
        self.line.login(self.user, MAIL_PASSWORD)
        self.held: dict[str, tuple[str, str]] = {}
        yield
        self.line.logout()

    def publish(self, documents: Mapping[str, str]) -> None:
        """A message never changes: one with another text takes the place of the old."""
        self.line.select("INBOX")
        for name, (uid, text) in list(self.held.items()):
            if documents.get(name) != text:
                self.line.uid("STORE", uid, "+FLAGS", "\\Deleted")
                del self.held[name]
        self.line.expunge()
        for name, text in documents.items():
            if name not in self.held:
                letter = EmailMessage()
                letter["Subject"], letter["From"], letter["To"] = name, "mate@ship.example", "crew@ship.example"
                letter["Date"] = format_datetime(datetime(2026, 1, 2, tzinfo=UTC))
                letter.set_content(text)
                told = self.line.append("INBOX", "", "", letter.as_bytes())[1][0]
                self.held[name] = told.split(b"]")[0].split()[-1].decode(), text

    def open(self) -> Connector:
        return opened(f"{self.server}/INBOX", {"password": MAIL_PASSWORD}, user=self.user, tls="no")
