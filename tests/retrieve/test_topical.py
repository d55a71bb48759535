"""What asks for a topic: the best say what the others are measured by."""

from __future__ import annotations

import doctest

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.retrieve import topical as module
from kedge.retrieve.topical import by_topic, seeks_topic


def unit(rows: list[list[float]]) -> np.ndarray:
    found = np.array(rows, dtype=np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def test_the_doctests_hold() -> None:
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Vitamin D lowers the risk of colds.", False),
        ("Articles on the conduction of heat in slabs.", True),
        ("heat conduction slabs", True),
        ("what problems of heat conduction in composite slabs have been solved", True),
        ("Who painted the ceiling of the Sistine Chapel?", False),
        ("In what year was the bridge of 1890 closed?", False),
        ("¿Cuántos habitantes tiene la ciudad de Valencia?", False),
        ("船锚是用什么制成的", False),
    ],
)
def test_a_question_about_something_it_names_seeks_no_topic(text: str, expected: bool) -> None:
    assert seeks_topic(text) is expected


SCORES = np.array([2.0, 1.9, 1.8, 1.0, 1.0, 0.5], dtype=np.float32)
VECTORS = unit([[1, 0, 0], [0.9, 0.1, 0], [0.95, 0, 0.1], [0.9, 0.2, 0], [0, 0, 1], [0, 1, 0]])


def test_of_two_alike_the_one_that_resembles_the_best_comes_first() -> None:
    after = by_topic(SCORES, VECTORS, 0.0)
    assert after[3] > after[4]
    assert int(np.argmax(after)) in (0, 1, 2)


def test_where_the_graph_is_sure_nothing_changes() -> None:
    assert by_topic(SCORES, VECTORS, 1.0).tolist() == SCORES.tolist()


@given(st.integers(0, 60), st.integers(0, 1000), st.floats(0, 2))
def test_any_candidates_keep_their_number_and_stay_finite(count: int, seed: int, bonus: float) -> None:
    made = np.random.default_rng(seed)
    vectors = made.normal(size=(count, 8)).astype(np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)
    scores = (made.integers(0, 3, count) * made.random()).astype(np.float32)
    after = by_topic(scores, vectors, bonus)
    assert after.shape == scores.shape
    assert np.isfinite(after).all()
