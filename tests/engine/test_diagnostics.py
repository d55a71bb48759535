"""What a search promises about its results, and what it says when there are none (Q-03, Q-04, Q-05)."""

from __future__ import annotations

import itertools
import logging
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from kedge.core.errors import DimensionMismatchError, QueryError
from kedge.core.values import DEFAULT_TENANT, IngestMode, IngestRequest, Query, Scope, SearchResult
from kedge.core.values.filters import Eq
from kedge.engine.engine import Engine
from kedge.ingest.batch import as_points
from kedge.stores.ports import IndexSpec
from kedge.surfaces.cli.main import run as command_line

SCOPE = Scope(DEFAULT_TENANT, "default")


async def filled(engine: Engine, folder: Path) -> int:
    await engine.ingest(IngestRequest(SCOPE, (str(folder),)))
    return (await engine.collection(SCOPE)).passages


def facts(result: SearchResult) -> tuple[str, int, int, int, str]:
    """Query, top_k, passages, how many pass the filter, and the sample scores, out of the one warning."""
    (warning,) = result.warnings
    told = (
        r"for '(.*)' \(top_k (\d+)\) .* holds (\d+) passages, of which (\d+) pass the filter; best .* scores: (.+?)\. "
    )
    found = re.search(told, warning)
    assert found, warning
    query, top_k, passages, passing, scores = found.groups()
    return query, int(top_k), int(passages), int(passing), scores


@pytest.mark.req("Q-05")
def test_a_filter_that_nothing_passes_is_told_with_the_counts(run: Any, folder: Path) -> None:
    async def scenario(engine: Engine) -> None:
        passages = await filled(engine, folder)
        result = await engine.search(Query("light anchor", SCOPE, top_k=7, topic_filter="no such topic"))
        assert result.hits == ()
        assert facts(result) == ("light anchor", 7, passages, 0, "none")
        assert "kedge check" in result.warnings[0]

    run(scenario)


@pytest.mark.req("Q-05")
def test_hits_that_the_catalog_does_not_confirm_are_told_with_sample_scores(run: Any, folder: Path) -> None:
    """The index says that every passage is of a topic, the catalog knows of none: an index that went astray."""

    async def scenario(engine: Engine) -> None:
        passages = await filled(engine, folder)
        collection = await engine.collection(SCOPE)
        stray = [passage async for batch in engine.stores.catalog.passages.scan(SCOPE) for passage in batch]
        embedder = await engine._keeper.embedder_of(collection)
        points = as_points(stray, await embedder.embed([passage.embed_text for passage in stray]), {})
        for point in points:
            object.__setattr__(point, "payload", {**point.payload, "topic_tag": "x"})
        await engine.stores.vectors.upsert(collection.index_name, DEFAULT_TENANT, points)
        result = await engine.search(Query("light anchor", SCOPE, where=Eq("topic_tag", "x")))
        assert result.hits == ()
        query, _, held, passing, scores = facts(result)
        assert (query, held, passing) == ("light anchor", passages, passages)
        samples = [float(score) for score in scores.split(", ")]
        assert len(samples) == min(3, passages)
        assert samples == sorted(samples, reverse=True)
        assert samples[0] > 0

    run(scenario)


@pytest.mark.req("Q-05")
def test_no_warning_where_there_is_nothing_to_find_or_something_was_found(run: Any, folder: Path) -> None:
    async def scenario(engine: Engine) -> None:
        await filled(engine, folder)
        assert (await engine.search(Query("light anchor", SCOPE))).warnings == ()
        for document in await engine.documents(SCOPE):
            await engine.delete_document(DEFAULT_TENANT, document.id)
        empty = await engine.search(Query("light anchor", SCOPE))
        assert (empty.hits, empty.warnings) == ((), ())

    run(scenario)


@pytest.mark.req("Q-05")
def test_an_answer_carries_the_warning(run: Any, folder: Path) -> None:
    async def scenario(engine: Engine) -> None:
        await filled(engine, folder)
        answer = await engine.ask(Query("What is a kedge?", SCOPE, topic_filter="no such topic"))
        (warning,) = answer.metadata["warnings"]
        assert "0 pass the filter" in warning

    run(scenario)


