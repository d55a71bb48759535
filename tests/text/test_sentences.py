"""Sentence spans."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.text.sentences import sentences


@pytest.mark.req("D-13")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. J. R. Smith paid 3.5 dollars. He left.", ["Dr. J. R. Smith paid 3.5 dollars.", "He left."]),
        ('He said "Stop." Then he left.', ['He said "Stop."', "Then he left."]),
        ("e.g. This is one.", ["e.g. This is one."]),
        ("- first\n- second", ["- first", "- second"]),
        ("A title\n\nA text", ["A title", "A text"]),
        ("第一句。第二句！", ["第一句。", "第二句！"]),
        ("Let $a. B$ be. Then", ["Let $a. B$ be.", "Then"]),
        ("```\nx. Y\n\nz\n``` Done.", ["```\nx. Y\n\nz\n``` Done."]),
        ("  ", []),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in sentences(text)] == expected


@pytest.mark.req("D-13")
@given(st.text(alphabet=st.sampled_from("ab A.!?\n\t$`-。1\"')"), max_size=80) | st.text(max_size=80))
def test_spans_are_ordered_and_cover_all_but_space(text: str) -> None:
    spans = sentences(text)
    assert all(start < end for start, end in spans)
    assert all(left[1] <= right[0] for left, right in pairwise(spans))
    outside = list(text)
    for start, end in spans:
        assert text[start:end] == text[start:end].strip()
        outside[start:end] = [" "] * (end - start)
    assert not "".join(outside).strip()
