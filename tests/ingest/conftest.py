"""A tokenizer for tests, small PDFs made by hand, and a web server on loopback."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


def count_tokens(texts: Sequence[str]) -> list[int]:
    """Words and signs, which is close to what word-piece tokenizers count."""
    return [len(re.findall(r"\w+|[^\w\s]", text)) for text in texts]


def make_pdf(*pages: Sequence[tuple[float, float, float, str]], info: str = "", extra: str = "") -> bytes:
    """A PDF whose pages hold texts as (x, y, size, text); `extra` is drawn on every page, `info` goes to /Info.

    Texts are set in Helvetica; `extra` may set others in Courier, as /F2.
    """
    bodies = [
        "BT\n"
        + "\n".join(f"/F1 {size} Tf 1 0 0 1 {x} {y} Tm ({_escape(text)}) Tj" for x, y, size, text in page)
        + f"\nET\n{extra}"
        for page in pages
    ]
    kids = " ".join(f"{4 + 2 * number} 0 R" for number in range(len(bodies)))
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(bodies)} >>",
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for number, body in enumerate(bodies):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * number} 0 R "
            "/Resources << /Font << /F1 3 0 R /F2 << /Type /Font /Subtype /Type1 /BaseFont /Courier >> >> >> >>"
        )
        objects.append(f"<< /Length {len(body)} >>\nstream\n{body}\nendstream")
    return write_pdf([*objects, f"<< {info} >>"], f"/Info {len(objects) + 1} 0 R")


def write_pdf(objects: Sequence[str], trailer: str) -> bytes:
    """Number the objects, add the table of offsets and the trailer."""
    out = b"%PDF-1.4\n"
    offsets: list[int] = []
    for number, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1")
    table = "".join(f"{offset:010} 00000 n \n" for offset in offsets)
    size = len(objects) + 1
    end = f"xref\n0 {size}\n0000000000 65535 f \n{table}trailer\n<< /Size {size} /Root 1 0 R {trailer} >>\n"
    return out + f"{end}startxref\n{len(out)}\n%%EOF\n".encode("latin-1")


def encrypted_pdf() -> bytes:
    """A PDF whose user password is not the empty one: its check value fits no password that is tried."""
    fill = "41" * 32
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>",
        "<< /Type /Pages /Kids [] /Count 0 >>",
        f"<< /Filter /Standard /V 1 /R 2 /O <{fill}> /U <{fill}> /P -4 >>",
    ]
    return write_pdf(
        objects, "/Encrypt 3 0 R /ID [<00112233445566778899AABBCCDDEEFF> <00112233445566778899AABBCCDDEEFF>]"
    )


def _escape(text: str) -> str:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)")


class Site:
    """What a test server answers, and what it was asked."""

    def __init__(self) -> None:
        self.pages: dict[str, tuple[int, dict[str, str], bytes]] = {}
        self.hosts: list[str] = []
        self.port = 0

    def page(self, path: str, body: bytes, content_type: str = "text/html", **headers: str) -> str:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self.pages[path] = (200, {"Content-Type": content_type, **named}, body)
        return self.url(path)

    def redirect(self, path: str, target: str) -> str:
        self.pages[path] = (302, {"Location": target}, b"")
        return self.url(path)

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{path}"


@pytest.fixture
def site() -> Iterator[Site]:
    answers = Site()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answers.hosts.append(self.headers["Host"])
            status, headers, body = answers.pages.get(self.path, (404, {}, b"no such page"))
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    answers.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield answers
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def count() -> Callable[[Sequence[str]], list[int]]:
    return count_tokens