@pytest.mark.req("Q-03", "Q-04")
def test_results_keep_their_promises(run: Any, folder: Path) -> None:
    async def scenario(engine: Engine) -> None:
        await filled(engine, folder)
        for text, top_k in itertools.product(("kedge", "ropes and loops", "?!", "moon " * 300), (1, 2, 20)):
            hits = (await engine.search(Query(text, SCOPE, top_k=top_k))).hits
            assert len(hits) <= top_k
            assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
            assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
            assert all(0.0 <= hit.score <= 1.0 and hit.passage.id and hit.passage.text.strip() for hit in hits)
            assert len({hit.passage.id for hit in hits}) == len(hits)

    run(scenario)


@pytest.mark.req("Q-03", "Q-10")
def test_top_k_is_a_positive_whole_number_or_a_clear_error(run: Any) -> None:
    async def scenario(engine: Engine) -> None:
        wrong: Any
        for wrong in (0, -1, 2.5, "3", True):
            with pytest.raises(QueryError, match=f"top_k must be positive integer, got {wrong}"):
                await engine.search(Query("kedge", SCOPE, top_k=wrong))
        with pytest.raises(QueryError, match="top_k must be between 1 and 20") as caught:
            await engine.search(Query("kedge", SCOPE, top_k=21))
        assert "max_top_k" in caught.value.hint

    run(scenario)


@pytest.mark.req("Q-10", "Q-03")
def test_the_most_can_be_raised(run: Any, folder: Path) -> None:
    async def scenario(engine: Engine) -> None:
        await engine.ingest(IngestRequest(SCOPE, (str(folder),)))
        assert (await engine.search(Query("kedge", SCOPE, top_k=50))).hits

    run(scenario, max_top_k=50)


@pytest.mark.req("Q-12", "Q-05", "Q-13")
def test_what_is_logged_of_a_search(run: Any, folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def scenario(engine: Engine) -> None:
        await engine.ingest(IngestRequest(SCOPE, (str(folder),)))
        with caplog.at_level(logging.DEBUG, logger="kedge.retrieve"):
            await engine.search(Query("sandbank", SCOPE, top_k=3))
            assert not [one for one in caplog.records if one.levelno >= logging.WARNING]
            assert "vector search in index knowledge_chunks" in caplog.text
            assert "top_k 3, filter on none" in caplog.text
            nothing = await engine.search(Query("sandbank", SCOPE, top_k=3, where=Eq("topic_tag", "none")))
        warned = [one.getMessage() for one in caplog.records if one.levelno == logging.WARNING]
        assert len(warned) == len(nothing.warnings) == 1
        assert "0 results although" in warned[0]
        assert "0 of which pass the filter" in warned[0]
        assert "filter on topic_tag, 0 hits" in caplog.text
        assert "sandbank" not in caplog.text

    run(scenario)


@pytest.mark.req("Q-11", "Q-02", "D-35", "D-19")
def test_a_vector_of_another_length_is_told_by_collection_and_model(
    run: Any, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And the command in the hint works as printed."""
    place = Scope(DEFAULT_TENANT, "sea charts")
    hints: list[str] = []
    homes: list[Path] = []

    async def scenario(engine: Engine) -> None:
        await engine.ingest(IngestRequest(place, (str(folder),)))
        assert (await engine.health())["collections"]["ok"]  # type: ignore[call-overload,index]
        collection = await engine.collection(place)
        await engine.stores.vectors.drop(collection.index_name)
        await engine.stores.vectors.create(IndexSpec(collection.index_name, 32))
        for call in (
            lambda: engine.search(Query("kedge", place)),
            lambda: engine.ingest(IngestRequest(place, (str(folder),), mode=IngestMode.FULL)),
        ):
            with pytest.raises(DimensionMismatchError) as caught:
                await call()
            error = caught.value
            assert error.details == {"found": 64, "expected": 32, "collection": "sea charts", "model": "hash:64"}
            for part in ("64", "32", "'sea charts'", "'hash:64'"):
                assert part in error.message
            assert "`kedge collection reindex 'sea charts'`" in error.hint

    async def restarted(engine: Engine) -> None:
        told: Any = (await engine.health())["collections"]
        assert not told["ok"]
        assert "'sea charts'" in told["message"]
        with pytest.raises(DimensionMismatchError) as caught:
            await engine.search(Query("kedge", place))
        hints.append(caught.value.hint)
        homes.append(engine.settings.home)

    async def mended(engine: Engine) -> None:
        assert (await engine.search(Query("kedge", place))).hits

    run(scenario)
    run(restarted)
    (command,) = re.findall("`kedge (.+)`", hints[0])
    monkeypatch.setenv("KEDGE_EMBEDDER", "hash:64")
    assert command_line([*shlex.split(command), "--home", str(homes[0])]) == 0
    run(mended)
