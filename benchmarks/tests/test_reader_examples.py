"""Examples that the reader is trained on (`benchmarks.reader`), as far as they need no torch."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.reader.cloze import cloze
from benchmarks.reader.example import Example, Text
from benchmarks.reader.examples import made
from benchmarks.reader.keep import kept, paraphrased
from benchmarks.reader.language import names, sentences
from benchmarks.reader.lexicon import Entry, Lexicon, read_lexicon
from benchmarks.reader.spoil import CHANGES, Change, other_word, spoilt, spoilt_passage
from benchmarks.reader.statements import ask

LEXICON = Lexicon(
    words={
        "build": Entry(("construct",), ("destroy",), ("assemble",)),
        "tower": Entry(("spire",), (), ("castle", "bridge")),
        "invite": Entry(("ask",)),
        "study": Entry(("examine",)),
        "plan": Entry(("design",)),
        "large": Entry(("big",), ("small",)),
    },
    irregular={"built": "build", "winning": "win", "won": "win"},
    verbs=frozenset({"build", "construct", "destroy", "design", "move", "win", "plan", "invite", "study"}),
    nouns=frozenset({"tower", "castle", "bridge"}),
)
OTHER = "In Bergen, Greta Holm moved the old harbour in 1871. The mayor welcomed Karl Brandt with three ships."
TOWER = (
    "Many visitors come every year. Ada Stone designed the large tower for Oslo in 1905 near the old harbour. "
    "It was painted in white colour by Peter Lund in 1911. The builders needed 40 wagons for the stones."
)


def example(question: str, text: str, answer: str) -> Example:
    start = text.index(answer)
    return Example(question, "The tower", text, True, (start, start + len(answer)), "tower")


ASKED = example("Who designed the large tower for Oslo in 1905?", TOWER, "Ada Stone")


def asked_of(statement: str, title: str = "Anna Berg") -> dict[str, str]:
    """Questions that some seeds make of a statement, with what answers them."""
    made_ = (ask(Random(seed), LEXICON, title, statement) for seed in range(200))
    return {one.question: one.answer for one in made_ if one}


@pytest.mark.parametrize(
    ("statement", "question", "answer"),
    [
        ("Ada Stone designed the large tower in 1905.", "Who designed the large tower in 1905?", "Ada Stone"),
        ("Ada Stone designed the large tower in 1905.", "When did Ada Stone design the large tower?", "1905"),
        ("Ada Stone designed the large tower in 1905.", "What did Ada Stone design in 1905?", "the large tower"),
        ("In 1905, Ada Stone designed the large tower.", "In what year did Ada Stone design the large tower?", "1905"),
        ("The council moved to Trondheim after the war.", "Where did the council move after the war?", "Trondheim"),
        ("The bridge was opened by Karl Brandt at noon.", "By whom was the bridge opened at noon?", "Karl Brandt"),
        ("The bridge was opened by Karl Brandt at noon.", "Who was the bridge opened at noon by?", "Karl Brandt"),
        ("Ada Stone built 12 towers along the coast.", "How many towers did Ada Stone build along the coast?", "12"),
        ("She designed the tower for the city in 1905.", "When did Anna Berg design the tower for the city?", "1905"),
        ("Her father moved the bridge in 1905.", "When did Anna Berg's father move the bridge?", "1905"),
    ],
)
def test_a_statement_becomes_the_question_a_person_would_ask(statement: str, question: str, answer: str) -> None:
    assert asked_of(statement).get(question) == answer


@pytest.mark.parametrize(
    "text", ["", "Too short.", "What a pity that nobody ever came here again!", "(a) (b) (c) " * 5]
)
def test_where_no_rule_fits_nothing_is_asked(text: str) -> None:
    assert not asked_of(text)


def test_a_running_form_is_no_past() -> None:
    """A verb's irregular forms hold "winning" beside "won"; only one of them makes a statement."""
    assert LEXICON.lemma("winning") == ("win", "ing")
    assert LEXICON.inflect("win", "ed") == "won"
    assert not asked_of("Ada Stone winning the large tower of Oslo")


