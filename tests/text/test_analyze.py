"""The analyser and the sparse BM25 weights."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.text.analyze import SparseTerms, fold, term_id, terms, words


@pytest.mark.req("D-08")
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Normans", ["norman"]),
        ("C++ and C# differ", ["c++", "c#", "differ"]),
        ("runs in O(n log n)", ["run", "o(nlogn)"]),
        ("3.14 and 10,000", ["3.14", "10000"]),
        ("U.S. law", ["us", "law"]),
        ("Super_Bowl_50", ["super", "bowl", "50"]),
        ("北京大学", ["北京", "京大", "大学"]),
        ("漢", ["漢"]),
        ("ประเทศไทย", ["ประเ", "ระเท", "ะเทศ", "เทศไ", "ทศไท", "ศไทย"]),
        ("ไทย 2015", ["ไทย", "2015"]),
        ("مَدِينَة", terms("مدينة")),
        ("", []),
    ],
)
def test_terms(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_accents_and_case_do_not_matter() -> None:
    assert terms("CAFÉ Zürich") == terms("cafe zurich")


def test_vowel_signs_belong_to_their_word() -> None:
    assert words("प्रथम विश्व युद्ध") == ["प्रथम", "विश्व", "युद्ध"]
    assert set(terms("हिन्दी में किताबें कहाँ हैं")) & set(terms("यह किताब हिन्दी में है"))


@pytest.mark.parametrize("asked", ["1963-04-08", "8.4.1963"])
def test_a_date_in_figures_asks_for_the_words_too(asked: str) -> None:
    weights = SparseTerms().query_weights(f"born {asked}")
    assert {term_id(term) for term in terms("8 April 1963")} <= weights.keys()
    assert SparseTerms().query_weights("2007-13-29").keys() == {term_id(term) for term in ("2007", "13", "29")}


def test_spanish_is_stemmed_as_spanish() -> None:
    assert set(terms("¿Cuántos puntos dejaron los jugadores?")) & set(terms("el jugador que dejó un punto en la liga"))


@given(st.text(max_size=200))
def test_fold_is_stable_and_words_are_never_empty(text: str) -> None:
    assert fold(fold(text)) == fold(text) or not text.isascii()
    assert all(words(text))


@given(st.text(max_size=200))
def test_weights_are_positive_and_bounded(text: str) -> None:
    sparse = SparseTerms()
    weights = sparse.term_weights(text)
    assert set(weights) == {term_id(term) for term in terms(text)}
    assert all(weight > 0 for weight in weights.values())
    assert set(sparse.query_weights(text)) == set(weights)


def test_repetition_saturates_and_length_discounts() -> None:
    sparse = SparseTerms()
    once, often = (sparse.term_weights(text)[term_id("kedg")] for text in ("kedge", "kedge " * 50))
    assert once < often < sparse.k1 + 1
    assert sparse.term_weights("kedge " + "anchor " * 300)[term_id("kedg")] < once


def test_term_ids_are_stable() -> None:
    assert term_id("anchor") == 1733366141
