"""A backup holds everything, and a restore brings everything back, whatever the stores on either side."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from kedge.core.settings import Settings, load_settings
from kedge.core.values import DEFAULT_TENANT, DocumentStatus, IngestRequest, JobStatus
from kedge.engine.backup.restoring import restore_backup
from kedge.engine.backup.taking import take_backup
from kedge.engine.engine import Engine
from kedge.stores.graph.nodes import Node
from kedge.surfaces.cli.main import run
from tests.contract.postgresql import url_of
from tests.engine.backup.made import GRAPH, SEA, fill, settings_of, tell


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> tuple[Settings, str]:
    folder = tmp_path_factory.mktemp("original")
    settings = settings_of(folder / "home")
    return settings, asyncio.run(fill(settings, folder / "sea"))


@pytest.fixture(scope="module")
def expected(original: tuple[Settings, str]) -> dict[str, Any]:
    return tell(original[0])


def said(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    code = run([*words, "--json"])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return {**found, "exit": code}


def test_everything_comes_back(
    original: tuple[Settings, str], expected: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings, job = original
    file, home = tmp_path / "all.backup", tmp_path / "restored"
    made = said(capsys, "backup", str(file), "--home", str(settings.home))
    assert made["exit"] == 0
    counts = made["counts"]
    assert counts == {
        "collections": 4,
        "documents": 8,
        "passages": 8,
        "vectors": 8,
        "sessions": 1,
        "jobs": 1,
        "keys": 1,
    }
    assert file.stat().st_mode & 0o077 == 0  # it holds everything, and the secret of the hashes
    assert said(capsys, "backup", "--verify", str(file))["ok"]
    done = said(capsys, "restore", str(file), "--home", str(home))
    assert (done["exit"], done["ok"], done["vectors_restored"], done["vectors_embedded"]) == (0, True, 8, 0)
    assert tell(settings_of(home)) == expected
    assert (home / "hash.key").read_bytes() == (settings.home / "hash.key").read_bytes()
    assert said(capsys, "check", "--home", str(home))["ok"]
    assert not list(settings.home.glob(".backup-*"))
    assert not list(tmp_path.glob(".restored.*"))

    async def resumed() -> None:
        async with Engine.open(settings_of(home)) as engine:
            assert (await engine.job(DEFAULT_TENANT, job)).status is JobStatus.QUEUED
            assert await engine.drain() == 1
            assert (await engine.job(DEFAULT_TENANT, job)).status is JobStatus.COMPLETE
            urls = [one.url for one in await engine.documents(SEA, status=DocumentStatus.ACTIVE)]
            assert any("late.md" in url for url in urls)

    asyncio.run(resumed())


def test_beside_a_process_that_holds_the_home(
    original: tuple[Settings, str], expected: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings, _ = original
    file, home = tmp_path / "held.backup", tmp_path / "restored"

    async def held() -> None:
        async with Engine.open(settings):
            made = await asyncio.to_thread(said, capsys, "backup", str(file), "--home", str(settings.home))
            assert made["exit"] == 0
            assert made["counts"]["vectors"] == 0
            assert "vectors" in made["left_out"][0]

    asyncio.run(held())
    done = asyncio.run(restore_backup(settings_of(home), file))
    assert (done.vectors, done.embedded) == (0, 8)
    assert tell(settings_of(home)) == expected


def test_a_file_and_a_home_are_not_replaced_by_mistake(
    original: tuple[Settings, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings, _ = original
    file = tmp_path / "kept.backup"
    file.write_text("mine")
    assert said(capsys, "backup", str(file), "--home", str(settings.home))["error"]["code"] == "conflict"
    assert file.read_text() == "mine"
    assert said(capsys, "backup", str(file), "--home", str(settings.home), "--force")["exit"] == 0
    home = tmp_path / "lived-in"
    home.mkdir()
    (home / "letter.txt").write_text("mine")
    assert said(capsys, "restore", str(file), "--home", str(home))["error"]["code"] == "conflict"
    assert (home / "letter.txt").read_text() == "mine"
    assert said(capsys, "restore", str(file), "--home", str(home), "--force")["exit"] == 0
    assert not (home / "letter.txt").exists()


def test_a_backup_inside_of_the_home_is_not_restored_over_itself(
    original: tuple[Settings, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings, _ = original
    home = tmp_path / "home"
    home.mkdir()
    assert said(capsys, "backup", str(home / "x.backup"), "--home", str(settings.home))["exit"] == 0
    failed = said(capsys, "restore", str(home / "x.backup"), "--home", str(home), "--force")
    assert (failed["exit"], failed["error"]["code"]) == (2, "invalid_request")
    assert (home / "x.backup").exists()


def test_graphs_in_a_store_of_their_own(
    original: tuple[Settings, str], expected: dict[str, Any], tmp_path: Path
) -> None:
    """Users' graphs are no index: they go along from wherever they are to wherever they belong."""
    settings, _ = original
    apart = settings_of(tmp_path / "apart", graph_url=f"sqlite:///{tmp_path / 'graph.db'}")

    async def moved() -> None:
        async with Engine.open(settings) as engine:
            await take_backup(settings, tmp_path / "1", vectors=engine.stores.vectors, nodes=engine.stores.nodes)
        await restore_backup(apart, tmp_path / "1")
        async with Engine.open(apart) as engine:
            await take_backup(apart, tmp_path / "2", vectors=engine.stores.vectors, nodes=engine.stores.nodes)
        await restore_backup(settings_of(tmp_path / "back"), tmp_path / "2")

    asyncio.run(moved())
    assert tell(apart) == expected
    (tmp_path / "graph.db").unlink()
    assert tell(settings_of(tmp_path / "back")) == expected


