"""The judge: what it measures, that it only ever moves the right way, and that the shipped calibration is sane."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from importlib.resources import files
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.answer.judge.calibrated import (
    CALIBRATED,
    THRESHOLD,
    USUAL,
    Evidence,
    EvidenceFeatures,
    confidence,
    judge_features,
    judge_of,
)
from kedge.answer.judge.reading import Signs, read_judge
from kedge.text.evidence import EvidencePassage, candidate_sentences, rank_sentences
from kedge.text.form import ShapeKind
from kedge.text.question import parse_question

EMBEDDERS = ("granite", "minilm:int8")
"""One with weights of its own, and one of the others."""
embedders = st.sampled_from(EMBEDDERS)
COMMON = {"war", "treati", "sign"}


def idf(term: str) -> float:
    return 1.0 if term in COMMON else 5.0


def features(
    question: str, *texts: str, cosine: float | None = None, keyword_score: float | None = None, title: str = ""
) -> EvidenceFeatures:
    parsed = parse_question(question, idf)
    evidence = [Evidence(EvidencePassage(text, title), cosine=cosine, keyword_score=keyword_score) for text in texts]
    candidates = candidate_sentences(parsed, [item.passage for item in evidence])
    query = vectors = None
    if cosine is not None:
        query = np.array([1.0, 0.0], np.float32)
        vectors = np.array([[cosine, (1 - cosine**2) ** 0.5]] * len(candidates), np.float32)
    return judge_features(parsed, evidence, rank_sentences(candidates, query, vectors))


def probability(
    question: str,
    *texts: str,
    cosine: float | None = None,
    keyword_score: float | None = None,
    embedder: str = EMBEDDERS[0],
) -> float:
    return judge_of(embedder).probability(features(question, *texts, cosine=cosine, keyword_score=keyword_score))


unit = st.floats(0, 1)
sets = st.builds(
    EvidenceFeatures,
    sentence_cosine=st.none() | unit,
    passage_cosine=st.none() | unit,
    **{name: unit for name in EvidenceFeatures.__dataclass_fields__ if not name.endswith("_cosine")},
)


@pytest.mark.req("D-11")
@given(sets, embedders)
def test_a_probability_is_a_probability(given_features: EvidenceFeatures, embedder: str) -> None:
    assert 0.0 <= judge_of(embedder).probability(given_features) <= 1.0


@pytest.mark.req("D-11")
@given(
    sets, st.sampled_from(["sentence_coverage", "set_coverage", "names_in_sentence", "title_coverage"]), unit, embedders
)
def test_more_coverage_never_lowers_it(given_features: EvidenceFeatures, name: str, more: float, embedder: str) -> None:
    before = getattr(given_features, name)
    better = replace(given_features, **{name: max(before, more)})
    assert judge_of(embedder).probability(better) >= judge_of(embedder).probability(given_features)


signs = st.builds(Signs, **dict.fromkeys(Signs.__dataclass_fields__, unit))
forms = st.sampled_from(get_args(ShapeKind))


@pytest.mark.req("D-11")
@given(signs, forms, st.sampled_from(["support", "sure", "worth", "names", "fits"]), unit)
def test_a_better_reading_never_lowers_it(given_signs: Signs, form: ShapeKind, name: str, more: float) -> None:
    better = replace(given_signs, **{name: max(getattr(given_signs, name), more)})
    assert 0.0 <= read_judge().probability(given_signs, form) <= read_judge().probability(better, form) <= 1.0


@given(signs, forms, st.sampled_from(["trick", "contradicts"]), unit)
def test_what_speaks_against_an_answer_never_raises_it(
    given_signs: Signs, form: ShapeKind, name: str, more: float
) -> None:
    worse = replace(given_signs, **{name: max(getattr(given_signs, name), more)})
    assert read_judge().probability(worse, form) <= read_judge().probability(given_signs, form)


@pytest.mark.req("D-11")
@pytest.mark.parametrize("file", [USUAL, *CALIBRATED.values()])
def test_the_calibration_is_whole(file: str) -> None:
    """It rots when a feature is renamed or added and nobody calibrates again."""
    kept = json.loads(files("kedge.answer.judge").joinpath("data", file).read_text("utf-8"))
    known = {*EvidenceFeatures.__dataclass_fields__, "bias"}
    assert set(kept["weights"]) == {"dense", "lexical", "dense_foreign", "lexical_foreign"}
    for variant, weights in kept["weights"].items():
        assert set(weights) <= known
        assert (("sentence_cosine" in weights) or ("passage_cosine" in weights)) == variant.startswith("dense")
        held_out = kept["figures"][variant]["held_out"]["squad2"]
        assert held_out["ece"] <= 0.05 or variant.endswith("_foreign")
    assert kept["threshold"] == THRESHOLD


@pytest.mark.req("D-11")
def test_the_calibration_of_what_is_read_is_whole() -> None:
    kept = json.loads(files("kedge.answer.judge").joinpath("data", "judge_read.json").read_text("utf-8"))
    known = {*Signs.__dataclass_fields__, "bias", *(f"form:{form}" for form in get_args(ShapeKind))}
    grouped = {f"{name}:{group}" for name in Signs.__dataclass_fields__ for group in ("fact", "number", "other")}
    assert set(kept["weights"]) <= known | grouped
    assert {"support", "trick:fact", "bias"} <= set(kept["weights"])
    assert kept["threshold"] == THRESHOLD


def test_a_named_page_is_no_answer_but_a_way_to_one() -> None:
    text = "Dune is a film of 1984."
    assert features("Who directed the film Dune?", text, title="Dune").title_coverage == 0.0
    assert features("Who is the wife of the director of the film Dune?", text, title="Dune").title_coverage > 0.0


@given(
    sets, st.sampled_from(["sentence_gap", "set_gap", "negation_unmet", "opposite", "type_missing"]), unit, embedders
)
def test_more_missing_never_raises_it(given_features: EvidenceFeatures, name: str, more: float, embedder: str) -> None:
    worse = replace(given_features, **{name: max(getattr(given_features, name), more)})
    assert judge_of(embedder).probability(worse) <= judge_of(embedder).probability(given_features)


@pytest.mark.req("D-11")
@pytest.mark.parametrize("embedder", EMBEDDERS)
@pytest.mark.parametrize(("cosine", "keyword_score"), [(None, 12.0), (0.8, None)])
def test_a_sentence_with_the_whole_question_is_enough(
    cosine: float | None, keyword_score: float | None, embedder: str
) -> None:
    text = "The Treaty of Lisbon was signed by the EU member states on 13 December 2007."
    question = "When was the Treaty of Lisbon signed?"
    found = probability(question, text, cosine=cosine, keyword_score=keyword_score, embedder=embedder)
    assert found >= THRESHOLD


@pytest.mark.req("D-11")
@pytest.mark.parametrize("embedder", EMBEDDERS)
@pytest.mark.parametrize("cosine", [None, 0.1])
def test_another_topic_is_refused(cosine: float | None, embedder: str) -> None:
    texts = ("A suffix automaton is built in linear time.", "Dijkstra's algorithm needs non-negative weights.")
    assert probability("Who won the 2022 football world cup?", *texts, cosine=cosine, embedder=embedder) < 0.3


@pytest.mark.req("D-11")
def test_no_evidence_is_refused() -> None:
    assert probability("Who won the cup?") < THRESHOLD
    assert probability("", "Some text about something.") < THRESHOLD


def test_a_missing_name_counts_against() -> None:
    text = "Napoleon crossed the Alps with forty thousand men."
    known = features("When did Napoleon cross the Alps?", text)
    other = features("When did Hannibal cross the Alps?", text)
    assert other.names_in_set < known.names_in_set
    assert other.sentence_gap > known.sentence_gap


def test_a_misspelled_name_still_matches() -> None:
    found = features("Who influenced Bismark?", "Bismarck was influenced by the merchants of Hamburg.")
    assert found.names_in_sentence == 1.0


def test_denial_and_opposites_are_seen() -> None:
    text = "The first oil crisis began in 1973."
    assert features("When was the last oil crisis?", text).opposite == 1.0
    assert features("When was the first oil crisis?", text).opposite == 0.0
    assert features("When did the oil crisis not begin?", text).negation_unmet == 1.0


def test_two_passages_can_cover_what_none_does_alone() -> None:
    found = features("Was Alpha released before Omega?", "Alpha was released in 1961.", "Omega was released in 1946.")
    assert found.set_coverage > found.sentence_coverage
    assert found.spread > 0


@given(st.text(max_size=80), st.lists(st.text(max_size=200), max_size=4))
def test_any_unicode_can_be_judged(question: str, texts: Sequence[str]) -> None:
    assert 0.0 <= probability(question, *texts) <= 1.0


@pytest.mark.req("D-13")
def test_confidence_levels() -> None:
    assert confidence(0.59) == "insufficient"
    assert confidence(0.6) == "low"
    assert confidence(0.75) == "medium"
    assert confidence(0.99) == "high"
    assert confidence(0.4, threshold=0.3) == "low"


@pytest.mark.req("D-13")
@given(unit, unit)
def test_confidence_follows_the_probability(left: float, right: float) -> None:
    order = ["insufficient", "low", "medium", "high"]
    low, high = sorted((left, right))
    assert order.index(confidence(low)) <= order.index(confidence(high))
