"""Commands on a home that another process has: they use its engine, or wait for its end."""

from __future__ import annotations

import os
import signal
import stat
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.models.model_server import serving as model_server
from tests.support.forked import SECONDS, piped, said_first
from tests.support.surfaces import QUESTION, write_corpus
from tests.surfaces.cli.conftest import Kedge
from tests.surfaces.server.serving import process

SLOW = "ponderous"
"""A text with this word is embedded when the test says so."""
WAITS = "waiting for another kedge command on this home"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def served(home: Path) -> Iterator[str]:
    """The address of `kedge serve` on the home."""
    with process(home) as (_, url):
        yield url


def test_ask_search_and_ingest_go_to_the_server_that_has_the_home(kedge: Kedge, served: str, tmp_path: Path) -> None:
    corpus = write_corpus(tmp_path / "corpus")
    assert kedge("key", "create", "somebody").code == 0
    assert httpx.get(f"{served}/api/documents").status_code == 401, "over the network a key is wanted from now on"
    taken = kedge("ingest", str(corpus), "--json").json()
    assert taken["status"] == "complete"
    asked = kedge("ask", QUESTION, "--json").json()
    assert asked["citations"][0]["url"].startswith(str(corpus))
    found = kedge("search", QUESTION, "-k", "3", "--filter", "language!=fr", "--json").json()
    assert 0 < len(found["results"]) <= 3
    assert kedge("search", QUESTION, "--filter", "language=fr", "--json").json()["results"] == []
    wrong = kedge("ask", QUESTION, "--collection", "defualt")
    assert wrong.code == 1
    assert "Did you mean 'default'?" in wrong.err


def test_a_relative_path_is_that_of_the_command(
    kedge: Kedge, served: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert served
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "jib.md").write_text("# Jib\n\nThe jib is a small sail in front of the mast.\n")
    monkeypatch.chdir(tmp_path / "elsewhere")
    assert kedge("ingest", "jib.md").code == 0
    assert [one["title"] for one in kedge("document", "list", "--json").json()] == ["Jib"]


def test_lists_need_nobody(kedge: Kedge, served: str, tmp_path: Path) -> None:
    assert served
    kedge("ingest", str(write_corpus(tmp_path / "corpus")))
    documents = kedge("document", "list", "--json").json()
    assert len(documents) > 1
    shown = kedge("document", "show", Path(documents[0]["url"]).name, "--json").json()
    assert shown["document_id"] == documents[0]["document_id"]
    assert [one["status"] for one in kedge("job", "list", "--json").json()] == ["complete"]
    assert [one["name"] for one in kedge("collection", "list", "--json").json()] == ["default"]
    gone = kedge("document", "delete", documents[0]["url"], "--yes", "--json").json()
    assert gone["document_id"] == documents[0]["document_id"]
    assert len(kedge("document", "list", "--json").json()) == len(documents) - 1


def test_the_socket_is_the_owners_alone_and_goes_with_the_process(home: Path) -> None:
    with process(home) as (server, _):
        mode = (home / "socket").stat().st_mode
        assert stat.S_ISSOCK(mode)
        assert stat.S_IMODE(mode) == 0o600
        server.send_signal(signal.SIGTERM)
        assert server.wait() == 0
    assert not (home / "socket").exists()


def test_a_socket_left_by_a_killed_process_is_no_hindrance(kedge: Kedge, home: Path, tmp_path: Path) -> None:
    with process(home) as (server, _):
        server.send_signal(signal.SIGKILL)
        server.wait()
    assert (home / "socket").exists()
    assert kedge("ingest", str(write_corpus(tmp_path / "corpus"))).code == 0
    with process(home):
        assert kedge("ask", QUESTION, "--json").json()["citations"]


def test_what_needs_the_home_itself_says_who_has_it(kedge: Kedge, served: str) -> None:
    assert served
    ran = kedge("check")
    assert ran.code == 1
    assert "in use by another Kedge process (pid " in ran.err


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[threading.Event, threading.Event]]:
    """(asked, go on): the model of the home waits with slow texts until it may go on."""
    asked, go_on = threading.Event(), threading.Event()
    with model_server() as server:
        answer = server.answer

        def waiting(path: str, body: dict[str, Any]) -> tuple[int, Any]:
            if any(SLOW in text for text in body.get("input", ())):
                asked.set()
                assert go_on.wait(SECONDS)
            return answer(path, body)

        monkeypatch.setattr(server, "answer", waiting)
        monkeypatch.setenv("KEDGE_EMBEDDER", "openai:tiny?dim=8&window=100")
        monkeypatch.setenv("KEDGE_EMBED_URL", f"{server.url}/v1")
        yield asked, go_on


def test_a_question_is_answered_while_an_ingest_runs(
    kedge: Kedge, slow: tuple[threading.Event, threading.Event], home: Path, tmp_path: Path
) -> None:
    asked, go_on = slow
    (tmp_path / "jib.md").write_text("# Jib\n\nThe jib is a small sail in front of the mast.\n")
    (tmp_path / "hull.md").write_text(f"# Hull\n\nThe hull is {SLOW}.\n")
    assert kedge("ingest", str(tmp_path / "jib.md")).code == 0
    with piped(["ingest", str(tmp_path / "hull.md"), "--home", str(home)], os.environ) as ingest:
        assert asked.wait(SECONDS)
        found = kedge("search", "jib sail", "--json").json()["results"]
        assert [one["title"] for one in found] == ["Jib"]
        assert kedge("job", "list", "--json").json()[0]["status"] == "embedding"
        with piped(["check", "--home", str(home)], os.environ) as check:
            check.wait_noted(WAITS)
            go_on.set()
            assert ingest.wait() == 0
            assert check.wait() == 0
    assert {one["title"] for one in kedge("document", "list", "--json").json()} == {"Jib", "Hull"}


def test_a_server_waits_for_a_command_and_not_for_another_server(
    kedge: Kedge, slow: tuple[threading.Event, threading.Event], home: Path, tmp_path: Path
) -> None:
    asked, go_on = slow
    (tmp_path / "hull.md").write_text(f"# Hull\n\nThe hull is {SLOW}.\n")
    with piped(["ingest", str(tmp_path / "hull.md"), "--home", str(home)], os.environ) as ingest:
        assert asked.wait(SECONDS)
        with piped(["serve", "--port", "0", "--home", str(home)], os.environ) as server:
            server.wait_noted(WAITS)
            go_on.set()
            assert ingest.wait() == 0
            assert said_first(server).startswith("Kedge serves")
            second = kedge("serve", "--port", "0")
            assert second.code == 1
            assert "in use by another Kedge process (pid " in second.err
            server.send_signal(signal.SIGTERM)
            assert server.wait() == 0


def test_a_home_with_a_long_name_has_its_socket_elsewhere(kedge: Kedge, tmp_path: Path) -> None:
    home = tmp_path / ("deep" * 20) / "home"
    corpus = write_corpus(tmp_path / "corpus")
    with process(home) as (server, _):
        assert kedge("ingest", str(corpus), "--home", str(home)).code == 0
        assert not (home / "socket").exists()
        server.send_signal(signal.SIGTERM)
        assert server.wait() == 0
