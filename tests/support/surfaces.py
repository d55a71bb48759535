"""What the tests of the command line, the server and the facade share: a tiny corpus and how to follow a job."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import httpx

from kedge.core.tls import trusted

EMBEDDER = "hash:256"
QUESTION = "Which knot ties the warp to the ring of a kedge anchor?"
FOREIGN = "Who won the football world cup in Qatar?"

DOCUMENTS = {
    "kedge.md": """# Kedge anchor

A kedge anchor is a light anchor that is carried away from the ship in a dinghy.

## Warp

The warp is tied to the ring of the kedge anchor with an [anchor bend](anchor-bend.md).
""",
    "anchor-bend.md": """# Anchor bend

The anchor bend is a knot that attaches a rope to a ring. It is also called the fisherman's bend.

| step | what to do |
|---|---|
| 1 | pass the end through the ring twice |
| 2 | tuck it under the round turn |
""",
    "tides.md": """# Spring tides

At new moon and at full moon the tides have a large range, and are called spring tides.
""",
}


def write_corpus(folder: Path) -> Path:
    """Write the documents into a folder of their own."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in DOCUMENTS.items():
        (folder / name).write_text(text, "utf-8")
    return folder


def http_client(url: str, *, timeout: float = 60, **more: Any) -> httpx.Client:
    """Calls a server of the tests."""
    return httpx.Client(base_url=url, timeout=timeout, verify=trusted(), **more)


def follow(client: httpx.Client, job_id: str, seconds: float = 60) -> dict[str, Any]:
    """Ask for a job until it has ended."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        job: dict[str, Any] = client.get(f"/api/ingest/{job_id}").raise_for_status().json()
        if job["status"] in ("complete", "failed"):
            return job
    raise AssertionError(f"job {job_id} did not end within {seconds} s: {job}")


def events_of(text: str) -> list[tuple[str, str]]:
    """The (event, data) pairs of a server-sent stream, without what only says that it goes on."""
    return [(name, data) for name, data in all_events_of(text) if name != "stage"]


def all_events_of(text: str) -> list[tuple[str, str]]:
    """All its events; comments are none."""
    pairs = []
    for block in text.strip().split("\n\n"):
        if not block.startswith(":"):
            event, data = block.split("\n", 1)
            pairs.append((event.removeprefix("event: "), data.removeprefix("data: ")))
    return pairs
