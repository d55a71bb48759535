"""What asks for a topic: the best say what the others are measured by."""

from __future__ import annotations

import doctest

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.retrieve import topical as module
from kedge.retrieve.topical import Kind, by_topic, kind_of


def unit(rows: list[list[float]]) -> np.ndarray:
    found = np.array(rows, dtype=np.float32)
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def test_the_doctests_hold() -> None:
    assert doctest.testmod(module).failed == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Vitamin D lowers the risk of colds.", "statement"),
        ("Articles on the conduction of heat in slabs.", "topic"),
        ("heat conduction slabs", "topic"),
        ("what problems of heat conduction in composite slabs have been solved", "topic"),
        ("can the flow about a slender body be computed without iteration .", "topic"),
        ("Has the bridge of Mostar been rebuilt", "question"),
        ("1963-04-08", "question"),
        ("born 8 April 1963", "question"),
        ('which one says "in the mistaken belief that it had been"', "question"),
        ("Who painted the ceiling of the Sistine Chapel?", "question"),
        ("In what year was the bridge of 1890 closed?", "question"),
        ("¿Cuántos habitantes tiene la ciudad de Valencia?", "question"),
        ("船锚是用什么制成的", "question"),
    ],
)
def test_claims_and_descriptions_are_told_from_questions_that_name_something(text: str, expected: Kind) -> None:
    assert kind_of(text, 0.5) == expected


@pytest.mark.parametrize("text", ["Vitamin D lowers the risk of colds.", "heat conduction slabs"])
def test_what_one_passage_says_nearly_in_these_words_is_searched_for_as_by_a_question(text: str) -> None:
    assert kind_of(text, 0.95) == "question"


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
