"""Questions of several steps are made of questions of one."""

from __future__ import annotations

import random

from benchmarks.second.chains import Paragraph, Part, compose, names
from benchmarks.second.relations import compared, stated_in

PARTS = [
    Part("What river runs through the old centre of Warsaw?", "Vistula", ("p1",)),
    Part("Where do people go for the Jazz Jamboree in autumn?", "Warsaw", ("p2",)),
    Part("Who founded the Jazz Jamboree with his friends?", "Leopold Tyrmand", ("p3",)),
    Part("In which year did critics write of Leopold Tyrmand?", "1920", ("p4",)),
    Part("Which festival did students of the club invent?", "Jazz Jamboree", ("p5",)),
]


def test_a_name_is_replaced_by_the_question_that_asks_for_it() -> None:
    made = compose(PARTS, 2, 10)
    assert any(one.gold == ("p2", "p1") and "the Jazz Jamboree" in one.text for one in made)
    assert all(len(set(one.gold)) == 2 and one.bridges[0] not in one.text for one in made)
    assert made == compose(PARTS, 2, 10)


def test_three_steps_have_three_passages_and_name_neither_bridge() -> None:
    made = compose(PARTS, 3, 10)
    assert made
    assert all(len(set(one.gold)) == 3 and not any(bridge in one.text for bridge in one.bridges) for one in made)


def test_a_name_that_only_tells_of_which_kind_is_no_bridge() -> None:
    assert list(names("Which French painter lived in Paris with a friend from New York?")) == ["Paris", "New York"]


ARTICLES = [
    Paragraph("a1", "Night Ferry (film)", "Night Ferry is a 1931 film directed by Ada Holm and starring Bo Lind."),
    Paragraph(
        "a2", "Ada Holm", "Ada Holm (born March 3, 1899) was a director, born in Norvik and educated at Sund School."
    ),
    Paragraph("a3", "Norvik", "Norvik is a small town in Sundal. It was founded in 1650."),
    Paragraph("a4", "Day Ferry", "Day Ferry is a 1935 film directed by Kai Berg."),
    Paragraph("a5", "Kai Berg", "Kai Berg (born May 9, 1901) was a director of films."),
]


def test_what_an_article_states_is_asked_and_named() -> None:
    stated = [part for _, part in stated_in(ARTICLES, random.Random(1))]
    directed = next(one for one in stated if one.answer == "Ada Holm")
    assert directed.gold == ("a1",)
    assert "Night Ferry" in directed.text
    assert "Night Ferry" in directed.phrase
    assert {one.answer for one in stated if one.gold == ("a2",)} >= {"Norvik", "Sund School", "March 3, 1899"}


def test_what_is_stated_makes_chains_and_comparisons() -> None:
    stated = list(stated_in(ARTICLES, random.Random(1)))
    made = compose([part for _, part in stated], 3, 20)
    assert any(
        one.gold == ("a1", "a2", "a3") and "Ada Holm" not in one.text and "Norvik" not in one.text for one in made
    )
    which = compared(stated, 40, random.Random(1))
    assert any(set(one.gold) == {"a1", "a2", "a4", "a5"} and "Ada Holm" not in one.text for one in which)
