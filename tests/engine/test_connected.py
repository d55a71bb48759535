"""Sources that a collection stays in step with: what changed, what is gone, what is held, when they run."""

from __future__ import annotations

import os
import shutil
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from kedge.core.acting import acting_as
from kedge.core.errors import ConfigError, ConflictError, NotFoundError, UsageError
from kedge.core.settings import Settings
from kedge.core.values import Actor, ConnectedSource, IngestRequest, JobStatus, Query, Scope, SourceHold, SourceRun
from kedge.engine.connected import Wanted, seconds_of
from kedge.engine.engine import Engine
from tests.support.places import web_site

Run = Callable[..., Any]
SEA = Scope("default", "sea")
LONG_AGO = 1_700_000_000


def write(folder: Path, *numbers: int, said: str = "heavy") -> None:
    """Files that were written long ago: their fingerprints can be trusted."""
    folder.mkdir(exist_ok=True)
    for number in numbers:
        path = folder / f"anchor{number}.md"
        path.write_text(f"# Anchor {number}\n\nAnchor number {number} is {said} and made of iron.\n", "utf-8")
        os.utime(path, (LONG_AGO, LONG_AGO + len(said)))


async def connected(engine: Engine, where: object, **more: Any) -> ConnectedSource:
    return await engine.sources.add(Wanted(SEA, str(where), "fleet", **more))


async def synced(engine: Engine, *, confirm: bool = False, name: str = "fleet") -> SourceRun:
    await engine.sync_source("default", name, confirm=confirm)
    last = (await engine.source("default", name)).last_run
    assert last is not None
    return last


def counts(run: SourceRun) -> tuple[int, int, int, int, int]:
    return run.new, run.modified, run.unchanged, run.deleted, run.embedded


async def names(engine: Engine) -> set[str]:
    return {Path(one.url).name for one in await engine.documents(SEA)}


