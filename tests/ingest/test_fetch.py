"""Downloads: public addresses only, checked at every hop, connected to the address that was checked."""

from __future__ import annotations

import gzip
import socket
import threading
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path

import pytest

from kedge.core.errors import ForbiddenAddressError, SourceTooLargeError, UnreadableError, UnsupportedFormatError
from kedge.core.settings import Settings
from kedge.core.values import SourceError
from kedge.ingest.parse.reading import open_document
from kedge.ingest.sources.discovery import Source, discover
from kedge.ingest.sources.fetch import fetch, is_public, resolve
from tests.ingest.conftest import Site

OPEN = Settings(allow_private_urls=True)
CLOSED = Settings()


@pytest.mark.req("D-01")
@pytest.mark.parametrize(
    "address",
    "127.0.0.1 10.0.0.1 172.16.3.4 192.168.1.1 169.254.169.254 0.0.0.0 100.64.0.1 224.0.0.1 240.0.0.1 255.255.255.255 "
    "192.0.2.1 198.18.0.1 ::1 :: fe80::1 fc00::1 fec0::1 ff02::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 64:ff9b::7f00:1 "
    "2002:7f00:1:: ::7f00:1 2001:db8::1".split(),
)
def test_addresses_that_are_not_public(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.req("D-01")
@pytest.mark.parametrize("address", ["93.184.216.34", "8.8.8.8", "2606:4700:4700::1111", "::ffff:8.8.8.8"])
def test_addresses_that_are_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.req("D-01")
@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "[::1]", "2130706433", "0x7f000001", "127.1", "[::ffff:127.0.0.1]", "0.0.0.0"]
)
def test_loopback_is_refused_however_it_is_written(host: str, site: Site) -> None:
    with pytest.raises((ForbiddenAddressError, UnreadableError)) as caught:
        fetch(site.url("/", host), CLOSED)
    assert site.hosts == []
    if isinstance(caught.value, ForbiddenAddressError):
        assert "allow_private_urls" in caught.value.hint


@pytest.mark.req("D-01")
@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://example.org/x", "gopher://127.0.0.1/"])
def test_other_schemes_are_refused(url: str) -> None:
    with pytest.raises(ForbiddenAddressError):
        fetch(url, OPEN)


@pytest.mark.req("D-01")
def test_one_private_address_among_public_ones_is_enough_to_refuse(site: Site) -> None:
    with pytest.raises(ForbiddenAddressError):
        fetch("http://mixed.example/", CLOSED, resolve=lambda host, port: ["8.8.8.8", "10.0.0.1"])


