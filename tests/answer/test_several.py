"""Comparisons, lists and summaries without a language model: every side, every item, nothing twice."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.answer.compose.quote import ExtractedAnswer
from kedge.answer.compose.several import MOST, extract_several
from kedge.text.evidence import EvidencePassage, candidate_sentences, rank_sentences
from kedge.text.form import Form, shape_of
from kedge.text.question import parse_question

BOWLINE = EvidencePassage(
    "The bowline makes a fixed loop at the end of a rope. It is easy to untie after a load.", "Bowline"
)
BEND = EvidencePassage("The sheet bend joins two ropes of different thickness. Sailors use it on flags.", "Sheet bend")
ANCHORS = EvidencePassage(
    "There are four types of anchors in use:\n\n- the fisherman, for rock\n- the plough,\n  for sand and clay\n"
    "- the claw\n- the mushroom, for moorings\n\nAll of them rust.",
    "Types of anchors",
)


def answer(question: str, *passages: EvidencePassage) -> ExtractedAnswer | None:
    parsed = parse_question(question, lambda _: 3.0)
    ranked = rank_sentences(candidate_sentences(parsed, passages, limit=24))
    return extract_several(parsed, shape_of(question), passages, ranked)


def found(question: str, *passages: EvidencePassage) -> ExtractedAnswer:
    extracted = answer(question, *passages)
    assert extracted is not None
    return extracted


@pytest.mark.parametrize(
    ("question", "shape"),
    [
        ("What is the difference between the bowline and the sheet bend?", ("the bowline", "the sheet bend")),
        ("Compare the bowline with the sheet bend.", ("the bowline", "the sheet bend")),
        ("Is the bowline stronger than the sheet bend?", ("the bowline", "the sheet bend")),
        ("How does the bowline differ from the sheet bend?", ("the bowline", "the sheet bend")),
        ("Which knot is older, the bowline or the sheet bend?", ("the bowline", "the sheet bend")),
        ("bowline vs. sheet bend", ("bowline", "sheet bend")),
    ],
)
def test_what_is_compared(question: str, shape: tuple[str, str]) -> None:
    assert shape_of(question) == Form("comparison", shape)
    extracted = found(question, BOWLINE, BEND)
    assert {quote.passage for quote in extracted.quotes} == {0, 1}


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What types of anchors are there?", "list"),
        ("List the steps of tying a bowline.", "list"),
        ("What are the advantages of nylon?", "list"),
        ("Summarise the treaty.", "summary"),
        ("Tell me about the bowline.", "summary"),
        ("Who wrote Hamlet?", "fact"),
        ("When did the war end or begin?", "fact"),
        ("What is a kedge?", "fact"),
    ],
)
def test_shapes(question: str, kind: str) -> None:
    assert shape_of(question).kind == kind


def test_a_side_that_nothing_is_said_about_is_no_comparison() -> None:
    assert answer("What is the difference between the bowline and the granny knot?", BOWLINE, BEND) is None


def test_a_list_is_quoted_with_its_items() -> None:
    extracted = found("What types of anchors are there?", ANCHORS, BOWLINE)
    first = extracted.quotes[0]
    assert first.text.startswith("There are four types")
    assert first.text.endswith("- the mushroom, for moorings")
    assert ANCHORS.text[first.start : first.end] == first.text


def test_a_summary_takes_from_several_passages_and_repeats_nothing() -> None:
    again = EvidencePassage("At the end of a rope, the bowline makes a fixed loop.", "Knots")
    more = EvidencePassage("The bowline was known to sailors in 1627.", "Bowline history")
    bread = EvidencePassage("Bread is baked from flour.", "Bread")
    extracted = found("Tell me about the bowline.", BOWLINE, again, more, bread)
    texts = [quote.text for quote in extracted.quotes]
    assert any("fixed loop" in text for text in texts)
    assert any("1627" in text for text in texts)
    assert sum("fixed loop" in text for text in texts) == 1
    assert not any("Bread" in text for text in texts)


@given(
    st.sampled_from(["List the x.", "Tell me about x y.", "Compare x with y.", "difference between x and y"]),
    st.lists(
        st.tuples(st.text(alphabet="xy .:\n-1)ab", max_size=120), st.text(alphabet="xy ", max_size=6)), max_size=4
    ),
)
def test_quotes_are_verbatim_and_do_not_overlap(question: str, texts: list[tuple[str, str]]) -> None:
    passages = [EvidencePassage(text, title) for text, title in texts]
    extracted = answer(question, *passages)
    if extracted is None:
        return
    assert 1 <= len(extracted.quotes) <= MOST
    for quote in extracted.quotes:
        assert passages[quote.passage].text[quote.start : quote.end] == quote.text != ""


def test_a_comparison_has_no_short_answer() -> None:
    extracted = found(
        "Which film was released first, Alpha Rising or Omega Falling?",
        EvidencePassage("Alpha Rising is a Hindi film released in 1961.", "Alpha Rising"),
        EvidencePassage("Omega Falling is a film released in 1946.", "Omega Falling"),
    )
    assert extracted.short is None
