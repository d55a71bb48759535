"""Questions of several parts: what each part is, and what is one question."""

from __future__ import annotations

import pytest

from kedge.text.parts import parts_of


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("What is the difference between a mule and a hinny?", ["What is a mule?", "What is a hinny?"]),
        ("explain the diffrence between a mule and a hinny", ["What is a mule?", "What is a hinny?"]),
        ("kedge vs grapnel", ["What is kedge?", "What is grapnel?"]),
        ("additive vs subtractive filters", ["What are additive filters?", "What are subtractive filters?"]),
        (
            "Lisbon and Porto: how many trams does each have?",
            ["how many trams does Lisbon have?", "how many trams does Porto have?"],
        ),
        (
            "When did Nansen and Amundsen set out?",
            ["When did Nansen set out?", "When did Amundsen set out?"],
        ),
        (
            "How much does the ferry cost, and can I bring a dog on board?",
            ["How much does the ferry cost?", "can I bring a dog on board?"],
        ),
    ],
)
def test_each_part_can_be_asked_by_itself(question: str, parts: list[str]) -> None:
    assert [part.text for part in parts_of(question)] == parts


@pytest.mark.parametrize(
    "question",
    [
        "What did research and development cost in 2022?",
        "How do I cut and glue the sails?",
        "Which is faster, the ferry or the train?",
        "Compare the rent in 2021 and 2022.",
        "Who wrote Hamlet?",
        "Tell me about salt and pepper.",
    ],
)
def test_one_question_has_no_parts(question: str) -> None:
    assert parts_of(question) == ()
