"""Exact scores and the soft word match of the light reranker."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.retrieve.fuse import blend
from kedge.retrieve.rerank import exact_blend
from kedge.retrieve.soft import TokenVectors, open_vectors, soft_match
from kedge.retrieve.topical import Kind, dense_weight

shares = st.lists(st.floats(0.0, 1.0, width=32), min_size=1, max_size=8)


@pytest.fixture(scope="module")
def vectors() -> TokenVectors:
    found = open_vectors()
    assert found is not None
    return found


@pytest.mark.req("D-11")
@given(shares, st.floats(0.125, 1.0, width=32), st.floats(0.125, 40.0, width=32))
def test_exact_scores_equal_the_blend_where_both_channels_saw_everything(
    values: list[float], best_cosine: float, best_keyword: float
) -> None:
    cosines = np.array([best_cosine, *(value * best_cosine for value in values)], dtype=np.float32)
    keyword = np.array([*(value * best_keyword for value in values), best_keyword], dtype=np.float32)
    names = [str(row) for row in range(len(cosines))]
    expected = blend(dict(zip(names, cosines, strict=True)), dict(zip(names, keyword, strict=True)))
    found = exact_blend(cosines, keyword, float(cosines.max()), float(keyword.max()))
    assert found == pytest.approx([expected[name] for name in names], abs=1e-5)


@pytest.mark.req("D-11")
def test_a_channel_that_found_nothing_does_not_count() -> None:
    cosines, keyword = np.array([0.5, 0.25], dtype=np.float32), np.array([3.0, 6.0], dtype=np.float32)
    assert exact_blend(cosines, keyword, 0.5, 0.0).tolist() == [1.0, 0.5]
    assert exact_blend(cosines, keyword, 0.0, 0.0).tolist() == [0.0, 0.0]


@pytest.mark.req("D-11")
def test_vectors_count_more_for_statements_and_with_a_surer_embedder() -> None:
    """Two passages, each the best of one channel and half as good in the other."""
    cosines, keyword = np.array([0.5, 0.25], dtype=np.float32), np.array([3.0, 6.0], dtype=np.float32)

    def lead(embedder: str, kind: Kind) -> float:
        near, worded = exact_blend(cosines, keyword, 0.5, 6.0, dense=dense_weight(embedder, kind))
        return float(near - worded)

    assert lead("minilm:int8", "question") == lead("granite", "question") == 0.0
    assert 0.0 < lead("minilm:int8", "statement") < lead("granite", "statement")
    assert lead("granite", "topic") > lead("minilm:int8", "topic") == 0.0
    assert lead("a model of somebody else", "statement") == 0.0


@pytest.mark.req("D-11")
def test_what_a_channel_left_out_never_counts_more_than_its_first() -> None:
    assert exact_blend(np.array([0.9], np.float32), np.array([9.0], np.float32), 0.6, 3.0).tolist() == [2.0]


@pytest.mark.req("D-11")
def test_all_words_are_a_full_match_and_near_words_a_part(vectors: TokenVectors) -> None:
    texts = ["The lift of the wing of an airplane.", "Aircraft wings and how they rise.", "A recipe for banana bread."]
    whole, near, far = soft_match(vectors, "What is the lift of an airplane wing?", texts).tolist()
    assert whole == pytest.approx(1.0, abs=1e-4)
    assert whole > near > far


@pytest.mark.req("D-11")
@pytest.mark.parametrize("question", ["", "what is the", "?!"])
def test_without_words_nothing_matches(vectors: TokenVectors, question: str) -> None:
    assert soft_match(vectors, question, ["Some text.", ""]).tolist() == [0.0, 0.0]


@pytest.mark.req("D-11")
@pytest.mark.parametrize(
    ("question", "text"), [("北京大学在哪里", "大学在北京哪里"), ("¿Dónde nació Ana?", "ana NACIÓ")]
)
def test_case_accents_and_order_do_not_matter(vectors: TokenVectors, question: str, text: str) -> None:
    assert soft_match(vectors, question, [text])[0] == pytest.approx(1.0, abs=1e-4)


@pytest.mark.req("D-11")
@given(st.text(max_size=60), st.lists(st.text(max_size=60), max_size=4))
def test_any_text_has_a_share(question: str, texts: list[str]) -> None:
    found = open_vectors()
    assert found is not None
    result = soft_match(found, question, texts)
    assert len(result) == len(texts)
    assert all(0.0 <= share <= 1.001 for share in result.tolist())
    assert soft_match(found, question, texts).tolist() == result.tolist()
