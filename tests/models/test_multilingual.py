"""The multilingual embedder, from real weights. Skipped where the extra `multilingual` is not installed."""

from __future__ import annotations

import asyncio

import numpy as np
import pytest

from kedge.core.errors import MissingExtraError, ModelError
from kedge.core.settings import load_settings
from kedge.models import registry
from kedge.models.ports import Embedder

pytest.importorskip("onnxruntime_extensions")
pytest.importorskip("sentencepiece")

from kedge.models.embed import use

SETTINGS = load_settings(environ={}, threads=1)


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    try:
        return registry.open_embedder("use-multilingual", SETTINGS)
    except MissingExtraError:
        pytest.skip("nanoranker is not installed")


@pytest.mark.req("T-02")
def test_one_space_holds_many_languages(embedder: Embedder) -> None:
    questions = ["How do I moor a boat?", "¿Cómo se amarra un barco?", "如何停泊船只？"]
    texts = ["Un barco se amarra al muelle con cabos.", "Los tipos de interés subieron en marzo.", "三月份利率上升。"]
    rows = asyncio.run(embedder.embed(texts))
    for question in questions:
        scores = rows @ asyncio.run(embedder.embed_query(question))
        assert scores[0] > max(scores[1:]) + 0.1, question


@pytest.mark.req("Q-02")
def test_rows_are_unit_vectors_and_do_not_depend_on_their_neighbours(embedder: Embedder) -> None:
    texts = ["an anchor", "", "a much longer text " * 200, "锚"]
    rows = asyncio.run(embedder.embed(texts))
    assert rows.shape == (4, embedder.dimension) == (4, 512)
    assert np.allclose(np.linalg.norm(rows, axis=1), 1.0, atol=1e-5)
    assert np.array_equal(rows[0], asyncio.run(embedder.embed_query("an anchor")))
    assert asyncio.run(embedder.embed([])).shape == (0, 512)


def test_tokens_are_counted_without_truncation(embedder: Embedder) -> None:
    assert embedder.count_tokens(["", "anchor", "anchor " * 1000]) == [0, 1, 1000]


def test_damaged_weights_are_refused(embedder: Embedder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(use.DIGESTS, use.FILE, "0" * 64)
    with pytest.raises(ModelError, match="not the file"):
        registry.open_embedder("use-multilingual", SETTINGS)
