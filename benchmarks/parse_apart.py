"""What it costs to parse in another process (`parse_apart`): seconds per file beside the same in this process.

    python -m benchmarks.parse_apart [--rounds 5]

Small pages, a large page, a PDF, long markdown; both ways take turns. The start of the process is told for itself.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median

from tests.ingest.conftest import make_pdf

from kedge.ingest.apart.limits import ParseLimits
from kedge.ingest.apart.pool import close_idle
from kedge.ingest.parse.reading import open_document
from kedge.ingest.sources.discovery import uploaded
from kedge.ingest.sources.source import Source

LIMITS = ParseLimits(120, 2 << 30, 512 << 20)
SENTENCE = "The warp is tied to the ring of the kedge anchor with an anchor bend. "


def sources(folder: Path) -> dict[str, list[Source]]:
    """Files, as uploads are."""

    def kept(name: str, data: bytes) -> Source:
        path = folder / name
        path.write_bytes(data)
        return uploaded(name, path)

    page = f"<html><title>Anchors</title><body>{f'<h2>Anchor</h2><p>{SENTENCE * 5}</p>' * 10}</body></html>"
    lines = [(72.0, 740.0 - 14 * row, 10.0, SENTENCE) for row in range(45)]
    markdown = f"# Anchors\n\n{SENTENCE * 6}\n\n" * 2000
    return {
        "100 pages of HTML, 4 kB each": [kept("a.html", page.encode())] * 100,
        "one page of HTML, 2 MB": [kept("b.html", (page * 500).encode())],
        "a PDF of 60 pages": [kept("c.pdf", make_pdf(*[lines] * 60))],
        "markdown, 0.9 MB": [kept("d.md", markdown.encode())],
        "100 short texts (never apart)": [kept("e.md", f"# A\n\n{SENTENCE * 8}".encode())] * 100,
    }


def seconds(some: list[Source], limits: ParseLimits | None) -> float:
    started = time.perf_counter()
    for source in some:
        for _ in open_document(source, limits).segments:
            pass
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    first = uploaded("first.html", b"<p>A first page.</p>")
    seconds([first], None)
    starts = []
    for _ in range(3):
        close_idle()
        starts.append(seconds([first], LIMITS))
    print(f"start of the process: {median(starts):.2f} s\n\n| files | here ms | apart ms | ratio |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for name, some in sources(Path(folder)).items():
            _compare(name, some, rounds)


def _compare(name: str, some: list[Source], rounds: int) -> None:
    here, there = [], []
    for _ in range(rounds):
        here.append(seconds(some, None))
        there.append(seconds(some, LIMITS))
    own, apart = 1000 * median(here), 1000 * median(there)
    print(f"| {name} | {own:.0f} | {apart:.0f} | {apart / own:.2f} |", flush=True)


if __name__ == "__main__":
    main()
