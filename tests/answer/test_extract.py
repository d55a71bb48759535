"""Extracted answers: verbatim, cited, short where the question asks for something short."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kedge.answer.compose.extract import extract_answer
from kedge.answer.compose.quote import ExtractedAnswer
from kedge.text.evidence import EvidencePassage, candidate_sentences, quotable_spans, rank_sentences
from kedge.text.question import parse_question


def answer(question: str, *passages: EvidencePassage) -> ExtractedAnswer | None:
    parsed = parse_question(question, lambda _: 3.0)
    ranked = rank_sentences(candidate_sentences(parsed, passages))
    return extract_answer(parsed, passages, ranked)


def found(question: str, *passages: EvidencePassage) -> ExtractedAnswer:
    extracted = answer(question, *passages)
    assert extracted is not None
    return extracted


AUTOMATON = EvidencePassage(
    "# Suffix Automaton\n\nA **suffix automaton** is a powerful data structure.\n\n## Complexity\n\n"
    "Building the suffix automaton takes $O(n \\log k)$ time. It is equal to:\n\n$$T(n) = n + 1$$\n\n"
    "```cpp\nint build() { return 0; }\n```\n\n| a | b |\n|---|---|\n| building | automaton |\n",
    "Suffix Automaton",
)


@pytest.mark.req("D-13")
@given(st.text(max_size=60), st.lists(st.tuples(st.text(max_size=200), st.text(max_size=20)), max_size=4))
def test_quotes_are_verbatim_slices(question: str, texts: list[tuple[str, str]]) -> None:
    passages = [EvidencePassage(text, title) for text, title in texts]
    extracted = answer(question, *passages)
    if extracted is None:
        return
    assert 1 <= len(extracted.quotes) <= 3
    for quote in extracted.quotes:
        assert passages[quote.passage].text[quote.start : quote.end] == quote.text != ""
    if extracted.short:
        first = extracted.quotes[0]
        assert first.start <= extracted.short.start < extracted.short.end <= first.end
        assert passages[first.passage].text[extracted.short.start : extracted.short.end] == extracted.short.text


def test_no_passages_no_answer() -> None:
    assert answer("Who?") is None
    assert answer("Who?", EvidencePassage("", "")) is None


@pytest.mark.req("D-13")
@pytest.mark.parametrize(
    ("question", "text", "short"),
    [
        ("When was the Lisbon treaty signed?", "The Lisbon treaty was signed on 13 December 2007.", "13 December 2007"),
        ("How many people live in Warsaw?", "In Warsaw live 1.7 million people.", "1.7 million"),
        ("Who captured Fort Oswego?", "Fort Oswego was captured by General Montcalm.", "General Montcalm"),
        ("In what country is Normandy?", "Normandy is a region in France.", "France"),
        ("¿Cuándo se firmó el tratado?", "El tratado se firmó en 1957.", "1957"),
        (
            "Who explored the Ohio valley?",
            "In 1750 Christopher Gist, sent by Virginia, explored the Ohio valley.",
            "Christopher Gist",
        ),
        ("Who led the expedition?", "Braddock (with George Washington) led the expedition in June 1755.", "Braddock"),
        (
            "Who designed the tower?",
            "The tower was designed by Spanish architect Enric Miralles in Edinburgh.",
            "Enric Miralles",
        ),
        (
            "Who did Dinwiddie send to the fort?",
            "In May Dinwiddie of Virginia did send George Washington to the fort.",
            "George Washington",
        ),
        (
            "Who did the council rent the house from?",
            "Beside Old Hall, the council used a house, rent paid, from the City of Leith.",
            "City of Leith",
        ),
        (
            "When did the empire fall?",
            "The empire was a state that did fall apart, having lasted from 1299 to 1923.",
            "1923",
        ),
        ("How long does the voyage last?", "Since 1998 the voyage does last 12 days.", "12"),
    ],
)
def test_short_answers(question: str, text: str, short: str) -> None:
    extracted = found(question, EvidencePassage(text))
    assert extracted.short is not None
    assert extracted.short.text == short


@pytest.mark.req("D-13")
@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Where was the mother of Berengaria born?", "Berengaria (27 March 1221) was a queen of Denmark."),
        ("Who was invited in October?", "They were invited in October."),
        ("How long does the voyage last?", "The voyage does last since 1998."),
    ],
)
def test_no_short_answer_where_the_sentence_has_none(question: str, text: str) -> None:
    assert found(question, EvidencePassage(text)).short is None


def test_no_short_answer_where_another_document_has_it() -> None:
    extracted = found(
        "Where did the composer of the film Pepo die?",
        EvidencePassage("Pepo is a film whose composer is Aram Khachaturian of Tbilisi.", "Pepo"),
        EvidencePassage("Aram Khachaturian did die in Moscow.", "Aram Khachaturian"),
    )
    assert len(extracted.quotes) == 2
    assert extracted.short is None


def test_nothing_follows_a_sentence_that_answers() -> None:
    """Neither what is nearly as good, nor what stands in a passage of the same title."""
    extracted = found(
        "What were the fighting horsemen that Normandy exported?",
        EvidencePassage("Normandy exported fighting horsemen for a generation, and they were knights.", "Normans"),
        EvidencePassage("The Normans exported a dynasty with fighting and horsemen.", "Normans"),
        EvidencePassage("What Normandy exported were fighting men, says a book about horsemen of the plain.", "Other"),
    )
    assert len(extracted.quotes) == 1


def test_a_label_is_no_answer() -> None:
    extracted = found(
        "What is GraphRAG?", EvidencePassage("GraphRAG\n\nIt builds a graph of GraphRAG entities.", "GraphRAG")
    )
    assert "builds a graph" in extracted.text


def test_why_prefers_a_reason() -> None:
    extracted = found(
        "Why did Warsaw become the capital?",
        EvidencePassage("Warsaw did become the capital in 1596 and stayed it.", "Warsaw"),
        EvidencePassage("Due to its location, Warsaw did become the capital.", "Warsaw"),
    )
    assert extracted.quotes[0].text.startswith("Due to")


def test_complexity_is_quoted_whole() -> None:
    extracted = found("What is the time complexity of building a suffix automaton?", AUTOMATON)
    assert extracted.short is not None
    assert extracted.short.text == "$O(n \\log k)$"


def test_formulas_stay_with_their_sentence_and_code_stays_out() -> None:
    quotable = [AUTOMATON.text[start:end] for start, end in quotable_spans(AUTOMATON.text)]
    assert any(part.startswith("It is equal to:") and part.endswith("$$T(n) = n + 1$$") for part in quotable)
    assert not any("```" in part or part.startswith(("#", "|")) for part in quotable)
    assert any("```" in AUTOMATON.text[start:end] for start, end in quotable_spans(AUTOMATON.text, code=True))


def test_front_matter_is_never_quoted() -> None:
    text = "---\ntags:\n  - Translated\nlink: dijkstra\n---\n# Dijkstra\n\nDijkstra finds shortest paths."
    assert [text[start:end] for start, end in quotable_spans(text)] == ["Dijkstra finds shortest paths."]


def test_comparisons_quote_both_sides() -> None:
    extracted = found(
        "Which film was released first, Alpha Rising or Omega Falling?",
        EvidencePassage("Alpha Rising is a film released in 1961.", "Alpha Rising"),
        EvidencePassage("Omega Falling is a film released in 1946.", "Omega Falling"),
        EvidencePassage("Gamma is a fruit.", "Gamma"),
    )
    assert {quote.passage for quote in extracted.quotes} == {0, 1}


def test_bridges_follow_the_title_that_is_mentioned() -> None:
    extracted = found(
        "Where was the performer of the song Changed It born?",
        EvidencePassage("Changed It is a song by the performer Nicki Minaj.", "Changed It"),
        EvidencePassage("Nicki Minaj was born in Saint James.", "Nicki Minaj"),
        EvidencePassage("Bread is baked daily.", "Bread"),
    )
    assert {quote.passage for quote in extracted.quotes} == {0, 1}


def test_nothing_is_said_twice() -> None:
    extracted = found(
        "Who founded Rome?",
        EvidencePassage("Romulus founded Rome in 753 BC."),
        EvidencePassage("Romulus founded Rome in 753 BC."),
    )
    assert len(extracted.quotes) == 1


def test_chinese_is_quoted_by_sentence() -> None:
    extracted = found("黑豹队的防守丢了多少分？", EvidencePassage("天气很好。黑豹队的防守只丢了 308分，排名第六。"))
    assert "308" in extracted.quotes[0].text
    assert extracted.short is not None
    assert extracted.short.text == "308"


def test_a_sentence_that_points_back_brings_what_it_points_to() -> None:
    text = "Nylon stretches and absorbs shock. This is why an anchor rode is made of nylon.\n\nIt is white."
    answer = found("Why is an anchor rode made of nylon?", EvidencePassage(text)).text
    assert answer.startswith("Nylon stretches and absorbs shock. This is why")


def test_a_question_is_no_answer() -> None:
    text = "What is a kedge anchor used for? The kedge pulls a ship off a sandbank."
    assert "?" not in found("What is a kedge anchor used for?", EvidencePassage(text)).text
