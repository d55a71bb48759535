"""`kedge serve --processes`: several processes behind one port, over stores on servers."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from kedge.core.settings import load_settings
from kedge.surfaces.cli.main import run
from kedge.surfaces.server.processes import share
from tests.contract.postgresql import url_of
from tests.support.surfaces import EMBEDDER, QUESTION, follow, write_corpus

SECONDS = 120.0


def wait_for(what: str, condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < deadline, f"{what}: not within {SECONDS} s"
        time.sleep(0.1)  # what is asked costs next to nothing


def children(pid: int) -> set[int]:
    """The processes that serve; Python's own tracker of resources beside them is none."""
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text("ascii").split()
    serving = [number for number in listed if b"spawn_main" in Path(f"/proc/{number}/cmdline").read_bytes()]
    return {int(number) for number in serving}


@contextmanager
def stopped(pid: int) -> Iterator[None]:
    """The process does nothing meanwhile."""
    os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(pid, signal.SIGCONT)


def answers(url: str) -> bool:
    """Whether a question is answered on a connection of its own."""
    with httpx.Client(base_url=url, timeout=SECONDS) as client:
        said = client.post("/api/query", json={"query": QUESTION}).raise_for_status().json()
    return bool(said["citations"])


def test_embedded_stores_are_refused_with_what_to_do(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["serve", "--processes", "2", "--port", "0", "--home", str(tmp_path / "home")])
    said = capsys.readouterr().err
    assert code == 2
    assert "embedded" in said
    assert "catalog_url" in said


def test_processes_share_the_cores(tmp_path: Path) -> None:
    settings = load_settings(environ={}, home=tmp_path, processes=64)
    assert share(settings).threads == 1
    assert share(settings).answers_at_once == 2
    assert share(settings.model_copy(update={"threads": 3, "answers_at_once": 5})).threads == 3


@pytest.mark.slow
@pytest.mark.store("catalog", "postgresql")
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="looks for the processes in /proc")
def test_two_processes_serve_one_port_replace_each_other_and_stop_together(tmp_path: Path) -> None:
    stores = dict.fromkeys(("KEDGE_CATALOG_URL", "KEDGE_VECTOR_URL", "KEDGE_GRAPH_URL"), url_of(tmp_path))
    environ = {name: value for name, value in os.environ.items() if not name.startswith("KEDGE_")}
    command = [sys.executable, "-m", "kedge.surfaces.cli.main", "serve", "--processes", "2", "--port", "0", "--json"]
    with subprocess.Popen(
        command,
        env={**environ, **stores, "KEDGE_EMBEDDER": EMBEDDER, "KEDGE_HOME": str(tmp_path / "home")},
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            assert server.stdout is not None
            said = ""
            while not said.rstrip().endswith("}"):
                line = server.stdout.readline()
                assert line, "the server ended"
                said += line
            url = json.loads(said)["url"]
            first, second = sorted(children(server.pid))
            with httpx.Client(base_url=url, timeout=SECONDS) as client:
                body = {"sources": [str(write_corpus(tmp_path / "corpus"))]}
                job = client.post("/api/ingest", json=body).raise_for_status().json()
                assert follow(client, job["job_id"])["status"] == "complete"
            for idle in (first, second):  # then the other one answers
                with stopped(idle):
                    assert answers(url)
            os.kill(first, signal.SIGKILL)
            wait_for("another process", lambda: len(children(server.pid) - {first}) == 2)
            new = (children(server.pid) - {first, second}).pop()
            with stopped(second):
                assert answers(url)
            server.send_signal(signal.SIGTERM)
            assert server.wait(SECONDS) == 0
            assert not any(Path(f"/proc/{pid}").exists() for pid in (second, new))
            with pytest.raises(httpx.ConnectError):
                httpx.get(f"{url}/health")
        finally:
            if server.poll() is None:
                server.send_signal(signal.SIGTERM)
                server.wait(SECONDS)
