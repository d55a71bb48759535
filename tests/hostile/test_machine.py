"""The machine beneath a home misbehaves: nothing can be written, the folder is moved away, the clock jumps."""

from __future__ import annotations

import asyncio
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta, tzinfo
from pathlib import Path

import pytest

from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, IngestMode, IngestRequest, Job, JobStatus, Query, Scope
from kedge.engine.engine import Engine
from kedge.engine.home import OWNER, Home, owner_of
from tests.support.surfaces import EMBEDDER, QUESTION, follow, write_corpus
from tests.surfaces.server.serving import fill, serving

SCOPE = Scope(DEFAULT_TENANT, "default")
LOOKS = ("collection list", "document list", "search kedge", "key create x")
"""Commands in a home that cannot be written to; the last two need to."""
COMMANDS = """
import sys
from kedge.surfaces.cli.main import run
for words in sys.argv[2:]:
    print(run([*words.split(), "--home", sys.argv[1]]), "#", words, flush=True)
"""


def taken_in(home: Path, source: Path) -> None:
    async def body() -> None:
        async with Engine.open(load_settings(environ={}, home=home, embedder=EMBEDDER)) as engine:
            await engine.ingest(IngestRequest(SCOPE, (str(source),)))

    asyncio.run(body())


def files_of(home: Path) -> dict[str, bytes]:
    return {str(path.relative_to(home)): path.read_bytes() for path in home.rglob("*") if path.is_file()}


def read_only(folder: Path, command: list[str]) -> list[str]:
    """The command where nothing below the folder can be written: an administrator needs a mount for that."""
    if os.getuid():
        return command
    mounted = f"mount --bind {folder} {folder} && mount -o remount,ro,bind {folder} && exec {shlex.join(command)}"
    return ["unshare", "-m", "sh", "-c", mounted]


@contextmanager
def closed(folder: Path) -> Iterator[None]:
    """Nobody but an administrator can write there."""
    folder.chmod(0o500)
    try:
        yield
    finally:
        folder.chmod(0o700)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="mounts of Linux")
def test_a_home_that_cannot_be_written_can_be_looked_at(tmp_path: Path) -> None:
    home = tmp_path / "home"
    taken_in(home, write_corpus(tmp_path / "corpus"))
    before = files_of(home)
    command = read_only(home, [sys.executable, "-c", COMMANDS, str(home), *LOOKS])
    with closed(home):
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=120)
    if not done.stdout and "unshare" in done.stderr:
        pytest.skip("no mounts here")
    ended = {name: code for code, name in (line.split(" # ") for line in done.stdout.splitlines() if " # " in line)}
    assert ended == {name: "0" if name in LOOKS[:2] else "1" for name in LOOKS}, done.stderr
    assert "Traceback" not in done.stderr
    assert "copy it there" in done.stderr
    assert "Let this user write" in done.stderr
    assert files_of(home) == before


def test_a_home_that_is_moved_while_it_is_served(tmp_path: Path) -> None:
    home, away = tmp_path / "home", tmp_path / "away"
    with serving(home) as served, served.client() as client:
        fill(client, tmp_path / "corpus")
        home.rename(away)
        late = client.post("/api/ingest", files=[("file", ("new.md", b"# New\n\nA bower anchor is heavy."))])
        assert (late.status_code, late.json()["error"]["code"]) == (503, "store_failed")
        assert "moved or removed" in late.json()["error"]["message"]
        assert client.get("/ready").status_code == 503
        assert not home.exists()
        away.rename(home)
        assert client.get("/ready").status_code == 200
        taken = client.post("/api/ingest", files=[("file", ("new.md", b"# New\n\nA bower anchor is heavy."))])
        assert follow(client, taken.json()["job_id"])["status"] == "complete"


def test_another_folder_in_place_of_a_home_gets_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with serving(home) as served, served.client() as client:
        fill(client, tmp_path / "corpus")
        home.rename(tmp_path / "away")
        home.mkdir()
        refused = client.post("/api/ingest", json={"sources": [str(tmp_path / "corpus")]})
        assert refused.json()["error"]["code"] == "store_failed"
        assert list(home.iterdir()) == []
        home.rmdir()
        shutil.move(tmp_path / "away", home)


def test_who_has_a_home_need_not_be_written_down(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """As on a full disk, where a search ended with a traceback and left an empty file behind."""
    (tmp_path / OWNER / "in the way").mkdir(parents=True)
    home = Home(tmp_path)
    home.acquire()
    try:
        assert "cannot be told who uses it" in caplog.text
        assert owner_of(tmp_path).pid is None
        assert [path.name for path in tmp_path.glob(f"{OWNER}.*")] == []
    finally:
        shutil.rmtree(tmp_path / OWNER)
        home.release()


# ------------------------------------------------------------ clocks


def set_clock(monkeypatch: pytest.MonkeyPatch, by: timedelta) -> None:
    """Let every module of Kedge see another time of day."""

    class Moved(datetime):
        @classmethod
        def now(cls, tz: tzinfo | None = None) -> datetime:  # type: ignore[override]
            return datetime.now(tz) + by

    for name, module in list(sys.modules.items()):
        if name.startswith("kedge.") and isinstance(vars(module).get("datetime"), type):
            monkeypatch.setattr(module, "datetime", Moved)


def test_a_clock_that_jumps_stops_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = load_settings(environ={}, home=tmp_path / "home", embedder=EMBEDDER, analytics_days=30.0)
    note = tmp_path / "note.md"

    async def body() -> None:
        async with Engine.open(settings) as engine:
            await engine.ingest(IngestRequest(SCOPE, (str(write_corpus(tmp_path / "corpus")),)))
            expected = (await engine.ask(Query(QUESTION, SCOPE))).answer
            engine.start_worker()
            for number, days in enumerate((-1, 1, -400, 400, 0)):
                with monkeypatch.context() as moved:
                    set_clock(moved, timedelta(days=days))
                    note.write_text(f"# Note\n\nThe bower anchor number {number} is heavy.\n", "utf-8")
                    job = await engine.submit(IngestRequest(SCOPE, (str(note),)))
                    assert (await ended(engine, job)).status is JobStatus.COMPLETE
                    found = await engine.search(Query(f"bower anchor number {number}", SCOPE))
                    assert f"number {number}" in found.hits[0].passage.text
                    assert (await engine.ask(Query(QUESTION, SCOPE))).answer == expected
                    await engine.retention.sweep()
            assert (await engine.check()).ok

    asyncio.run(body())


async def ended(engine: Engine, job: Job) -> Job:
    for _ in range(2000):
        found = await engine.library.job(job.scope.tenant, job.id)
        if found.status.ended:
            return found
        await asyncio.sleep(0.01)
    raise AssertionError("the job stands still")


def test_a_job_from_tomorrow_is_not_young() -> None:
    """With a clock that was set back, one that no worker knew any more waited until its own time came."""
    is_young = pytest.importorskip("kedge.engine.jobs.postgresql").is_young
    now = datetime.now(UTC)
    job = Job(
        id="1", scope=SCOPE, status=JobStatus.QUEUED, mode=IngestMode.FULL, kind="documents", request={}, created_at=now
    )
    assert is_young(job)
    assert not is_young(replace(job, created_at=now + timedelta(days=1)))
    assert not is_young(replace(job, created_at=now - timedelta(days=1)))