def test_collections_keep_the_model_that_they_pin(original: tuple[Settings, str], tmp_path: Path) -> None:
    """Whatever model the settings name for new ones, and whatever language model."""
    settings, _ = original
    asyncio.run(take_backup(settings, tmp_path / "1"))
    other = load_settings(
        environ={}, home=tmp_path / "home", embedder="hash:32", llm="openai:none", llm_url="http://127.0.0.1:9"
    )
    assert asyncio.run(restore_backup(other, tmp_path / "1")).embedded == 8
    assert tell(settings_of(tmp_path / "home"))["problems"] == []


def test_an_empty_home_has_nothing_to_back_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    failed = said(capsys, "backup", str(tmp_path / "x"), "--home", str(tmp_path / "nowhere"))
    assert (failed["exit"], failed["error"]["code"]) == (1, "not_found")
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.store("catalog", "postgresql")
def test_to_postgresql_and_back(original: tuple[Settings, str], expected: dict[str, Any], tmp_path: Path) -> None:
    settings, job = original
    url = url_of(tmp_path)
    grown = settings_of(tmp_path / "grown", catalog_url=url, vector_url=url)
    back = settings_of(tmp_path / "back")

    async def moved() -> None:
        async with Engine.open(settings) as engine:
            await take_backup(settings, tmp_path / "1", vectors=engine.stores.vectors)
        assert (await restore_backup(grown, tmp_path / "1")).vectors == 8
        async with Engine.open(grown) as engine:
            # its upload went along into the catalog that all workers read
            waiting = await engine.job(DEFAULT_TENANT, job)
            assert str(waiting.request["uploads"]).startswith("[['late.md', 'catalog:")
            await take_backup(grown, tmp_path / "2", vectors=engine.stores.vectors, nodes=engine.stores.nodes)
        assert (await restore_backup(back, tmp_path / "2")).vectors == 8
        async with Engine.open(back) as engine:
            assert await engine.drain() == 1
            assert (await engine.job(DEFAULT_TENANT, job)).status is JobStatus.COMPLETE
            late = next(one for one in await engine.documents(SEA) if "late.md" in one.url)
            await engine.delete_document(DEFAULT_TENANT, late.id)

    asyncio.run(moved())
    in_postgresql = tell(grown)
    for name in ("default/search", "acme/search", "concepts"):  # scores and orders are each store's own
        in_postgresql.pop(name)
    assert in_postgresql.items() <= expected.items()
    found = tell(back)
    assert {key for key in found if found[key] != expected.get(key)} <= {"jobs"} | {
        one for one in found if "late.md" in one
    }


@pytest.mark.store("catalog", "postgresql")
def test_new_rows_go_on_behind_restored_ones_in_postgresql(original: tuple[Settings, str], tmp_path: Path) -> None:
    settings, _ = original
    url = url_of(tmp_path)
    grown = settings_of(tmp_path / "grown", catalog_url=url, vector_url=url)

    async def write_on() -> None:
        await take_backup(settings, tmp_path / "1")
        await restore_backup(grown, tmp_path / "1")
        (tmp_path / "capstan.md").write_text("# Capstan\n\nA capstan hauls the warp of a kedge anchor.\n", "utf-8")
        async with Engine.open(grown) as engine:  # new concepts, chunks and nodes
            await engine.ingest(IngestRequest(SEA, (str(tmp_path / "capstan.md"),)))
            await engine.kinds.named("graph").nodes.create(GRAPH, Node("bo", "Person", "Bo"))
            assert (await engine.check()).ok
            assert [one.name for one in await engine.stores.graph.search_concepts(SEA, "capstan", 1)] == ["Capstan"]
            assert len(await engine.kinds.named("graph").nodes.nodes(GRAPH)) == 3

    asyncio.run(write_on())
