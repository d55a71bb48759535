"""What a search promises about its results, and what it says when there are none (Q-03, Q-04, Q-05)."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import pytest

from kedge.core.errors import QueryError
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Query, Scope, SearchResult
from kedge.core.values.filters import Eq
from kedge.engine.engine import Engine
from kedge.ingest.batch import as_points

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
    """The index says that every passage is on the shelf, the catalog knows of no shelf: an index that went astray."""

    async def scenario(engine: Engine) -> None:
        passages = await filled(engine, folder)
        collection = await engine.collection(SCOPE)
        stray = [passage async for batch in engine.stores.catalog.passages.scan(SCOPE) for passage in batch]
        embedder = await engine._keeper.embedder_of(collection)
        points = as_points(stray, await embedder.embed([passage.embed_text for passage in stray]))
        for point in points:
            object.__setattr__(point, "payload", {**point.payload, "shelf": "x"})
        await engine.stores.vectors.upsert(collection.index_name, DEFAULT_TENANT, points)
        result = await engine.search(Query("light anchor", SCOPE, where=Eq("shelf", "x")))
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


@pytest.mark.req("Q-03")
def test_top_k_is_a_positive_whole_number_or_a_clear_error(run: Any) -> None:
    async def scenario(engine: Engine) -> None:
        wrong: Any
        for wrong in (0, -1, 21, 2.5, "3", None):
            with pytest.raises(QueryError, match="top_k must be between 1 and 20"):
                await engine.search(Query("kedge", SCOPE, top_k=wrong))

    run(scenario)
