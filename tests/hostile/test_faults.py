"""What goes wrong on the machine is told as it is, and nothing stays in the way of the next try."""

from __future__ import annotations

import asyncio
import errno
import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from kedge.core.errors import ForbiddenAddressError, KedgeError
from kedge.core.settings import Settings, load_settings
from kedge.core.values import DEFAULT_TENANT, FindingStatus, IngestRequest, Scope
from kedge.engine.collections import index_name
from kedge.engine.doctor import examine
from kedge.engine.engine import Engine
from kedge.ingest.sources.fetch import fetch
from kedge.kinds.documents.kind import KIND
from tests.support.surfaces import EMBEDDER, write_corpus
from tests.surfaces.server.serving import serving

SCOPE = Scope(DEFAULT_TENANT, "default")
HUNG = """
import threading
from kedge.surfaces.cli.interrupted import end_when_interrupted
end_when_interrupted()
threading.Thread(target=threading.Event().wait).start()
print("ready", flush=True)
threading.Event().wait()
"""


def settings_of(home: Path) -> Settings:
    return load_settings(environ={}, home=home, embedder=EMBEDDER)


async def take_in(home: Path, source: Path) -> None:
    async with Engine.open(settings_of(home)) as engine:
        await engine.ingest(IngestRequest(SCOPE, (str(source),)))


def test_the_doctor_sees_a_catalog_whose_rows_do_not_fit(tmp_path: Path) -> None:
    home = tmp_path / "home"
    asyncio.run(take_in(home, write_corpus(tmp_path / "corpus")))
    sound = [one for one in asyncio.run(examine(settings_of(home))) if one.name == "catalog, integrity"]
    assert [one.status for one in sound] == [FindingStatus.OK]
    with sqlite3.connect(home / "catalog.db") as catalog:
        catalog.execute("UPDATE documents SET chunk_count = chunk_count + 7")
    damaged = [one for one in asyncio.run(examine(settings_of(home))) if one.name == "catalog, integrity"]
    assert {one.status for one in damaged} == {FindingStatus.FAILED}
    assert "passages, but has" in damaged[0].found


def test_a_backup_that_failed_does_not_block_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(tmp_path / "home") as served, served.client() as client:
        with monkeypatch.context() as full:
            full.setattr("kedge.surfaces.server.routes.backup._fresh_folder", _no_space)
            failed = client.post("/api/backup")
            assert failed.status_code >= 500
            assert "space" in failed.json()["error"]["message"]
        assert client.post("/api/backup").status_code == 200


def _no_space(_home: Path) -> Path:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_no_collection_without_its_index_stays_of_a_first_ingest(tmp_path: Path) -> None:
    home, source = tmp_path / "home", write_corpus(tmp_path / "corpus")
    in_the_way = home / "vectors" / f"{index_name(KIND, SCOPE, 1)}.index"
    in_the_way.parent.mkdir(parents=True)
    in_the_way.touch()  # no folder can be made there, as on a full disk

    async def fails() -> list[str]:
        async with Engine.open(settings_of(home)) as engine:
            with pytest.raises(KedgeError):
                await engine.ingest(IngestRequest(SCOPE, (str(source),)))
            return [one.scope.collection for one in await engine.collections(DEFAULT_TENANT)]

    assert asyncio.run(fails()) == []
    in_the_way.unlink(missing_ok=True)
    asyncio.run(take_in(home, source))


def test_a_refused_address_is_not_told(tmp_path: Path) -> None:
    with pytest.raises(ForbiddenAddressError) as refused:
        fetch("http://inside.example/", settings_of(tmp_path), resolve=lambda _host, _port: ["10.9.8.7"])
    assert "10.9.8.7" not in f"{refused.value} {refused.value.hint} {refused.value.details}"


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_ctrl_c_ends_a_command_whose_threads_go_on() -> None:
    with subprocess.Popen([sys.executable, "-c", HUNG], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as command:
        assert command.stdout is not None
        assert command.stdout.readline() == b"ready\n"
        command.send_signal(signal.SIGINT)
        assert command.wait(60) == 130
