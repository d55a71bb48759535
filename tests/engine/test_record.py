"""What is kept of a query is what its names say."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest

from kedge import Kedge
from kedge.core.settings import Settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Query, Scope
from kedge.engine.engine import Engine

SCOPE = Scope(DEFAULT_TENANT, "default")


def kept(settings: Settings, query_id: str) -> dict[str, Any]:
    with sqlite3.connect(settings.home / "catalog.db") as catalog:
        catalog.row_factory = sqlite3.Row
        joined = "SELECT * FROM retrieval_metrics m JOIN rag_queries q ON q.id = m.query_id WHERE q.id = ?"
        return dict(catalog.execute(joined, [query_id]).fetchone())


@pytest.mark.req("D-29", "D-30", "D-16")
def test_metrics_are_those_of_their_stage(run: Any, settings: Settings, folder: Path) -> None:
    query = Query("What is a kedge anchor used for?", SCOPE, top_k=1)

    async def scenario(engine: Engine) -> None:
        await engine.ingest(IngestRequest(SCOPE, (str(folder),)))
        found = await engine.search(query)
        answer = await engine.ask(query)
        row = kept(settings, answer.query_id)
        assert row["vector_top_score"] == pytest.approx(found.measures["vector_top"], abs=1e-6)
        assert row["vector_avg_score"] == pytest.approx(found.measures["vector_avg"], abs=1e-6)
        assert row["rrf_top_score"] == pytest.approx(found.measures["fused_top"], abs=1e-6)
        assert row["rerank_top_score"] == pytest.approx(found.measures["reranked_top"], abs=1e-6)
        assert row["rrf_top_score"] != row["rerank_top_score"]
        cited = {citation.passage_id for citation in answer.citations}
        tokens = sum(hit.passage.token_count for hit in answer.hits if hit.passage.id in cited)
        assert row["final_context_tokens"] == answer.metadata["total_tokens"] == tokens
        assert row["strategy_used"] == "hybrid"
        refused = await engine.ask(Query("Who won the football world cup in Qatar?", SCOPE))
        assert kept(settings, refused.query_id)["final_context_tokens"] == 0

    run(scenario)

    async def without_graph(engine: Engine) -> None:
        answer = await engine.ask(query)
        assert kept(settings, answer.query_id)["strategy_used"] == "vector_only"

    run(without_graph, channels=("vector", "keyword"))


@pytest.mark.req("G-26", "D-17")
@pytest.mark.parametrize("keep", [False, True])
def test_the_words_of_a_question_are_kept_only_where_a_setting_says_so(run: Any, folder: Path, keep: bool) -> None:
    async def scenario(engine: Engine) -> None:
        await engine.ingest(IngestRequest(SCOPE, (str(folder),)))
        await engine.ask(Query("What is a kedge?", SCOPE))
        often: Any = (await engine.stores.catalog.analytics.summary(DEFAULT_TENANT))["top_queries"]
        assert [one["words"] for one in often] == ["What is a kedge?" if keep else None]

    run(scenario, keep_questions=keep)


@pytest.mark.req("D-30")
def test_an_answer_from_a_graph_alone_says_so(tmp_path: Path) -> None:
    family = tmp_path / "family.tsv"
    family.write_text("subject\trelation\tobject\nada\tfather\tlord_byron\nlord_byron\tplace_of_birth\tlondon\n")
    with Kedge(tmp_path / "home", embedder="hash:64", collection="g") as kedge:
        kedge.ingest(family, kind="graph")
        answer = kedge.ask("Who is the father of ada?")
        assert not answer.refused
        assert kept(kedge.settings, answer.query_id)["strategy_used"] == "graph_only"


@pytest.mark.req("D-16", "D-30", "G-19")
def test_each_kind_records_what_it_showed(tmp_path: Path) -> None:
    """Citations, whether the threshold was met, and how the answer was come by, for an answer and for a refusal."""
    lesson = "---\nmodule: 1\nchapter: 1\nlesson: 1\nprerequisites: []\n---\n# Waves\n\nA wave carries energy.\n"
    sources = {
        "documents": ("kedge.md", "# Kedge\n\nA kedge is a light anchor.\n"),
        "course": ("waves.md", lesson),
        "table": ("sales.csv", "thing,price\nanchor,10\nrope,5\n"),
        "graph": ("family.tsv", "subject\trelation\tobject\nada\tfather\tlord_byron\n"),
    }
    asked = {
        "documents": ("What is a kedge?", "hybrid"),
        "course": ("How many lessons are there?", "graph_only"),
        "table": ("How many rows are there?", "hybrid"),
        "graph": ("Who is the father of ada?", "graph_only"),
    }
    with Kedge(tmp_path / "home", embedder="hash:64") as kedge:
        for kind, (name, text) in sources.items():
            folder = tmp_path / kind
            folder.mkdir()
            (folder / name).write_text(text, "utf-8")
            kedge.ingest(folder / name if kind in ("table", "graph") else folder, kind=kind, collection=kind)
            question, strategy = asked[kind]
            answer = kedge.ask(question, collection=kind)
            row = kept(kedge.settings, answer.query_id)
            assert not answer.refused, kind
            assert row["citation_count"] == len(answer.citations) > 0, kind
            assert row["confidence_threshold_met"], kind
            assert row["strategy_used"] == strategy, kind
            assert row["execution_time_ms"] > 0, kind
            refused = kedge.ask("Which admiral won the regatta of Valparaiso?", collection=kind)
            row = kept(kedge.settings, refused.query_id)
            assert row["citation_count"] == len(refused.citations), kind
            if kind != "table":  # rows that look a little alike are shown
                assert (refused.refused, row["citation_count"], row["confidence_threshold_met"]) == (True, 0, 0), kind
