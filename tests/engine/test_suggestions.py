"""Other ways to ask: questions that headings suggest, offered only where they have answers."""

from __future__ import annotations

import pytest

from kedge.engine.suggestions import question_about


@pytest.mark.parametrize(
    ("heading", "title", "question"),
    [
        ("3.2 Anchor scope", "", "What is an anchor scope?"),
        ("How do I reef?", "Sails", "How do I reef?"),
        ("Spring and neap tides", "", "What are spring and neap tides?"),
        ("Making the warp fast", "Kedge anchor", "How does making the warp fast work (Kedge anchor)?"),
        ("The four usual fibres", "Rope materials", "What are the four usual fibres (Rope materials)?"),
        ("Introduction to Dynamic Programming", "", "What is Dynamic Programming?"),
        ("Overview", "Kedge", ""),
        ("…", "", ""),
        ("SECTION 906 OF THE SARBANES-OXLEY ACT OF 2002", "10-Q", ""),
        ("AS ADOPTED PURSUANT TO", "", ""),
        (
            "CONDENSED CONSOLIDATED BALANCE SHEETS (Unaudited)",
            "Apple Inc.",
            "What are the condensed consolidated balance sheets (Apple Inc.)?",
        ),
        ("Describe your changes well.", "Submitting Patches", "How do I describe my changes well?"),
        ("Make separate commits for logically separate changes.", "Submitting Patches", ""),
        ("A heading that goes on and on for far too many words to be one", "", ""),
    ],
)
def test_a_heading_becomes_a_question_or_none(heading: str, title: str, question: str) -> None:
    assert question_about(heading, title) == question
