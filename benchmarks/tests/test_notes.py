"""The notes and their questions: well-formed, answerable from what is written, and judged by the rule."""

from __future__ import annotations

import re
from typing import Any

import pytest

from benchmarks.notes.scoring import FILES, FLAGS, is_right, questions, report, verdict

ANSWERABLE = [one for one in questions() if not one["unanswerable"]]
UNANSWERABLE = [one for one in questions() if one["unanswerable"]]


def test_the_set_has_its_size_and_every_question_its_own_name() -> None:
    assert (len(ANSWERABLE), len(UNANSWERABLE)) == (60, 12)
    assert len({one["id"] for one in questions()}) == len({one["question"] for one in questions()}) == 72
    assert {one["type"] for one in UNANSWERABLE} == {"unanswerable"}
    assert "unanswerable" not in {one["type"] for one in ANSWERABLE}


def test_there_are_twenty_short_notes_and_every_one_is_asked_about() -> None:
    notes = {path.name: len(path.read_text("utf-8").split()) for path in FILES.iterdir()}
    assert len(notes) == 20
    assert all(40 <= words <= 250 for words in notes.values())
    assert {one["document"] for one in questions()} == set(notes)


@pytest.mark.parametrize("question", ANSWERABLE, ids=lambda one: one["id"])
def test_what_a_right_answer_must_match_stands_in_the_document(question: dict[str, Any]) -> None:
    text = (FILES / question["document"]).read_text("utf-8")
    assert is_right(question, text)
    for gold in question["gold"]:
        # "Yes" and "no" at the beginning are said by the answer, not by the note.
        assert gold.startswith(r"^\W*") or re.search(gold, re.sub("[*`]+", "", text), FLAGS)


def test_a_question_without_an_answer_has_nothing_to_match() -> None:
    assert not any(one["gold"] or one.get("must") for one in UNANSWERABLE)


def test_an_answer_is_judged_by_any_of_gold_and_all_of_must() -> None:
    question = {"gold": ["^red", "blue"], "must": ["green"], "type": "list", "unanswerable": False}
    said = {"refused": False, "short_answer": None, "answer": "The colours:\n**Red** and `green`."}
    assert verdict(question, said) == "right"
    assert verdict({**question, "must": ["green", "yellow"]}, said) == "wrong"
    assert verdict(question, said, short=True) == "wrong"
    assert verdict(question, {**said, "refused": True}) == "refused"
    assert verdict({**question, "unanswerable": True}, said) == "wrong"
    assert verdict({**question, "unanswerable": True}, {**said, "refused": True}) == "right"


def test_the_report_counts_by_type_and_keeps_the_unanswerable_apart() -> None:
    lines = report([({"type": "how"}, "right"), ({"type": "how"}, "refused"), ({"type": "unanswerable"}, "right")])
    counted = {line[:16].strip(): line[16:].split() for line in lines.splitlines()[1:]}
    assert counted["how"] == counted["all answerable"] == ["2", "1", "0", "1"]
    assert counted["unanswerable"] == ["1", "1", "0", "0"]
