"""Fusion and the light reranker."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.retrieve.fuse import add_bonus, blend, fuse_by_rank, rrf
from kedge.retrieve.rerank import Smoothing, adaptive, smooth

rankings = st.lists(st.lists(st.sampled_from("abcdefgh"), unique=True), min_size=1, max_size=4)


@pytest.mark.req("D-11")
def test_rrf_is_the_sum_of_reciprocal_ranks() -> None:
    assert rrf([["a", "b"], ["b"]]) == [("b", 1 / 62 + 1 / 61), ("a", 1 / 61)]


@pytest.mark.req("D-11")
@given(rankings, st.sampled_from("abcdefgh"))
def test_rrf_never_punishes_one_more_vote(channels: list[list[str]], passage: str) -> None:
    before = dict(rrf(channels)).get(passage, 0.0)
    assert dict(rrf([*channels, [passage]]))[passage] > before


@pytest.mark.req("D-11")
@given(rankings)
def test_rrf_keeps_the_order_that_all_channels_agree_on(channels: list[list[str]]) -> None:
    first = channels[0]
    assert [passage for passage, _ in rrf([first, first])] == first


@pytest.mark.req("D-12")
def test_fused_passages_know_their_ranks() -> None:
    fused = {hit.passage_id: hit for hit in fuse_by_rank(["a", "b"], ["b"], ["b", "c"])}
    assert (fused["b"].vector_rank, fused["b"].keyword_rank, fused["b"].graph_rank) == (2, 1, 1)
    assert fused["b"].in_both
    assert not fused["a"].in_both


def test_blend_adds_shares_and_gives_missing_ones_the_floor() -> None:
    base = blend({"a": 0.8, "b": 0.4}, {"b": 10.0, "c": 5.0})
    assert base == pytest.approx({"a": 1.5, "b": 1.5, "c": 1.0})
    assert blend({}, {"c": 2.0}) == {"c": 1.0}
    assert blend({}, {}) == {}


def test_a_channel_that_ran_out_of_hits_gives_the_others_nothing() -> None:
    near = {f"p{number}": 0.5 - number / 1000 for number in range(5)}
    base = blend(near, {"code": 9.0}, asked=5)
    assert max(base, key=lambda passage: base[passage]) == "code"
    assert base["p0"] == pytest.approx(1.0)
    assert blend(near, {"code": 9.0})["p0"] == pytest.approx(2.0)


def test_a_bonus_lifts_and_adds() -> None:
    assert add_bonus({"a": 1.0, "b": 0.9}, {"b": 0.2, "c": 0.3}) == [("b", pytest.approx(1.1)), ("a", 1.0), ("c", 0.3)]


@given(st.lists(st.floats(0, 2, width=32), min_size=0, max_size=12), st.integers(0, 5))
def test_smoothing_only_raises_and_by_a_bounded_share(values: list[float], seed: int) -> None:
    scores = np.array(values, dtype=np.float32)
    vectors = np.random.default_rng(seed).normal(size=(len(values), 8)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True) if len(values) else 1
    new = smooth(scores, vectors, Smoothing())
    assert (new >= scores - 1e-6).all()
    assert (new <= scores + 0.3 * 2 + 1e-5).all()


def test_smoothing_steps_back_where_the_graph_is_sure() -> None:
    assert adaptive(0.0).weight == Smoothing().weight
    assert adaptive(5.0).weight == 0.0
