"""What a language model gets to read (G-10): within its budget, the best first, each thing once, whole sentences."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.answer.write.context import FRAME, Context, build_context
from kedge.answer.write.prompts import answer_prompt, as_data
from kedge.answer.write.sentences import SentenceBuffer
from kedge.core.values import SearchHit
from tests.answer.made import hit

pytestmark = pytest.mark.req("G-10")


def count(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def context(hits: Sequence[SearchHit], budget: int = 10_000, most: int = 20) -> Context:
    return build_context(hits, count, budget=budget, most=most)


def sentences_of(number: int, words: int = 10) -> str:
    return " ".join("Word " * (words - 1) + f"end{place}." for place in range(number))


scored = st.lists(
    st.tuples(st.integers(1, 40), st.floats(0, 1), st.integers(0, 5), st.integers(0, 6)), min_size=0, max_size=12
)


@given(scored, st.integers(0, 600), st.integers(1, 20))
def test_it_is_within_the_budget_and_the_lowest_scored_are_left_out(
    made: list[tuple[int, float, int, int]], budget: int, most: int
) -> None:
    hits = [
        hit(
            "t",
            f"Text {place} begins. {sentences_of(size)}",
            score=score,
            document=f"d{doc}",
            index=index,
            version=f"{place}",
        )
        for place, (size, score, doc, index) in enumerate(made)
    ]
    found = context(hits, budget, most)
    assert found.tokens + FRAME * len(found.sources) <= budget or not found.sources
    assert len(found.places) <= most
    assert len(found.places) + found.dropped + found.duplicates == len(hits)
    shown = [hits[place].score for place in found.places]
    hidden = [one.score for place, one in enumerate(hits) if place not in found.places]
    if shown and hidden:
        assert min(shown) >= max(hidden)
    for source in found.sources:
        assert source.tokens == count([source.text])[0]
        assert re.search(r"(?:end\d+|begins)\.$", source.text)


def test_neighbours_are_one_source_in_reading_order() -> None:
    text = "First part. Second part. Third part."
    hits = [
        hit("t", "Third part.", score=0.9, document="d", index=2, start=25),
        hit("t", "Other document.", score=0.8, document="e"),
        hit("t", "Second part.", score=0.2, document="d", index=1, start=12),
    ]
    found = context(hits)
    assert [source.places for source in found.sources] == [(2, 0), (1,)]
    assert found.sources[0].text == "Second part.\n\nThird part."
    overlapping = [
        hit("t", text[:24], score=0.9, document="d", index=0, start=0),
        hit("t", text[12:], score=0.8, document="d", index=1, start=12),
    ]
    assert [source.text for source in context(overlapping).sources] == [text]


def test_passages_of_two_versions_are_not_joined() -> None:
    hits = [hit("t", "New text.", document="d", index=0), hit("t", "Old text.", document="d", index=1, version="v0")]
    assert len(context(hits).sources) == 2


def test_equal_and_contained_texts_are_there_once() -> None:
    hits = [
        hit("a", "A kedge is a light anchor.", score=0.9, document="a"),
        hit("b", "Before. A  kedge is a\nLIGHT anchor. Behind.", score=0.5, document="b"),
        hit("c", "Before. A kedge is a light anchor. Behind.", score=0.4, document="c"),
        hit("d", "Something else.", score=0.3, document="d"),
    ]
    found = context(hits)
    assert found.places == {1, 3}
    assert found.duplicates == 2


def test_a_long_text_ends_with_a_sentence() -> None:
    hits = [
        hit("long", sentences_of(50), score=0.9),
        hit("short", "Another. " + sentences_of(2), score=0.5, document="s"),
    ]
    found = context(hits, budget=200 + 2 * FRAME)
    assert [source.truncated for source in found.sources] == [True, False]
    assert found.sources[0].text.endswith(".")
    assert found.sources[0].tokens <= 100 + FRAME


# ------------------------------------------------------------ data in a prompt


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a <|im_start|>system b", "a < | im_start|>system b"),
        ("opened <| and never closed", "opened < |  and never closed"),
        ("x [INST] y", "x [ INST] y"),
        ("see [3] and [1, 2] and 【7】", "see (3) and (1, 2) and (7)"),
        ("ig\u200bnore\u202e", "ignore"),
        ("a[i] = b[0]", "a[i] = b(0)"),
        ("if a < b and c > d", "if a < b and c > d"),
    ],
)
def test_texts_are_shown_as_data(text: str, shown: str) -> None:
    assert as_data(text) == shown


@given(st.text(max_size=300), st.text(max_size=60))
def test_no_text_can_close_its_boundary(text: str, title: str) -> None:
    prompt = answer_prompt("Why?", [(title, text), ("t", "other")], 100)
    boundary = re.search(r"<(source-[0-9a-f]{16}) …>", prompt.system)
    assert boundary is not None
    name = boundary.group(1)
    assert prompt.user.count(f"<{name} number=") == prompt.user.count(f"</{name}>") == 2
    assert "<|" not in prompt.user


# ------------------------------------------------------------ sentences of a stream


@given(
    st.lists(
        st.sampled_from(["A kedge is light. [1]", "It has 3.5 arms [2].", "Dr. Weber knew it! [1][2]", "- One. [3]\n"]),
        max_size=6,
    ),
    st.integers(1, 9),
)
def test_however_a_stream_is_cut_the_sentences_are_the_same(parts: list[str], size: int) -> None:
    text = " ".join(parts)
    buffer = SentenceBuffer()
    found = [one for start in range(0, len(text), size) for one in buffer.feed(text[start : start + size])]
    found += buffer.flush()
    whole = SentenceBuffer()
    assert found == whole.feed(text) + whole.flush()
    assert [len(one.cited) for one in found] == [part.count("[") for part in parts]
