"""Questions as of a time: superseded versions are kept for a while, and found by nobody who asks about now."""

from __future__ import annotations

import asyncio
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as how
from hypothesis import strategies as st

from kedge import Kedge
from kedge.core.acting import acting_as
from kedge.core.errors import QueryError
from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, Actor, IngestRequest, Query, Scope
from kedge.engine.backup.restoring import restore_backup
from kedge.engine.engine import Engine
from kedge.stores.past import past_index

MEMORY = {"catalog_url": "memory:", "vector_url": "memory:", "graph_url": "memory:"}
SCOPE = Scope(DEFAULT_TENANT, "default")
NAMES = ("anchors", "tides", "knots")
PARTS = (
    "A kedge is a light anchor.",
    "A kedge hauls a ship off.",
    "Spring tides come at full moon.",
    "The bowline makes a loop.",
)
edits = st.lists(
    st.dictionaries(st.sampled_from(NAMES), st.lists(st.sampled_from(PARTS), min_size=1, max_size=3), max_size=3),
    min_size=1,
    max_size=5,
)


def write(folder: Path, texts: dict[str, list[str]]) -> None:
    for name in NAMES:
        path = folder / f"{name}.md"
        path.unlink(missing_ok=True)
        if name in texts:
            sections = "\n\n".join(f"## Part {place}\n\n{text}" for place, text in enumerate(texts[name]))
            path.write_text(f"# {name.title()}\n\n{sections}\n")


async def shown(engine: Engine, question: str, at: datetime | None) -> list[tuple[str, str, float | None]]:
    found = await engine.search(Query(question, SCOPE, top_k=20, include_graph=False, as_of=at))
    return sorted((Path(hit.passage.url).name, hit.passage.text, hit.cosine) for hit in found.hits)


async def fresh(folder: Path, texts: dict[str, list[str]], question: str) -> list[tuple[str, str, float | None]]:
    """What a home finds that was made of these sources alone."""
    write(folder, texts)
    async with Engine.open(load_settings(environ={}, home=folder / "fresh", embedder="hash", **MEMORY)) as engine:
        await engine.ingest(IngestRequest(SCOPE, (str(folder),)))
        return await shown(engine, question, None)


