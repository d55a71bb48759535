"""What a hostile place may cost: names that change, answers and trees without end, and what hides in encodings."""

from __future__ import annotations

import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from kedge.core.errors import ForbiddenAddressError, SourceFault, SourceTooLargeError, UsageError
from kedge.core.settings import Settings
from kedge.core.values import Json, SourceError
from kedge.ingest.connectors import git, trees
from kedge.ingest.connectors.pinned import PinnedTransport
from kedge.ingest.connectors.ports import Connector, Entry, LastListing, SourceAddress
from kedge.ingest.connectors.registry import open_connector, signs_in_as_machine
from kedge.ingest.connectors.trees import FileTree
from tests.support.places import Page, web_site

HERE = Settings(allow_private_urls=True, url_timeout=0.5, max_source_bytes=1 << 20, max_upload_bytes=1 << 20)


def opened(url: str, settings: Settings = HERE, **options: Json) -> Connector:
    return open_connector(SourceAddress(url, options), settings)


def listed(connector: Connector) -> tuple[list[str], list[SourceError]]:
    found = list(connector.entries(LastListing()))
    return [one.key for one in found if isinstance(one, Entry)], [one for one in found if isinstance(one, SourceError)]


# ------------------------------------------------------------ names and answers


def test_a_host_is_looked_up_once_and_asked_there() -> None:
    answers = iter(["127.0.0.1", "127.0.0.99"])
    with web_site() as site:
        site.pages = {"/a": Page("one"), "/b": Page("two")}
        port = site.address.rsplit(":", 1)[1]
        transport = PinnedTransport(HERE, lambda _host, _port: [next(answers)])
        with httpx.Client(transport=transport, base_url=f"http://changing.example:{port}") as client:
            assert [client.get(path).text for path in ("/a", "/b")] == ["one", "two"]
    assert next(answers) == "127.0.0.99"  # nobody asked again


def test_a_host_inside_is_not_asked() -> None:
    transport = PinnedTransport(Settings(), lambda _host, _port: ["10.0.0.1"])
    with httpx.Client(transport=transport) as client, pytest.raises(ForbiddenAddressError):
        client.get("http://inside.example/")


def test_packed_answers_are_refused() -> None:
    with web_site() as site:
        site.pages = {"/a": Page("x", **{"Content-Encoding": "gzip"})}
        transport = PinnedTransport(HERE)
        with httpx.Client(transport=transport) as client, pytest.raises(httpx.DecodingError):
            client.get(f"{site.address}/a")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_entities_of_a_feed_are_refused_in_every_encoding(encoding: str) -> None:
    head = f'<?xml version="1.0" encoding="{encoding}"?>'
    body = f'{head}<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa">]><rss><channel><item><title>&a;</title></item></channel></rss>'
    with web_site() as site:
        site.pages["/f"] = Page(body, "application/rss+xml")
        site.pages["/f"].body = body.encode(encoding)
        with pytest.raises(SourceFault, match="entities"):
            listed(opened(f"feed+{site.address}/f"))


# ------------------------------------------------------------ mail

Said = Callable[[bytes], bytes | Iterator[bytes]]


@contextmanager
def mail_server(fetched: Callable[[], Iterator[bytes]]) -> Iterator[str]:
    """One that knows one message, and answers to FETCH with what it likes."""
    listening = socket.create_server(("127.0.0.1", 0))
    over = threading.Event()

    def serve() -> None:
        with suppress(OSError):
            line, _ = listening.accept()
            with line, line.makefile("rb") as commands:
                line.sendall(b"* OK ready\r\n")
                for command in commands:
                    tag, name, *rest = command.split()
                    said = b""
                    if name == b"CAPABILITY":
                        said = b"* CAPABILITY IMAP4rev1\r\n"
                    elif name in (b"SELECT", b"EXAMINE"):
                        said = b"* 1 EXISTS\r\n* OK [UIDVALIDITY 1] valid\r\n"
                    elif name == b"UID" and rest[0] == b"SEARCH":
                        said = b"* SEARCH 7\r\n"
                    elif name == b"UID":
                        for piece in fetched():
                            if over.is_set():
                                return
                            line.sendall(piece)
                    line.sendall(said + tag + b" OK done\r\n")

    thread = threading.Thread(target=serve, daemon=True)
    thread.start()
    try:
        yield f"imap://127.0.0.1:{listening.getsockname()[1]}/INBOX"
    finally:
        over.set()
        listening.close()
        thread.join(30)


def endless_lines() -> Iterator[bytes]:
    while True:
        yield b"* 1 FETCH (UID 7 RFC822.SIZE 10 FLAGS ())\r\n" * 1000


def endless_literal() -> Iterator[bytes]:
    yield b"* 1 FETCH (UID 7 BODY[] {9999999999}\r\n"
    while True:
        yield b"x" * (1 << 16)


@pytest.mark.parametrize("said", [endless_lines, endless_literal])
def test_a_mail_server_that_talks_without_end_is_left(said: Callable[[], Iterator[bytes]]) -> None:
    with mail_server(said) as url:
        mailbox = opened(url, tls="no", user="me")
        with pytest.raises(SourceFault, match=r"more than was asked for|come to an end"):
            listed(mailbox)
        mailbox.close()


# ------------------------------------------------------------ repositories


