"""What sentences may state, packed as questions: right and wrong ones, and whole documents held out."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from benchmarks.reader import packed as read
from benchmarks.relations.asked import is_held, packed, write
from benchmarks.relations.train import Judged, judged_sentence, passage_of

THINGS = "queue stack heap graph matrix vector string trie forest lattice".split()
HELD = "quarry"


def sentence(document: str, thing: str, stated: str, text: str) -> Judged:
    return judged_sentence(document, passage_of(text, thing.capitalize()), text, "all", stated)


@pytest.fixture(scope="module")
def judged() -> list[Judged]:
    made = []
    for number, thing in enumerate([*THINGS, HELD]):
        document = f"made {thing}"
        text = f"A {thing} is a container type, but pipes {number} are ready."
        made.append(sentence(document, thing, f"{thing} EXAMPLE_OF container type", text))
        made.append(sentence(document, thing, "-", f"In the {thing} number {number} is a nice day."))
    return made


def test_documents_are_either_taught_or_held_out(judged: list[Judged]) -> None:
    taught = {row["document"] for row in packed(judged, held_out=False)}
    held = {row["document"] for row in packed(judged, held_out=True)}
    assert taught | held == {one.document for one in judged}
    assert not taught & held
    assert all(is_held(name) for name in held)


def test_a_listed_triple_is_right_and_turned_round_it_is_not(judged: list[Judged]) -> None:
    rows = [row for way in (True, False) for row in packed(judged, held_out=way) if row["type"] == "relation"]
    asked = {row["question"]: row for row in rows}
    right = asked["Is queue a kind of container type?"]
    assert (right["about"], right["yes"], right["support"]) == (1, 1, [0])
    turned = [row for question, row in asked.items() if question.startswith("Is container type a kind of")]
    assert turned
    assert all((row["about"], row["yes"], row["support"]) == (0, -1, []) for row in turned)
    assert {row["about"] for row in rows if "nice day" in row["question"]} <= {0}


def test_rows_are_read_as_examples(judged: list[Judged], tmp_path: Path) -> None:
    path = tmp_path / "relations.jsonl.xz"
    count = write(packed(judged, held_out=False), path)
    examples = list(read.relations(path, Random(1)))
    assert len(examples) == count > 0
    claims = [one for one in examples if len(one.statements) > 1 and one.about]
    assert claims
    for one in claims:
        assert "container type" in one.question
        assert all("is a kind of container type" in one.statements[at] for at in one.support)
