"""Real servers on loopback that hold documents: object store, WebDAV, SFTP, a website. In threads."""

from __future__ import annotations

import asyncio
import hashlib
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

USER, PASSWORD = "mate", "moored-fast"


@contextmanager
def s3_server() -> Iterator[str]:
    """The address of an empty S3 server (moto)."""
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    try:
        host, port = server.get_host_and_port()
        yield f"http://{host}:{port}"
    finally:
        server.stop()


@contextmanager
def webdav_server(folder: Path) -> Iterator[str]:
    """The address of a WebDAV server (wsgidav) over a folder, for `USER` with `PASSWORD`."""
    from cheroot.wsgi import Server
    from wsgidav.wsgidav_app import WsgiDAVApp

    told = {
        "provider_mapping": {"/": str(folder)},
        "simple_dc": {"user_mapping": {"*": {USER: {"password": PASSWORD}}}},
        "http_authenticator": {"accept_basic": True, "accept_digest": False, "default_to_digest": False},
        "verbose": 0,
        "logging": {"enable": False},
    }
    server = Server(("127.0.0.1", 0), WsgiDAVApp(told))
    server.prepare()
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield f"webdav+http://127.0.0.1:{server.bind_addr[1]}"
    finally:
        server.stop()
        thread.join()


@contextmanager
def sftp_server(folder: Path) -> Iterator[tuple[str, str]]:
    """Address and host key of an SFTP server (asyncssh) over a folder, for `USER` with `PASSWORD`."""
    import asyncssh

    key = asyncssh.generate_private_key("ssh-ed25519")

    class Door(asyncssh.SSHServer):  # type: ignore[misc]
        def password_auth_supported(self) -> bool:
            return True

        def validate_password(self, username: str, password: str) -> bool:
            return (username, password) == (USER, PASSWORD)

    def files(channel: Any) -> Any:
        return asyncssh.SFTPServer(channel, chroot=str(folder).encode())

    started, ended, port = threading.Event(), asyncio.Event(), [0]
    loop = asyncio.new_event_loop()

    async def serve() -> None:
        server = await asyncssh.listen(
            "127.0.0.1", 0, server_factory=Door, server_host_keys=[key], sftp_factory=files, reuse_address=True
        )
        port[0] = server.sockets[0].getsockname()[1]
        started.set()
        await ended.wait()
        server.close()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),), daemon=True)
    thread.start()
    assert started.wait(30)
    try:
        yield f"sftp://127.0.0.1:{port[0]}", key.export_public_key().decode().strip()
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()


class Page:
    """One page of a site: what it answers."""

    def __init__(self, body: str | bytes, kind: str = "text/html; charset=utf-8", status: int = 200, **headers: str):
        self.body = body.encode() if isinstance(body, str) else body
        self.status = status
        self.headers = {"Content-Type": kind, **{name.replace("_", "-"): value for name, value in headers.items()}}

    @property
    def tag(self) -> str:
        return f'"{hashlib.sha256(self.body).hexdigest()[:16]}"'


class WebPlace:
    """A site whose pages can be changed; remembers what it was asked for and what it answered."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.pages: dict[str, Page] = {}
        self.asked: list[tuple[str, int]] = []
        self.agents: set[str] = set()
        self.tags = True
        """Whether ETags are given, and 304 for what is known."""

    def put(self, documents: Mapping[str, str]) -> None:
        """Let exactly these be there, and a first page that links to them."""
        links = "".join(f'<li><a href="{name}">{name}</a></li>' for name in documents)
        self.pages = {"/": Page(f"<!doctype html><title>Sea</title><p>All about the sea.</p><ul>{links}</ul>")}
        for name, text in documents.items():
            self.pages[f"/{name}"] = Page(f"<!doctype html><title>{name}</title><h1>{name}</h1><p>{text}</p>")

    def answer(self, path: str, known: str) -> Page:
        """What is at a path."""
        page = self.pages.get(path, Page("<p>Nothing is here.</p>", status=404))
        if self.tags and page.status == 200:
            if known == page.tag:
                return Page("", status=304, ETag=page.tag)
            page.headers["ETag"] = page.tag
        return page


@contextmanager
def web_site(host: str = "127.0.0.1") -> Iterator[WebPlace]:
    """A site on loopback, empty."""

    class Handler(BaseHTTPRequestHandler):
        place: ClassVar[WebPlace]

        def do_GET(self) -> None:
            page = self.place.answer(self.path, self.headers.get("If-None-Match", ""))
            self.place.asked.append((self.path, page.status))
            self.place.agents.add(self.headers.get("User-Agent", ""))
            with suppress(OSError):  # the other side may have had enough
                self.send_response(page.status)
                for name, value in page.headers.items():
                    self.send_header(name, value)
                if page.status != 304:
                    self.send_header("Content-Length", str(len(page.body)))
                self.end_headers()
                self.wfile.write(page.body)

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing."""

    server = ThreadingHTTPServer((host, 0), Handler)
    Handler.place = WebPlace(f"http://{host}:{server.server_address[1]}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield Handler.place
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
