"""A judge that reads what sentences may state: what it denies is no triple, what it affirms is one."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from kedge.core.settings import load_settings
from kedge.core.values import Passage, Triple
from kedge.ingest.extract.claims import LONGEST, AskedRelation
from kedge.ingest.extract.judge import reader_judge
from kedge.ingest.extract.relations import find_relations
from tests.ingest.test_extract import passage

PLAIN = "A suffix automaton is a kind of finite automaton. The weather was fine."
STATED = ("suffix automaton", "EXAMPLE_OF", "finite automaton")
ASKED = "Is suffix automaton a kind of finite automaton?"


class SaidJudge:
    """Answers by the question, and remembers what it was asked."""

    def __init__(self, log_odds: Callable[[str], float]) -> None:
        self.log_odds = log_odds
        self.asked: list[AskedRelation] = []

    def __call__(self, asked: Sequence[AskedRelation]) -> list[float]:
        self.asked += asked
        return [self.log_odds(one.question) for one in asked]


def always(log_odds: float) -> SaidJudge:
    return SaidJudge(lambda _: log_odds)


def triples(one: Passage, judge: SaidJudge | None) -> dict[tuple[str, str, str], Triple]:
    found = find_relations(one, [], judge).triples
    return {(each.subject, each.predicate.value, each.object): each for each in found}


@pytest.mark.req("D-06", "D-21")
def test_what_the_judge_denies_is_no_triple() -> None:
    assert STATED in triples(passage(PLAIN), None)
    assert STATED in triples(passage(PLAIN), always(9.0))
    assert not triples(passage(PLAIN), always(-20.0))


@pytest.mark.req("D-06", "D-21")
def test_what_it_affirms_is_a_triple_that_the_weights_alone_would_not_take() -> None:
    text = "The lookup in a dictionary relies on hashing."
    assert not triples(passage(text), None)
    assert ("lookup", "USES", "hashing") in triples(passage(text), always(9.0))


@pytest.mark.req("D-06", "D-21")
def test_each_cue_is_one_plain_question_about_its_sentence() -> None:
    judge = always(0.0)
    triples(passage(PLAIN), judge)
    assert judge.asked == [
        AskedRelation("Suffix Automaton", "A suffix automaton is a kind of finite automaton.", ASKED)
    ]


@pytest.mark.req("D-07", "D-21")
def test_a_triple_is_as_sure_as_both_say() -> None:
    low, high = (triples(passage(PLAIN), always(said))[STATED].confidence for said in (1.0, 5.0))
    assert 0.5 <= low < high < 1


@pytest.mark.req("D-21")
def test_what_is_listed_falls_with_what_the_judge_denies() -> None:
    text = "Many problems, such as string matching, data compression and text indexing, are solved so."
    assert len(triples(passage(text), always(9.0))) > 1
    assert not triples(passage(text), always(-20.0))


@pytest.mark.req("D-21")
def test_of_a_long_sentence_the_part_around_the_phrases_is_shown() -> None:
    words = "As many of the older books on the subject say in passing, and as has been repeated since, " * 4
    judge = SaidJudge(lambda question: 9.0 if question == ASKED else -9.0)
    found = triples(passage(f"{words}a suffix automaton is a kind of finite automaton."), judge)
    shown = [one.sentence for one in judge.asked if one.question == ASKED]
    assert STATED in found
    assert len(shown) == 1
    assert "a suffix automaton is a kind of finite automaton." in shown[0]
    assert len(shown[0]) < 2 * LONGEST < len(words)


def test_the_reader_judges_where_it_is_set_and_there() -> None:
    assert reader_judge(load_settings()) is None
    assert reader_judge(load_settings(relations="reader")) is not None
    assert reader_judge(load_settings(relations="reader", reader="none")) is None


@pytest.mark.req("D-21")
def test_the_reader_tells_what_is_said_from_what_is_not() -> None:
    judge = reader_judge(load_settings(relations="reader"))
    assert judge is not None
    sentence = "A binary heap is a kind of tree, and Dijkstra's algorithm uses it."
    right = AskedRelation("Heaps", sentence, "Is binary heap a kind of tree?")
    wrong = AskedRelation("Heaps", sentence, "Is tree a kind of binary heap?")
    said = judge([right, wrong])
    assert said[0] > 0 > said[1]
    assert said == [*judge([right]), *judge([wrong])]
