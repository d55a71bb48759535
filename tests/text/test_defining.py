"""What is asked to be defined, and which sentences define it."""

from __future__ import annotations

import pytest

from kedge.text.defining import asked_thing, defines, is_called
from kedge.text.statements.cut import statements


@pytest.mark.parametrize(
    ("question", "thing"),
    [
        ("What is a nursery?", "nursery"),
        ("what's a cancel scope", "cancel scope"),
        ("What are slotted classes?", "slotted classes"),
        ("Define treap", "treap"),
        ("What does RFC stand for?", "RFC"),
        ("hi, can you tell me what a bowline is?", None),
        ("What is the default timeout?", None),
        ("What is our refund policy?", None),
        ("What is Apple's revenue?", None),
        ("What is the difference between a list and a tuple?", None),
        ("What is new in version 3?", None),
        ("Who is the captain?", None),
        ("How does a treap work?", None),
    ],
)
def test_a_question_names_the_thing_it_wants_defined(question: str, thing: str | None) -> None:
    assert asked_thing(question) == thing


@pytest.mark.parametrize(
    ("better", "worse", "thing"),
    [
        ("A treap is a tree that is a heap as well.", "A treap is also called a cartesian tree.", "treap"),
        ("A bridge is an edge whose removal parts the graph.", "Bridges are found in linear time.", "bridge"),
        ("For a string s, a suffix array is an array of places.", "A suffix array is slow to build.", "suffix array"),
        ("The Fenwick tree (also BIT) is a data structure.", "We use a Fenwick tree below.", "Fenwick tree"),
        ("We propose ALCE, the first test of citations.", "ALCE was tried on three sets.", "ALCE"),
        ("Such a place is called a checkpoint.", "Every checkpoint may switch tasks.", "checkpoint"),
        ("slotted classes: A class without a dictionary.", "Slotted classes, which are new, are odd.", "slotted class"),
    ],
)
def test_a_sentence_that_says_what_it_is_comes_before_one_that_speaks_of_it(
    better: str, worse: str, thing: str
) -> None:
    assert defines(better, thing) > defines(worse, thing)
    assert defines(better, thing) >= 0.5


def test_a_heading_names_the_thing() -> None:
    assert is_called(["Fenwick Tree"], "Fenwick tree")
    assert not is_called(["Segment Tree"], "Fenwick tree")


@pytest.mark.parametrize(
    "text",
    [
        "rode\n  The line between anchor and boat.\n\nkedge\n  A light anchor.\n",
        "rode\n: The line between anchor and boat.\n",
    ],
)
def test_a_definition_is_read_with_its_term(text: str) -> None:
    first = statements(f"Terms of the sea, in no order.\n\n{text}")[1]
    assert first.read == "rode: The line between anchor and boat."
    assert first.lead == "rode: "


def test_a_short_line_above_code_or_running_text_is_no_term() -> None:
    for text in ("Example\n    x = 1\n", "A short line\nand the next one goes on here.\n"):
        assert not [one for one in statements(text) if one.lead and one.kind == "item"]
