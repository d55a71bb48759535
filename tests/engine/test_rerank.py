"""A reranking model in the engine: what it says is added to the default order."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from kedge.core.settings import load_settings
from kedge.core.values import DEFAULT_TENANT, IngestRequest, Query, Scope
from kedge.engine.engine import Engine
from kedge.models.embed import minilm
from kedge.models.registry import open_reranker
from kedge.retrieve.order import MODEL, READ_BY_MODEL
from tests.models.tiny_onnx import write_cross_encoder

SCOPE = Scope(DEFAULT_TENANT, "default")
QUERY = Query("light anchor of a ship", SCOPE, top_k=20)


@pytest.fixture
def model(tmp_path: Path) -> str:
    """Counts the words that query and text share."""
    folder = tmp_path / "model"
    folder.mkdir()
    write_cross_encoder(folder / "model.onnx")
    shutil.copy(minilm.carrier_folder() / "tokenizer.json", folder / "tokenizer.json")
    return f"onnx-rerank:{folder}"


@pytest.mark.req("D-20")
def test_a_model_adds_to_the_share_of_the_best(run: Any, folder: Path, model: str) -> None:
    async def light(engine: Engine) -> dict[str, float]:
        await engine.ingest(IngestRequest(SCOPE, (str(folder),)))
        hits = (await engine.search(QUERY)).hits
        reranker = open_reranker(model, load_settings(environ={}, threads=1))
        said = await reranker.rerank(QUERY.text, [hit.passage.embed_text for hit in hits])
        return {hit.passage.id: hit.score / hits[0].score + MODEL * one for hit, one in zip(hits, said, strict=True)}

    async def found(engine: Engine) -> list[tuple[str, float]]:
        return [(hit.passage.id, hit.score) for hit in (await engine.search(QUERY)).hits]

    expected = run(light)
    order = run(found, reranker=model)
    best = max(expected.values())
    assert [key for key, _ in order] == sorted(expected, key=lambda key: -expected[key])
    assert [score / order[0][1] for _, score in order] == pytest.approx([expected[key] / best for key, _ in order])


def test_what_the_model_did_not_read_follows(run: Any, tmp_path: Path, model: str) -> None:
    many = tmp_path / "many"
    many.mkdir()
    for number in range(READ_BY_MODEL + 5):
        (many / f"{number}.txt").write_text(f"Ship {number} has a light anchor." + " It sails." * number)

    async def scenario(engine: Engine) -> None:
        await engine.ingest(IngestRequest(SCOPE, (str(many),)))
        hits = (await engine.rank(QUERY, 100)).hits
        assert len({hit.passage.id for hit in hits}) == READ_BY_MODEL + 5
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)

    run(scenario, reranker=model)