def test_a_cloze_asks_for_what_it_leaves_out() -> None:
    text = "The whole crew of the ship, led by Ada Stone, reached the harbour of Bergen in 1871."
    made_ = [one for seed in range(300) if (one := cloze(Random(seed), "Ship", text))]
    by_answer = {one.answer for one in made_}
    assert {"Ada Stone", "Bergen", "1871"} <= by_answer
    for one in made_:
        assert one.question.endswith("?")
        assert one.answer not in one.question
        assert "what year" in one.question.lower() or one.answer != "1871"
        assert " le crew" not in one.question  # the "who" of "whole" is not the asked word


def test_forms_go_both_ways() -> None:
    assert LEXICON.lemma("towers") == ("tower", "s")
    assert LEXICON.lemma("built") == ("build", "ed")
    assert LEXICON.lemma("planned") == ("plan", "ed")
    assert LEXICON.lemma("studies") == ("study", "s")
    assert LEXICON.lemma("inviting") == ("invite", "ing")
    assert LEXICON.lemma("zebra") is None
    assert LEXICON.variants("built", "opposites") == ["destroyed"]
    assert LEXICON.variants("towers", "siblings") == ["castles", "bridges"]
    assert LEXICON.inflect("study", "ed") == "studied"


@pytest.mark.parametrize("change", list(CHANGES))
def test_every_change_of_a_question_changes_it(change: Change) -> None:
    before = ASKED.asked("In 1905, who was asked to design the large tower for Oslo?")
    found = {change(Random(seed), before, OTHER) for seed in range(60)} - {None}
    assert found
    assert before.question not in found


def test_a_spoilt_example_differs_and_loses_its_label_and_answer() -> None:
    found = [one for seed in range(300) if (one := spoilt(Random(seed), LEXICON, ASKED, OTHER))]
    assert len(found) > 200
    for one in found:
        assert (one.question, one.text) != (ASKED.question, ASKED.text)
        assert not one.answerable
        assert one.span is None
    assert any(one.text != ASKED.text for one in found)
    assert len({one.question for one in found}) > 20


def test_an_opposite_or_a_sibling_takes_a_words_place() -> None:
    found = {other_word(Random(seed), LEXICON, ASKED) for seed in range(60)}
    assert "Who designed the small tower for Oslo in 1905?" in found
    assert "Who designed the large castle for Oslo in 1905?" in found


def test_a_spoilt_passage_changes_only_the_answers_sentence() -> None:
    found = {text for seed in range(200) if (text := spoilt_passage(Random(seed), ASKED, OTHER))}
    assert found
    for text in found:
        assert text.startswith("Many visitors come every year.")
        assert text.endswith("The builders needed 40 wagons for the stones.")
        assert "Ada Stone designed the large tower for Oslo in 1905" not in text
    assert any("Ada Stone" not in text for text in found)


def test_a_paraphrase_keeps_label_and_place() -> None:
    found = [paraphrased(Random(seed), LEXICON, ASKED, 0.9) for seed in range(20)]
    assert "Who designed the big spire for Oslo in 1905?" in {one.question for one in found}
    assert all((one.text, one.span, one.answerable) == (ASKED.text, ASKED.span, True) for one in found)


SENTENCES = st.lists(
    st.lists(
        st.sampled_from("Ada Stone Bergen Oslo tower the in of built harbour 1905 1911 12 large, was".split()),
        min_size=1,
        max_size=14,
    ).map(lambda words: " ".join(words).capitalize() + "."),
    min_size=1,
    max_size=6,
)


@given(SENTENCES, st.sampled_from(["", " ", "\n "]), st.data())
def test_a_kept_examples_span_still_holds_the_answer(parts: list[str], space: str, data: st.DataObject) -> None:
    text = space + " ".join(parts) + space
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    question = data.draw(
        st.sampled_from(["Who built the Tower of Oslo?", "When was Ada Stone in Bergen in 1905?", "Oslo"])
    )
    before = Example(question, "Tower", text, True, (start, end))
    after = kept(Random(data.draw(st.integers(0, 99))), before, OTHER)
    assert after.answer == before.answer
    assert after.answerable