def test_what_changed_is_taken_in_and_what_is_gone_taken_out(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "sea"
    write(folder, 1, 2, 3, 4)

    async def scenario(engine: Engine) -> None:
        source = await connected(engine, folder)
        assert source.state == "new"
        assert counts(await synced(engine)) == (4, 0, 0, 0, 4)
        assert counts(await synced(engine)) == (0, 0, 4, 0, 0)
        write(folder, 1, said="rather light")
        write(folder, 5)
        (folder / "anchor2.md").unlink()
        assert counts(await synced(engine)) == (1, 1, 2, 1, 2)
        assert await names(engine) == {"anchor1.md", "anchor3.md", "anchor4.md", "anchor5.md"}
        found = await engine.search(Query("number 2", SEA))
        assert all("number 2" not in hit.passage.text for hit in found.hits)
        now = await engine.source("default", "fleet")
        assert (now.state, now.documents, now.held) == ("in_step", 4, None)

    run(scenario)


def test_a_file_that_was_renamed_or_moved_keeps_its_vectors(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "sea"
    write(folder, 1, 2, 3)

    async def scenario(engine: Engine) -> None:
        await connected(engine, folder)
        await synced(engine)
        (folder / "old").mkdir()
        for number in (1, 2, 3):
            (folder / f"anchor{number}.md").rename(folder / "old" / f"iron{number}.md")
        moved = await synced(engine)
        assert counts(moved) == (3, 0, 0, 3, 0)
        assert moved.outcome == "complete"
        assert await names(engine) == {"iron1.md", "iron2.md", "iron3.md"}
        hits = (await engine.search(Query("Anchor number 2 is heavy", SEA))).hits
        assert hits[0].passage.url.endswith("old/iron2.md")
        assert (await engine.check()).problems == ()

    run(scenario)


def test_a_source_carries_who_may_read_its_files(run: Run, tmp_path: Path) -> None:
    place = tmp_path / "place"
    write(place, 1, 2)
    (place / ".kedge-access.yaml").write_text('"*1.md": [user:ann]\n', "utf-8")

    async def scenario(engine: Engine) -> None:
        await connected(engine, place)
        await synced(engine)
        assert len(await names(engine)) == 2
        with acting_as(Actor("bob")):
            assert len(await names(engine)) == 1
        with acting_as(Actor("ann")):
            assert len(await names(engine)) == 2
        (place / ".kedge-access.yaml").write_text('"*1.md": [user:bob]\n', "utf-8")
        await synced(engine)
        with acting_as(Actor("bob")):
            assert len(await names(engine)) == 2
        with acting_as(Actor("ann")):
            assert len(await names(engine)) == 1

    run(scenario)


@pytest.mark.parametrize(("gone", "held"), [(2, False), (3, True), (5, True)])
def test_a_source_that_lost_more_than_half_is_held_until_somebody_says_so(
    run: Run, tmp_path: Path, gone: int, held: bool
) -> None:
    folder = tmp_path / "sea"
    write(folder, 1, 2, 3, 4, 5)

    async def scenario(engine: Engine) -> None:
        await connected(engine, folder)
        await synced(engine)
        for number in range(1, gone + 1):
            (folder / f"anchor{number}.md").unlink()
        if not held:
            assert counts(await synced(engine))[3] == gone
            return
        for _ in range(2):
            last = await synced(engine)
            assert (last.outcome, last.deleted) == ("held", 0)
            assert "kedge source sync fleet --confirm" in (last.message or "")
            now = await engine.source("default", "fleet")
            assert (now.state, now.held, now.documents) == ("held", SourceHold(gone, 5), 5)
            assert len(await names(engine)) == 5
        assert (await synced(engine, confirm=True)).deleted == gone
        assert (await engine.source("default", "fleet")).state == "in_step"
        assert len(await names(engine)) == 5 - gone

    run(scenario)


def test_a_held_source_that_is_whole_again_goes_on(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "sea"
    write(folder, 1, 2, 3)

    async def scenario(engine: Engine) -> None:
        await connected(engine, folder)
        await synced(engine)
        folder.rename(tmp_path / "away")
        folder.mkdir()
        write(folder, 9)
        last = await synced(engine)
        assert (last.outcome, last.new) == ("held", 1)
        shutil.rmtree(folder)
        (tmp_path / "away").rename(folder)
        write(folder, 9)
        assert (await synced(engine)).outcome == "complete"
        assert (await engine.source("default", "fleet")).held is None
        assert len(await names(engine)) == 4

    run(scenario)


def test_a_place_that_is_not_there_takes_nothing_out(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "sea"
    write(folder, 1, 2)

    async def scenario(engine: Engine) -> None:
        await connected(engine, folder)
        await synced(engine)
        folder.rename(tmp_path / "away")
        last = await synced(engine, confirm=True)
        assert (last.outcome, last.deleted) == ("failed", 0)
        assert "is not a folder" in (last.message or "")
        assert (await engine.source("default", "fleet")).state == "failed"
        assert len(await names(engine)) == 2

    run(scenario)


def test_a_file_that_cannot_be_read_stays_as_it_was(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "sea"
    write(folder, 1, 2, 3)

    async def scenario(engine: Engine) -> None:
        await connected(engine, folder)
        await synced(engine)
        broken = folder / "anchor1.md"
        broken.write_bytes(b"\x00\x01\x02\x03" * 100)
        last = await synced(engine)
        assert (last.failed, last.deleted, last.outcome) == (1, 0, "complete")
        assert [error.url for error in last.errors] == [str(broken)]
        assert len(await names(engine)) == 3
        write(folder, 1, said="mended")
        assert counts(await synced(engine))[:2] == (0, 1)

    run(scenario)


def test_archives_in_a_folder_are_taken_apart_and_followed(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "sea"
    write(folder, 1)

    def pack(*members: str) -> None:
        with zipfile.ZipFile(folder / "log.zip", "w") as archive:
            for member in members:
                archive.writestr(member, f"# {member}\n\nThe log of {member} says calm.\n")

    async def scenario(engine: Engine) -> None:
        await connected(engine, folder)
        pack("may.md", "june.md", "july.md")
        assert (await synced(engine)).new == 4
        pack("may.md", "june.md")
        assert (await synced(engine)).deleted == 1
        (folder / "log.zip").unlink()
        assert (await synced(engine)).deleted == 2
        assert await names(engine) == {"anchor1.md"}

    run(scenario)


def test_a_document_that_two_sources_bring_goes_with_the_last(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "sea"
    write(folder, 1, 2, 3, 4, 5)

    async def scenario(engine: Engine) -> None:
        await connected(engine, folder, options={"include": "anchor1.md,anchor2.md,anchor3.md"})
        await engine.sources.add(Wanted(SEA, str(folder), "other"))
        await synced(engine)
        await synced(engine, name="other")
        (folder / "anchor1.md").unlink()
        assert (await synced(engine)).deleted == 0  # the other one was not looked at yet
        assert len(await names(engine)) == 5
        assert (await synced(engine, name="other")).deleted == 1
        assert len(await names(engine)) == 4
        await engine.remove_source("default", "fleet", documents=True)
        assert len(await names(engine)) == 4
        await engine.remove_source("default", "other", documents=True)
        assert await names(engine) == set()
        assert (await engine.check()).problems == ()

    run(scenario)


def test_a_source_that_is_removed_leaves_its_documents_unless_asked(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "sea"
    write(folder, 1)

    async def scenario(engine: Engine) -> None:
        await connected(engine, folder)
        await synced(engine)
        await engine.remove_source("default", "fleet")
        assert await engine.sources.all("default") == []
        assert await names(engine) == {"anchor1.md"}
        with pytest.raises(NotFoundError):
            await engine.sync_source("default", "fleet")
        await connected(engine, folder)  # takes over what is there
        assert counts(await synced(engine)) == (0, 0, 1, 0, 0)

    run(scenario)


def test_sources_go_with_their_collection(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "sea", 1)

    async def scenario(engine: Engine) -> None:
        await connected(engine, tmp_path / "sea")
        await synced(engine)
        await engine.delete_collection(SEA)
        assert await engine.sources.all("default") == []

    run(scenario)


def test_nothing_that_others_took_in_is_taken_out(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "sea", 1, 2, 3)
    write(tmp_path / "land", 7)

    async def scenario(engine: Engine) -> None:
        await connected(engine, tmp_path / "sea")
        await synced(engine)
        await engine.ingest(IngestRequest(SEA, (str(tmp_path / "land"),)))
        (tmp_path / "sea" / "anchor1.md").unlink()
        assert (await synced(engine)).deleted == 1
        assert "anchor7.md" in await names(engine)

    run(scenario)


# ---------------------------------------------------------------- when they run


def test_sources_that_are_due_are_queued_once_and_run(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "sea", 1)
    now = datetime.now(UTC)

    async def scenario(engine: Engine) -> None:
        await connected(engine, tmp_path / "sea", every=900.0)
        await engine.sources.add(Wanted(SEA, str(tmp_path / "sea"), "by command"))
        assert len(await engine.sources.queue_due(now)) == 1
        assert await engine.sources.queue_due(now + timedelta(hours=1)) == []  # one waits already
        await engine.drain()
        assert (await engine.source("default", "fleet")).state == "in_step"
        assert (await engine.source("default", "by command")).state == "new"
        assert await engine.sources.queue_due(now + timedelta(minutes=14)) == []
        assert len(await engine.sources.queue_due(now + timedelta(minutes=15))) == 1
        await engine.drain()
        set_back = now - timedelta(days=400)
        assert len(await engine.sources.queue_due(set_back)) == 1

    run(scenario)


def test_a_run_that_waits_is_not_queued_twice(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "sea", 1)

    async def scenario(engine: Engine) -> None:
        await connected(engine, tmp_path / "sea")
        first = await engine.sources.sync("default", "fleet")
        assert (await engine.sources.sync("default", "fleet")).id == first.id
        await engine.drain()
        assert (await engine.sources.sync("default", "fleet")).id != first.id

    run(scenario)


def test_a_job_of_a_source_that_is_gone_fails_and_says_so(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "sea", 1)

    async def scenario(engine: Engine) -> None:
        await connected(engine, tmp_path / "sea")
        job = await engine.sources.sync("default", "fleet")
        await engine.remove_source("default", "fleet")
        await engine.drain()
        ended = await engine.job("default", job.id)
        assert ended.status is JobStatus.FAILED
        assert "There is no source 'fleet'" in (ended.error_message or "")

    run(scenario)


@pytest.mark.parametrize(
    ("said", "seconds"), [("15m", 900.0), ("6h", 21_600.0), ("1d", 86_400.0), ("90", 90.0), ("30s", 30.0), ("", 0.0)]
)
def test_times_are_read(said: str, seconds: float) -> None:
    assert seconds_of(said) == seconds


@pytest.mark.parametrize("said", ["soon", "-5m", "1.5h", "15 m", "m"])
def test_what_is_no_time_is_refused(said: str) -> None:
    with pytest.raises(UsageError):
        seconds_of(said)


# ---------------------------------------------------------------- what may not be


@pytest.mark.parametrize(
    "wanted",
    [
        Wanted(SEA, ""),
        Wanted(SEA, "gopher://host/x"),
        Wanted(SEA, "https://user:pass@host/"),
        Wanted(SEA, "https://me@host/"),
        Wanted(SEA, "https://host/?api_key=abc"),
        Wanted(SEA, "/sea", "a/b"),
        Wanted(SEA, "/sea", every=1.0),
        Wanted(SEA, "/sea", options={"speed": 3}),
        Wanted(SEA, "https://host/", options={"pages": "many"}),
        Wanted(SEA, "https://host/", options={"token": "abc"}),
        Wanted(SEA, "s3://b/x", options={"endpoint": "https://me:pass@host/"}),
        Wanted(SEA, "imaps://host/INBOX", secrets={"password": "abc"}),
        Wanted(SEA, "imaps://host/INBOX", secrets={"password": "file:relative"}),
        Wanted(SEA, "imaps://host/INBOX", secrets={"shibboleth": "env:X"}),
        Wanted(SEA, "git+https://host/x.git#--upload-pack=evil"),
        Wanted(SEA, "git+ext::sh -c evil"),
    ],
    ids=lambda wanted: wanted.url + str(dict(wanted.options)),
)
def test_what_cannot_be_is_refused_when_it_is_added(run: Run, wanted: Wanted) -> None:
    async def scenario(engine: Engine) -> None:
        with pytest.raises(UsageError) as refused:
            await engine.sources.add(wanted)
        assert "abc" not in str(refused.value)
        assert "pass@" not in str(refused.value)
        assert await engine.sources.all("default") == []

    run(scenario)


def test_a_name_is_given_once_and_made_where_none_is(run: Run, tmp_path: Path) -> None:
    write(tmp_path / "sea", 1)

    async def scenario(engine: Engine) -> None:
        await connected(engine, tmp_path / "sea")
        with pytest.raises(ConflictError):
            await connected(engine, tmp_path / "sea")
        made = [(await engine.sources.add(Wanted(SEA, "https://docs.example/guide/"))).name for _ in range(2)]
        assert made == ["docs.example-guide", "docs.example-guide-2"]

    run(scenario)


# ---------------------------------------------------------------- secrets


def test_a_secret_is_read_where_it_is_needed_and_is_nowhere_else(
    run: Run, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither in the home, nor in what is told of a run that fails with it."""
    secret = "s3cret-of-the-harbour"
    (tmp_path / "password").write_text(f"{secret}\n", "utf-8")

    async def scenario(engine: Engine) -> None:
        for number, reference in enumerate((f"file:{tmp_path / 'password'}", "env:HARBOUR")):
            name = f"mail{number}"
            wanted = Wanted(SEA, "imap://127.0.0.1:9/INBOX", name, secrets={"password": reference})
            source = await engine.sources.add(wanted)
            assert source.secrets == {"password": reference}
            if number:
                with pytest.raises(ConfigError) as missing:
                    await engine.sync_source("default", name)
                assert "env:HARBOUR" in str(missing.value)
                monkeypatch.setenv("HARBOUR", secret)
            last = await synced(engine, name=name)
            assert last.outcome == "failed"
            assert secret not in repr(await engine.source("default", name))

    run(scenario, allow_private_urls=True)
    for path in settings.home.rglob("*"):
        assert not path.is_file() or secret.encode() not in path.read_bytes(), path


def test_a_connection_into_a_private_network_is_refused(run: Run) -> None:
    async def scenario(engine: Engine) -> None:
        with web_site() as site:
            for number, url in enumerate(
                (f"{site.address}/", f"feed+{site.address}/f", f"git+{site.address}/x.git", "imap://127.0.0.1:1/INBOX")
            ):
                await engine.sources.add(Wanted(SEA, url, str(number)))
                last = await synced(engine, name=str(number))
                assert (last.outcome, "does not lead to a public address" in str(last.message)) == ("failed", True)
            assert site.asked == []

    run(scenario)
