"""A home of every earlier revision opens with today's code and has everything; a newer one is refused untouched."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from kedge.core.settings import Settings
from kedge.core.values import IngestRequest
from kedge.engine.engine import Engine
from kedge.stores.catalog.sql.look import look
from kedge.stores.catalog.sql.schema import REVISION
from kedge.surfaces.cli.main import run
from tests.contract.postgresql import url_of
from tests.engine.backup.made import SEA, settings_of
from tests.engine.upgrade.old_homes import REVISIONS, engine_of, fill, make_old, told

STORES = [pytest.param("sqlite"), pytest.param("postgresql", marks=pytest.mark.store("upgrade", "postgresql"))]


Homes = dict[bool, tuple[Path, dict[str, Any]]]


@pytest.fixture(scope="module")
def today(tmp_path_factory: pytest.TempPathFactory) -> Homes:
    """Homes of today, without and with a user's graph, and what they say."""
    folder = tmp_path_factory.mktemp("today")
    return {
        graph: (folder / str(graph), fill(folder / str(graph), folder / "sea", graph=graph)) for graph in (False, True)
    }


def settings_at(store: str, home: Path) -> tuple[Settings, str]:
    if store == "sqlite":
        return settings_of(home), f"sqlite:///{home / 'catalog.db'}"
    url = url_of(home)
    return settings_of(home, catalog_url=url), url


def test_the_newest_revision_is_the_one_of_the_schema() -> None:
    assert REVISIONS[-1] == REVISION


@pytest.mark.req("D-09")
@pytest.mark.parametrize("store", STORES)
@pytest.mark.parametrize("revision", REVISIONS)
def test_from_every_revision(revision: str, store: str, today: Homes, tmp_path: Path) -> None:
    settings, url = settings_at(store, tmp_path / "home")
    home, expected = today[revision >= "0004"]  # users' graphs came with it
    tables = make_old(home, settings.home, revision, url)
    before = look(url)
    assert before is not None
    assert (before.revision, before.pending > 0) == (revision, revision != REVISION)
    (tmp_path / "buoy.md").write_text("# Anchor buoy\n\nAn anchor buoy marks where the anchor lies.\n", "utf-8")

    async def use() -> None:
        async with Engine.open(settings) as engine:
            # What was no table then is an index that is missing now, and can be made again.
            found = {problem.kind for problem in (await engine.check(repair=True)).problems}
            assert found == (set() if "concepts" in tables else {"missing_graph"})
            assert (await engine.check()).problems == ()
            assert await told(engine) == expected
            assert (await engine.ingest(IngestRequest(SEA, (str(tmp_path / "buoy.md"),)))).errors == ()
            assert (await engine.check()).problems == ()

    asyncio.run(use())
    after = look(url)
    assert after is not None
    assert (after.revision, after.pending) == (REVISION, 0)


@pytest.mark.parametrize("store", STORES)
def test_a_newer_one_is_refused_and_left_alone(
    store: str,
    today: Homes,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings, url = settings_at(store, tmp_path / "home")
    make_old(today[True][0], settings.home, REVISION, url)
    engine = engine_of(url)
    with engine.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
        connection.execute(sa.text("CREATE TABLE of_tomorrow (id INTEGER)"))
    if settings.catalog_url:
        monkeypatch.setenv("KEDGE_CATALOG_URL", settings.catalog_url)
    for words in (["ask", "x"], ["check", "--repair"], ["backup", str(tmp_path / "x")], ["key", "list"]):
        capsys.readouterr()
        assert run([*words, "--home", str(settings.home), "--json"]) == 1
        error = json.loads(capsys.readouterr().out)["error"]
        assert error["code"] == "store_failed"
        assert "newer Kedge (schema 9999" in error["message"]
        assert "Upgrade Kedge" in error["hint"]
    with engine.begin() as connection:
        assert sa.inspect(connection).has_table("of_tomorrow")
        assert connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar() == "9999"
    engine.dispose()
