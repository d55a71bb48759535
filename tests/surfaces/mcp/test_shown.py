"""What agents read fits, in whichever letters."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from kedge.core.values import Answer, Citation, Passage
from kedge.surfaces.mcp.shown import MOST_BYTES, joined, short_answer
from tests.support.passages import passage


def cited(number: int, title: str) -> Citation:
    return Citation(f"[{number}]", "p" * 36, "d" * 36, title, "a.md", "words", 0, 5, 0.9, page=number)


@pytest.mark.parametrize("word", ["anchor ", "錨地", "\U0001f6a2 "])
def test_a_long_answer_is_cut_to_its_size_and_says_so(word: str) -> None:
    sources = tuple(cited(number, word * 50) for number in range(1, 12))
    told = short_answer(Answer("q", word * 2000, sources, "high", 0.9))
    assert len(json.dumps(told, ensure_ascii=False, indent=2).encode()) <= MOST_BYTES
    assert told["answer"].endswith("…")
    assert told["sources"][0]["id"] == "[1]"
    assert "evidence=true" in told["shortened"]


def test_a_short_answer_is_whole() -> None:
    told = short_answer(Answer("q", "A kedge is an anchor. [1]", (cited(1, "Kedges"),), "high", 0.9))
    assert told == {
        "answer": "A kedge is an anchor. [1]",
        "confidence": "high",
        "sources": [{"id": "[1]", "title": "Kedges", "passage_id": "p" * 36, "page": 1}],
    }


def test_what_two_passages_share_is_read_once() -> None:
    text = "One. Two. Three.\n\nFour."

    def part(start: int, end: int) -> Passage:
        return replace(passage("a"), text=text[start:end], start=start, end=end)

    assert joined([part(0, 9), part(5, 16), part(18, 23)]) == text