@given(SENTENCES, st.sampled_from(["", " ", "\n "]), st.integers(0, 10_000))
def test_made_questions_point_at_words_they_do_not_change(parts: list[str], space: str, seed: int) -> None:
    text = space + " ".join(parts)
    for one in (ask(Random(seed), LEXICON, "Tower", text), cloze(Random(seed), "Tower", text)):
        if one is not None:
            assert one.text == text
            assert one.answer
            assert one.answer == one.answer.strip()
            assert any(start <= one.span[0] and one.span[1] <= end for start, end in sentences(text) if one.span)


def test_the_same_seed_makes_the_same_examples() -> None:
    texts = [Text("The tower", TOWER), Text("Bergen", OTHER)]
    first, again, other = (made(Random(seed), LEXICON, texts, 200) for seed in (7, 7, 8))
    assert first == again
    assert first != other
    assert len(first) == 200
    assert 60 < sum(one.answerable for one in first) < 140


def test_texts_without_statements_end_with_a_message() -> None:
    with pytest.raises(ValueError, match="No question could be made of 1 texts"):
        made(Random(1), LEXICON, [Text("Empty", "nothing here")], 3)


def test_names_leave_out_openers_and_lone_first_words() -> None:
    text = "In Oslo, the Bank of Norway met Ada Stone."
    assert [text[start:end] for start, end in names(text)] == ["Oslo", "Bank of Norway", "Ada Stone"]
    assert names("Towers fall.", skip_first=True) == []


SENSES = ("large%3", "big%3", "small%5", "animal%1", "horse%1", "goose%1", "win%2")


def _wordnet(folder: Path) -> Path:
    """WordNet's form in small: two sizes that oppose each other, and two animals under one head."""
    licence = "  1 This software and database is being provided to you\n"
    files = {
        "data.adj": "00000001 00 a 02 large 0 big 0 001 ! 00000002 a 0101 | above average\n"
        "00000002 00 s 01 small(p) 0 001 ! 00000001 a 0101 | below average\n",
        "index.adj": "big a 1 0 1 1 00000001  \nlarge a 1 1 ! 1 1 00000001  \nsmall a 1 1 ! 1 1 00000002  \n",
        "data.noun": "00000010 03 n 01 animal 0 002 ~ 00000011 n 0000 ~ 00000012 n 0000 | a being\n"
        "00000011 03 n 01 horse 0 001 @ 00000010 n 0000 | it runs\n"
        "00000012 03 n 01 goose 0 001 @ 00000010 n 0000 | it flies\n",
        "index.noun": "animal n 1 1 ~ 1 1 00000010  \ngoose n 1 1 @ 1 1 00000012  \nhorse n 1 1 @ 1 1 00000011  \n",
        "data.verb": "00000020 29 v 01 win 0 000 01 + 08 00 | be first\n",
        "index.verb": "win v 1 0 1 1 00000020  \n",
        "data.adv": "",
        "index.adv": "",
        "verb.exc": "winning win\nwon win\nzzz zebra\n",
        "cntlist.rev": "".join(f"{sense}:00:00:: 1 3\n" for sense in SENSES),
    }
    for name, text in files.items():
        (folder / name).write_text((licence if name.startswith(("data", "index")) else "") + text, "latin-1")
    return folder


def test_the_lexicon_is_read_from_wordnets_files(tmp_path: Path) -> None:
    lexicon = read_lexicon(_wordnet(tmp_path))
    assert lexicon.words == {
        "big": Entry(("large",)),
        "large": Entry(("big",), ("small",)),
        "small": Entry((), ("large",)),
        "goose": Entry((), (), ("horse",)),
        "horse": Entry((), (), ("goose",)),
    }
    assert lexicon.irregular == {"winning": "win", "won": "win"}
    assert lexicon.verbs == frozenset({"win"})
    assert lexicon.nouns == frozenset({"animal", "goose", "horse"})


def test_a_folder_that_is_not_wordnet_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"lacks WordNet's data\.noun"):
        read_lexicon(tmp_path)