@pytest.mark.parametrize("stores", [MEMORY, {}], ids=["memory", "default"])
@given(history=edits, question=st.sampled_from(("kedge anchor", "spring tides", "loop of the bowline")))
@how(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_instant_is_asked_as_a_fresh_home_of_its_sources(
    stores: dict[str, str], history: list[dict[str, list[str]]], question: str
) -> None:
    async def body(place: Path) -> None:
        folder = place / "docs"
        folder.mkdir()
        settings = load_settings(environ={}, home=place / "home", embedder="hash", **stores)
        instants = []
        async with Engine.open(settings) as engine:
            for texts in history:
                write(folder, texts)
                await engine.ingest(IngestRequest(SCOPE, (str(folder),)))
                instants.append(datetime.now(UTC))
            found = [await shown(engine, question, at) for at in instants]
            assert found[-1] == await shown(engine, question, None)
            assert (await engine.check()).problems == ()
        for number, texts in enumerate(history):
            other = place / f"fresh {number}"
            other.mkdir()
            assert found[number] == await fresh(other, texts, question)

    with tempfile.TemporaryDirectory() as place:
        asyncio.run(body(Path(place)))


@pytest.fixture
def place(tmp_path: Path) -> Path:
    folder = tmp_path / "docs"
    folder.mkdir()
    return folder


def opened(place: Path, **changes: object) -> Kedge:
    return Kedge(place.parent / "home", embedder="hash", threshold=0.0, **changes)


def said(kedge: Kedge, at: datetime | None) -> list[str]:
    return [hit.passage.text for hit in kedge.search("Who is on watch?", as_of=at).hits]


OLD, NEW = "Ada is on watch.", "Grace is on watch."


def edited(kedge: Kedge, place: Path) -> datetime:
    """The instant before the edit."""
    (place / "watch.txt").write_text(OLD)
    kedge.ingest(str(place))
    at = datetime.now(UTC)
    (place / "watch.txt").write_text(NEW)
    kedge.ingest(str(place))
    return at


def test_an_answer_as_of_a_time_quotes_what_was_said_then(place: Path) -> None:
    with opened(place) as kedge:
        at = edited(kedge, place)
        assert said(kedge, None) == [NEW]
        assert said(kedge, at) == [OLD]
        assert "Ada" in kedge.ask("Who is on watch?", as_of=at.isoformat()).answer
        assert "Grace" in kedge.ask("Who is on watch?").answer


def test_a_draft_stays_with_its_readers(place: Path) -> None:
    with opened(place) as kedge:
        (place / "watch.md").write_text(f"---\nreaders: [user:ann]\n---\n{OLD}\n")
        kedge.ingest(str(place))
        at = datetime.now(UTC)
        (place / "watch.md").write_text(f"---\nreaders: public\n---\n{NEW}\n")
        kedge.ingest(str(place))
        for who, then in ((None, [OLD]), (Actor("ann"), [OLD]), (Actor("bob"), [])):
            with acting_as(who):
                assert said(kedge, at) == then
                assert said(kedge, None) == [NEW]


def test_what_its_user_deletes_is_gone_for_every_time(place: Path) -> None:
    with opened(place) as kedge:
        at = edited(kedge, place)
        (document,) = kedge.documents()
        kedge.delete(document.id)
        assert said(kedge, at) == []
        assert _held(kedge) == 0


def test_a_source_that_is_gone_is_found_as_of_its_time_until_it_is_deleted(place: Path) -> None:
    with opened(place) as kedge:
        at = edited(kedge, place)
        (document,) = kedge.documents()
        (place / "watch.txt").unlink()
        (place / "other.txt").write_text("The sea is calm.")
        kedge.ingest(str(place))
        assert said(kedge, at) == [OLD]
        kedge.delete(document.id)
        assert said(kedge, at) == []
        assert _held(kedge) == 0


def test_nothing_is_kept_where_the_setting_says_so(place: Path) -> None:
    with opened(place, version_days=0) as kedge:
        at = edited(kedge, place)
        found = kedge.search("Who is on watch?", as_of=at)
        assert [hit.passage.text for hit in found.hits] == []
        assert any("version_days is 0" in one for one in found.warnings)
        assert any("version_days is 0" in one for one in kedge.ask("Who is on watch?", as_of=at).metadata["warnings"])


def test_what_was_kept_goes_once_the_setting_is_0(place: Path) -> None:
    with opened(place) as kedge:
        edited(kedge, place)
        assert _held(kedge) == 1
    with opened(place, version_days=0) as kedge:
        kedge.run(kedge._engine.sweep())
        assert _held(kedge) == 0


def test_another_model_finds_the_past_as_well(place: Path) -> None:
    with opened(place) as kedge:
        at = edited(kedge, place)
        kedge.run(kedge._engine.reindex(kedge.scope(None), "hash:64"))
        assert said(kedge, at) == [OLD]


def test_a_check_makes_again_what_the_index_of_the_past_has_lost(place: Path) -> None:
    with opened(place) as kedge:
        at = edited(kedge, place)
        engine = kedge._engine
        collection = kedge.run(engine.collection(kedge.scope(None)))
        kedge.run(engine.stores.vectors.drop(past_index(collection.index_name)))
        (problem,) = kedge.run(engine.check(repair=True)).problems
        assert (problem.kind, problem.count, problem.repaired) == ("missing_past", 1, True)
        assert said(kedge, at) == [OLD]


@pytest.mark.parametrize("said_as", ["3026-01-01", "yesterday", "2026-13-01", ""])
def test_a_time_that_cannot_be_is_told(place: Path, said_as: str) -> None:
    with opened(place) as kedge:
        edited(kedge, place)
        with pytest.raises(QueryError):
            kedge.search("Who is on watch?", as_of=said_as)


def test_a_time_before_the_horizon_is_answered_with_a_warning(place: Path) -> None:
    with opened(place) as kedge:
        edited(kedge, place)
        found = kedge.search("Who is on watch?", as_of=datetime.now(UTC) - timedelta(days=40))
        assert found.hits == ()
        assert any("no longer kept" in one for one in found.warnings)


def _held(kedge: Kedge) -> int:
    """Points in the index of the past."""
    engine = kedge._engine
    collection = kedge.run(engine.collection(kedge.scope(None)))
    return kedge.run(engine.stores.vectors.count(past_index(collection.index_name), DEFAULT_TENANT))


def test_a_backup_brings_the_past_back(place: Path) -> None:
    with opened(place) as kedge:
        at = edited(kedge, place)
        kedge.backup(place.parent / "all.backup")
    settings = load_settings(environ={}, home=place.parent / "restored", embedder="hash")
    restored = asyncio.run(restore_backup(settings, place.parent / "all.backup"))
    assert [one.kind for one in restored.report.problems] == []
    with Kedge(place.parent / "restored", embedder="hash") as kedge:
        assert said(kedge, at) == [OLD]
        assert said(kedge, None) == [NEW]
