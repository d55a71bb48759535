"""A real server for one test, with settings of its own; in a thread of this process, or as `kedge serve`."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI

from kedge.core.settings import load_settings
from kedge.core.tls import trusted
from kedge.surfaces.server.run import UvicornServer
from tests.support.forked import Piped, piped, said_first
from tests.support.serving import running
from tests.support.surfaces import EMBEDDER, follow, http_client, write_corpus


@dataclass
class Served:
    """A server that runs."""

    url: str
    app: FastAPI
    server: UvicornServer

    def client(self, **more: Any) -> httpx.Client:
        return http_client(self.url, **more)

    def metric(self, line: str) -> float:
        """The value of a series of `/metrics`; 0 when it is not there."""
        text = httpx.get(f"{self.url}/metrics", timeout=60, verify=trusted()).text
        found = [one.rsplit(" ", 1)[1] for one in text.splitlines() if one.startswith(f"{line} ")]
        return float(found[0]) if found else 0.0


@contextmanager
def serving(home: Path, **settings: Any) -> Iterator[Served]:
    """Serve until the block ends."""
    chosen = load_settings(environ={}, home=home, **{"embedder": EMBEDDER, "drain_timeout": 5, **settings})
    with running(chosen) as one:
        yield Served(one.url, one.app, one.server)


def fill(client: httpx.Client, folder: Path) -> None:
    """Take the tiny corpus in."""
    job = client.post("/api/ingest", json={"sources": [str(write_corpus(folder))]}).raise_for_status().json()
    assert follow(client, job["job_id"])["status"] == "complete"


@contextmanager
def process(home: Path, **environment: str) -> Iterator[tuple[Piped, str]]:
    """`kedge serve` on a free port, and its address."""
    variables = {**os.environ, "KEDGE_EMBEDDER": EMBEDDER, "KEDGE_HOME": str(home), **environment}
    with piped(["serve", "--port", "0"], variables) as running:
        yield running, said_first(running).split(" at ")[1].split()[0]
