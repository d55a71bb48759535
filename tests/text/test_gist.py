"""What is to be summed up, where a whole document is meant."""

from __future__ import annotations

import pytest

from kedge.text.gist import gist_of


@pytest.mark.parametrize(
    ("question", "thing"),
    [
        ("What is the main idea of TreeSearch?", "TreeSearch"),
        ("Summarise the report on harbour fees in three sentences.", "harbour fees"),
        ("Give me an overview of the tide tables guide", "tide tables"),
        ("what is the mooring paper about?", "mooring"),
        ("What does the mooring study conclude?", "mooring"),
        ("Summarise how the crew ties up.", ""),
        ("What is the idea of a spare anchor?", ""),
        ("Who wrote the mooring paper?", ""),
    ],
)
def test_the_name_of_the_document(question: str, thing: str) -> None:
    assert gist_of(question) == thing