def run_git(folder: Path, *words: str, said: str = "") -> str:
    done = subprocess.run(["git", *words], cwd=folder, input=said, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def repository(folder: Path, tree: str, when: str = "1700000000") -> None:
    """A bare repository's branch `main` at this tree."""
    person = f"A <a@example.com> {when} +0000"
    commit = run_git(
        folder, "hash-object", "-t", "commit", "-w", "--stdin", "--literally",
        said=f"tree {tree}\nauthor {person}\ncommitter {person}\n\nx\n",
    )  # fmt: skip
    run_git(folder, "update-ref", "refs/heads/main", commit)
    run_git(folder, "symbolic-ref", "HEAD", "refs/heads/main")


def blob(folder: Path, text: str) -> str:
    return run_git(folder, "hash-object", "-w", "--stdin", said=text)


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    folder = tmp_path / "a.git"
    folder.mkdir()
    run_git(folder, "init", "--bare", "--quiet", ".")
    return folder


def test_a_tree_that_names_itself_without_end_is_left(bare: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A few objects, a hundred million files."""
    monkeypatch.setattr(git, "LONGEST_LISTING", 1 << 20)
    tree = run_git(bare, "mktree", said=f"100644 blob {blob(bare, 'x')}\ta.md\n")
    for _ in range(8):
        tree = run_git(bare, "mktree", said="".join(f"040000 tree {tree}\td{number}\n" for number in range(10)))
    repository(bare, tree)
    with pytest.raises(SourceTooLargeError):
        listed(opened(f"git+file://{bare}"))


def test_what_folders_above_say_of_readers_holds_for_a_part_of_a_repository(bare: Path) -> None:
    page = f"100644 blob {blob(bare, 'x')}\ta.md\n"
    rules = '"hr/**": [group:hr]\n"guide/**": public\n'
    said = f"100644 blob {blob(bare, rules)}\t.kedge-access.yaml\n"
    top = "".join(f"040000 tree {run_git(bare, 'mktree', said=page)}\t{name}\n" for name in ("guide", "hr"))
    repository(bare, run_git(bare, "mktree", said=said + top))
    for folder, readers in (("hr", ("group:hr",)), ("guide", ("public",))):
        (entry,) = opened(f"git+file://{bare}", folder=folder).entries(LastListing())
        assert isinstance(entry, Entry)
        assert (entry.key, entry.readers) == (f"{folder}/a.md", readers)


def test_a_commit_of_no_time_is_read(bare: Path) -> None:
    tree = run_git(bare, "mktree", said=f"100644 blob {blob(bare, 'x')}\ta.md\n")
    repository(bare, tree, "99999999999999999")
    (entry,) = opened(f"git+file://{bare}").entries(LastListing())
    assert isinstance(entry, Entry)
    assert (entry.key, entry.updated_at) == ("a.md", None)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux bounds the files of another process")
def test_a_repository_has_a_size(bare: Path) -> None:
    text = "".join(f"{number * 7919 % 10_007} " for number in range(400_000))
    tree = run_git(bare, "mktree", said=f"100644 blob {blob(bare, text)}\ta.md\n")
    repository(bare, tree)
    assert listed(opened(f"git+file://{bare}"))[0] == ["a.md"]
    with pytest.raises(SourceFault):
        listed(opened(f"git+file://{bare}", bytes=10_000))


# ------------------------------------------------------------ trees and sites


class Endless:
    """A file system of folders in folders."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names

    def ls(self, folder: str, *, detail: bool) -> list[dict[str, Any]]:
        assert detail
        file = {"name": f"{folder}/a.md", "type": "file", "size": 1, "mtime": 1.0}
        return [file, *({"name": f"{folder}/{name}", "type": "directory"} for name in self._names)]


@pytest.mark.parametrize("names", [("d",), ("d", "e")])
def test_folders_in_folders_come_to_an_end(names: Sequence[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trees, "MOST_FOLDERS", 200)
    files: Any = Endless(names)
    tree = FileTree(SourceAddress("dav://h/r"), HERE, connect=lambda: files, root="r", base="dav://h/r")
    found, faults = listed(tree)
    assert len(found) <= 200
    assert {one.code for one in faults} == {"too_costly"}
    assert tree.complete is (names == ("d",))  # what is too deep is told by its folder


def test_a_site_that_names_more_than_is_walked_takes_nothing_out() -> None:
    with web_site() as site:
        dead = "".join(f"<url><loc>{site.address}/gone/{number}</loc></url>" for number in range(100))
        site.pages = {"/": Page('<a href="/here">x</a>'), "/here": Page("<p>Here.</p>")}
        site.pages["/sitemap.xml"] = Page(f"<urlset>{dead}</urlset>", "application/xml")
        walker = opened(f"{site.address}/", pages=3)
        found, faults = listed(walker)
        assert f"{site.address}/" in found
        assert ["more than 60 addresses" in one.message for one in faults] == [True]
        assert not walker.complete


# ------------------------------------------------------------ signing in


@pytest.mark.parametrize(
    ("url", "options", "secrets", "as_machine"),
    [
        ("s3://b/x", {}, {}, True),
        ("s3://b/x", {"endpoint": "https://e.example"}, {"token": ""}, True),
        ("s3://b/x", {"anonymous": "yes"}, {}, False),
        ("s3://b/x", {}, {"key": "", "secret": ""}, False),
        ("gs://b/x", {}, {}, True),
        ("az://b/x", {}, {"sas_token": ""}, False),
        ("git+ssh://h/a.git", {}, {}, True),
        ("git+ssh://h/a.git", {}, {"private_key": ""}, False),
        ("git+https://h/a.git", {}, {}, False),
        ("https://h/", {}, {}, False),
        ("/srv/docs", {}, {}, False),
    ],
)
def test_who_signs_in_as_the_machine_is_known(
    url: str, options: dict[str, Json], secrets: dict[str, str], as_machine: bool
) -> None:
    assert signs_in_as_machine(SourceAddress(url, options, secrets)) is as_machine


def test_an_account_is_no_address() -> None:
    pytest.importorskip("adlfs")
    with pytest.raises(UsageError, match="account"):
        opened("az://container/x", account="169.254.169.254/?")
