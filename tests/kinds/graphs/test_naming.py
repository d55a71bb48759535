"""Names of relations in many spellings, and the words of a question from the entity outwards."""

from __future__ import annotations

import pytest

from kedge.kinds.graphs.asking.asked import around
from kedge.kinds.graphs.asking.matching import stems
from kedge.kinds.graphs.asking.walking import opaque
from kedge.kinds.graphs.files.values import property_value, split_list
from kedge.kinds.graphs.naming import readable, relation_name
from kedge.stores.graph.rules import name_key


@pytest.mark.parametrize(
    ("name", "words", "inverse"),
    [
        ("people.person.place_of_birth", "place of birth", False),
        ("__people__cause_of_death", "cause of death", False),
        ("/film/film/directed_by", "directed by", False),
        ("plays_in_club_inverse", "plays in club", True),
        ("hasPart", "has part", False),
        ("SHIPS_TO", "ships to", False),
        ("parents", "parents", False),
        ("http://example.org/ns#bornIn", "born in", False),
    ],
)
def test_relations_are_read_as_words(name: str, words: str, inverse: bool) -> None:
    assert (relation_name(name).words, relation_name(name).inverse) == (words, inverse)


@pytest.mark.parametrize(
    ("question", "entity", "words"),
    [
        ("which nationality is X_1 's couple ?", "X_1", ["couple", "nationality"]),
        ("the nation of the husband of X_1 ?", "X_1", ["husband", "nation"]),
        ("where did the father of X_1 die ?", "X_1", ["father", "die"]),
        ("which country does X_1 play in ?", "X_1", ["play", "country"]),
        ("how many players play for X_1 ?", "X_1", ["play"]),
        ("X_1 ?", "X_1", []),
    ],
)
def test_words_are_ordered_from_the_entity_outwards(question: str, entity: str, words: list[str]) -> None:
    start = question.index(entity)
    assert [word.text for word in around(question, [(start, start + len(entity))]).words] == words


def test_small_parts() -> None:
    assert name_key("Ernest_Augustus I. of  Hánover") == "ernest augustus i of hanover"
    assert readable("Manchester_United_FC") == "Manchester United FC"
    assert stems("plays for country") == {"play", "countri"}
    assert (property_value("18"), property_value("18.5"), property_value("007")) == (18, 18.5, "007")
    assert (property_value("true"), property_value("7", "string"), property_value("1;2", "int[]")) == (
        True,
        "7",
        [1, 2],
    )
    assert split_list('["a", "b"]') == split_list("a; b") == ["a", "b"]
    assert [opaque(name) for name in ("m.0abc1", "_:b0", "mary", "m.a.s.h")] == [True, True, False, False]
