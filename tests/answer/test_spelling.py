"""Slips of the pen: what is corrected, what is left as it is, and that an answer says how it was understood."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge import Kedge
from kedge.answer.spelling import corrected, slips_between

TEXTS = [
    "Operating income rose. The difference between accuracy and precision.",
    "Carmichael numbers, cycles, a cycle.",
]
WORDS = frozenset("operating income the difference between accuracy and precision carmichael numbers cycles".split())


def fixed(question: str) -> str:
    return corrected(question, lambda word: word not in WORDS, TEXTS)


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("opertaing income", "operating income"),
        ("explain the diffrence", "explain the difference"),
        ("How many Carmichel numbers?", "How many Carmichael numbers?"),
        ("a negative cicle", "a negative cycle"),
        ("accuracy and prescision", "accuracy and precision"),
    ],
)
def test_a_slip_is_read_as_the_word_of_the_evidence(question: str, meant: str) -> None:
    assert fixed(question) == meant


@pytest.mark.parametrize(
    "question",
    [
        "What is `opertaing`?",
        "Who said “opertaing income”?",
        "Read opertaing.txt",
        "OPERTAING INCOME",
        "Bicycle lanes",
        "cycla",
        "Who is Herr Operator?",
    ],
    ids=("code", "quotes", "a file", "capitals", "another word", "another word, near", "too far"),
)
def test_what_is_meant_as_it_is_written_stays(question: str) -> None:
    known = WORDS | {"bicycle", "lanes", "cycla"}
    assert corrected(question, lambda word: word not in known, TEXTS) == question


@given(st.text("abc", max_size=6), st.text("abc", max_size=6))
def test_slips_are_a_distance(one: str, other: str) -> None:
    assert slips_between(one, other) == slips_between(other, one)
    assert (slips_between(one, other) == 0) == (one == other)
    assert abs(len(one) - len(other)) <= slips_between(one, other) <= max(len(one), len(other))


@pytest.mark.req("D-13")
def test_the_answer_says_how_the_question_was_understood(tmp_path: Path) -> None:
    (tmp_path / "puzzle.md").write_text("# Primes\n\nThere are 646 Carmichael numbers below one billion.\n", "utf-8")
    with Kedge(tmp_path / "home") as kedge:
        kedge.ingest(tmp_path / "puzzle.md")
        answer = kedge.ask("How many Carmichel numbers are below one billion?")
        plain = kedge.ask("How many Carmichael numbers are below one billion?")
    assert answer.short_answer == "646"
    assert answer.metadata["resolved_question"] == "How many Carmichael numbers are below one billion?"
    assert "resolved_question" not in plain.metadata