@pytest.mark.req("D-01")
def test_a_redirect_to_a_private_address_is_refused(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first hop is public (the test says so), the second is not."""
    site.redirect("/start", site.url("/inside", "internal.example"))
    site.page("/inside", b"secret")
    answers = {"public.example": "127.0.0.1", "internal.example": "10.0.0.7"}
    monkeypatch.setattr("kedge.ingest.sources.fetch.is_public", lambda address: str(address) == "127.0.0.1")
    with pytest.raises(ForbiddenAddressError, match=r"internal\.example.* does not lead to a public address"):
        fetch(site.url("/start", "public.example"), CLOSED, resolve=lambda host, port: [answers[host]])
    assert len(site.hosts) == 1


@pytest.mark.req("D-01")
def test_the_name_is_looked_up_once_and_the_connection_goes_there(site: Site) -> None:
    """A name server that answers differently the second time changes nothing."""
    site.page("/", b"<p>pinned</p>")
    asked: list[str] = []

    def rebinding(host: str, port: int) -> list[str]:
        asked.append(host)
        return ["127.0.0.1"] if len(asked) == 1 else ["192.0.2.1"]

    fetched = fetch(site.url("/", "rebind.example"), OPEN, resolve=rebinding)
    assert asked == ["rebind.example"]
    assert site.hosts == [f"rebind.example:{site.port}"]
    assert fetched.download.path.read_bytes() == b"<p>pinned</p>"


@pytest.mark.req("D-01")
def test_redirects_are_followed_and_counted(site: Site) -> None:
    site.page("/end.md", b"# End", "text/plain", Last_Modified="Wed, 01 May 2024 10:00:00 GMT")
    site.redirect("/1", "/2")
    site.redirect("/2", site.url("/end.md"))
    fetched = fetch(site.url("/1"), OPEN)
    assert (fetched.url, fetched.name) == (site.url("/end.md"), "end.md")
    assert fetched.updated_at is not None
    assert fetched.updated_at.year == 2024
    site.redirect("/loop", "/loop")
    with pytest.raises(UnreadableError, match="redirects"):
        fetch(site.url("/loop"), OPEN)


@pytest.mark.req("D-01")
def test_faults_of_servers(site: Site) -> None:
    with pytest.raises(UnreadableError, match="404"):
        fetch(site.url("/none"), OPEN)
    with pytest.raises(UnreadableError, match="not known"):
        fetch("http://no-such-host.invalid/", OPEN)
    with pytest.raises(UnreadableError, match="cannot be downloaded"):
        fetch("http://127.0.0.1:1/", OPEN)
    with pytest.raises(UnreadableError):
        fetch("http://[broken/", OPEN)
    site.page("/slow", b"x")
    with pytest.raises(UnreadableError, match="longer than"):
        fetch(site.url("/slow"), Settings(allow_private_urls=True, url_timeout=1e-9))


@pytest.mark.req("D-01")
def test_size_is_limited_and_downloads_leave_nothing_behind(
    site: Site, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    url = site.page("/big", b"x" * 300_000)
    with pytest.raises(SourceTooLargeError):
        fetch(url, Settings(allow_private_urls=True, max_source_bytes=1000))
    fetched = fetch(url, OPEN)
    assert fetched.download.size == 300_000
    del fetched
    assert list(tmp_path.glob("kedge-download-*")) == []  # other threads may keep something of theirs here


@pytest.mark.req("D-01")
def test_an_address_becomes_a_document(site: Site) -> None:
    url = site.page("/docs/page", b"<title>Web page</title><main><p>Hello.</p></main>", "text/html; charset=utf-8")
    (source,) = discover([url + "#part"], OPEN)
    assert isinstance(source, Source)
    assert (source.url, source.external_id, source.format) == (url, url, "html")
    reader = open_document(source)
    assert reader.title == "Web page"
    assert next(reader.segments).document.text == "Hello."
    (refused,) = discover([url], CLOSED)
    assert isinstance(refused, SourceError)
    assert refused.code == "forbidden_address"


@pytest.mark.req("D-01")
@pytest.mark.parametrize("url", ["http://user:s3cret@example.org/", "http://token@example.org/a.md"])
def test_addresses_with_a_password_are_refused_without_showing_it(url: str) -> None:
    with pytest.raises(ForbiddenAddressError) as caught:
        fetch(url, OPEN, resolve=lambda host, port: ["8.8.8.8"])
    assert "s3cret" not in str(caught.value)
    assert "token" not in str(caught.value)
    (error,) = discover([url], CLOSED)
    assert isinstance(error, SourceError)
    assert "s3cret" not in f"{error.url} {error.message}"


@pytest.mark.req("D-01")
@pytest.mark.parametrize("port", [22, 25, 111, 445, 993])
def test_ports_of_other_services_are_refused(port: int) -> None:
    with pytest.raises(ForbiddenAddressError, match=f"port {port}"):
        fetch(f"http://example.org:{port}/", CLOSED, resolve=lambda host, port: ["8.8.8.8"])


@pytest.mark.req("D-01")
@pytest.mark.parametrize(
    "target",
    [
        "http://169.254.169.254/latest/meta-data/",
        "http://[::ffff:169.254.169.254]/",
        "http://2852039166/",
        "http://0251.0376.0251.0376/",
        "file:///etc/passwd",
        "gopher://127.0.0.1:6379/_FLUSHALL",
        "http://user:x@public.example/",
    ],
)
def test_redirects_lead_nowhere_else(site: Site, monkeypatch: pytest.MonkeyPatch, target: str) -> None:
    """The first hop is public (the test says so); each further one is checked like the first."""
    site.redirect("/start", target)
    monkeypatch.setattr("kedge.ingest.sources.fetch.is_public", lambda address: str(address) == "127.0.0.1")

    def answers(host: str, port: int) -> list[str]:
        return ["127.0.0.1"] if host == "public.example" else resolve(host, port)

    with pytest.raises((ForbiddenAddressError, UnreadableError)):
        fetch(site.url("/start", "public.example"), CLOSED, resolve=answers)
    assert len(site.hosts) == 1


@pytest.mark.req("D-01")
def test_a_server_that_drips_is_left_in_time() -> None:
    """A byte now and then keeps every single read in time; the whole must end nevertheless."""
    done = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def drip() -> None:
            connection, _ = listening.accept()
            with connection, suppress(OSError):
                connection.sendall(b"HTTP/1.1 200 OK\r\nX-Slow: ")
                while not done.wait(0.05):
                    connection.sendall(b"x")

        thread = threading.Thread(target=drip)
        thread.start()
        try:
            with pytest.raises(UnreadableError, match="longer than"):
                fetch(
                    f"http://127.0.0.1:{listening.getsockname()[1]}/", Settings(allow_private_urls=True, url_timeout=1)
                )
        finally:
            done.set()
            thread.join()


@pytest.mark.req("D-01")
def test_packed_downloads_are_measured_unpacked(site: Site) -> None:
    site.page("/bomb", gzip.compress(bytes(20 << 20)), "text/plain", Content_Encoding="gzip")
    with pytest.raises(SourceTooLargeError):
        fetch(site.url("/bomb"), Settings(allow_private_urls=True, max_source_bytes=1 << 20))
    site.page("/odd", b"x", "text/plain", Content_Encoding="br")
    with pytest.raises(UnreadableError, match="packed"):
        fetch(site.url("/odd"), OPEN)


@pytest.mark.req("D-01")
@pytest.mark.parametrize("kind", ["audio/mpeg", "video/mp4", "application/zip"])
def test_what_is_no_document_is_not_downloaded(site: Site, kind: str) -> None:
    site.page("/x", b"x" * 100, kind)
    with pytest.raises(UnsupportedFormatError):
        fetch(site.url("/x"), OPEN)
