"""Questions of several steps are made of questions of one."""

from __future__ import annotations

from benchmarks.second.chains import Part, compose, names

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
